//! The rules of a suite file (`suite-file.md` §3–§6, `assertions.md` §5, §8).
//!
//! A value of the wrong type is reported once and nothing inside it is
//! checked; everything else is checked, whatever else is wrong.

mod assertion;
mod case;
mod defaults;
mod extension;
mod file;
mod pattern;
mod script;
pub(crate) mod server;
mod step;
mod value;

use std::collections::HashMap;

pub(crate) use file::file;
pub(crate) use pattern::backtracking as answer_pattern;
pub(crate) use value::filled_text;

use crate::{
    finding::{Code, Finding, Segment},
    load::Extensions,
    source::Span,
    yaml::{Node, Value},
};

/// Greatest integer that every reader holds exactly.
pub(crate) const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The two dialects (`suite-file.md` §1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `"1"`, frozen.
    One,
    /// `"2"`, current.
    Two,
}

impl Dialect {
    /// Returns the value of `schemaVersion`.
    #[must_use]
    pub const fn wire(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
        }
    }

    /// Returns the key that counts trials per case.
    #[must_use]
    pub const fn trials_key(self) -> &'static str {
        match self {
            Self::One => "repetitions",
            Self::Two => "iterations",
        }
    }
}

/// A path under construction: each level borrows the one above.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The file itself.
    Root,
    /// A key below.
    Key(&'a Path<'a>, &'a str),
    /// An index below.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = match self {
            Self::Root => return Vec::new(),
            Self::Key(above, _) | Self::Index(above, _) => above.segments(),
        };
        segments.push(match self {
            Self::Root => return segments,
            Self::Key(_, key) => Segment::Key((*key).to_owned()),
            Self::Index(_, index) => Segment::Index(*index),
        });
        segments
    }

    /// Returns the last key with its indices, to name a value in a message.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Root => "the file".to_owned(),
            Self::Key(_, key) => (*key).to_owned(),
            Self::Index(above, index) => match above {
                Path::Root => format!("[{index}]"),
                above => format!("{}[{index}]", above.name()),
            },
        }
    }
}

/// A value and its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: &'a Path<'a>,
}

/// A rule for one value.
pub(crate) type Rule = fn(&mut Check, At<'_>);

/// A check in progress: what it allows and what it found.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) dialect: Dialect,
    pub(crate) extensions: Extensions,
    pub(crate) findings: Vec<Finding>,
}

impl Check {
    pub(crate) fn new(extensions: Extensions) -> Self {
        Self {
            dialect: Dialect::Two,
            extensions,
            findings: Vec::new(),
        }
    }

    /// Reports a value by its own place.
    pub(crate) fn report(&mut self, at: At<'_>, message: impl Into<String>) -> &mut Finding {
        self.report_at(at.path, Some(at.node.span), message)
    }

