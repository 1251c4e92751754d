//! Regular expressions in predicates (`assertions.md` §8.5, §8.6).

use strandline_derive::assertions::regexes::{InvalidPattern, Search, linear as compile_linear};

use super::{At, Check, value};

/// A pattern of the linear engine: 1 to 512 characters that compile.
pub(super) fn linear(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if value::length(check, at, text, 1, 512)
        && let Err(error) = compile_linear(text, "")
    {
        report(check, at, &error);
    }
}

/// A pattern of `responseMatches`, which may also look around and refer back.
pub(crate) fn backtracking(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if value::length(check, at, text, 1, usize::MAX)
        && let Err(error) = Search::compile(text)
    {
        report(check, at, &error);
    }
}

fn report(check: &mut Check, at: At<'_>, error: &InvalidPattern) {
    let message = format!("`{}` is not a usable pattern", at.path.name());
    check.report(at, message).label = Some(error.to_string());
}
