//! From a run's stored records to its funnel (`analytics.md` §3, §8, §12).

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::{AnalyticsMeasurements, AnalyticsRow, AnalyticsRun, AnalyticsTrial},
    canonical::sha256_canonical,
    chain::STAGE_ANALYZER_VERSION,
    measurements::{MEASUREMENTS_SCHEMA_VERSION, SignalCopy},
    run::{LOCAL_PROJECT, RunRecord, TrialRecord},
    words::{MaterializationState, SetupPhase, Vocabulary},
};

use super::{Reader, StageAnalyticsAccumulator, parity::case_set_fingerprint};
use crate::{
    chain::validate_chain,
    judge::is_owed,
    measurements::{believed_measurements, within_bounds},
};

/// What a trial is filed under, beside what its record says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialLabels<'a> {
    /// The case's intent, as the run's frozen suite has it.
    pub intent: Option<&'a str>,
    /// The model's provider; absent when no step needs a model.
    pub provider: Option<&'a str>,
    /// The model, as the provider names it.
    pub model: Option<&'a str>,
}

/// When, and in which state, a funnel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Materialization {
    /// Whether a judge pass is still owed.
    pub state: MaterializationState,
    /// Now, ms since the Unix epoch.
    pub now: u64,
    /// When the funnel that it replaces was first made; absent for the first.
    pub created_at: Option<u64>,
}

/// The funnel of one run, counted from stored records one at a time.
///
/// Feed trials in plan order, then by iteration.
#[derive(Debug, Clone)]
pub struct RunFunnel {
    counts: StageAnalyticsAccumulator,
    included_cases: BTreeSet<String>,
    newest: Option<i64>,
    owed: bool,
}

impl Default for RunFunnel {
    fn default() -> Self {
        Self {
            counts: StageAnalyticsAccumulator::new(Reader {
                stage_analyzer_version: i64::from(STAGE_ANALYZER_VERSION),
                measurements_schema_version: i64::from(MEASUREMENTS_SCHEMA_VERSION),
            }),
            included_cases: BTreeSet::new(),
            newest: None,
            owed: false,
        }
    }
}

impl RunFunnel {
    /// Counts a stored trial with its copies of the setup signals.
    pub fn add(&mut self, record: &TrialRecord, labels: TrialLabels<'_>) {
        let included = self.counts.add(&analytics_trial(record, labels));
        if included && !self.included_cases.contains(&record.case_id) {
            self.included_cases.insert(record.case_id.clone());
        }
        for copy in signal_copies(record) {
            self.counts.add_setup_signal(&copy);
        }
        self.newest = self.newest.max(Some(updated_at(record)));
        self.owed |= is_owed(record);
    }

    /// Returns in which state the funnel of these trials is: provisional while
    /// an LLM judge owes an answer that can change a chain.
    #[must_use]
    pub const fn state(&self) -> MaterializationState {
        if self.owed {
            MaterializationState::Provisional
        } else {
            MaterializationState::Final
        }
    }

    /// Returns the document to store with the run.
    #[must_use]
    pub fn finish(&self, run: &RunRecord, how: Materialization) -> StageAnalytics {
        let cases = self.included_cases.iter().map(String::as_str);
        let time = |time: Option<i64>| time.and_then(|time| u64::try_from(time).ok());
        let mut document = self.counts.finish(&AnalyticsRun {
            run_id: run.id.as_str().into(),
            suite_id: run.suite_id.as_str().into(),
            run_group_id: run_group(run).map(Into::into),
            config_revision: Some(config_revision(run).into()),
            case_set_fingerprint: case_set_fingerprint(cases).map(Into::into),
            organization_id: None,
            workspace_id: None,
            project_id: Some(LOCAL_PROJECT.into()),
            run_completed_at: time(run.ended_at),
            source_max_updated_at: time(self.newest),
            materialization_state: how.state,
            now: how.now,
            created_at: how.created_at,
            reader_stage_analyzer_version: i64::from(STAGE_ANALYZER_VERSION),
            reader_measurements_schema_version: None,
        });
        // Our spans carry fractions of a millisecond (`measurements.md` §8).
        let tallies = document.slices.iter_mut().flat_map(|row| &mut row.stages);
        for tally in tallies {
            tally.latency = tally.latency.map(within_bounds);
        }
        document
    }
}

/// Returns when a record last changed: its end, or a judge's last word on it.
fn updated_at(record: &TrialRecord) -> i64 {
    let stamps = record.metadata.values();
    stamps
        .filter_map(|document| document.get("generatedAt")?.as_i64())
        .fold(record.ended_at, i64::max)
}

/// Returns which runs a run was made to be compared with: those of its suite,
/// unless the run names a group.
fn run_group(run: &RunRecord) -> Option<&str> {
    let named = run.settings.get("group").and_then(Value::as_str);
    named
        .or(Some(run.suite_id.as_str()))
        .filter(|group| !group.is_empty())
}

/// Returns the digest of what a run's trials were asked and graded by, frozen
/// at its start: the resolved suite, intents included, and the settings that
/// change grading. Models, numbers of trials and servers are no part of it.
#[must_use]
pub fn config_revision(run: &RunRecord) -> String {
    let setting = |key: &str| run.settings.get(key).cloned().unwrap_or_default();
    sha256_canonical(&json!({
        "suite": run.resolved_hash,
        "matchOptions": setting("matchOptions"),
        "standardChecks": setting("standardChecks"),
    }))
}

/// Returns what is counted of a stored trial. Whether its chain and its
/// measurements may be believed is checked anew, never assumed.
#[must_use]
pub fn analytics_trial<'a>(record: &'a TrialRecord, labels: TrialLabels<'a>) -> AnalyticsTrial<'a> {
    let chain = &record.chain;
    let stored = &record.stage_measurements;
    let measurements = (!stored.is_null())
        .then(|| AnalyticsMeasurements::deserialize(stored).ok())
        .flatten();
    AnalyticsTrial {
        trial_key: Some(record.id.as_str().into()),
        status: record.status.wire().into(),
        stage_results: chain
            .stage_results
            .iter()
            .map(|row| AnalyticsRow {
                stage: Some(row.stage),
                state: Some(row.state),
                reason: row.reason,
            })
            .collect(),
        stage_analyzer_version: Some(i64::from(chain.stage_analyzer_version)),
        failure_category: chain.failure_category,
        chain_verified: validate_chain(&json!(chain)).is_ok(),
        measurements_verified: believed_measurements(record).is_some(),
        measurements,
        evaluator_errored: record.evaluator_error,
        intent: labels.intent.map(Into::into),
        provider: labels.provider.map(Into::into),
        model: labels.model.map(Into::into),
        host_key: None,
        host_name: None,
        execution_engine: None,
    }
}

/// Returns a trial's copies of the setup signals, as its chain saw them.
fn signal_copies(record: &TrialRecord) -> impl Iterator<Item = SignalCopy<'_>> {
    SetupPhase::ALL.iter().filter_map(|phase| {
        let signals = record.chain_input.get("evidence")?.get("setupSignals")?;
        let copy = SignalCopy::deserialize(signals.get(phase.wire())?).ok()?;
        Some(SignalCopy {
            phase: Some(*phase),
            trial_key: Some(record.id.as_str().into()),
            ..copy
        })
    })
}