    /// Reports a path with a place of its own.
    pub(crate) fn report_at(
        &mut self,
        path: &Path<'_>,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> &mut Finding {
        let finding = Finding::new(Code::Invalid, path.segments(), message, span);
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    /// Reports that a value is not what it must be.
    pub(crate) fn expected(&mut self, at: At<'_>, what: &str) -> &mut Finding {
        let shown = value::preview(at.node);
        let message = match at.path {
            Path::Root => format!("a suite file must be {what}, not {shown}"),
            path => format!("`{}` must be {what}, not {shown}", path.name()),
        };
        self.report(at, message)
    }

    /// Takes a value that must be a map.
    pub(crate) fn is_map(&mut self, at: At<'_>) -> bool {
        if at.node.is_mapping() {
            return true;
        }
        self.expected(at, "a map");
        false
    }

    /// Checks a member that may be absent; `null` is a value.
    pub(crate) fn optional(&mut self, at: At<'_>, key: &str, rule: Rule) {
        if let Some(node) = at.node.get(key) {
            let path = Path::Key(at.path, key);
            rule(self, At { node, path: &path });
        }
    }

    /// Checks a member that must be there.
    pub(crate) fn required(&mut self, at: At<'_>, key: &str, rule: Rule) {
        if at.node.get(key).is_some() {
            self.optional(at, key, rule);
        } else {
            self.missing(at, key);
        }
    }

    /// Reports a required member that is not there.
    pub(crate) fn missing(&mut self, at: At<'_>, key: &str) {
        let path = Path::Key(at.path, key);
        let owner = match at.path {
            Path::Root => "the file".to_owned(),
            path => format!("`{}`", path.name()),
        };
        let span = head(at.node);
        let finding = self.report_at(&path, Some(span), format!("{owner} needs `{key}`"));
        finding.label = Some(format!("add `{key}`"));
    }

    /// Checks each member of a list of `min..=max` members; the list is
    /// reported when its length is wrong, its members are checked all the same.
    pub(crate) fn list(&mut self, at: At<'_>, min: usize, max: usize, rule: Rule) {
        if !matches!(at.node.value, Value::Sequence(_)) {
            self.expected(at, "a list");
            return;
        }
        let count = at.node.items().len();
        if count < min {
            self.report(at, format!("`{}` needs at least {min}", at.path.name()))
                .label = Some("nothing in the list".to_owned());
        }
        if count > max {
            let message = format!(
                "`{}` has {count} members, at most {max} are allowed",
                at.path.name()
            );
            self.report(
                At {
                    node: at.node,
                    path: at.path,
                },
                message,
            );
        }
        for (index, item) in at.node.items().iter().enumerate() {
            let path = Path::Index(at.path, index);
            rule(
                self,
                At {
                    node: &item.node,
                    path: &path,
                },
            );
        }
    }

    /// Reports the keys of a map that are not among `known`, all at once.
    pub(crate) fn closed(&mut self, at: At<'_>, known: &[&str]) {
        let unknown: Vec<_> = at
            .node
            .entries()
            .iter()
            .filter(|entry| !known.contains(&entry.key.as_str()))
            .collect();
        let Some(first) = unknown.first() else {
            return;
        };
        let names: Vec<String> = unknown
            .iter()
            .map(|entry| format!("`{}`", value::cut(&entry.key)))
            .collect();
        let plural = if names.len() == 1 { "key" } else { "keys" };
        let mut message = format!("unknown {plural} {}", names.join(", "));
        let mut label = None;
        for entry in &unknown {
            // §2.4: the other dialect's word for the same thing.
            if let Some(hint) = self.dialect_hint(&entry.key) {
                message.push_str("; ");
                message.push_str(&hint);
            } else if label.is_none()
                && let Some(near) = nearest(&entry.key, known, at.node)
            {
                label = Some(format!("did you mean `{near}`?"));
            }
        }
        let span = first.key_span;
        self.report_at(at.path, Some(span), message).label = label;
    }

    /// Hints of `suite-file.md` §2.4.
    fn dialect_hint(&self, key: &str) -> Option<String> {
        let (here, word, other) = match (self.dialect, key) {
            (Dialect::One, "iterations") => ("1", "repetitions", "2"),
            (Dialect::Two, "repetitions") => ("2", "iterations", "1"),
            (Dialect::Two, "checks") => ("2", "assertions", "1"),
            _ => return None,
        };
        Some(format!(
            "dialect {here} spells it `{word}`: rename it or set `schemaVersion: \"{other}\"`"
        ))
    }

    /// Reports every repeated `id` of a list's members, at the repeating one.
    pub(crate) fn unique_ids(&mut self, at: At<'_>, what: &str) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (index, item) in at.node.items().iter().enumerate() {
            let Some(node) = item.node.get("id") else {
                continue;
            };
            let Some(id) = node.as_str() else { continue };
            let Some(first) = seen.get(id) else {
                seen.insert(id, index);
                continue;
            };
            let above = Path::Index(at.path, index);
            let path = Path::Key(&above, "id");
            let message = format!("{what} id `{}` is used twice", value::cut(id));
            let label = format!("already the id of `{}[{first}]`", at.path.name());
            self.report(At { node, path: &path }, message).label = Some(label);
        }
    }
}

/// The start of a map or list, so that a missing member does not underline it all.
pub(crate) fn head(node: &Node) -> Span {
    match node.entries().first() {
        Some(entry) if !node.flow => entry.key_span,
        _ if node.flow => Span {
            start: node.span.start,
            end: node.span.start + 1,
        },
        _ => node.span,
    }
}

/// A known key that is close enough to be meant, and is not there yet.
fn nearest<'known>(key: &str, known: &[&'known str], node: &Node) -> Option<&'known str> {
    let lower = key.to_lowercase();
    known
        .iter()
        .filter(|candidate| node.get(candidate).is_none())
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()),
                *candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= 2 && distance * 2 < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}
