//! Trials streamed in, counts merged, the document (`analytics.md` §6–§8).

use std::collections::BTreeSet;

use strandline_contract::{
    analytics::{STAGE_ANALYTICS_VERSION, StageAnalytics},
    analytics_input::{AnalyticsInput, AnalyticsRun, AnalyticsTrial},
    measurements::SignalCopy,
    words::MeasurementUnit,
};

use super::{
    classify::{Reader, classify_trial, observed_analyzer},
    slices::Slices,
    tally::Contributions,
};
use crate::measurements::SetupAccumulator;

/// Counts the funnel of one run.
#[must_use]
pub fn derive_stage_analytics(input: &AnalyticsInput<'_>) -> StageAnalytics {
    let mut counts = StageAnalyticsAccumulator::new(Reader::of(&input.run));
    for trial in &input.trials {
        counts.add(trial);
    }
    for copy in &input.setup_signals {
        counts.add_setup_signal(copy);
    }
    counts.finish(&input.run)
}

/// The funnel of a run as far as its trials went.
///
/// Its size grows with the number of distinct intents, models and hosts (about
/// two kilobytes each) and of trials that a failed setup touched, not with the
/// number of trials. Feed trials in a stable order, case order in the suite and
/// then iteration: the first trial of a host names it, and sums of fractional
/// milliseconds depend on the order (§11).
#[derive(Debug, Clone)]
pub struct StageAnalyticsAccumulator {
    reader: Reader,
    trials: u64,
    slices: Slices,
    analyzers: BTreeSet<i64>,
    schemas: BTreeSet<i64>,
    setup: SetupAccumulator,
}

impl StageAnalyticsAccumulator {
    /// Starts with no trial.
    #[must_use]
    pub fn new(reader: Reader) -> Self {
        Self {
            reader,
            trials: 0,
            slices: Slices::default(),
            analyzers: BTreeSet::new(),
            schemas: BTreeSet::new(),
            setup: SetupAccumulator::default(),
        }
    }

    /// Counts a trial; returns whether it is included.
    pub fn add(&mut self, trial: &AnalyticsTrial<'_>) -> bool {
        self.trials += 1;
        if let Some(detail) = classify_trial(trial, self.reader) {
            self.slices.each(trial, |slice| slice.excluded.add(detail));
            return false;
        }
        let contributions = Contributions::of(trial);
        self.slices
            .each(trial, |slice| slice.include(&contributions));
        self.analyzers.extend(observed_analyzer(trial));
        self.schemas.extend(
            trial
                .measurements
                .as_ref()
                .and_then(|measurements| measurements.schema_version),
        );
        true
    }

    /// Counts one trial's copy of a setup signal.
    pub fn add_setup_signal(&mut self, copy: &SignalCopy<'_>) {
        self.setup.add(copy);
    }

    /// Adds what was counted over trials that come after these.
    pub fn merge(&mut self, later: Self) {
        self.trials += later.trials;
        self.slices.merge(later.slices);
        self.analyzers.extend(later.analyzers);
        self.schemas.extend(later.schemas);
        self.setup.merge(later.setup);
    }

    /// Returns the document.
    #[must_use]
    pub fn finish(&self, run: &AnalyticsRun<'_>) -> StageAnalytics {
        let (slices, truncation) = self.slices.rows();
        let overall = &self.slices.overall;
        let (analyzer, analyzers) = versions(&self.analyzers, self.reader.stage_analyzer_version);
        let (schema, schemas) = versions(&self.schemas, self.reader.measurements_schema_version);
        let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        StageAnalytics {
            schema_version: STAGE_ANALYTICS_VERSION,
            measurement_unit: MeasurementUnit::Trial,
            run_id: run.run_id.clone().into_owned(),
            suite_id: run.suite_id.clone().into_owned(),
            run_group_id: owned(&run.run_group_id),
            config_revision: owned(&run.config_revision),
            case_set_fingerprint: owned(&run.case_set_fingerprint),
            organization_id: owned(&run.organization_id),
            workspace_id: owned(&run.workspace_id),
            project_id: owned(&run.project_id),
            run_completed_at: run.run_completed_at,
            source_iteration_count: self.trials,
            source_max_updated_at: run.source_max_updated_at,
            stage_analyzer_version: analyzer,
            source_stage_analyzer_versions: analyzers,
            measurements_schema_version: schema,
            source_measurements_schema_versions: schemas,
            materialization_state: run.materialization_state,
            created_at: run.created_at.unwrap_or(run.now),
            updated_at: run.now,
            included_trials: overall.included,
            excluded_trials: overall.excluded.by_class(),
            total_trials: self.trials,
            excluded_trial_detail: overall.excluded.by_detail().clone(),
            slices,
            setup: self.setup.tallies(),
            slice_truncation: (!truncation.is_empty()).then_some(truncation),
        }
    }
}

/// Returns the version that a document names, and all of them when there are
/// several (§6).
fn versions(seen: &BTreeSet<i64>, reader: i64) -> (i64, Option<Vec<i64>>) {
    let newest = seen.last().copied().unwrap_or(reader);
    let all = (seen.len() > 1).then(|| seen.iter().copied().collect());
    (newest, all)
}
