//! The funnel of one run, counted over its trials (`analytics.md` §8).
//!
//! Counts and sums only; rates are derived by readers. A run without this
//! document is unmeasured, never a funnel of zeros.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    measurements::{LatencyAggregate, SetupTally},
    number,
    rate::Counts,
    words::{
        ExclusionClass, ExclusionDetail, FailureCategory, MaterializationState, MeasurementUnit,
        SliceDimension, Stage, StageReason,
    },
};

/// The version of the document.
pub const STAGE_ANALYTICS_VERSION: u64 = 1;
/// Most intent slices that are kept.
pub const MAX_INTENT_SLICES: usize = 50;
/// Most model slices that are kept.
pub const MAX_MODEL_SLICES: usize = 25;
/// Most host slices that are kept.
pub const MAX_HOST_SLICES: usize = 25;
/// Most slices of a document: all trials, and the three caps.
pub const MAX_SLICES: usize = 1 + MAX_INTENT_SLICES + MAX_MODEL_SLICES + MAX_HOST_SLICES;

/// The six-stage funnel of one run (`EvalStageAnalyticsV1`).
///
/// Never add tallies across stages, since a trial is in all six, and never
/// merge the documents of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageAnalytics {
    /// Always [`STAGE_ANALYTICS_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub schema_version: u64,
    /// Always `trial`.
    pub measurement_unit: MeasurementUnit,
    /// The run.
    #[schemars(length(min = 1))]
    pub run_id: String,
    /// The suite.
    #[schemars(length(min = 1))]
    pub suite_id: String,
    /// Runs that were made to be compared share it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_group_id: Option<String>,
    /// Digest of the authored configuration, frozen at the run's start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config_revision: Option<String>,
    /// Digest of the ids of the cases whose trials are included.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case_set_fingerprint: Option<String>,
    /// The organization, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub organization_id: Option<String>,
    /// The workspace, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workspace_id: Option<String>,
    /// The project, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project_id: Option<String>,
    /// End of the run, ms since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_completed_at: Option<u64>,
    /// Number of trials that the document was counted from.
    #[serde(deserialize_with = "number::read_count")]
    pub source_iteration_count: u64,
    /// Newest change of one of them, ms since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_max_updated_at: Option<u64>,
    /// The analyzer that made the chains; the newest of several.
    #[schemars(range(min = 1))]
    pub stage_analyzer_version: i64,
    /// All analyzers, ascending, when there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_stage_analyzer_versions: Option<Vec<i64>>,
    /// The schema of the measurements; the newest of several.
    #[schemars(range(min = 1))]
    pub measurements_schema_version: i64,
    /// All schemas, ascending, when there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_measurements_schema_versions: Option<Vec<i64>>,
    /// Whether the counts can still move.
    pub materialization_state: MaterializationState,
    /// When the run's first document was made, ms since the Unix epoch.
    #[serde(deserialize_with = "number::read_count")]
    pub created_at: u64,
    /// When this one was made, ms since the Unix epoch.
    #[serde(deserialize_with = "number::read_count")]
    pub updated_at: u64,
    /// Trials that are counted in the tallies.
    #[serde(deserialize_with = "number::read_count")]
    pub included_trials: u64,
    /// Trials that are not, per class.
    pub excluded_trials: Counts<ExclusionClass>,
    /// All trials.
    #[serde(deserialize_with = "number::read_count")]
    pub total_trials: u64,
    /// Trials that are not counted, in detail.
    pub excluded_trial_detail: Counts<ExclusionDetail>,
    /// All trials first, then intents, models and hosts.
    #[schemars(length(min = 1, max = 101))]
    pub slices: Vec<SliceRow>,
    /// What happened in the setup phases; one entry per phase with a signal.
    #[schemars(length(max = 2))]
    pub setup: Vec<SetupTally>,
    /// Dimensions that have more slices than are kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slice_truncation: Option<Vec<SliceTruncation>>,
}

impl StageAnalytics {
    /// Returns the slice of all trials.
    #[must_use]
    pub fn overall(&self) -> Option<&SliceRow> {
        self.slices_of(SliceDimension::Overall).next()
    }

