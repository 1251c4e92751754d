//! The short form (ours): a suite in a few lines.
//!
//! A short file names a server, a model and cases of a prompt, the calls that
//! are expected and what the answer must hold. It stands for a file of dialect
//! 2, which `strandline suite expand` shows, and is checked as that file:
//! every finding is taken back to where it was written.
//!
//! It is recognised by what it has (`cases` and one of `server`, `servers`,
//! `model`) and by having no key that only a dialect file has, so no file
//! that is meant to be a dialect file is taken for one.

mod case;
mod expand;
mod ids;
mod places;
mod server;

use std::sync::Arc;

pub(crate) use places::Places;

use crate::{
    rules::Check,
    yaml::{Node, Value},
};

/// Keys of a dialect file that a short file never has.
const DIALECT_KEYS: [&str; 7] = [
    "schemaVersion",
    "mode",
    "reportingMode",
    "suite",
    "target",
    "defaults",
    "provenance",
];

/// What a short file stands for.
pub(crate) struct Expanded {
    /// The dialect-2 file.
    pub(crate) root: Arc<Node>,
    /// Where its parts were written.
    pub(crate) places: Places,
    /// Cases whose id depends on their order among cases of the same prompt.
    pub(crate) ordered_ids: Vec<usize>,
}

/// Returns whether a document is in the short form.
pub(crate) fn is_short(root: &Node) -> bool {
    let Value::Mapping(_) = root.value else {
        return false;
    };
    let has = |key: &str| root.get(key).is_some();
    has("cases")
        && (has("server") || has("servers") || has("model"))
        && !DIALECT_KEYS.into_iter().any(has)
}

/// Expands a short file; what is wrong with its own keys goes to `check`.
///
/// `name` is the suite's name where the file gives none.
pub(crate) fn expand(check: &mut Check, root: &Arc<Node>, name: Option<&str>) -> Expanded {
    expand::file(check, root, name)
}
