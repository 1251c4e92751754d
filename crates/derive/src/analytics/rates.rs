//! Rates and means, which are derived and never stored (`analytics.md` §9).

use strandline_contract::{
    analytics::StageTally,
    measurements::LatencyAggregate,
    rate::{Counts, Rate},
    words::ExclusionClass,
};

/// A rate of one stage, with what is left out of its denominator.
pub type StageRate = Rate<ExclusionClass>;

/// Measures `numerator / denominator`; a denominator of 0, or one smaller than
/// the numerator, measures nothing.
#[must_use]
pub fn stage_rate(
    numerator: u64,
    denominator: u64,
    exclusions: Counts<ExclusionClass>,
) -> StageRate {
    if numerator > denominator {
        return Rate::NotMeasured { exclusions };
    }
    Rate::measure(numerator, denominator, exclusions)
}

/// Returns how many of the trials that reached a stage measured it.
#[must_use]
pub fn measurement_coverage_rate(tally: &StageTally) -> StageRate {
    let exclusions = with(tally, ExclusionClass::NotMeasured, tally.not_measured);
    stage_rate(tally.measured, tally.reached, exclusions)
}

/// Returns how many of the trials that measured a stage passed it.
#[must_use]
pub fn measured_pass_rate(tally: &StageTally) -> StageRate {
    let exclusions = with(tally, ExclusionClass::NotMeasured, tally.not_measured);
    stage_rate(tally.passed, tally.measured, exclusions)
}

/// Returns how many of the trials of which it is known reached a stage.
#[must_use]
pub fn reach_rate(tally: &StageTally) -> StageRate {
    let exclusions = with(tally, ExclusionClass::ReachUnknown, tally.reach_unknown);
    stage_rate(
        tally.reached,
        tally.reached.saturating_add(tally.not_reached),
        exclusions,
    )
}

/// Returns the mean of an aggregate, ms; none without samples.
#[must_use]
pub fn latency_mean_ms(aggregate: Option<&LatencyAggregate>) -> Option<f64> {
    crate::measurements::mean_ms(aggregate)
}

/// Returns a tally's exclusions with one of them set anew, unless it is 0.
fn with(tally: &StageTally, class: ExclusionClass, count: u64) -> Counts<ExclusionClass> {
    let mut exclusions = tally.excluded.clone();
    if count > 0 {
        exclusions.insert(class, count);
    }
    exclusions
}
