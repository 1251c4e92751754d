//! Runs, variants and trials as they are stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    chain::Chain,
    words::{IterationStatus, TaskResult},
};

pub use crate::words::{ErrorLayer, RunStatus};

/// Stands for the project in paths of runs that lie in a local store.
pub const LOCAL_PROJECT: &str = "local";

/// One model that a case is run under (`verdict.md` §2).
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecutionVariant {
    /// Model name without the provider, 1–200 characters.
    pub model: String,
    /// Provider name, 1–200 characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
}

/// One run of one suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Unique, sortable by start (UUID v7).
    pub id: String,
    /// Lifecycle.
    pub status: RunStatus,
    /// The suite's id and name.
    pub suite_id: String,
    /// The suite's name.
    pub suite_name: String,
    /// Where the suite was read from, relative to the invocation directory.
    pub suite_path: String,
    /// SHA-256 of the suite file's bytes.
    pub source_hash: String,
    /// SHA-256 of the canonical JSON of the resolved suite.
    pub resolved_hash: String,
    /// The resolved suite, secrets unexpanded.
    pub resolved_suite: Value,
    /// Every planned (case, variant) with its number of configured trials.
    pub plan: Vec<PlannedCase>,
    /// Settings of this run: seed, concurrency, flags.
    pub settings: Value,
    /// Facts about each server: name, version, protocol, tool surface hash.
    pub servers: Vec<ServerFacts>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch; absent while running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<i64>,
    /// The policy-v2 decision, once there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<Value>,
    /// Why no decision could be made or read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub integrity_error: Option<String>,
    /// Why the run failed or was stopped, in one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// True when every model in the run is the scripted one.
    pub scripted: bool,
    /// The version of Strandline that made the run.
    pub strandline_version: String,
}

/// One case under one variant, as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCase {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The model it runs under; absent for a model-free case without fan-out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<ExecutionVariant>,
    /// How many trials are configured, 1–100.
    pub configured_trials: u32,
    /// Fraction of eligible trials that must pass.
    pub pass_threshold: f64,
}

/// What is known about one server of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerFacts {
    /// The server's name in the suite.
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// `serverInfo` as the server gave it.
    pub server_info: Option<Value>,
    /// Negotiated protocol version.
    pub protocol_version: Option<String>,
    /// Number of tools, prompts and resources seen while listing.
    pub tool_count: Option<u64>,
    /// Number of prompts, when the server serves them.
    pub prompt_count: Option<u64>,
    /// Number of resources, when the server serves them.
    pub resource_count: Option<u64>,
    /// Pages that `tools/list` took.
    pub tool_list_pages: Option<u64>,
    /// The raw `tools/list` entries.
    pub tools: Vec<Value>,
    /// SHA-256 of the canonical JSON of the tools.
    pub surface_hash: Option<String>,
    /// Findings about the server.
    pub lints: Vec<crate::trace::Lint>,
}

/// Why a trial did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrialError {
    /// Who failed.
    pub layer: ErrorLayer,
    /// Short stable word (`pinned_server_not_connected`, `rate_limited`, …).
    pub code: String,
    /// What happened, in one line, without secrets.
    pub message: String,
    /// HTTP status, when there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http_status: Option<u16>,
}

/// A step that never ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedStep {
    /// The step's id.
    pub step_id: String,
    /// Its index in the case.
    pub step_index: u32,
    /// Its kind.
    pub kind: String,
    /// Why it never ran.
    pub reason: String,
}

/// Tokens used by a trial; absent parts were not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read by the model, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Total as the provider reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Of the input tokens, those that the provider read from its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
}

/// One trial: one iteration of one case under one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrialRecord {
    /// Unique (UUID v7).
    pub id: String,
    /// The run it belongs to.
    pub run_id: String,
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
    #[serde(default)]
    pub evaluator_error: bool,
    /// Why it did not run to its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<TrialError>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch.
    pub ended_at: i64,
    /// Required tool calls, `{toolName, arguments}` each.
    #[serde(default)]
    pub expected_tool_calls: Vec<Value>,
    /// Calls made, `{toolName, arguments, toolCallId}` each.
    #[serde(default)]
    pub actual_tool_calls: Vec<Value>,
    /// Per-turn match summaries (`assertions.md` §4).
    #[serde(default)]
    pub prompts: Vec<Value>,
    /// Assertion rows (`assertions.md` §7), case rows first.
    #[serde(default)]
    pub predicate_results: Vec<Value>,
    /// The exact input that the chain was derived from, for a later pass.
    pub chain_input: Value,
    /// The derived chain.
    pub chain: Chain<'static>,
    /// The derived stage measurements (`measurements.md`).
    pub stage_measurements: Value,
    /// Setup signals and egress canary (`chain.md` §14.3).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage_setup_audit: Option<Value>,
    /// Tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// Calls that the tool policy blocked.
    #[serde(default)]
    pub policy_blocks: Vec<Value>,
    /// Steps that never ran.
    #[serde(default)]
    pub skipped_steps: Vec<SkippedStep>,
    /// Number of model requests made, retries included.
    #[serde(default)]
    pub model_requests: u32,
    /// Time spent waiting for the model, ms.
    #[serde(default)]
    pub model_wait_ms: f64,
    /// Time spent waiting for servers, ms.
    #[serde(default)]
    pub server_wait_ms: f64,
    /// Anything a later version adds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}
