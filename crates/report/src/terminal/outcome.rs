//! What a stored run decided, as a reader may state it
//! (`decision-summary.md` §4).

use strandline_contract::{
    run::{RunRecord, RunStatus},
    verdict::Decision,
    words::{SummaryVerdict, UndecidedReason},
};
use strandline_derive::verdict::validate_decision;

/// A run's verdict, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// The run was decided under policy v2.
    Decided(Box<Decision>),
    /// There is no verdict: neither a failure nor `inconclusive`.
    Undecided {
        reason: UndecidedReason,
        detail: Option<String>,
    },
}

impl Outcome {
    /// Reads the outcome of a run. Every run of ours is a policy-v2 run, so
    /// rules 4 to 6, which are about older ones, never apply.
    pub(super) fn of(run: &RunRecord) -> Self {
        // 1. Still going, whatever is stored.
        if run.status == RunStatus::Running {
            return Self::Undecided {
                reason: UndecidedReason::RunNotTerminal,
                detail: None,
            };
        }
        // 3. A decision that passes its validator is reported as it is.
        let decision = run.decision.as_ref().map(validate_decision);
        if let Some(Ok(decision)) = decision {
            return Self::Decided(Box::new(decision));
        }
        // 2. A decision was due and cannot be read.
        Self::Undecided {
            reason: UndecidedReason::VerdictSummaryUnavailable,
            detail: run.integrity_error.clone().filter(|text| !text.is_empty()),
        }
    }

    pub(super) fn verdict(&self) -> SummaryVerdict {
        match self {
            Self::Decided(decision) => decision.verdict.into(),
            Self::Undecided { .. } => SummaryVerdict::NotEstablished,
        }
    }

    pub(super) fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decided(decision) => Some(decision),
            Self::Undecided { .. } => None,
        }
    }
}
