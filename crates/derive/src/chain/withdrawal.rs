//! What a failed model provider takes back (`chain.md` §9.2).

use strandline_contract::words::{StageReason, StageState};

use super::row::Row;

/// Withdraws, row by row and whatever their position, what only a working
/// provider could have shown.
pub(super) fn withdraw(rows: &mut [Row<'_>]) {
    for row in rows {
        match (row.state, row.reason) {
            // Silence is explained by the provider; evidence is kept.
            (
                StageState::NotMeasured,
                StageReason::NoEvidenceCaptured
                | StageReason::TraceAbsent
                | StageReason::ExecutorEmitsNoSpans,
            ) => row.reason = StageReason::ProviderError,
            // A failure that an unfinished trial could not avoid is no failure.
            (
                StageState::Failed,
                StageReason::MissingToolCall
                | StageReason::PredicateFailed
                | StageReason::JudgePartial
                | StageReason::JudgeFailed,
            ) => *row = Row::not_measured(StageReason::ProviderError),
            _ => {}
        }
    }
}
