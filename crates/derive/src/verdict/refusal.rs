//! Why the aggregator yields no decision.

use std::fmt;

use strandline_contract::words::{VerdictRefusal, Vocabulary};

/// A refusal: no decision exists, and none is guessed (`verdict.md` §7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule refuses.
    pub code: VerdictRefusal,
    /// What it refuses, in one line.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(code: VerdictRefusal, subject: impl fmt::Display) -> Self {
        Self {
            code,
            message: format!("{subject}: {}", code.label()),
        }
    }

    /// Makes a refusal about a case, whose id may be anything.
    pub(super) fn of_case(code: VerdictRefusal, case_id: &str) -> Self {
        const MOST: usize = 128;
        let shown: String = case_id.chars().take(MOST).collect();
        Self::new(code, format_args!("case `{}`", shown.escape_debug()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
