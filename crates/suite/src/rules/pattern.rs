//! Regular expressions in predicates (`assertions.md` §8.5, §8.6).

use super::{At, Check, value};

/// A pattern of the linear engine: 1 to 512 characters that compile.
pub(super) fn linear(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if !value::length(check, at, text, 1, 512) {
        return;
    }
    if let Err(error) = regex::Regex::new(text) {
        report(check, at, &error.to_string());
    }
}

/// A pattern of `responseMatches`.
pub(crate) fn backtracking(check: &mut Check, at: At<'_>) {
    let Some(text) = value::string(check, at) else {
        return;
    };
    if !value::length(check, at, text, 1, usize::MAX) {
        return;
    }
    if let Err(error) = regex::Regex::new(text) {
        report(check, at, &error.to_string());
    }
}

fn report(check: &mut Check, at: At<'_>, error: &str) {
    let reason = error.lines().last().unwrap_or_default().trim();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    check
        .report(at, format!("`{}` is not a usable pattern", at.path.name()))
        .label = Some(reason.to_owned());
}
