//! Latency samples added up over trials (`measurements.md` §8).

use strandline_contract::{
    measurements::{LatencyAggregate, LatencyUnit, StageLatency, StageMeasurement},
    words::{LatencyBasis, Reach, Stage, StageState},
};

use super::reach::{is_consistent, reach_of_state};

/// Returns a stage's reach and its latency sample in one included trial.
///
/// `measured` is the measurement row at the stage's place, `state` the state of
/// the chain row there. A row that is missing, out of place or inconsistent
/// gives no sample, and the reach of the state alone.
#[must_use]
pub fn stage_sample(
    stage: Stage,
    state: Option<StageState>,
    measured: Option<&StageMeasurement>,
) -> (Reach, Option<f64>) {
    let usable = measured.filter(|row| {
        row.stage == stage && state.is_some_and(|state| is_consistent(state, row.reach))
    });
    let Some(row) = usable else {
        return (reach_of_state(state), None);
    };
    let sample = row
        .latency
        .filter(|latency| row.reach == Reach::Reached && is_stage_latency(latency))
        .map(|latency| latency.value);
    (row.reach, sample)
}

fn is_stage_latency(latency: &StageLatency) -> bool {
    latency.basis == LatencyBasis::EvidenceSpanUnion
}

/// Adds samples up in trial order; `None` without any.
///
/// Sums of fractional samples can miss the bounds by a unit in the last place;
/// the total is clamped into them.
#[must_use]
pub fn aggregate_latency(
    basis: LatencyBasis,
    samples: impl IntoIterator<Item = f64>,
) -> Option<LatencyAggregate> {
    let mut samples = samples.into_iter();
    let first = samples.next()?;
    let (mut count, mut total, mut least, mut most) = (1_u64, first, first, first);
    for sample in samples {
        count += 1;
        total += sample;
        least = least.min(sample);
        most = most.max(sample);
    }
    Some(within_bounds(LatencyAggregate {
        unit: LatencyUnit::Milliseconds,
        basis,
        sample_count: count,
        total_ms: total,
        min_ms: least,
        max_ms: most,
    }))
}

/// Returns an aggregate with its total clamped to what so many samples can
/// have; sums of fractional milliseconds miss that by a unit in the last place.
#[must_use]
pub fn within_bounds(aggregate: LatencyAggregate) -> LatencyAggregate {
    let (floor, ceiling) = bounds(aggregate.sample_count, aggregate.min_ms, aggregate.max_ms);
    LatencyAggregate {
        total_ms: aggregate.total_ms.max(floor).min(ceiling),
        ..aggregate
    }
}

/// Returns the mean of an aggregate, ms; none without samples.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub fn mean_ms(aggregate: Option<&LatencyAggregate>) -> Option<f64> {
    aggregate
        .filter(|aggregate| aggregate.sample_count > 0)
        .map(|aggregate| aggregate.total_ms / aggregate.sample_count as f64)
}

/// Returns whether an aggregate's figures can be of its samples.
#[must_use]
pub fn is_valid_aggregate(aggregate: &LatencyAggregate, basis: LatencyBasis) -> bool {
    let usable = |figure: f64| figure.is_finite() && figure >= 0.0;
    let (floor, ceiling) = bounds(aggregate.sample_count, aggregate.min_ms, aggregate.max_ms);
    aggregate.basis == basis
        && aggregate.sample_count >= 1
        && usable(aggregate.total_ms)
        && usable(aggregate.min_ms)
        && usable(aggregate.max_ms)
        && aggregate.min_ms <= aggregate.max_ms
        && floor <= aggregate.total_ms
        && aggregate.total_ms <= ceiling
}

/// The least and the greatest total that so many samples can have.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn bounds(count: u64, least: f64, most: f64) -> (f64, f64) {
    let count = count as f64;
    (least * count, most * count)
}
