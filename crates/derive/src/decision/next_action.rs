//! Who looks next at a failing trial (`decision-summary.md` §8).

use strandline_contract::{
    decision::SummaryChain,
    words::{NextAction, StageState, TaskResult},
};

/// The first analyzer that measures every stage; a clean chain of an older one
/// contradicts nothing.
const EVIDENCE_TRIGGERED_ANALYZER: u64 = 7;

/// Derives the next step; first match wins.
///
/// The category is all that the first rule reads, never the stage or reason.
#[must_use]
pub fn derive_next_action(chain: &SummaryChain, result: Option<TaskResult>) -> NextAction {
    // 1. A believable category.
    if let Some(category) = chain.verified().and_then(|chain| chain.failure_category) {
        return category.into();
    }
    // 2. Nothing measured, or nothing recorded as failed.
    let Some(chain) = chain
        .verified()
        .filter(|_| result == Some(TaskResult::Failed))
    else {
        return NextAction::NoCategory;
    };
    // 3. The chain is not complete and clean.
    let states = || chain.stages.iter().map(|row| row.state);
    let clean =
        states().all(|state| matches!(state, StageState::Passed | StageState::NotApplicable));
    if !clean || !states().any(|state| state == StageState::Passed) {
        return NextAction::NoCategory;
    }
    // 4. An older analyzer measures less.
    if chain.analyzer_version < EVIDENCE_TRIGGERED_ANALYZER {
        return NextAction::StaleAnalyzer;
    }
    // 5.
    NextAction::VerdictChainConflict
}
