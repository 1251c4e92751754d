//! Foreign text on a page: redacted, bounded, with every hidden character made
//! visible, and isolated so that it cannot reorder what stands beside it.

use std::fmt::Write;

use maud::{Markup, html};
use serde_json::Value;
use strandline_contract::redact::{redact_text, redact_value};

use crate::escape;

/// Longest name or title shown, characters.
pub const MAX_NAME: usize = 200;
/// Longest text shown on one line, characters.
pub const MAX_LINE: usize = 500;
/// Longest text shown with its line breaks, characters.
pub const MAX_BLOCK: usize = 20_000;

/// Returns a foreign name as one safe line, isolated.
#[must_use]
pub fn name(text: &str) -> Markup {
    line(text, MAX_NAME)
}

/// Returns foreign text as one safe line of at most `limit` characters of it.
#[must_use]
pub fn line(text: &str, limit: usize) -> Markup {
    html! { bdi { (escape::line(&redact_text(text), limit)) } }
}

/// Returns foreign text as it was written, line breaks kept.
#[must_use]
pub fn block(text: &str) -> Markup {
    let shown = escape::block(redact_text(text).trim_end(), MAX_BLOCK);
    html! { pre.foreign dir="auto" { (shown) } }
}

/// Longest text that is not folded, characters.
const UNFOLDED: usize = 900;
/// Most lines that are not folded.
const UNFOLDED_LINES: usize = 14;
/// Characters of a folded text that stay in sight.
const IN_SIGHT: usize = 140;

/// Returns foreign text as it was written, folded when it is long.
#[must_use]
pub fn folded(text: &str) -> Markup {
    let long = text.len() > UNFOLDED || text.lines().count() > UNFOLDED_LINES;
    html! {
        @if long {
            details.folded {
                summary {
                    bdi.foreign { (escape::line(&redact_text(text.trim_start()), IN_SIGHT)) }
                }
                (block(text))
            }
        } @else {
            (block(text))
        }
    }
}

/// Returns a foreign value as JSON: on one line when it is short.
#[must_use]
pub fn json(value: &Value) -> Markup {
    let value = redact_value(value);
    let short = value.to_string();
    let written = match short.len() {
        0..=100 => short,
        _ => serde_json::to_string_pretty(&value).unwrap_or(short),
    };
    folded(&written)
}

/// Returns facts on one line, separated by dots.
#[must_use]
pub fn facts<T: maud::Render>(facts: &[T]) -> Markup {
    html! {
        @for (index, fact) in facts.iter().enumerate() {
            @if index > 0 { span.dot { " · " } }
            (fact)
        }
    }
}

/// Returns a text as an `id` and a fragment may hold it: `PREFIX-` and what
/// identifies it, anything unusual in hexadecimal.
#[must_use]
pub fn anchor(prefix: &str, identity: &str) -> String {
    let mut out = format!("{prefix}-");
    for character in identity.chars() {
        if character.is_ascii_alphanumeric() || character == '-' {
            out.push(character);
        } else {
            let _ = write!(out, "_{:x}_", u32::from(character));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        let hostile = "</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[31m";
        let shown = name(hostile).into_string();
        assert_eq!(
            shown,
            "<bdi>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\\u{202e}\\u{1b}[31m</bdi>"
        );
        assert!(!block(hostile).into_string().contains("<img"));
        assert!(!json(&Value::from(hostile)).into_string().contains("<img"));
    }

    #[test]
    fn anchors_hold_nothing_unusual_and_stay_apart() {
        assert_eq!(anchor("span", "a1-b"), "span-a1-b");
        assert_eq!(anchor("span", "a \"<"), "span-a_20__22__3c_");
        assert_ne!(anchor("span", "a_20_"), anchor("span", "a "));
    }

    #[test]
    fn long_text_is_cut_and_the_cut_is_counted() {
        let shown = block(&"x".repeat(MAX_BLOCK + 7)).into_string();
        assert!(shown.contains("(+7 characters)"));
    }
}
