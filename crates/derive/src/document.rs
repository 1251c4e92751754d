//! Strict reading of stored documents: every violation, with its path.
//!
//! A [`Node`] is a value at a place in a document. Readers return `None` after
//! they noted a violation, so that a document is read to its end and all of
//! its violations are told at once. Nothing is defaulted or repaired.

use std::{cell::RefCell, fmt};

use serde_json::{Map, Value};
use strandline_contract::{number, words::Vocabulary};

/// Most violations that are told of one document; it comes from outside.
const MAX_VIOLATIONS: usize = 100;

/// Something a stored document must not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, from the document's root: `cases[0].passRate.value`; empty at the root.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "`{}`: {}", self.path, self.message)
        }
    }
}

/// The violations found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings(RefCell<Vec<Violation>>);

impl Findings {
    /// Notes a violation.
    pub(crate) fn add(&self, path: &Path<'_>, message: impl fmt::Display) {
        let mut violations = self.0.borrow_mut();
        if violations.len() < MAX_VIOLATIONS {
            violations.push(Violation {
                path: path.to_string(),
                message: message.to_string(),
            });
        }
    }

    /// Notes a violation unless `holds`.
    pub(crate) fn demand(&self, holds: bool, path: &Path<'_>, message: impl fmt::Display) {
        if !holds {
            self.add(path, message);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the document when it was read and nothing was found.
    pub(crate) fn into_result<T>(self, document: Option<T>) -> Result<T, Vec<Violation>> {
        let violations = self.0.into_inner();
        match document {
            Some(document) if violations.is_empty() => Ok(document),
            _ if violations.is_empty() => Err(vec![Violation {
                path: String::new(),
                message: "the document cannot be read".to_owned(),
            }]),
            _ => Err(violations),
        }
    }
}

/// A place in a document; printed as `cases[0].passRate`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    segment: Segment<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Segment<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The document itself.
    pub(crate) const ROOT: Self = Self {
        parent: None,
        segment: Segment::Root,
    };

    /// Returns the place of a member.
    pub(crate) const fn key(&'p self, key: &'p str) -> Self {
        Self {
            parent: Some(self),
            segment: Segment::Key(key),
        }
    }

    /// Returns the place of an array element.
    pub(crate) const fn index(&'p self, index: usize) -> Self {
        Self {
            parent: Some(self),
            segment: Segment::Index(index),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else {
            return Ok(());
        };
        parent.fmt(formatter)?;
        match (self.segment, parent.segment) {
            (Segment::Root, _) => Ok(()),
            (Segment::Index(index), _) => write!(formatter, "[{index}]"),
            (Segment::Key(key), Segment::Root) => write_key(formatter, key),
            (Segment::Key(key), _) => {
                formatter.write_str(".")?;
                write_key(formatter, key)
            }
        }
    }
}

/// Writes a key that may come from a hostile document.
fn write_key(formatter: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    const MOST: usize = 80;
    for character in key.chars().take(MOST) {
        write!(formatter, "{}", character.escape_debug())?;
    }
    if key.chars().nth(MOST).is_some() {
        formatter.write_str("…")?;
    }
    Ok(())
}

/// A value at a place in a document that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    path: Path<'a>,
    findings: &'a Findings,
}

impl<'a> Node<'a> {
    /// Starts reading a document.
    pub(crate) const fn root(document: &'a Value, findings: &'a Findings) -> Self {
        Self {
            value: document,
            path: Path::ROOT,
            findings,
        }
    }

    pub(crate) const fn value(&self) -> &'a Value {
        self.value
    }

