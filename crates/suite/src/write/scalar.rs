//! Scalars as text that reads back as the same scalar.

use std::fmt::Write as _;

use serde_json::Number as JsonNumber;
use strandline_contract::canonical::number_text;

use crate::yaml::{Number, Value, resolve_plain};

/// Where a scalar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// After a key or `-` of its own line.
    Block,
    /// Inside `[…]` or `{…}`, or as a key.
    Flow,
}

/// Writes a number.
pub(super) fn number(number: Number) -> String {
    match number {
        Number::Integer(number) => number.to_string(),
        Number::Float(number) => match JsonNumber::from_f64(number) {
            Some(number) => number_text(&number),
            None if number.is_nan() => ".nan".to_owned(),
            None if number > 0.0 => ".inf".to_owned(),
            None => "-.inf".to_owned(),
        },
    }
}

/// Writes a text on one line: plain where that is safe, else double-quoted.
pub(super) fn text(text: &str, place: Place) -> String {
    if is_plain(text, place) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Returns whether a text reads back as itself without quotes, here and with
/// readers of YAML 1.1.
fn is_plain(text: &str, place: Place) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let starts_well = first.is_alphabetic()
        || matches!(first, '_' | '/' | '$' | '(' | '<' | '=')
        || (first.is_ascii_digit() && !number_like(text))
        || (first == '.' && text.starts_with("./"));
    let special = |character: char| match character {
        ',' | '[' | ']' | '{' | '}' | ':' => place == Place::Flow,
        _ => !is_printable(character),
    };
    starts_well
        && text.trim() == text
        && !text.contains(special)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains('\n')
        && matches!(resolve_plain(text), Value::String(_))
        && !is_old_bool(text)
}

/// Numbers, times and dates of any YAML.
fn number_like(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_ascii_hexdigit() || "xXoO_:.+-TtZz".contains(character))
        || text.get(4..5) == Some("-")
}

/// Words that YAML 1.1 reads as booleans.
fn is_old_bool(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off"
    )
}

/// Characters that stand for themselves in any reader and any terminal.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fff0}'..='\u{ffff}')
        && (character == ' ' || !character.is_whitespace() || character == '\u{3000}')
}

/// Writes a text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if is_printable(other) => out.push(other),
            other => {
                let code = u32::from(other);
                let _ = if code <= 0xffff {
                    write!(out, "\\u{code:04x}")
                } else {
                    write!(out, "\\U{code:08x}")
                };
            }
        }
    }
    out.push('"');
    out
}

/// Returns the header of a literal block that holds a text of several lines,
/// when there is one that reads back as it.
pub(super) fn literal_header(text: &str) -> Option<&'static str> {
    let body = text.trim_end_matches('\n');
    let fits = body.contains('\n')
        && body
            .lines()
            .next()
            .is_some_and(|line| !line.trim().is_empty())
        && !body.starts_with(' ')
        && body
            .split('\n')
            .all(|line| !line.starts_with('\t') && line.chars().all(is_printable))
        && !body
            .split('\n')
            .any(|line| !line.is_empty() && line.trim().is_empty());
    if !fits {
        return None;
    }
    Some(match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_read_as_something_else_is_quoted() {
        for plain in [
            "orders",
            "Where is order 17?",
            "openai/gpt-5-mini",
            "./bin/x",
            "日本語",
            "3 of 5",
        ] {
            assert_eq!(text(plain, Place::Block), plain);
        }
        for other in [
            "",
            " x",
            "x ",
            "null",
            "~",
            "true",
            "no",
            "On",
            "12",
            "1e3",
            "0x1f",
            "12:30:00",
            "2026-01-01",
            "1_000",
            "- x",
            "a: b",
            "a #b",
            "x:",
            "#x",
            "@x",
            "*x",
            "&x",
            "!x",
            "'x",
            "\"x",
            "%x",
            "`x",
            "? x",
            "[x",
            "{x",
            "a\tb",
            "a\u{200b}b",
            "|",
            ">",
            ".nan",
            "=",
            "<<",
        ] {
            let written = text(other, Place::Block);
            assert!(
                written.starts_with('"') || matches!(other, "=" | "<<"),
                "{other:?} is written as {written}"
            );
        }
        assert_eq!(text("a,b", Place::Block), "a,b");
        assert_eq!(text("a,b", Place::Flow), "\"a,b\"");
        assert_eq!(
            quoted("a\u{1b}\u{202e}\u{10ffff}\"\\"),
            "\"a\\u001b\\u202e\u{10ffff}\\\"\\\\\""
        );
    }

    #[test]
    fn literal_blocks_hold_lines_that_survive() {
        assert_eq!(literal_header("a\nb"), Some("|-"));
        assert_eq!(literal_header("a\n  b\n"), Some("|"));
        assert_eq!(literal_header("a\n\nb\n\n"), Some("|+"));
        for none in ["a", "a\n", " a\nb", "\na\nb", "a\n\tb", "a\n \nb", "a\r\nb"] {
            assert_eq!(literal_header(none), None, "{none:?}");
        }
    }
}
