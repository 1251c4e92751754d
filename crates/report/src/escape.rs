//! Makes text from servers, models and suite files safe to show on a terminal.
//!
//! Everything that did not come from this program passes through here once
//! before it is printed. Three things are taken from hostile text: control of
//! the terminal (control characters, ANSI sequences), control of the reading
//! order or of what is visible (bidirectional marks, zero-width and tag
//! characters), and unbounded length. Characters are replaced by a visible
//! `\u{…}` escape, never dropped, so that a reader sees that they were there.

use std::fmt::Write;

use serde_json::Value;
use unicode_width::UnicodeWidthChar;

/// Combining marks shown on one base character before the rest is escaped.
const MAX_MARKS: usize = 4;

/// Returns `text` as one safe line of at most `limit` characters of the
/// original, followed by a count of the characters left out.
///
/// The count is part of the line: a cut never looks like the whole.
#[must_use]
pub fn line(text: &str, limit: usize) -> String {
    bounded(text, limit, LineBreaks::Escape)
}

/// Returns `text` as safe lines, keeping its line breaks.
///
/// The bound is the same as in [`line()`].
#[must_use]
pub fn block(text: &str, limit: usize) -> String {
    bounded(text, limit, LineBreaks::Keep)
}

/// Returns `value` as compact JSON on one line, bounded like [`line()`].
///
/// Uncut, the text is still JSON: what may not be shown raw is written in
/// JSON's own `\uXXXX` form.
#[must_use]
pub fn json(value: &Value, limit: usize) -> String {
    let text = value.to_string();
    let mut shown = String::with_capacity(text.len().min(limit));
    let mut marks = Marks::default();
    for (index, character) in text.chars().enumerate() {
        if index == limit {
            push_cut(&mut shown, text.chars().count() - limit);
            break;
        }
        if marks.admits(character) {
            shown.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    shown
}

/// What happens to line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    Escape,
    Keep,
}

fn bounded(text: &str, limit: usize, breaks: LineBreaks) -> String {
    let mut shown = String::with_capacity(text.len().min(limit));
    let mut marks = Marks::default();
    let mut characters = text.chars();
    for _ in 0..limit {
        let Some(character) = characters.next() else {
            return shown;
        };
        match character {
            '\n' if breaks == LineBreaks::Keep => shown.push('\n'),
            '\t' if breaks == LineBreaks::Keep => shown.push_str("    "),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if marks.admits(character) => shown.push(character),
            _ => {
                let _ = write!(shown, "{}", character.escape_unicode());
            }
        }
    }
    let rest = characters.count();
    if rest > 0 {
        push_cut(&mut shown, rest);
    }
    shown
}

fn push_cut(shown: &mut String, rest: usize) {
    let _ = write!(shown, "… (+{rest} characters)");
}

/// Decides which characters may be shown raw, counting combining marks.
#[derive(Default)]
struct Marks {
    /// Zero-width characters since the last one with a width.
    since_base: usize,
    /// A character with a width has been shown.
    has_base: bool,
}

impl Marks {
    fn admits(&mut self, character: char) -> bool {
        let width = character.width().unwrap_or(0);
        if width > 0 {
            self.since_base = 0;
            self.has_base = true;
            return is_visible(character);
        }
        self.since_base += 1;
        // A mark needs something to sit on, and only a few fit on it.
        is_mark(character) && self.has_base && self.since_base <= MAX_MARKS
    }
}

/// Returns whether a character with a width shows itself and nothing else.
///
/// The standard library's debug escape knows every control, format, private,
/// unassigned and odd space character; the ideographic space is visible by its
/// width and ordinary in Japanese text.
fn is_visible(character: char) -> bool {
    matches!(character, ' ' | '"' | '\'' | '\\' | '\u{3000}')
        || is_hangul_jamo(character)
        || character.escape_debug().len() == 1
}

/// Returns whether a zero-width character is a combining mark of some script
/// or the emoji presentation selector, and no invisible format character.
fn is_mark(character: char) -> bool {
    match character {
        // Invisible although they extend a grapheme: joiners, grapheme joiner,
        // Hangul fillers, Mongolian and general variation selectors, tags.
        '\u{034f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        '\u{fe0e}' | '\u{fe0f}' => true,
        _ => {
            // A mark is escaped only for being a mark (alone it is escaped,
            // after a letter it is not); format characters always are.
            let alone = character.escape_debug().len() > 1;
            let after = format!("a{character}").escape_debug().count() == 2;
            (alone && after) || is_hangul_jamo(character)
        }
    }
}

/// Returns whether a character is a conjoining Hangul letter, which has no
/// width of its own and is no mark.
fn is_hangul_jamo(character: char) -> bool {
    matches!(character, '\u{1161}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(text: &str) -> String {
        line(text, 1_000)
    }

    #[test]
    fn ordinary_text_of_any_script_is_unchanged() {
        for text in [
            "refund_order \"17\" \\ path",
            "Größe, naïve, Ελλάδα, Привет",
            "注文を検索\u{3000}する",
            "नमस्ते हिन्दी",
            "ภาษาไทยที่นี่",
            "한국어 \u{1112}\u{1161}\u{11ab}",
            "שלום مرحبا",
            "e\u{301} 🙂 ❤\u{fe0f}",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn terminal_control_is_made_visible() {
        assert_eq!(shown("\x1b[31mred\x1b[0m"), "\\u{1b}[31mred\\u{1b}[0m");
        assert_eq!(shown("a\u{9b}31mb"), "a\\u{9b}31mb");
        assert_eq!(shown("\x07\x08\x7f\0"), "\\u{7}\\u{8}\\u{7f}\\u{0}");
        assert_eq!(shown("one\r\ntwo\tthree"), "one\\r\\ntwo\\tthree");
        assert_eq!(shown("a\u{2028}b\u{85}c"), "a\\u{2028}b\\u{85}c");
    }

    #[test]
    fn invisible_and_reordering_characters_are_made_visible() {
        assert_eq!(shown("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
        assert_eq!(shown("a\u{200b}\u{feff}b"), "a\\u{200b}\\u{feff}b");
        assert_eq!(
            shown("a\u{200d}\u{2060}\u{ad}"),
            "a\\u{200d}\\u{2060}\\u{ad}"
        );
        assert_eq!(shown("a\u{e0041}\u{e007f}"), "a\\u{e0041}\\u{e007f}");
        assert_eq!(shown("a\u{fe01}\u{e0101}"), "a\\u{fe01}\\u{e0101}");
        assert_eq!(shown("40\u{a0}€\u{202f}"), "40\\u{a0}€\\u{202f}");
        assert_eq!(shown("\u{e000}\u{10ffff}"), "\\u{e000}\\u{10ffff}");
        assert_eq!(shown("a\u{3164}b\u{ffa0}c"), "a\\u{3164}b\\u{ffa0}c");
    }

    #[test]
    fn piled_up_marks_are_escaped() {
        let pile = format!("a{}", "\u{301}".repeat(6));
        assert_eq!(
            shown(&pile),
            format!("a{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(4))
        );
        assert_eq!(shown("\u{301}a"), "\\u{301}a");
    }

    #[test]
    fn length_is_bounded_and_the_cut_is_counted() {
        assert_eq!(line("abcdef", 4), "abcd… (+2 characters)");
        assert_eq!(line("abcd", 4), "abcd");
        assert_eq!(line("", 0), "");
        assert_eq!(json(&json!("abcdef"), 4), "\"abc… (+4 characters)");
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(block("a\n\tb\r\x1b", 100), "a\n    b\\r\\u{1b}");
    }

    #[test]
    fn json_stays_json() {
        let value = json!({"note": "a\u{202e}b\u{e0041}\x1b\n", "n": 40});
        let text = json(&value, 1_000);
        assert_eq!(text, r#"{"n":40,"note":"a\u202eb\udb40\udc41\u001b\n"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
    }

    proptest! {
        #[test]
        fn no_text_controls_the_terminal(text in any::<String>(), limit in 0_usize..80) {
            for shown in [line(&text, limit), json(&json!(text), limit)] {
                prop_assert!(!shown.chars().any(char::is_control));
                prop_assert!(shown.chars().count() <= limit * 12 + 30);
            }
            let shown = block(&text, limit);
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        }

        #[test]
        fn printable_ascii_is_unchanged(text in "[ -~]{0,60}") {
            prop_assert_eq!(line(&text, 60), text);
        }
    }
}
