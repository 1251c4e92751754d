//! A trial's stored measurements, where they may be believed
//! (`measurements.md` §5).

use serde::Deserialize;
use strandline_contract::{measurements::StageMeasurements, run::TrialRecord};

use super::{disagreements, validate_measurements};

/// Returns a trial's measurements when they pass their check and agree with the
/// trial's chain; `None` when they may not be believed or are not there.
#[must_use]
pub fn believed_measurements(record: &TrialRecord) -> Option<StageMeasurements> {
    validate_measurements(&record.stage_measurements).ok()?;
    let measured = StageMeasurements::deserialize(&record.stage_measurements).ok()?;
    let rows: Vec<_> = measured
        .rows
        .iter()
        .map(|row| (row.stage, row.reach))
        .collect();
    let chained: Vec<_> = record
        .chain
        .stage_results
        .iter()
        .map(|row| (row.stage, row.state))
        .collect();
    let agree = disagreements(
        &rows,
        measured.stage_analyzer_version,
        &chained,
        i64::from(record.chain.stage_analyzer_version),
    )
    .is_empty();
    agree.then_some(measured)
}
