//! Is a trial counted, and if not, why? (`analytics.md` §4)

use strandline_contract::{
    analytics_input::{AnalyticsMeasurements, AnalyticsRun, AnalyticsTrial},
    measurements::MEASUREMENTS_SCHEMA_VERSION,
    words::{ExclusionDetail, IterationStatus, Vocabulary},
};

/// What the reader of trials understands at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// The newest analyzer version.
    pub stage_analyzer_version: i64,
    /// The newest schema of measurements.
    pub measurements_schema_version: i64,
}

impl Reader {
    /// Returns the reader that a run's input names (§3.1).
    #[must_use]
    pub fn of(run: &AnalyticsRun<'_>) -> Self {
        Self {
            stage_analyzer_version: run.reader_stage_analyzer_version,
            measurements_schema_version: run
                .reader_measurements_schema_version
                .unwrap_or(i64::from(MEASUREMENTS_SCHEMA_VERSION)),
        }
    }
}

/// Returns why a trial is not counted; none when it is. First match wins.
#[must_use]
pub fn classify_trial(trial: &AnalyticsTrial<'_>, reader: Reader) -> Option<ExclusionDetail> {
    // 1. The grader failed.
    if trial.evaluator_errored {
        return Some(ExclusionDetail::EvaluatorError);
    }
    // 2. No comparable observation.
    if let Some(detail) = lifecycle(&trial.status) {
        return Some(detail);
    }
    // 3, 4. Something newer than the reader.
    if observed_analyzer(trial).is_some_and(|version| version > reader.stage_analyzer_version) {
        return Some(ExclusionDetail::ChainVersionAhead);
    }
    let schema = trial
        .measurements
        .as_ref()
        .and_then(|measurements| measurements.schema_version);
    if schema.is_some_and(|version| version > reader.measurements_schema_version) {
        return Some(ExclusionDetail::MeasurementsVersionAhead);
    }
    // 5–9. Something that cannot be trusted.
    if trial.stage_results.is_empty() {
        return Some(ExclusionDetail::ChainMissing);
    }
    if !trial.chain_verified {
        return Some(ExclusionDetail::ChainUnverified);
    }
    let Some(measurements) = &trial.measurements else {
        return Some(ExclusionDetail::MeasurementsMissing);
    };
    if !trial.measurements_verified {
        return Some(ExclusionDetail::MeasurementsInvalid);
    }
    if trial.stage_analyzer_version.is_some()
        && trial.stage_analyzer_version != measurements.stage_analyzer_version
    {
        return Some(ExclusionDetail::AnalyzerMismatch);
    }
    None
}

/// Returns the analyzer version that a trial is stamped with: its chain's,
/// else its measurements'.
pub(super) fn observed_analyzer(trial: &AnalyticsTrial<'_>) -> Option<i64> {
    let measured = |measurements: &AnalyticsMeasurements| measurements.stage_analyzer_version;
    trial
        .stage_analyzer_version
        .or_else(|| trial.measurements.as_ref().and_then(measured))
}

fn lifecycle(status: &str) -> Option<ExclusionDetail> {
    match IterationStatus::from_wire(status) {
        Some(IterationStatus::Completed | IterationStatus::Failed) => None,
        Some(IterationStatus::Pending | IterationStatus::Running) => {
            Some(ExclusionDetail::NotTerminal)
        }
        Some(IterationStatus::Skipped) => Some(ExclusionDetail::Skipped),
        Some(IterationStatus::Cancelled) => Some(ExclusionDetail::Cancelled),
        Some(IterationStatus::SetupFailed) => Some(ExclusionDetail::SetupFailed),
        Some(IterationStatus::TimedOut) => Some(ExclusionDetail::TimedOut),
        None => Some(ExclusionDetail::ExecutionFailed),
    }
}
