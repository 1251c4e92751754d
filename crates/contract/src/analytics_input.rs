//! What a funnel is counted from (`analytics.md` §3).
//!
//! Trials are read leniently: what cannot be trusted is not refused here but
//! leaves the counts under a named class.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::{
    decode::{known_word, null_as_default, number, text, whole_number},
    measurements::SignalCopy,
    number::read_count,
    words::{FailureCategory, MaterializationState, Reach, Stage, StageReason, StageState},
};

/// A run, its trials and every copy of its setup signals.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsInput<'a> {
    /// The run.
    #[serde(borrow)]
    pub run: AnalyticsRun<'a>,
    /// Its trials, in a stable order: case order in the suite, then iteration.
    #[serde(borrow)]
    pub trials: Vec<AnalyticsTrial<'a>>,
    /// Every copy found on every trial; copies are not counted twice.
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    pub setup_signals: Vec<SignalCopy<'a>>,
}

/// What a funnel says of its run (§3.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsRun<'a> {
    /// The run.
    #[serde(borrow)]
    pub run_id: Cow<'a, str>,
    /// The suite.
    #[serde(borrow)]
    pub suite_id: Cow<'a, str>,
    /// Runs that were made to be compared share it.
    #[serde(borrow, default, deserialize_with = "text")]
    pub run_group_id: Option<Cow<'a, str>>,
    /// Digest of the authored configuration, frozen at the run's start.
    #[serde(borrow, default, deserialize_with = "text")]
    pub config_revision: Option<Cow<'a, str>>,
    /// Digest of the ids of the cases whose trials are included.
    #[serde(borrow, default, deserialize_with = "text")]
    pub case_set_fingerprint: Option<Cow<'a, str>>,
    /// The organization, where there is one.
    #[serde(borrow, default, deserialize_with = "text")]
    pub organization_id: Option<Cow<'a, str>>,
    /// The workspace, where there is one.
    #[serde(borrow, default, deserialize_with = "text")]
    pub workspace_id: Option<Cow<'a, str>>,
    /// The project, where there is one.
    #[serde(borrow, default, deserialize_with = "text")]
    pub project_id: Option<Cow<'a, str>>,
    /// End of the run, ms since the Unix epoch.
    #[serde(default, deserialize_with = "optional_count")]
    pub run_completed_at: Option<u64>,
    /// Newest change of one of its trials, ms since the Unix epoch.
    #[serde(default, deserialize_with = "optional_count")]
    pub source_max_updated_at: Option<u64>,
    /// Whether a judge pass is still owed; never inferred from the trials.
    pub materialization_state: MaterializationState,
    /// When the document is made, ms since the Unix epoch.
    #[serde(deserialize_with = "read_count")]
    pub now: u64,
    /// When the document that it replaces was first made; absent means now.
    #[serde(default, deserialize_with = "optional_count")]
    pub created_at: Option<u64>,
    /// Newest analyzer version that the reader understands.
    #[serde(deserialize_with = "version")]
    pub reader_stage_analyzer_version: i64,
    /// Newest measurements schema that the reader understands; absent means
    /// the current one.
    #[serde(default, deserialize_with = "whole_number")]
    pub reader_measurements_schema_version: Option<i64>,
}

/// What is counted of one trial (§3.2).
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsTrial<'a> {
    /// The trial's identity; not counted by.
    #[serde(borrow, default, deserialize_with = "text")]
    pub trial_key: Option<Cow<'a, str>>,
    /// The trial's lifecycle, verbatim; may be a word that we do not know.
    #[serde(borrow)]
    pub status: Cow<'a, str>,
    /// The rows of its chain.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stage_results: Vec<AnalyticsRow>,
    /// The version of the rules that derived them.
    #[serde(default, deserialize_with = "whole_number")]
    pub stage_analyzer_version: Option<i64>,
    /// The bucket of its failure; may stand without a failed stage.
    #[serde(default, deserialize_with = "known_word")]
    pub failure_category: Option<FailureCategory>,
    /// The stored chain passed its check.
    #[serde(default, deserialize_with = "null_as_default")]
    pub chain_verified: bool,
    /// Reach and latency of its stages.
    #[serde(default)]
    pub measurements: Option<AnalyticsMeasurements>,
    /// The stored measurements passed their check.
    #[serde(default, deserialize_with = "null_as_default")]
    pub measurements_verified: bool,
    /// The grader failed.
    #[serde(default, deserialize_with = "null_as_default")]
    pub evaluator_errored: bool,
    /// The case's intent, frozen at the run's start.
    #[serde(borrow, default, deserialize_with = "text")]
    pub intent: Option<Cow<'a, str>>,
    /// The model's provider.
    #[serde(borrow, default, deserialize_with = "text")]
    pub provider: Option<Cow<'a, str>>,
    /// The model.
    #[serde(borrow, default, deserialize_with = "text")]
    pub model: Option<Cow<'a, str>>,
    /// The host's key.
    #[serde(borrow, default, deserialize_with = "text")]
    pub host_key: Option<Cow<'a, str>>,
    /// The host's name.
    #[serde(borrow, default, deserialize_with = "text")]
    pub host_name: Option<Cow<'a, str>>,
    /// `emulated` or `harness:<id>`; absent means that it was not recorded.
    #[serde(borrow, default, deserialize_with = "text")]
    pub execution_engine: Option<Cow<'a, str>>,
}

/// What is counted of one chain row. A word that we do not know is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsRow {
    /// The stage.
    #[serde(default, deserialize_with = "known_word")]
    pub stage: Option<Stage>,
    /// What is known about it.
    #[serde(default, deserialize_with = "known_word")]
    pub state: Option<StageState>,
    /// Why.
    #[serde(default, deserialize_with = "known_word")]
    pub reason: Option<StageReason>,
}

/// What is counted of a trial's measurements.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsMeasurements {
    /// The version of their schema.
    #[serde(default, deserialize_with = "whole_number")]
    pub schema_version: Option<i64>,
    /// The version of the rules that derived the chain measured.
    #[serde(default, deserialize_with = "whole_number")]
    pub stage_analyzer_version: Option<i64>,
    /// Their rows.
    #[serde(default, deserialize_with = "null_as_default")]
    pub rows: Vec<AnalyticsMeasurement>,
}

/// What is counted of one measurement row. A word that we do not know is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsMeasurement {
    /// The stage.
    #[serde(default, deserialize_with = "known_word")]
    pub stage: Option<Stage>,
    /// Whether the trial got there.
    #[serde(default, deserialize_with = "known_word")]
    pub reach: Option<Reach>,
    /// How long the cited evidence took.
    #[serde(default)]
    pub latency: Option<AnalyticsLatency>,
}

/// A latency figure as it stands in measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsLatency {
    /// What it measures; only `evidence_span_union` is counted.
    #[serde(default, deserialize_with = "known_word")]
    pub basis: Option<crate::words::LatencyBasis>,
    /// Milliseconds; only finite figures from 0 on are counted.
    #[serde(default, deserialize_with = "number")]
    pub value: Option<f64>,
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    whole_number(deserializer)?.ok_or_else(|| de::Error::custom("must be a whole number"))
}

fn optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    struct Count(#[serde(deserialize_with = "read_count")] u64);
    Ok(Option::<Count>::deserialize(deserializer)?.map(|count| count.0))
}
