//! Why a run cannot start (`suite-file.md` §9.4, §9.5).

use serde::Serialize;
use strandline_contract::{exit::ExitCode, words::RefusalCode};

use crate::{finding::Finding, source::Span};

/// One reason why a run cannot start.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// What kind of reason.
    pub code: RefusalCode,
    /// What is wrong, in one line, without secrets.
    pub message: String,
    /// What to do next, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The case it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_id: Option<String>,
    /// The gate's own word, for an imported case (§5.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The place in a configuration file, with the file as it was named.
    #[serde(skip)]
    pub place: Option<Box<Place>>,
}

/// A place in a configuration file other than the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The file as it was named.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What is wrong in it.
    pub finding: Finding,
    /// Bytes of the text that may be secrets and are never shown.
    pub secrets: Vec<Span>,
}

impl Refusal {
    /// Makes a refusal.
    #[must_use]
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hints: Vec::new(),
            case_id: None,
            reason: None,
            place: None,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says which case it is about.
    #[must_use]
    pub(crate) fn of_case(mut self, id: &str) -> Self {
        self.case_id = Some(id.to_owned());
        self
    }
}

/// Returns how a process ends that was refused for these reasons: the worst
/// of them, and usage when there is none.
#[must_use]
pub fn exit_code(refusals: &[Refusal]) -> ExitCode {
    refusals
        .iter()
        .map(|refusal| refusal.code.exit())
        .reduce(ExitCode::worse)
        .unwrap_or(ExitCode::Usage)
}
