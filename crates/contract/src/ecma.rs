//! Text as ECMAScript reads it (`assertions.md`, header).
//!
//! The specs measure strings in UTF-16 code units and trim with a white-space
//! set of their own: Unicode `White_Space` without U+0085, plus U+FEFF.

/// Returns whether a character is ECMAScript white space.
#[must_use]
pub fn is_whitespace(character: char) -> bool {
    character == '\u{feff}' || (character != '\u{85}' && character.is_whitespace())
}

/// Returns whether a text has no character but white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}

/// Returns the text without white space at its ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

/// Returns the text trimmed, with every run of white space as one space.
#[must_use]
pub fn collapse_whitespace(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split(is_whitespace).filter(|word| !word.is_empty()) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

/// Returns the length of a text in UTF-16 code units.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.encode_utf16().count()
    }
}

/// Returns the longest start of a text that has at most `units` UTF-16 code
/// units and splits no character.
#[must_use]
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    // A text never has more code units than bytes.
    if text.len() <= units {
        return text;
    }
    let mut left = units;
    for (offset, character) in text.char_indices() {
        let width = character.len_utf16();
        if width > left {
            return &text[..offset];
        }
        left -= width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_line_is_text_and_the_byte_order_mark_is_space() {
        assert!(is_blank("\u{feff} \t\u{2003}\u{a0}"));
        assert!(!is_blank("\u{85}"));
        assert_eq!(trim("\u{feff}a\u{85} "), "a\u{85}");
        assert_eq!(collapse_whitespace("\n a\u{feff}\t b "), "a b");
    }

    #[test]
    fn lengths_count_code_units_and_cuts_keep_characters_whole() {
        assert_eq!(utf16_len("a🚢"), 3);
        assert_eq!(utf16_prefix("a🚢b", 2), "a");
        assert_eq!(utf16_prefix("a🚢b", 3), "a🚢");
        assert_eq!(utf16_prefix("日本", 1), "日");
        assert_eq!(utf16_prefix("ab", 9), "ab");
    }
}
