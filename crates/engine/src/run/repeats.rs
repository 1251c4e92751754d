//! How many trials each case variant gets, and when more are added.

use strandline_contract::{
    run::{PlannedCase, TrialRecord},
    verdict::{ObservedStatus, TrialObservation},
    words::{IterationStatus, TaskResult},
};
use strandline_derive::statistics::sequential::SequentialTest;

use super::plan::{Outstanding, RunPlan};

/// Numbers of trials while a run goes on.
///
/// They are the plan's own, unless the run repeats until decided: then a case
/// variant whose trials have all ended undecided gets as many more as any
/// decision still takes, up to the maximum. What is added depends on what its
/// trials show and on nothing else, so that a resumed run goes on alike.
#[derive(Debug)]
pub(super) struct Repeats(Vec<Repeat>);

#[derive(Debug)]
struct Repeat {
    configured: u32,
    /// The test; absent where trials are not added.
    test: Option<SequentialTest>,
    /// Gradeable trials when trials were last added.
    graded: u64,
}

impl Repeats {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let repeat = |planned: &super::CaseVariant| Repeat {
            configured: planned.trials,
            test: plan
                .until_decided
                .as_ref()
                .map(|settings| SequentialTest::new(planned.case.pass_threshold, settings)),
            graded: 0,
        };
        Self(plan.case_variants.iter().map(repeat).collect())
    }

    /// Returns which case variant a trial may have decided, if that matters.
    pub(super) fn assess(&self, plan: &RunPlan, trial: &TrialRecord) -> Option<usize> {
        plan.until_decided.as_ref()?;
        plan.position(trial)
    }

    /// Returns the trials to add to a case variant of which `trials` have
    /// ended; none while some of its trials have not.
    pub(super) fn more(
        &mut self,
        case_variant: usize,
        trials: &[TrialObservation],
    ) -> Vec<Outstanding> {
        let Some(repeat) = self.0.get_mut(case_variant) else {
            return Vec::new();
        };
        let Some(test) = &repeat.test else {
            return Vec::new();
        };
        if trials.len() < repeat.configured as usize {
            return Vec::new();
        }
        let count = |result| {
            let graded = trials.iter().filter(|trial| graded(trial) == Some(result));
            graded.count() as u64
        };
        let (passed, failed) = (count(TaskResult::Passed), count(TaskResult::Failed));
        // Trials that cannot be graded teach nothing; more of them neither.
        if passed + failed <= repeat.graded {
            return Vec::new();
        }
        repeat.graded = passed + failed;
        let batch = test.next_batch(passed, failed, u64::from(repeat.configured));
        let first = repeat.configured;
        repeat.configured = first.saturating_add(u32::try_from(batch).unwrap_or(0));
        (first..repeat.configured)
            .map(|iteration_number| Outstanding {
                case_variant,
                iteration_number,
            })
            .collect()
    }

    /// Returns the plan with the numbers of trials as they are now.
    pub(super) fn planned_cases(&self, plan: &RunPlan) -> Vec<PlannedCase> {
        let mut cases = plan.planned_cases();
        for (case, repeat) in cases.iter_mut().zip(&self.0) {
            case.configured_trials = repeat.configured;
        }
        cases
    }

    /// Returns a case variant's number of trials as it is now.
    pub(super) fn configured(&self, case_variant: usize) -> u32 {
        self.0
            .get(case_variant)
            .map_or(0, |repeat| repeat.configured)
    }
}

/// Returns what a trial's checks say, if it is gradeable (`verdict.md` §4.1).
fn graded(trial: &TrialObservation) -> Option<TaskResult> {
    let completed = trial.status == ObservedStatus::from(IterationStatus::Completed);
    trial
        .task_verdict
        .filter(|_| completed && !trial.evaluator_error)
}
