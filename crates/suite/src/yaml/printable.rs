//! Characters that JSON allows in texts and the parser does not.
//!
//! JSON writes U+007F to U+009F, U+FFFE and U+FFFF as they are, and YAML
//! allows them in quoted texts. The parser refuses them anywhere, so it gets
//! stand-ins, character for character, that are put back in what it reads.

use std::borrow::Cow;

/// A text as the parser reads it, and the way back.
pub(super) struct Printable<'text> {
    text: Cow<'text, str>,
    /// Byte offset in the original of each character; empty when both agree.
    offsets: Vec<usize>,
    base: u32,
}

/// Stand-ins are private-use characters from here downwards.
const HIGHEST_BASE: u32 = 0x10_ff00;
const STEP: u32 = 0x100;

impl<'text> Printable<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        if !text.chars().any(|character| ordinal(character).is_some()) {
            return Self {
                text: Cow::Borrowed(text),
                offsets: Vec::new(),
                base: 0,
            };
        }
        // A suite file is too short to hold every private-use character.
        let taken = |base: u32| {
            text.chars()
                .any(|character| (base..base + STEP).contains(&u32::from(character)))
        };
        let base = (0xf_0000..=HIGHEST_BASE)
            .rev()
            .step_by(STEP as usize)
            .find(|base| !taken(*base))
            .unwrap_or(HIGHEST_BASE);
        let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
        offsets.push(text.len());
        let stand_in = |character: char| {
            ordinal(character)
                .and_then(|ordinal| char::from_u32(base + ordinal))
                .unwrap_or(character)
        };
        Self {
            text: Cow::Owned(text.chars().map(stand_in).collect()),
            offsets,
            base,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the byte offset in the original of a place in the parser's text.
    pub(super) fn offset(&self, bytes: Option<usize>, characters: usize) -> usize {
        match self.offsets.last() {
            None => bytes.unwrap_or(0),
            Some(end) => self.offsets.get(characters).copied().unwrap_or(*end),
        }
    }

    /// Puts the characters back that the text really has.
    pub(super) fn restore<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.offsets.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(
            text.chars()
                .map(|character| self.character(character))
                .collect(),
        )
    }

    /// Puts one character back.
    pub(super) fn character(&self, character: char) -> char {
        if self.offsets.is_empty() {
            return character;
        }
        match u32::from(character).checked_sub(self.base) {
            Some(ordinal @ 0x7f..=0x9f) => char::from_u32(ordinal).unwrap_or(character),
            Some(0xa0) => '\u{fffe}',
            Some(0xa1) => '\u{ffff}',
            _ => character,
        }
    }
}

/// Returns which of the characters this is.
fn ordinal(character: char) -> Option<u32> {
    match character {
        '\u{85}' => None,
        '\u{7f}'..='\u{9f}' => Some(u32::from(character)),
        '\u{fffe}' => Some(0xa0),
        '\u{ffff}' => Some(0xa1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_go_there_and_back() {
        let text = "a\u{7f}ü\u{9b}\u{85}\u{fffe}\u{10ff7f}\u{ffff}z";
        let printable = Printable::new(text);
        assert!(!printable.text().contains(['\u{7f}', '\u{9b}', '\u{ffff}']));
        assert_eq!(printable.restore(printable.text()), text);
        for (index, (offset, _)) in text.char_indices().enumerate() {
            assert_eq!(printable.offset(Some(0), index), offset);
        }
        let plain = Printable::new("plain");
        assert_eq!((plain.text(), plain.offset(Some(3), 9)), ("plain", 3));
    }
}
