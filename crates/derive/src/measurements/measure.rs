//! The derivation itself (`measurements.md` §4).

use std::collections::BTreeMap;

use strandline_contract::{
    measurements::{
        LatencyUnit, MEASUREMENTS_SCHEMA_VERSION, MeasuredRow, MeasurementsInput, StageLatency,
        StageMeasurement, StageMeasurements, TimedSpan, UNVERSIONED_ANALYZER,
    },
    words::{LatencyBasis, Reach, Stage, Vocabulary},
};

use super::{
    reach::reach_of_state,
    union::{union_length, usable_interval},
};

/// Derives reach and latency of the six stages of one trial.
#[must_use]
pub fn derive_measurements(input: &MeasurementsInput<'_>) -> StageMeasurements {
    let spans = index_spans(input.spans.as_deref().unwrap_or_default());
    StageMeasurements {
        schema_version: MEASUREMENTS_SCHEMA_VERSION,
        stage_analyzer_version: input.stage_analyzer_version.unwrap_or(UNVERSIONED_ANALYZER),
        rows: Stage::ALL
            .iter()
            .map(|stage| measure(&input.stage_results, &spans, *stage))
            .collect(),
    }
}

/// Spans by id.
type SpanIndex<'a> = BTreeMap<&'a str, &'a TimedSpan<'a>>;

/// Indexes spans by id: the last of several wins, an empty id is none (§4, 1.).
fn index_spans<'a>(spans: &'a [TimedSpan<'a>]) -> SpanIndex<'a> {
    spans
        .iter()
        .filter_map(|span| Some((span.id.as_deref()?, span)))
        .filter(|(id, _)| !id.is_empty())
        .collect()
}

/// Returns whether a stage may carry a latency (§1).
#[must_use]
pub const fn is_latency_eligible(stage: Stage) -> bool {
    match stage {
        Stage::Selection | Stage::Call | Stage::Response => true,
        Stage::Connection | Stage::Discovery | Stage::UserValue => false,
    }
}

fn measure(rows: &[MeasuredRow<'_>], spans: &SpanIndex<'_>, stage: Stage) -> StageMeasurement {
    // 2. The last row about the stage wins.
    let row = rows.iter().rev().find(|row| row.stage == stage);
    // 3. Cited spans that are known, in citation order.
    let cited: Vec<&TimedSpan<'_>> = row
        .and_then(|row| row.evidence.as_ref())
        .into_iter()
        .flat_map(|evidence| &evidence.span_ids)
        .filter_map(|id| spans.get(&**id).copied())
        .collect();
    let reach = match reach_of_state(row.map(|row| row.state)) {
        Reach::Unknown if !cited.is_empty() => Reach::Reached,
        reach => reach,
    };
    // 4. Time only where the stage was reached and may carry one.
    let latency = (reach == Reach::Reached && is_latency_eligible(stage))
        .then(|| union_length(cited.into_iter().filter_map(usable_interval).collect()))
        .flatten()
        .map(|value| StageLatency {
            unit: LatencyUnit::Milliseconds,
            basis: LatencyBasis::EvidenceSpanUnion,
            value,
        });
    StageMeasurement {
        stage,
        reach,
        latency,
    }
}
