//! What makes two rows the same row (`verdict.md` §6).

use strandline_contract::{run::ExecutionVariant, verdict::RowVariant};

const NUL: char = '\0';

/// Returns the identity of a row that the aggregator is given.
pub(super) fn input_key(case_id: &str, variant: Option<&ExecutionVariant>) -> String {
    key(
        case_id,
        variant.map(|variant| (variant.provider.as_deref(), variant.model.as_str())),
        None,
    )
}

/// Returns the identity of a stored row.
pub(super) fn row_key(case_id: &str, variant: Option<&RowVariant>) -> String {
    key(
        case_id,
        variant.map(|variant| (variant.provider.as_deref(), variant.model.as_str())),
        variant.and_then(|variant| variant.selection_key.as_deref()),
    )
}

/// A key without variant equals no key with one; the key never leaves the process.
fn key(
    case_id: &str,
    variant: Option<(Option<&str>, &str)>,
    selection_key: Option<&str>,
) -> String {
    let mut key = String::with_capacity(case_id.len() + 16);
    key.push_str(case_id);
    key.push(NUL);
    if let Some((provider, model)) = variant {
        key.push_str(provider.unwrap_or_default());
        key.push(NUL);
        key.push_str(model);
    }
    if let Some(selection_key) = selection_key {
        key.push(NUL);
        key.push_str(selection_key);
    }
    key
}
