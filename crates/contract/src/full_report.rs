//! Everything that a stored run says, in one document
//! (`strandline report --format json`).
//!
//! The story in its order: decided, measured, where the chain broke, the
//! evidence. What a check refuses is withheld and said so; what was never
//! recorded is absent and said so. Neither is ever a zero.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    analytics::StageAnalytics,
    decision::{DecisionSummary, SummaryChain},
    friction::FrictionSignals,
    judgement::{AttributionJudgement, GoalJudgement, JudgeTally, SuspectedConditionVerdict},
    measurements::StageMeasurements,
    rate::Rate,
    run::{ExecutionVariant, RunStatus, TrialError, Usage},
    words::{FrictionGap, FrictionSignalKind, FunnelAbsence, IterationStatus, TaskResult},
};

/// The version of the document.
pub const FULL_REPORT_VERSION: u64 = 1;

/// Everything that a stored run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FullReport {
    /// Always [`FULL_REPORT_VERSION`].
    pub schema_version: u64,
    /// Which run, of what, when.
    pub run: ReportedRun,
    /// What was decided, with a diagnostic for every stored trial that did not
    /// pass.
    pub summary: DecisionSummary,
    /// The funnel, or which of the three absences there is instead.
    pub funnel: ReportedFunnel,
    /// Every stored trial, in the plan's order.
    pub trials: Vec<ReportedTrial>,
    /// How many trials show each kind of friction signal; absent when friction
    /// was measured in none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub friction: Option<BTreeMap<FrictionSignalKind, Rate<FrictionGap>>>,
    /// What LLM judges said, counted; absent when none was asked or is due.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judges: Option<JudgeTally>,
}

/// Which run, of what, when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedRun {
    /// The run's id.
    pub run_id: String,
    /// The suite's id.
    pub suite_id: String,
    /// The suite's name.
    pub suite_name: String,
    /// Where the suite was read from.
    pub suite_path: String,
    /// SHA-256 of the suite file's bytes.
    pub source_hash: String,
    /// SHA-256 of the canonical JSON of the resolved suite.
    pub resolved_hash: String,
    /// Lifecycle, as stored.
    pub status: RunStatus,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch; absent while running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<i64>,
    /// Trials that the plan has.
    pub configured_trials: u64,
    /// Trials that are stored.
    pub stored_trials: u64,
    /// Every model in the run is the scripted one.
    pub scripted: bool,
    /// Why the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The version of Strandline that made the run.
    pub strandline_version: String,
    /// The servers under test.
    pub servers: Vec<ReportedServer>,
}

/// One server of a run, without the listing of its tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedServer {
    /// The server's name in the suite.
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// Negotiated protocol version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub protocol_version: Option<String>,
    /// Number of tools seen while listing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_count: Option<u64>,
    /// SHA-256 of the canonical JSON of its tools.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub surface_hash: Option<String>,
}

/// A run's funnel, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum ReportedFunnel {
    /// It is stored and passed its check.
    Recorded {
        /// The stored document.
        analytics: Box<StageAnalytics>,
    },
    /// There is none to show, which is not a funnel of zeros.
    Absent {
        /// Which of the three absences it is.
        absence: FunnelAbsence,
        /// What that means, in one sentence.
        message: String,
        /// What the check found, where it was withheld.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// A stored document as a report may show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase")]
#[schemars(rename = "Reported{T}")]
pub enum Reported<T> {
    /// It passed its check.
    Verified {
        /// The document.
        document: T,
    },
    /// One is stored and may not be believed; it is withheld.
    Unverified,
    /// None is stored: never measured, or never asked.
    Absent,
}

/// What a report says of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedTrial {
    /// The trial's id.
    pub trial_id: String,
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The model it ran under.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
    /// Lifecycle.
    pub status: IterationStatus,
    /// What its checks say, when it completed and was graded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<TaskResult>,
    /// The grader broke: the trial says nothing about the server.
    pub evaluator_error: bool,
    /// Why it did not run to its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<TrialError>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch.
    pub ended_at: i64,
    /// Its chain, where it may be believed.
    pub chain: SummaryChain,
    /// Reach and latency of the six stages.
    pub measurements: Reported<StageMeasurements>,
    /// What its calls show about avoidable work.
    pub friction: Reported<FrictionSignals>,
    /// What LLM judges say; absent when none was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judges: Option<ReportedJudges>,
    /// Tokens used.
    pub usage: Usage,
    /// Requests made of the model, retries included.
    pub model_requests: u32,
    /// Time spent waiting for the model, ms.
    pub model_wait_ms: f64,
    /// Time spent waiting for servers, ms.
    pub server_wait_ms: f64,
}

/// What LLM judges say of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedJudges {
    /// About the user's goal.
    pub goal_completion: Reported<GoalJudgement>,
    /// About tool metadata.
    pub metadata_attribution: Reported<AttributionJudgement>,
    /// About a friction signal.
    pub suspected_condition: Reported<SuspectedConditionVerdict>,
}
