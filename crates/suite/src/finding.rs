//! Findings: what is wrong with a suite file, where, and what to do
//! (`suite-file.md` §2.2, §2.3).

use std::{cmp::Ordering, fmt::Write as _};

use serde::{Serialize, Serializer};

use crate::source::{Lines, Location, Span};

/// At which stage of loading a file failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureStage {
    /// The text itself.
    Input,
    /// YAML.
    Parse,
    /// The rules of a suite file.
    Contract,
}

/// A finding's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Code {
    /// No document.
    #[serde(rename = "SUITE_FILE_EMPTY")]
    Empty,
    /// A rule of the suite file is broken.
    #[serde(rename = "SUITE_FILE_INVALID")]
    Invalid,
    /// More than one document.
    #[serde(rename = "SUITE_FILE_MULTIPLE_DOCUMENTS")]
    MultipleDocuments,
    /// More bytes than a suite file may have.
    #[serde(rename = "SUITE_FILE_TOO_LARGE")]
    TooLarge,
    /// Not YAML, a key given twice, or an alias too many.
    #[serde(rename = "SUITE_FILE_YAML_INVALID")]
    YamlInvalid,
    /// An execution budget outside its range (§10).
    #[serde(rename = "EXECUTION_BUDGET_EXCEEDS_CEILING")]
    BudgetExceedsCeiling,
}

impl Code {
    /// Returns the wire spelling.
    #[must_use]
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Empty => "SUITE_FILE_EMPTY",
            Self::Invalid => "SUITE_FILE_INVALID",
            Self::MultipleDocuments => "SUITE_FILE_MULTIPLE_DOCUMENTS",
            Self::TooLarge => "SUITE_FILE_TOO_LARGE",
            Self::YamlInvalid => "SUITE_FILE_YAML_INVALID",
            Self::BudgetExceedsCeiling => "EXECUTION_BUDGET_EXCEEDS_CEILING",
        }
    }

    /// Returns the stage at which this code arises.
    #[must_use]
    pub const fn stage(self) -> FailureStage {
        match self {
            Self::TooLarge => FailureStage::Input,
            Self::Empty | Self::MultipleDocuments | Self::YamlInvalid => FailureStage::Parse,
            Self::Invalid | Self::BudgetExceedsCeiling => FailureStage::Contract,
        }
    }
}

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A key of a map.
    Key(String),
    /// An index of a list, from 0.
    Index(usize),
}

impl Serialize for Segment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Key(key) => serializer.serialize_str(key),
            Self::Index(index) => serializer.serialize_u64(*index as u64),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// Where in the document.
    pub path: Vec<Segment>,
    /// The same as text: `cases[3].steps[0].id`, empty for the file itself.
    pub pointer: String,
    /// What is wrong, in words.
    pub message: String,
    /// Where in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The bytes it is about.
    #[serde(skip)]
    pub span: Option<Span>,
    /// What to do, in a few words under the place.
    #[serde(skip)]
    pub label: Option<String>,
    /// What to do next, in a sentence.
    #[serde(skip)]
    pub help: Option<String>,
}

impl Finding {
    /// Makes a finding about a place in the document.
    pub(crate) fn new(
        code: Code,
        path: Vec<Segment>,
        message: impl Into<String>,
        span: Option<Span>,
    ) -> Self {
        let pointer = pointer(&path);
        Self {
            code,
            path,
            pointer,
            message: message.into(),
            location: None,
            span,
            label: None,
            help: None,
        }
    }

    /// Makes a finding about the file itself.
    pub(crate) fn of_file(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Vec::new(), message, None)
    }

    /// Makes a finding about a place in the text.
    pub(crate) fn at_span(code: Code, message: impl Into<String>, span: Span) -> Self {
        Self::new(code, Vec::new(), message, Some(span))
    }

    /// Adds a few words under the place.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Fills in the line and column.
    pub(crate) fn locate(&mut self, text: &str, lines: &Lines) {
        self.location = self.span.map(|span| lines.locate(text, span.start));
    }
}

/// Writes a path as text: `cases[3].steps[0].id`.
#[must_use]
pub fn pointer(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Segment::Index(index) => {
                let _ = write!(text, "[{index}]");
            }
        }
    }
    text
}

/// Orders findings: path segment by segment, shorter first, then code, then
/// message (`suite-file.md` §2.3).
pub(crate) fn order(left: &Finding, right: &Finding) -> Ordering {
    left.path
        .iter()
        .zip(&right.path)
        .map(|(left, right)| order_segments(left, right))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.path.len().cmp(&right.path.len()))
        .then_with(|| left.code.wire().cmp(right.code.wire()))
        .then_with(|| left.message.cmp(&right.message))
}

/// Numbers numerically and before strings, strings by UTF-16 code unit.
fn order_segments(left: &Segment, right: &Segment) -> Ordering {
    match (left, right) {
        (Segment::Index(left), Segment::Index(right)) => left.cmp(right),
        (Segment::Index(_), Segment::Key(_)) => Ordering::Less,
        (Segment::Key(_), Segment::Index(_)) => Ordering::Greater,
        (Segment::Key(left), Segment::Key(right)) => left.encode_utf16().cmp(right.encode_utf16()),
    }
}
