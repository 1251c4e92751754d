//! What a tool says when it cannot do what was asked.

use strandline_report::escape;
use strandline_store::StoreError;

/// Longest text of a failure.
const MAX_TEXT: usize = 2_000;

/// Why a tool could not do its work: what happened, where and why, and what to
/// do next. It goes out as a tool error, so that the agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What happened, where and why.
    what: String,
    /// What to do next, one line each.
    hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hints: Vec::new(),
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the text that goes out, safe to show and bounded.
    pub(crate) fn text(&self) -> String {
        let mut text = escape::block(&self.what, MAX_TEXT);
        for hint in &self.hints {
            text.push_str("\nwhat to do: ");
            text.push_str(&escape::line(hint, MAX_TEXT));
        }
        text
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.to_string());
        match &error {
            StoreError::Missing { .. } => failure.hint(
                "run a suite first with `run_suite`; `list_suites` lists the project's suites",
            ),
            StoreError::NotFound { what: "trial", .. } => {
                failure.hint("`list_diagnostics` names the trials of a run that did not pass")
            }
            StoreError::NotFound { .. } => failure.hint("`list_runs` lists what is stored"),
            StoreError::BadCursor { .. } => failure
                .hint("pass the `nextCursor` of the page before, with the same filters, or none"),
            other => match other.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            },
        }
    }
}

impl From<strandline_service::Failure> for Failure {
    fn from(failure: strandline_service::Failure) -> Self {
        Self {
            what: failure.message,
            hints: failure.hints,
        }
    }
}