    pub(crate) const fn path(&self) -> &Path<'a> {
        &self.path
    }

    pub(crate) const fn findings(&self) -> &'a Findings {
        self.findings
    }

    /// Notes a violation at this place.
    pub(crate) fn refuse<T>(&self, message: impl fmt::Display) -> Option<T> {
        self.findings.add(&self.path, message);
        None
    }

    /// Reads an object that may hold `keys` and nothing else.
    pub(crate) fn closed_object(&self, keys: &[&str]) -> Option<&'a Map<String, Value>> {
        let object = self.open_object()?;
        for key in object.keys() {
            if !keys.contains(&key.as_str()) {
                self.findings.add(&self.path.key(key), "unknown key");
            }
        }
        Some(object)
    }

    /// Reads an object whose unknown keys are ignored.
    pub(crate) fn open_object(&self) -> Option<&'a Map<String, Value>> {
        match self.value {
            Value::Object(object) => Some(object),
            other => self.refuse(format_args!("must be an object, not {}", kind_of(other))),
        }
    }

    /// Returns a member of this object, noting its absence.
    pub(crate) fn required<'b>(&'b self, key: &'b str) -> Option<Node<'b>> {
        let node = self.optional(key);
        if node.is_none() {
            self.findings.add(&self.path.key(key), "is missing");
        }
        node
    }

    /// Returns a member of this object, if it is there; `null` is there.
    pub(crate) fn optional<'b>(&'b self, key: &'b str) -> Option<Node<'b>> {
        Some(Node {
            value: self.value.get(key)?,
            path: self.path.key(key),
            findings: self.findings,
        })
    }

    /// Reads a member that must be there.
    pub(crate) fn required_with<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'_>) -> Option<T>,
    ) -> Option<T> {
        read(&self.required(key)?)
    }

    /// Reads an optional member: `None` when it cannot be read.
    pub(crate) fn optional_with<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.optional(key) {
            None => Some(None),
            Some(node) => read(&node).map(Some),
        }
    }

    /// Reads a member that must be there and may be `null`.
    pub(crate) fn nullable_with<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        let node = self.required(key)?;
        if node.value.is_null() {
            return Some(None);
        }
        read(&node).map(Some)
    }

    /// Reads an array, element by element.
    pub(crate) fn list<T>(&self, mut read: impl FnMut(&Node<'_>) -> Option<T>) -> Option<Vec<T>> {
        let Value::Array(items) = self.value else {
            return self.refuse(format_args!(
                "must be an array, not {}",
                kind_of(self.value)
            ));
        };
        let mut complete = true;
        let mut list = Vec::with_capacity(items.len());
        for (index, value) in items.iter().enumerate() {
            let node = Node {
                value,
                path: self.path.index(index),
                findings: self.findings,
            };
            match read(&node) {
                Some(item) => list.push(item),
                None => complete = false,
            }
        }
        complete.then_some(list)
    }

    /// Reads an integer 0 … 2^53 − 1.
    pub(crate) fn count(&self) -> Option<u64> {
        number::as_count(self.value).or_else(|| self.refuse("must be an integer from 0 to 2^53-1"))
    }

    /// Reads a count of at least `least`.
    pub(crate) fn count_from(&self, least: u64) -> Option<u64> {
        let count = self.count()?;
        if count < least {
            return self.refuse(format_args!("must be at least {least}"));
        }
        Some(count)
    }

    /// Reads a finite number.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value.as_f64() {
            Some(double) if double.is_finite() => Some(double),
            _ => self.refuse("must be a finite number"),
        }
    }

    /// Reads a fraction from 0 to 1.
    pub(crate) fn fraction(&self) -> Option<f64> {
        let double = self.number()?;
        if !(0.0..=1.0).contains(&double) {
            return self.refuse("must be a fraction from 0 to 1");
        }
        Some(double)
    }

    /// Reads a text.
    pub(crate) fn text(&self) -> Option<&'a str> {
        match self.value {
            Value::String(text) => Some(text),
            other => self.refuse(format_args!("must be a string, not {}", kind_of(other))),
        }
    }

    /// Reads a text of at least one character.
    pub(crate) fn non_empty_text(&self) -> Option<&'a str> {
        let text = self.text()?;
        if text.is_empty() {
            return self.refuse("must not be empty");
        }
        Some(text)
    }

    /// Reads a text to keep.
    pub(crate) fn owned_text(&self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    /// Reads a text of at least one character to keep.
    pub(crate) fn owned_non_empty_text(&self) -> Option<String> {
        self.non_empty_text().map(str::to_owned)
    }

    /// Reads `true` or `false`.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(boolean) => Some(*boolean),
            other => self.refuse(format_args!("must be a boolean, not {}", kind_of(other))),
        }
    }

    /// Reads a word of a closed vocabulary.
    pub(crate) fn word<V: Vocabulary>(&self) -> Option<V> {
        V::from_wire(self.text()?)
            .or_else(|| self.refuse(format_args!("is no {} that this version knows", V::NAME)))
    }

    /// Reads the number `literal`.
    pub(crate) fn literal_count(&self, literal: u64) -> Option<u64> {
        if number::as_count(self.value) != Some(literal) {
            return self.refuse(format_args!("must be the number {literal}"));
        }
        Some(literal)
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
