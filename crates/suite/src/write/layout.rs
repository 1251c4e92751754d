//! Comments and blank lines: where they belong.
//!
//! Everything is kept by the byte at which a member begins in the text it was
//! read from.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    source::{Lines, Span},
    yaml::{Comment, Document, Entry, Item, Node, Value},
};

/// What stands around the members of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Layout {
    /// Lines of comment above a member.
    above: BTreeMap<usize, Vec<String>>,
    /// A comment on a member's own line.
    right: BTreeMap<usize, String>,
    /// Members with a blank line before them.
    blank: BTreeSet<usize>,
    /// Comments after the last member.
    pub(super) foot: Vec<String>,
}

/// A member of a map or list in the text.
struct Slot {
    start: usize,
    /// Lines on which a comment belongs to it.
    first_line: usize,
    last_line: usize,
}

impl Layout {
    /// Finds the owner of every comment of a document.
    pub(crate) fn of(document: &Document, text: &str, lines: &Lines) -> Self {
        let mut slots = Vec::new();
        collect(&document.root, lines, &mut slots);
        let mut layout = Self::default();
        for comment in &document.comments {
            layout.place(comment, &slots, text, lines);
        }
        let first = slots.first().map(|slot| slot.start);
        for slot in &slots {
            if Some(slot.start) != first && layout.follows_blank(slot.start, text, lines) {
                layout.blank.insert(slot.start);
            }
        }
        layout
    }

    fn place(&mut self, comment: &Comment, slots: &[Slot], text: &str, lines: &Lines) {
        let words = comment.text.trim_end().to_owned();
        let line = lines.line(comment.span.start);
        let own_line = text[lines.start(line)..comment.span.start]
            .trim_start_matches('\u{feff}')
            .trim()
            .is_empty();
        let owner = slots.iter().rev().find(|slot| {
            slot.start < comment.span.start && slot.first_line <= line && line <= slot.last_line
        });
        if let Some(owner) = owner.filter(|_| !own_line)
            && !self.right.contains_key(&owner.start)
        {
            self.right.insert(owner.start, words);
            return;
        }
        match slots.iter().find(|slot| slot.start > comment.span.start) {
            Some(next) => self.above.entry(next.start).or_default().push(words),
            None => self.foot.push(words),
        }
    }

    /// Returns whether the line above a member and its comments is blank.
    fn follows_blank(&self, start: usize, text: &str, lines: &Lines) -> bool {
        let comments = self.above.get(&start).map_or(0, Vec::len);
        let mut line = lines.line(start);
        let mut left = comments;
        while line > 1 {
            line -= 1;
            let above = lines.text(text, line).trim();
            if above.starts_with('#') && left > 0 {
                left -= 1;
            } else {
                return above.is_empty();
            }
        }
        false
    }

    /// Takes the comments above a member.
    pub(super) fn take_above(&mut self, start: usize) -> Vec<String> {
        self.above.remove(&start).unwrap_or_default()
    }

    /// Takes the comment on a member's line.
    pub(super) fn take_right(&mut self, start: usize) -> Option<String> {
        self.right.remove(&start)
    }

    /// Takes whether a blank line stands before a member.
    pub(super) fn take_blank(&mut self, start: usize) -> bool {
        self.blank.remove(&start)
    }

    /// Returns whether a comment belongs to something inside a value.
    pub(super) fn has_inside(&self, span: Span) -> bool {
        let inside = span.start + 1..span.end;
        if inside.is_empty() {
            return false;
        }
        self.above.range(inside.clone()).next().is_some()
            || self.right.range(inside).next().is_some()
    }
}

/// Collects the members of a value in the order of the text.
fn collect(node: &Node, lines: &Lines, slots: &mut Vec<Slot>) {
    let line = lines.line(node.span.start);
    let one_line = node.flow && line == lines.line(node.span.end);
    if one_line {
        return;
    }
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                let span = item.span();
                push(slots, lines, span.start, span, item);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let Entry { key_span, item, .. } = entry;
                push(slots, lines, key_span.start, item.span(), item);
            }
        }
        _ => {}
    }
}

fn push(slots: &mut Vec<Slot>, lines: &Lines, start: usize, span: Span, item: &Item) {
    let block = matches!(&item.node.value, Value::Sequence(_) | Value::Mapping(_))
        && !item.node.flow
        && item.alias.is_none();
    let first_line = lines.line(start);
    slots.push(Slot {
        start,
        first_line,
        // A block collection owns the comment after its key only.
        last_line: if block {
            first_line
        } else {
            lines.line(span.end.max(start))
        },
    });
    if item.alias.is_none() {
        collect(&item.node, lines, slots);
    }
}
