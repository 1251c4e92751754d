//! The tree of one document.

use std::sync::Arc;

use serde_json::{Map, Number as JsonNumber, Value as Json};

use crate::source::Span;

/// A value and where it was written; aliases share their target.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// Where, without the key.
    pub span: Span,
    /// Written in flow style (`[…]`, `{…}`).
    pub flow: bool,
    /// What it weighs with its aliases written out.
    pub(crate) extent: Extent,
}

/// What a value weighs once its aliases are written out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Values, itself included.
    pub(crate) nodes: u64,
    /// Bytes of scalars and keys.
    pub(crate) bytes: u64,
    /// Levels of collections.
    pub(crate) depth: usize,
}

/// A YAML value under the core schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number of the core schema.
    Number(Number),
    /// Anything else that is not a collection.
    String(String),
    /// A list.
    Sequence(Vec<Item>),
    /// A map, in authored order, without repeated keys.
    Mapping(Vec<Entry>),
}

/// A number of the core schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number that fits 64 bits; `5.0` and `5e0` are whole.
    Integer(i64),
    /// Any other number, `.inf` and `.nan` included.
    Float(f64),
}

/// A member of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The value.
    pub node: Arc<Node>,
    /// What it was written as, when that was an alias.
    pub(crate) alias: Option<Alias>,
}

/// An alias in the place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The parser's number of the anchor.
    pub(crate) anchor: usize,
    /// Where it was written.
    pub(crate) span: Span,
}

/// A member of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as text.
    pub key: String,
    /// Where the key was written.
    pub key_span: Span,
    /// The anchor it names, when the key was written as an alias.
    pub(crate) key_alias: Option<usize>,
    /// The value.
    pub item: Item,
}

impl Node {
    /// Makes a value that was not written by anyone, at a place of interest.
    pub(crate) fn new(value: Value, span: Span) -> Arc<Self> {
        let extent = Extent::of(&value);
        Arc::new(Self {
            value,
            span,
            flow: false,
            extent,
        })
    }

    /// Makes a text value.
    pub(crate) fn text(text: impl Into<String>, span: Span) -> Arc<Self> {
        Self::new(Value::String(text.into()), span)
    }

    /// Returns the member of a map with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Arc<Node>> {
        self.entry(key).map(|entry| &entry.item.node)
    }

    /// Returns the entry of a map with this key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the entries of a map, none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the members of a list, none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether this is a map.
    #[must_use]
    pub const fn is_mapping(&self) -> bool {
        matches!(self.value, Value::Mapping(_))
    }

    /// Returns the value as JSON; `.inf` and `.nan` have no JSON form and
    /// become `null`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Number(Number::Integer(number)) => Json::from(*number),
            Value::Number(Number::Float(number)) => {
                JsonNumber::from_f64(*number).map_or(Json::Null, Json::Number)
            }
            Value::String(text) => Json::String(text.clone()),
            Value::Sequence(items) => {
                Json::Array(items.iter().map(|item| item.node.to_json()).collect())
            }
            Value::Mapping(entries) => Json::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.item.node.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// Returns whether two values say the same, wherever and however they
    /// were written; the order of a map's keys says nothing.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Sequence(left), Value::Sequence(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(left, right)| left.node.same(&right.node))
            }
            (Value::Mapping(left), Value::Mapping(right)) => {
                left.len() == right.len()
                    && left.iter().all(|entry| {
                        other
                            .get(&entry.key)
                            .is_some_and(|node| entry.item.node.same(node))
                    })
            }
            (Value::Number(left), Value::Number(right)) => left.same(*right),
            (left, right) => left == right,
        }
    }
}

impl Number {
    /// Makes a number from a double; whole ones that are exact become integers.
    #[must_use]
    pub fn from_double(number: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() <= EXACT {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and within 2^53: the cast is exact"
            )]
            return Self::Integer(number as i64);
        }
        Self::Float(number)
    }

    /// Returns the number as a double.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "ranges are checked on doubles, as the peers do"
            )]
            Self::Integer(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Returns whether both are the same number (`.nan` equals itself here).
    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left == right,
            (Self::Float(left), Self::Float(right)) => {
                left == right || (left.is_nan() && right.is_nan())
            }
            _ => false,
        }
    }
}

impl Item {
    /// Wraps a value that is no alias.
    pub(crate) const fn new(node: Arc<Node>) -> Self {
        Self { node, alias: None }
    }

    /// Returns where it was written, which is not where its value was when
    /// it is an alias.
    pub(crate) fn span(&self) -> Span {
        self.alias.map_or(self.node.span, |alias| alias.span)
    }
}

impl Entry {
    /// Makes an entry that was not written by anyone, at a place of interest.
    pub(crate) fn new(key: impl Into<String>, key_span: Span, node: Arc<Node>) -> Self {
        Self {
            key: key.into(),
            key_span,
            key_alias: None,
            item: Item::new(node),
        }
    }
}

impl Extent {
    /// Adds up what a value weighs.
    pub(crate) fn of(value: &Value) -> Self {
        let mut extent = Self {
            nodes: 1,
            bytes: 0,
            depth: 0,
        };
        match value {
            Value::String(text) => extent.bytes = text.len() as u64,
            Value::Sequence(items) => {
                extent.depth = 1;
                for item in items {
                    extent.add(item.node.extent, 0);
                }
            }
            Value::Mapping(entries) => {
                extent.depth = 1;
                for entry in entries {
                    extent.add(entry.item.node.extent, entry.key.len());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        extent
    }

    fn add(&mut self, member: Self, key: usize) {
        self.nodes = self.nodes.saturating_add(member.nodes);
        self.bytes = self
            .bytes
            .saturating_add(member.bytes)
            .saturating_add(key as u64);
        self.depth = self.depth.max(member.depth + 1);
    }
}
