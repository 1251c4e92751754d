//! Places in a suite file's text: byte spans, lines and columns.

use serde::Serialize;

/// A range of bytes in the text, end excluded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// A place for people: both numbers count from 1 (`suite-file.md` §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// Line starts of one text, to turn bytes into lines and columns.
#[derive(Debug, Clone)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Reads the line starts of `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (index, byte) in bytes.iter().enumerate() {
            let lone_return = *byte == b'\r' && bytes.get(index + 1) != Some(&b'\n');
            if *byte == b'\n' || lone_return {
                starts.push(index + 1);
            }
        }
        Self { starts }
    }

    /// Returns the line of a byte offset, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Returns where a line starts, in bytes.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts.get(line - 1).copied().unwrap_or_default()
    }

    /// Returns a line of `text` without its end.
    pub(crate) fn text<'text>(&self, text: &'text str, line: usize) -> &'text str {
        let end = self.starts.get(line).copied().unwrap_or(text.len());
        let line = text.get(self.start(line)..end).unwrap_or_default();
        line.trim_end_matches(['\n', '\r'])
    }

    /// Returns the line and column of a byte offset in `text`.
    #[must_use]
    pub fn locate(&self, text: &str, offset: usize) -> Location {
        let line = self.line(offset);
        let start = self.starts[line - 1];
        let end = offset.min(text.len());
        let before = text.get(start..end).unwrap_or_default();
        Location {
            line,
            column: before.trim_start_matches('\u{feff}').chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_after_any_line_ending() {
        let text = "a: 1\r\nü: x\rb: 2\nc";
        let lines = Lines::new(text);
        let at = |needle: &str| {
            let place = lines.locate(text, text.find(needle).expect("in the text"));
            (place.line, place.column)
        };
        assert_eq!(at("a"), (1, 1));
        assert_eq!(at("x"), (2, 4));
        assert_eq!(at("2"), (3, 4));
        assert_eq!(at("c"), (4, 1));
    }
}
