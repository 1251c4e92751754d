//! What a resumed run still has to do.

use std::collections::HashSet;

use strandline_contract::{
    run::{ExecutionVariant, PlannedCase},
    words::{IterationStatus, Vocabulary},
};

use crate::{Store, error::StoreError};

/// A configured trial that was never attempted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTrial {
    /// The case's id in the suite.
    pub case_id: String,
    /// The model it is planned under.
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
}

/// Tells whether a stored trial keeps its place for good.
///
/// A trial that was not attempted (`verdict.md` §4.1: pending, skipped,
/// cancelled) may be run again; an attempted one may not, whatever it says.
pub(crate) const fn is_attempted(status: IterationStatus) -> bool {
    match status {
        IterationStatus::Pending | IterationStatus::Skipped | IterationStatus::Cancelled => false,
        IterationStatus::Running
        | IterationStatus::Completed
        | IterationStatus::Failed
        | IterationStatus::TimedOut
        | IterationStatus::SetupFailed => true,
    }
}

impl Store {
    /// Lists the configured trials of a run that were never attempted, in plan
    /// order.
    ///
    /// # Errors
    ///
    /// When there is no such run or the file cannot be read.
    pub async fn missing_trials(&self, run_id: &str) -> Result<Vec<MissingTrial>, StoreError> {
        let (seq, plan) = self.plan(run_id).await?;
        let stored: Vec<(i64, i64, String)> =
            sqlx::query_as("SELECT planned, iteration, status FROM trials WHERE run = ?")
                .bind(seq)
                .fetch_all(&self.readers)
                .await
                .map_err(self.failure())?;
        let attempted: HashSet<(i64, i64)> = stored
            .into_iter()
            .filter(|(_, _, status)| IterationStatus::from_wire(status).is_none_or(is_attempted))
            .map(|(planned, iteration, _)| (planned, iteration))
            .collect();
        Ok(missing(&plan, &attempted))
    }
}

fn missing(plan: &[PlannedCase], attempted: &HashSet<(i64, i64)>) -> Vec<MissingTrial> {
    let mut missing = Vec::new();
    for (ordinal, case) in (0_i64..).zip(plan) {
        for iteration_number in 0..case.configured_trials {
            if !attempted.contains(&(ordinal, i64::from(iteration_number))) {
                missing.push(MissingTrial {
                    case_id: case.case_id.clone(),
                    variant: case.variant.clone(),
                    iteration_number,
                });
            }
        }
    }
    missing
}
