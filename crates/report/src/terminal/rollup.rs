//! One strip for all trials of a case variant.
//!
//! A cell shows the least favourable state among the trials, in the order
//! failed, not measured, never ran, passed, not applicable. So a cell is a pass
//! only when every trial that the stage applies to passed it, and one failing
//! trial of a hundred shows. Beside the mark stands the number of trials in
//! that state, unless all are.

use strandline_contract::words::{Stage, StageState, Vocabulary};

use super::Trial;

/// One cell of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The least favourable state.
    pub(crate) state: StageState,
    /// Trials in that state.
    pub(crate) trials: usize,
    /// Trials that have a row for this stage; a chain that does not validate
    /// has none.
    pub(crate) of: usize,
}

impl Cell {
    /// Returns the number to print, when not every trial is in the state.
    pub(crate) fn part(self) -> Option<usize> {
        (self.trials < self.of).then_some(self.trials)
    }
}

/// States from the least to the most favourable.
const ORDER: [StageState; 5] = [
    StageState::Failed,
    StageState::NotMeasured,
    StageState::NotReached,
    StageState::Passed,
    StageState::NotApplicable,
];

/// Returns the cells of all six stages; `None` where no trial has a row.
pub(crate) fn strip(trials: &[Trial<'_>]) -> Vec<Option<Cell>> {
    Stage::ALL
        .iter()
        .map(|stage| {
            let states: Vec<StageState> = trials
                .iter()
                .flat_map(Trial::stages)
                .filter(|row| row.stage == *stage)
                .map(|row| row.state)
                .collect();
            let count = |state: StageState| states.iter().filter(|seen| **seen == state).count();
            ORDER
                .into_iter()
                .map(|state| Cell {
                    state,
                    trials: count(state),
                    of: states.len(),
                })
                .find(|cell| cell.trials > 0)
        })
        .collect()
}
