//! Words of a reason: bounded, on one line, without secrets
//! (`assertions.md` §7.4).

use std::fmt::Display;

use serde_json::Value;
use strandline_contract::{
    canonical::canonical_json,
    ecma,
    redact::{redact_text, redact_value},
};

/// Longest whole reason, in UTF-16 code units.
const MAX_REASON: usize = 600;
/// Longest embedded value or message.
const MAX_EMBEDDED: usize = 200;
/// Longest embedded pattern.
const MAX_PATTERN: usize = 120;
/// Most listed items.
const MAX_LISTED: usize = 3;
/// Most text that is looked at to show some of it.
const MAX_READ: usize = 4_000;

/// Returns a whole reason within its cap: `…(+N chars)` tells what was cut.
#[must_use]
pub(super) fn bounded_reason(reason: String) -> String {
    bounded(reason, MAX_REASON)
}

/// Returns a JSON value as a reason embeds it.
#[must_use]
pub(super) fn shown_value(value: &Value) -> String {
    bounded(canonical_json(&redact_value(value)), MAX_EMBEDDED)
}

/// Returns foreign text as a reason embeds it, without quotes.
#[must_use]
pub(super) fn shown_text(text: &str) -> String {
    bounded(readable(text), MAX_EMBEDDED)
}

/// Returns a pattern as a reason embeds it.
#[must_use]
pub(super) fn shown_pattern(pattern: &str) -> String {
    bounded(readable(pattern), MAX_PATTERN)
}

/// Returns up to three items and how many more there are.
#[must_use]
pub(super) fn shown_list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for item in items {
        count += 1;
        if count <= MAX_LISTED {
            if count > 1 {
                shown.push_str(", ");
            }
            shown.push_str(&item.to_string());
        }
    }
    if count > MAX_LISTED {
        return format!("{shown} +{} more", count - MAX_LISTED);
    }
    shown
}

/// Returns a count with its unit: `1 call`, `3 calls`.
#[must_use]
pub(super) fn counted(count: usize, unit: &str) -> String {
    if count == 1 {
        format!("1 {unit}")
    } else {
        format!("{count} {unit}s")
    }
}

/// Masks credentials before anything is cut, so that no half of one survives.
fn readable(text: &str) -> String {
    let read = ecma::utf16_prefix(text, MAX_READ);
    let mut shown = ecma::collapse_whitespace(&redact_text(read));
    if read.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn bounded(text: String, units: usize) -> String {
    let length = ecma::utf16_len(&text);
    if length <= units {
        return text;
    }
    let kept = ecma::utf16_prefix(&text, units);
    format!("{kept}…(+{} chars)", length - ecma::utf16_len(kept))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn caps_say_what_they_cut() {
        assert_eq!(bounded_reason("a".repeat(600)), "a".repeat(600));
        assert_eq!(
            bounded_reason("a".repeat(610)),
            format!("{}…(+10 chars)", "a".repeat(600))
        );
        // A pair is never split: 199 units are kept of 200.
        let ships = format!("a{}", "🚢".repeat(100));
        assert_eq!(
            shown_text(&ships),
            format!("a{}…(+2 chars)", "🚢".repeat(99))
        );
        assert_eq!(shown_list(["a", "b", "c"]), "a, b, c");
        assert_eq!(shown_list(["a", "b", "c", "d", "e"]), "a, b, c +2 more");
    }

    #[test]
    fn nothing_secret_is_embedded() {
        assert_eq!(
            shown_value(&json!({"api_key": "x", "id": 1.0})),
            r#"{"api_key":"«redacted»","id":1}"#
        );
        let text = format!("{} token=abcdefgh", "a".repeat(195));
        assert!(!shown_text(&text).contains("abcd"));
        assert_eq!(shown_text("two\n\tlines"), "two lines");
    }
}
