//! Whether a call's arguments carry an identifier (`friction.md` §5).

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

/// Values up to here are looked up in a set; longer ones, of which a result
/// cannot hold many, are compared place by place.
const INDEXED_BYTES: usize = 64;

/// The canonical text of a call's arguments, prepared for many searches.
///
/// The text itself is searched: keys count, escapes count. Every result of a
/// trial asks every later call for up to 200 values, so a search must not read
/// the text again.
pub(super) struct Haystack<'a> {
    text: &'a [u8],
    /// Where a token may start.
    starts: Vec<usize>,
    /// Every token that may start and end where it does, by length.
    tokens: RefCell<HashMap<usize, HashSet<&'a [u8]>>>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.as_bytes();
        Self {
            text,
            starts: (0..text.len())
                .filter(|start| *start == 0 || !is_word_byte(text[start - 1]))
                .collect(),
            tokens: RefCell::default(),
        }
    }

    /// Returns whether some occurrence of `value` has no word character on
    /// either side.
    pub(super) fn carries(&self, value: &str) -> bool {
        let value = value.as_bytes();
        if value.len() > INDEXED_BYTES {
            return self.tokens_of(value.len()).any(|token| token == value);
        }
        self.tokens
            .borrow_mut()
            .entry(value.len())
            .or_insert_with(|| self.tokens_of(value.len()).collect())
            .contains(value)
    }

    fn tokens_of(&self, length: usize) -> impl Iterator<Item = &'a [u8]> {
        self.starts.iter().filter_map(move |start| {
            let token = self.text.get(*start..start + length)?;
            let after = self.text.get(start + length);
            after
                .is_none_or(|byte| !is_word_byte(*byte))
                .then_some(token)
        })
    }
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::friction::arguments::canonical_text;

    fn carries(arguments: serde_json::Value, value: &str) -> bool {
        Haystack::new(&canonical_text(&arguments)).carries(value)
    }

    #[test]
    fn only_whole_tokens_count() {
        assert!(!carries(json!({"n": 1234}), "123"));
        assert!(carries(json!({"n": 123}), "123"));
        assert!(carries(json!("item-123"), "123"));
        assert!(carries(json!({"ISSUE-42": 1}), "ISSUE-42"), "keys count");
        assert!(
            !carries(json!("see\nISSUE-42"), "ISSUE-42"),
            "escapes count"
        );
        assert!(!carries(json!("abc\"def"), "abc\"def"));
        assert!(carries(json!("aabc abc"), "abc"), "a later occurrence");
        assert!(carries(json!("éabcé"), "abc"), "only ASCII words bind");
        assert!(
            carries(json!("xaaa-aaa-aaa"), "aaa-aaa"),
            "overlaps are allowed"
        );
    }

    #[test]
    fn long_values_are_found_as_short_ones_are() {
        let long = "é-".repeat(60);
        assert!(carries(json!({"id": long}), &long));
        assert!(!carries(json!({"id": format!("{long}x")}), &long));
    }
}
