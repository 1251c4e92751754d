//! What LLM judges said about the trials of a run, counted.

use serde::Deserialize;
use strandline_contract::{
    judgement::{ATTRIBUTION_KEY, AttributionJudgement, GOAL_KEY, GoalJudgement, JudgeTally},
    run::TrialRecord,
    words::{FailureCategory, JudgeRole, JudgeStatus, StageReason},
};

use super::is_owed;

/// Counts what judges say, trial by trial.
#[derive(Debug, Default)]
pub struct JudgeCounter(JudgeTally);

impl JudgeCounter {
    /// Counts one trial.
    pub fn add(&mut self, trial: &TrialRecord) {
        if let Some(goal) = read::<GoalJudgement>(trial, GOAL_KEY) {
            match (goal.verdict, goal.status) {
                (Some(verdict), _) => *self.0.verdicts.entry(verdict).or_default() += 1,
                (None, JudgeStatus::NotApplicable) => self.0.not_applicable += 1,
                (None, _) => self.0.errors += 1,
            }
            self.0.straddles += u64::from(goal.straddle);
            self.0.is_model_under_test |= goal.provenance.is_model_under_test;
            self.0.required |= goal.role == JudgeRole::Required;
            self.named(goal.provenance.model);
        }
        if let Some(said) = read::<AttributionJudgement>(trial, ATTRIBUTION_KEY) {
            self.named(said.provenance.model);
        }
        let says = |reason| {
            let mut rows = trial.chain.stage_results.iter();
            rows.any(|row| row.reason == Some(reason))
        };
        self.0.due += u64::from(is_owed(trial));
        self.0.not_requested += u64::from(says(StageReason::JudgeNotRequested));
        self.0.metadata_attributed +=
            u64::from(trial.chain.failure_category == Some(FailureCategory::Metadata));
    }

    fn named(&mut self, model: String) {
        if !self.0.judges.contains(&model) {
            self.0.judges.push(model);
        }
    }

    /// Returns the counts; `None` when no judge was asked, is due, or is known
    /// not to have been asked.
    #[must_use]
    pub fn tally(self) -> Option<JudgeTally> {
        let tally = self.0;
        let nothing = tally.judges.is_empty() && tally.due == 0 && tally.not_requested == 0;
        (!nothing).then_some(tally)
    }
}

fn read<'a, T: Deserialize<'a>>(trial: &'a TrialRecord, key: &str) -> Option<T> {
    T::deserialize(trial.metadata.get(key)?).ok()
}
