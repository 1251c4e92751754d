//! The tree as YAML.

use super::{
    layout::Layout,
    order::Object,
    scalar::{self, Place},
};
use crate::yaml::{Entry, Item, Node, Value};

/// Widest line of a collection that stays in flow style.
const WIDTH: usize = 100;
/// Longest key that other readers accept without `?`.
const LONGEST_KEY: usize = 1_000;

/// Writes a document.
pub(super) fn write(root: &Node, object: Object, layout: Layout) -> String {
    let mut writer = Writer {
        out: String::new(),
        layout,
    };
    match &root.value {
        Value::Mapping(entries) if !entries.is_empty() => writer.entries(entries, object, 0, false),
        Value::Sequence(items) if !items.is_empty() => writer.items(items, object, 0, false),
        _ => {
            let text = flow(root, object);
            writer.out.push_str(&text);
            writer.out.push('\n');
        }
    }
    for comment in std::mem::take(&mut writer.layout.foot) {
        writer.comment(0, &comment);
    }
    writer.out
}

struct Writer {
    out: String,
    layout: Layout,
}

impl Writer {
    /// Writes the members of a map; `inline` when the first one continues the
    /// line of a `-`.
    fn entries(&mut self, entries: &[Entry], object: Object, level: usize, inline: bool) {
        for (index, entry) in object.sorted(entries).into_iter().enumerate() {
            let start = entry.key_span.start;
            let continues = inline && index == 0;
            self.before(start, level, continues);
            if !continues {
                self.indent(level);
            }
            let key = scalar::text(&entry.key, Place::Flow);
            if key.len() > LONGEST_KEY {
                self.out.push_str("? ");
                self.out.push_str(&key);
                self.out.push('\n');
                self.indent(level);
            } else {
                self.out.push_str(&key);
            }
            self.out.push(':');
            // A key that nobody wrote takes no comment from the line of another.
            let written = entry.key_span.end > start;
            let right = written.then(|| self.layout.take_right(start)).flatten();
            self.value(&entry.item, object.member(&entry.key), level, right);
        }
    }

    /// Writes the members of a list.
    fn items(&mut self, items: &[Item], object: Object, level: usize, inline: bool) {
        for (index, item) in items.iter().enumerate() {
            let start = item.span().start;
            let continues = inline && index == 0;
            self.before(start, level, continues);
            if !continues {
                self.indent(level);
            }
            self.out.push('-');
            match &item.node.value {
                Value::Mapping(entries) if !self.as_flow(&item.node, object, level) => {
                    self.out.push(' ');
                    self.entries(entries, object, level + 1, true);
                }
                Value::Sequence(items) if !self.as_flow(&item.node, object, level) => {
                    self.out.push(' ');
                    self.items(items, object, level + 1, true);
                }
                _ => {
                    let right = self.layout.take_right(start);
                    self.value(item, object, level, right);
                }
            }
        }
    }

    /// Writes what comes after `key:` or `-`, to the end of the line.
    fn value(&mut self, item: &Item, object: Object, level: usize, right: Option<String>) {
        let node = &item.node;
        if let Value::String(text) = &node.value
            && let Some(header) = scalar::literal_header(text)
        {
            self.out.push(' ');
            self.out.push_str(header);
            self.end_line(right);
            self.literal(text, level + 1);
            return;
        }
        if self.as_flow(node, object, level) {
            self.out.push(' ');
            self.out.push_str(&match &node.value {
                Value::String(text) => scalar::text(text, Place::Block),
                _ => flow(node, object),
            });
            self.end_line(right);
            return;
        }
        self.end_line(right);
        match &node.value {
            Value::Mapping(entries) => self.entries(entries, object, level + 1, false),
            Value::Sequence(items) => self.items(items, object, level + 1, false),
            _ => {}
        }
    }

    /// Returns whether a value is written on the line of its key: scalars,
    /// empty collections, and what was in flow style and fits.
    fn as_flow(&self, node: &Node, object: Object, level: usize) -> bool {
        match &node.value {
            Value::Mapping(entries) if !entries.is_empty() => {}
            Value::Sequence(items) if !items.is_empty() => {}
            _ => return true,
        }
        node.flow
            && !self.layout.has_inside(node.span)
            && !has_literal(node)
            && level * 2 + 24 + flow(node, object).chars().count() <= WIDTH
    }

    /// Writes the blank line and the comments above a member.
    fn before(&mut self, start: usize, level: usize, continues: bool) {
        let blank = self.layout.take_blank(start);
        let comments = self.layout.take_above(start);
        if continues {
            // The member continues a line: its comments go above that line.
            let line = self.out.rfind('\n').map_or(0, |index| index + 1);
            let tail = self.out.split_off(line);
            for comment in comments {
                self.comment(level.saturating_sub(1), &comment);
            }
            self.out.push_str(&tail);
            return;
        }
        if blank && !self.out.is_empty() {
            self.out.push('\n');
        }
        for comment in comments {
            self.comment(level, &comment);
        }
    }

    fn literal(&mut self, text: &str, level: usize) {
        let body = text.strip_suffix('\n').unwrap_or(text);
        for line in body.split('\n') {
            if !line.is_empty() {
                self.indent(level);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    fn comment(&mut self, level: usize, words: &str) {
        self.indent(level);
        self.out.push('#');
        self.out.push_str(words);
        self.out.push('\n');
    }

    fn end_line(&mut self, right: Option<String>) {
        if let Some(words) = right {
            self.out.push_str(" #");
            self.out.push_str(&words);
        }
        self.out.push('\n');
    }

    fn indent(&mut self, level: usize) {
        self.out.extend(std::iter::repeat_n("  ", level));
    }
}

/// Returns whether a text inside would rather be a literal block.
fn has_literal(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => scalar::literal_header(text).is_some(),
        Value::Sequence(items) => items.iter().any(|item| has_literal(&item.node)),
        Value::Mapping(entries) => entries.iter().any(|entry| has_literal(&entry.item.node)),
        _ => false,
    }
}

/// Writes a value on one line.
fn flow(node: &Node, object: Object) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => scalar::number(*number),
        Value::String(text) => scalar::text(text, Place::Flow),
        Value::Sequence(items) if items.is_empty() => "[]".to_owned(),
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(|item| flow(&item.node, object)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Mapping(entries) => {
            let entries: Vec<String> = object
                .sorted(entries)
                .into_iter()
                .map(|entry| {
                    let key = scalar::text(&entry.key, Place::Flow);
                    let value = flow(&entry.item.node, object.member(&entry.key));
                    format!("{key}: {value}")
                })
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
