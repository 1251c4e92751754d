//! One case variant's trials → its row (`verdict.md` §4, R16–R20).

use strandline_contract::{
    rate::{Counts, Rate},
    verdict::{CaseAggregate, CaseInput, MAX_CONFIGURED_TRIALS, ObservedStatus, TrialObservation},
    words::{
        DecisionReason, ExclusionReason, IterationStatus, TaskResult, Verdict, VerdictRefusal,
    },
};

use super::Refusal;

/// A row with the sums that only the run needs.
pub(super) struct Aggregated {
    pub(super) row: CaseAggregate,
    pub(super) completed: u64,
    pub(super) evaluator_errors: u64,
    pub(super) attempt_exclusions: Counts<ExclusionReason>,
}

/// Rolls up one case variant.
///
/// # Errors
///
/// Refuses by R16–R20; identities and names are the run's to check.
pub fn aggregate_case(case: &CaseInput) -> Result<CaseAggregate, Refusal> {
    aggregate(case).map(|aggregated| aggregated.row)
}

#[derive(Default)]
struct Sums {
    attempted: u64,
    completed: u64,
    passed: u64,
    failed: u64,
    evaluator_errors: u64,
    eligibility_exclusions: Counts<ExclusionReason>,
    attempt_exclusions: Counts<ExclusionReason>,
}

impl Sums {
    /// Adds one trial (§4.1, one arm a table row; R18, R19).
    fn add(&mut self, trial: &TrialObservation) -> Result<(), VerdictRefusal> {
        let ObservedStatus::Known(status) = &trial.status else {
            return Err(VerdictRefusal::UnknownStatus);
        };
        match status {
            IterationStatus::Completed => self.add_completed(trial)?,
            IterationStatus::Running => self.lost(ExclusionReason::NotTerminal),
            IterationStatus::SetupFailed => self.lost(ExclusionReason::SetupFailed),
            IterationStatus::TimedOut => self.lost(ExclusionReason::TimedOut),
            IterationStatus::Failed => self.lost(ExclusionReason::ExecutionFailed),
            IterationStatus::Pending => self.not_attempted(ExclusionReason::NotTerminal, 1),
            IterationStatus::Skipped => self.not_attempted(ExclusionReason::Skipped, 1),
            IterationStatus::Cancelled => self.not_attempted(ExclusionReason::Cancelled, 1),
        }
        Ok(())
    }

    fn add_completed(&mut self, trial: &TrialObservation) -> Result<(), VerdictRefusal> {
        self.attempted += 1;
        self.completed += 1;
        match (trial.evaluator_error, trial.task_verdict) {
            (true, _) => {
                self.evaluator_errors += 1;
                *self
                    .eligibility_exclusions
                    .entry(ExclusionReason::EvaluatorError)
                    .or_default() += 1;
            }
            (false, Some(TaskResult::Passed)) => self.passed += 1,
            (false, Some(TaskResult::Failed)) => self.failed += 1,
            (false, None) => return Err(VerdictRefusal::CompletedWithoutVerdict),
        }
        Ok(())
    }

    /// Attempted, and not gradeable.
    fn lost(&mut self, reason: ExclusionReason) {
        self.attempted += 1;
        *self.eligibility_exclusions.entry(reason).or_default() += 1;
    }

    fn not_attempted(&mut self, reason: ExclusionReason, trials: u64) {
        if trials > 0 {
            *self.eligibility_exclusions.entry(reason).or_default() += trials;
            *self.attempt_exclusions.entry(reason).or_default() += trials;
        }
    }
}

pub(super) fn aggregate(case: &CaseInput) -> Result<Aggregated, Refusal> {
    let refuse = |code| Err(Refusal::of_case(code, &case.case_id));

    // R16.
    let configured = case.configured_trials;
    if !(1..=MAX_CONFIGURED_TRIALS).contains(&configured) {
        return refuse(VerdictRefusal::ConfiguredTrialsOutOfRange);
    }
    // R17.
    let threshold = case.effective_pass_threshold;
    if !threshold.is_finite() {
        return refuse(VerdictRefusal::ThresholdNotFinite);
    }
    if !(0.0..=1.0).contains(&threshold) {
        return refuse(VerdictRefusal::ThresholdOutOfRange);
    }
    // R18, R19, per trial in order.
    let mut sums = Sums::default();
    for trial in &case.trials {
        if let Err(code) = sums.add(trial) {
            return refuse(code);
        }
    }
    // R20.
    let Some(missing) = configured.checked_sub(case.trials.len() as u64) else {
        return refuse(VerdictRefusal::TooManyTrials);
    };
    // §4.1, last row: configured trials without an entry have not ended.
    sums.not_attempted(ExclusionReason::NotTerminal, missing);
    Ok(row(case, sums))
}

/// Builds the row (§4.2).
fn row(case: &CaseInput, sums: Sums) -> Aggregated {
    let eligible = sums.passed + sums.failed;
    let pass_rate = Rate::measure(sums.passed, eligible, sums.eligibility_exclusions.clone());
    let (verdict, reason) = verdict_of(&pass_rate, case.effective_pass_threshold);
    Aggregated {
        row: CaseAggregate {
            case_id: case.case_id.clone(),
            execution_variant: case.execution_variant.as_ref().map(Into::into),
            configured_trials: case.configured_trials,
            attempted_trials: sums.attempted,
            eligible_trials: eligible,
            passed_trials: sums.passed,
            failed_trials: sums.failed,
            effective_pass_threshold: case.effective_pass_threshold,
            pass_rate,
            completion_rate: Rate::measure(
                sums.completed,
                sums.attempted,
                sums.attempt_exclusions.clone(),
            ),
            observed_stability: Rate::measure(
                sums.passed.max(sums.failed),
                eligible,
                sums.eligibility_exclusions,
            ),
            mixed_verdict: sums.passed > 0 && sums.failed > 0,
            verdict,
            reason,
        },
        completed: sums.completed,
        evaluator_errors: sums.evaluator_errors,
        attempt_exclusions: sums.attempt_exclusions,
    }
}

/// Says what a row's pass rate means: the quotient is compared as it is, with
/// no epsilon (§4.2).
pub(super) fn verdict_of(
    pass_rate: &Rate<ExclusionReason>,
    threshold: f64,
) -> (Verdict, DecisionReason) {
    match pass_rate.value() {
        None => (
            Verdict::Inconclusive,
            DecisionReason::CaseHasNoEligibleTrials,
        ),
        Some(value) if value >= threshold => {
            (Verdict::Passed, DecisionReason::CasePassRateMetThreshold)
        }
        Some(_) => (Verdict::Failed, DecisionReason::CasePassRateBelowThreshold),
    }
}
