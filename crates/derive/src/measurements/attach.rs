//! Measurements beside a stored chain (`measurements.md` §6).

use serde::Deserialize;
use serde_json::{Map, Value};
use strandline_contract::{
    chain::STAGE_ANALYZER_VERSION,
    measurements::{MeasuredRow, MeasurementsInput, STAGE_MEASUREMENTS_KEY, TimedSpan},
    number,
};

use super::measure::derive_measurements;

/// Returns a copy of a trial's metadata with measurements derived from its
/// chain and its spans; an existing value is replaced. Without chain rows, or
/// with rows that cannot be read, the metadata is unchanged.
#[must_use]
pub fn attach_measurements(
    metadata: &Map<String, Value>,
    spans: &[TimedSpan<'_>],
) -> Map<String, Value> {
    let mut attached = metadata.clone();
    if let Some(measurements) = measure(metadata, spans) {
        attached.insert(STAGE_MEASUREMENTS_KEY.to_owned(), measurements);
    }
    attached
}

fn measure(metadata: &Map<String, Value>, spans: &[TimedSpan<'_>]) -> Option<Value> {
    let rows = metadata.get("stageResults")?;
    if rows.as_array()?.is_empty() {
        return None;
    }
    let version = metadata
        .get("stageAnalyzerVersion")
        .and_then(number::as_count)
        .filter(|version| *version >= 1)
        .and_then(|version| i64::try_from(version).ok())
        .unwrap_or(i64::from(STAGE_ANALYZER_VERSION));
    let measurements = derive_measurements(&MeasurementsInput {
        stage_results: Vec::<MeasuredRow<'_>>::deserialize(rows).ok()?,
        stage_analyzer_version: Some(version),
        spans: Some(spans.to_vec()),
    });
    serde_json::to_value(measurements).ok()
}
