//! Statistics carried beside a decision, for reports only (`verdict.md` §9).

use strandline_contract::{
    verdict::{CaseAggregate, Decision, PassRateInterval, TrialStatistics, TrialStatisticsRow},
    words::MeasurementUnit,
};
use thiserror::Error;

use crate::statistics::{Sample, wilson};

/// Confidence of every interval of a pass rate.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Arguments that an estimate is not defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{passed} of {eligible} trials cannot have passed")]
pub struct OutsideDomain {
    /// Passed trials.
    pub passed: u64,
    /// Out of how many.
    pub eligible: u64,
}

/// Derives the statistics of a decision, row by row.
#[must_use]
pub fn derive_trial_statistics(decision: &Decision) -> TrialStatistics {
    let sum = |count: fn(&CaseAggregate) -> u64| {
        decision
            .cases
            .iter()
            .map(count)
            .fold(0, u64::saturating_add)
    };
    TrialStatistics {
        unit: MeasurementUnit::CaseVariant,
        eligible_trials: sum(|case| case.eligible_trials),
        passed_trials: sum(|case| case.passed_trials),
        cases: decision.cases.iter().map(row).collect(),
    }
}

fn row(case: &CaseAggregate) -> TrialStatisticsRow {
    let (eligible, passed) = (case.eligible_trials, case.passed_trials);
    TrialStatisticsRow {
        case_id: case.case_id.clone(),
        execution_variant: case.execution_variant.clone(),
        ..estimates(eligible, passed)
    }
}

/// Returns everything of a row that follows from its two counts.
///
/// Counts that cannot be (`passed > eligible`) measure nothing.
pub(super) fn estimates(eligible: u64, passed: u64) -> TrialStatisticsRow {
    let draws = i64::try_from(eligible).unwrap_or(i64::MAX);
    TrialStatisticsRow {
        case_id: String::new(),
        execution_variant: None,
        eligible_trials: eligible,
        passed_trials: passed,
        k: eligible,
        pass_at_k: pass_at_k(eligible, passed, draws).unwrap_or(None),
        pass_hat_k: pass_hat_k(eligible, passed, draws).unwrap_or(None),
        pass_rate_interval: pass_rate_interval(eligible, passed).unwrap_or(None),
    }
}

/// Estimates the chance that at least one of `k` trials passes, drawn from
/// `eligible` trials of which `passed` passed.
///
/// `None` when there is no trial or `k` lies outside 1 … `eligible`; `k` is
/// never clamped. Takes at most `k` steps.
///
/// # Errors
///
/// Refuses more passed than eligible trials.
pub fn pass_at_k(eligible: u64, passed: u64, k: i64) -> Result<Option<f64>, OutsideDomain> {
    let failed = failed(eligible, passed)?;
    Ok(draws(eligible, k).map(|k| 1.0 - ratio(failed, eligible, k)))
}

/// Estimates the chance that all of `k` trials pass; else as [`pass_at_k`].
///
/// # Errors
///
/// Refuses more passed than eligible trials.
pub fn pass_hat_k(eligible: u64, passed: u64, k: i64) -> Result<Option<f64>, OutsideDomain> {
    failed(eligible, passed)?;
    Ok(draws(eligible, k).map(|k| ratio(passed, eligible, k)))
}

fn failed(eligible: u64, passed: u64) -> Result<u64, OutsideDomain> {
    eligible
        .checked_sub(passed)
        .ok_or(OutsideDomain { passed, eligible })
}

fn draws(eligible: u64, k: i64) -> Option<u64> {
    u64::try_from(k).ok().filter(|k| (1..=eligible).contains(k))
}

/// Returns `C(chosen, k) / C(all, k)`: divide, then multiply, ascending.
///
/// The two binomials themselves would exceed 2^53.
fn ratio(chosen: u64, all: u64, k: u64) -> f64 {
    if k > chosen {
        return 0.0;
    }
    // Every factor is exactly 1; stored counts may be huge.
    if chosen == all {
        return 1.0;
    }
    let mut product = 1.0;
    for step in 0..k {
        product *= (chosen - step) as f64 / (all - step) as f64;
        // No further factor changes an exact zero.
        if product == 0.0 {
            break;
        }
    }
    product
}

/// Returns the Wilson interval of a pass rate, its ends pinned to exactly 0
/// when nothing passed and exactly 1 when everything did; `None` without trials.
///
/// # Errors
///
/// Refuses more passed than eligible trials.
pub fn pass_rate_interval(
    eligible: u64,
    passed: u64,
) -> Result<Option<PassRateInterval>, OutsideDomain> {
    failed(eligible, passed)?;
    let Some(sample) = Sample::new(passed, eligible).filter(|_| eligible > 0) else {
        return Ok(None);
    };
    let interval = wilson(sample);
    Ok(Some(PassRateInterval {
        confidence: CONFIDENCE,
        lower: if passed == 0 { 0.0 } else { interval.lower },
        upper: if passed == eligible {
            1.0
        } else {
            interval.upper
        },
    }))
}
