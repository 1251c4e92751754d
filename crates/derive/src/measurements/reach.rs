//! Was a stage reached? (`measurements.md` §3)

use strandline_contract::words::{Reach, StageState};

/// Returns the reach that a chain row's state alone gives; no row is unknown.
#[must_use]
pub const fn reach_of_state(state: Option<StageState>) -> Reach {
    match state {
        Some(StageState::Passed | StageState::Failed) => Reach::Reached,
        Some(StageState::NotReached) => Reach::NotReached,
        Some(StageState::NotApplicable) => Reach::NotApplicable,
        Some(StageState::NotMeasured) | None => Reach::Unknown,
    }
}

/// Returns whether a reach can stand beside a chain state.
#[must_use]
pub fn is_consistent(state: StageState, reach: Reach) -> bool {
    reach == reach_of_state(Some(state))
        || (state == StageState::NotMeasured && reach == Reach::Reached)
}
