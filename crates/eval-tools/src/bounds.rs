//! How large an answer may be, and how what does not fit is paged.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// Largest structured answer, bytes of JSON.
///
/// Agents read answers into a context that they pay for; a larger one is
/// refused with a word on how to ask for less.
pub(crate) const MAX_ANSWER: usize = 160 * 1024;

/// What a page of a list leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    /// Items of the whole list.
    pub(crate) total: u64,
    /// Items on this page.
    pub(crate) shown: u64,
    /// The page holds the whole list. A page reached by a cursor never does.
    pub(crate) complete: bool,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// Returns one page of a list that is at hand, at most `limit` items.
///
/// # Errors
///
/// When the cursor is not from this list.
pub(crate) fn page<T>(
    items: Vec<T>,
    cursor: Option<&str>,
    limit: usize,
) -> Result<(Vec<T>, PageInfo), Failure> {
    let total = items.len();
    let start = start(cursor, total)?;
    let items: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let end = start + items.len();
    let info = PageInfo {
        total: total as u64,
        shown: items.len() as u64,
        complete: start == 0 && end == total,
        next_cursor: (end < total).then(|| cursor_at(end)),
    };
    Ok((items, info))
}

/// Reads where a page starts.
pub(crate) fn start(cursor: Option<&str>, total: usize) -> Result<usize, Failure> {
    let Some(cursor) = cursor else {
        return Ok(0);
    };
    cursor
        .strip_prefix('n')
        .and_then(|number| number.parse().ok())
        .filter(|start| *start <= total)
        .ok_or_else(|| foreign(cursor))
}

/// Says that a cursor was not made by the list that it was given to.
pub(crate) fn foreign(cursor: &str) -> Failure {
    Failure::new(format!("`{cursor}` is no cursor of this list"))
        .hint("pass the `nextCursor` of the page before, or none for the first page")
}

/// Writes where the next page starts.
pub(crate) fn cursor_at(start: usize) -> String {
    format!("n{start}")
}

/// Shortens every text of a value to `limit` characters, says how many were
/// left out, and returns whether any were.
pub(crate) fn shorten(value: &mut Value, limit: usize) -> bool {
    match value {
        Value::String(text) => match text.char_indices().nth(limit) {
            None => false,
            Some((end, _)) => {
                let rest = text[end..].chars().count();
                text.truncate(end);
                let _ = write!(text, "… (+{rest} characters)");
                true
            }
        },
        Value::Array(items) => {
            let cuts = items.iter_mut().map(|item| shorten(item, limit));
            cuts.filter(|cut| *cut).count() > 0
        }
        Value::Object(members) => {
            let cuts = members.iter_mut().map(|(_, item)| shorten(item, limit));
            cuts.filter(|cut| *cut).count() > 0
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_say_what_they_leave_open() {
        let list = || (0..5).collect::<Vec<u32>>();
        let (items, info) = page(list(), None, 2).expect("a page");
        assert_eq!(items, [0, 1]);
        assert_eq!(info.next_cursor.as_deref(), Some("n2"));
        assert!(!info.complete);
        let (items, info) = page(list(), Some("n4"), 2).expect("a page");
        assert_eq!(items, [4]);
        assert_eq!((info.next_cursor, info.complete), (None, false));
        let (_, info) = page(list(), None, 5).expect("a page");
        assert!(info.complete);
        for foreign in ["", "4", "n6", "n-1", "x"] {
            assert!(page(list(), Some(foreign), 2).is_err(), "{foreign}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_characters_and_counted() {
        let mut value = json!({"a": ["äöüß", "ab"], "b": 1});
        assert!(shorten(&mut value, 2));
        assert_eq!(value, json!({"a": ["äö… (+2 characters)", "ab"], "b": 1}));
        assert!(!shorten(&mut json!(["ab"]), 2));
    }
}