    /// Returns the slices of one dimension, in document order.
    pub fn slices_of(&self, dimension: SliceDimension) -> impl Iterator<Item = &SliceRow> {
        self.slices
            .iter()
            .filter(move |row| row.slice.dimension() == dimension)
    }
}

/// Which trials a slice counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "dimension",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Slice {
    /// All of them.
    Overall {},
    /// Those of cases with one intent.
    Intent {
        /// The intent, trimmed; `null` for cases without one.
        intent: Option<String>,
    },
    /// Those under one model.
    Model {
        /// The provider.
        provider: String,
        /// The model, as the provider names it.
        model: String,
    },
    /// Those under one host.
    Host {
        /// The host's key.
        host_key: String,
        /// The host's name, as its first trial has it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        host_name: Option<String>,
        /// `emulated` or `harness:<id>`, as its first trial has it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_engine: Option<String>,
    },
}

impl Slice {
    /// Returns what the slice groups by.
    #[must_use]
    pub const fn dimension(&self) -> SliceDimension {
        match self {
            Self::Overall {} => SliceDimension::Overall,
            Self::Intent { .. } => SliceDimension::Intent,
            Self::Model { .. } => SliceDimension::Model,
            Self::Host { .. } => SliceDimension::Host,
        }
    }
}

/// One slice's counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SliceRow {
    /// Which trials.
    pub slice: Slice,
    /// Trials that are counted in the tallies.
    #[serde(deserialize_with = "number::read_count")]
    pub included_trials: u64,
    /// Trials of the slice that are not, per class.
    pub excluded_trials: Counts<ExclusionClass>,
    /// Included trials per failure category, in category order.
    pub failure_categories: Vec<CategoryCount>,
    /// One tally per stage, in stage order.
    #[schemars(length(min = 6, max = 6))]
    pub stages: Vec<StageTally>,
}

/// How many included trials are grouped under a failure category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryCount {
    /// The bucket; never a cause.
    pub category: FailureCategory,
    /// Trials, at least 1.
    #[serde(deserialize_with = "number::read_count")]
    pub count: u64,
}

/// How many stage rows carry a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonCount {
    /// What was observed.
    pub reason: StageReason,
    /// Trials, at least 1.
    #[serde(deserialize_with = "number::read_count")]
    pub count: u64,
}

/// What happened to a slice's included trials at one stage.
///
/// `applicable` = `reached` + `not_reached` + `reach_unknown`,
/// `reached` = `measured` + `not_measured`, `measured` = `passed` + `failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageTally {
    /// The stage.
    pub stage: Stage,
    /// Trials whose case exercises the stage.
    #[serde(deserialize_with = "number::read_count")]
    pub applicable: u64,
    /// Of these, trials that got there.
    #[serde(deserialize_with = "number::read_count")]
    pub reached: u64,
    /// Trials whose chain broke earlier.
    #[serde(deserialize_with = "number::read_count")]
    pub not_reached: u64,
    /// Trials of which nothing says whether they got there.
    #[serde(deserialize_with = "number::read_count")]
    pub reach_unknown: u64,
    /// Reached, and something decided the stage.
    #[serde(deserialize_with = "number::read_count")]
    pub measured: u64,
    /// The stage held.
    #[serde(deserialize_with = "number::read_count")]
    pub passed: u64,
    /// The stage did not hold.
    #[serde(deserialize_with = "number::read_count")]
    pub failed: u64,
    /// Reached, and nothing decided the stage.
    #[serde(deserialize_with = "number::read_count")]
    pub not_measured: u64,
    /// Trials whose case does not exercise the stage.
    #[serde(deserialize_with = "number::read_count")]
    pub not_applicable: u64,
    /// What is left out of the stage's rates, and why.
    pub excluded: Counts<ExclusionClass>,
    /// Reasons of the stage's rows, in reason order.
    pub reasons: Vec<ReasonCount>,
    /// Time of the cited evidence, where there was any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency: Option<LatencyAggregate>,
}

/// A dimension that has more slices than are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SliceTruncation {
    /// `intent`, `model` or `host`.
    pub dimension: SliceDimension,
    /// Slices that there are.
    #[serde(deserialize_with = "number::read_count")]
    pub distinct_values: u64,
    /// Slices that are kept: those with the most included trials.
    #[serde(deserialize_with = "number::read_count")]
    pub retained: u64,
}
