//! The resolved suite: what a run reads (`suite-file.md` §8).
//!
//! The authored form is kept by the suite loader; a resolved suite has every
//! default applied and always uses the words of dialect 2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An authored assertion, kept as written.
///
/// A predicate is keyed by `type`, a widget assertion by `kind`
/// (`assertions.md` §8, `suite-file.md` §6).
pub type AuthoredAssertion = Map<String, Value>;

/// A suite with every default applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedSuite {
    /// Dialect of the file it came from: `"1"` or `"2"`.
    pub schema_version: String,
    /// The suite's id and name.
    pub suite: SuiteIdentity,
    /// Server names, environment and hosts.
    pub target: Target,
    /// Suite-level settings that are not copied onto cases.
    pub defaults: ResolvedDefaults,
    /// Every case, disabled ones included, in file order.
    pub cases: Vec<ResolvedCase>,
    /// Where a converted suite came from, as authored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provenance: Option<Value>,
    /// Bounds of a run (extension, §10); defaults applied.
    pub execution: Execution,
}

impl ResolvedSuite {
    /// Returns the cases that a run may execute, in file order.
    pub fn enabled_cases(&self) -> impl Iterator<Item = &ResolvedCase> {
        self.cases.iter().filter(|case| !case.disabled)
    }
}

/// A suite's id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteIdentity {
    /// Stable id, `[A-Za-z0-9_-]{1,128}`.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What the suite is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
}

/// What the suite runs against: names, not transports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Servers, absent when only an environment is named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub servers: Option<Vec<TargetServer>>,
    /// A named hosted environment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub environment: Option<String>,
    /// Host profiles; ignored by a local run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hosts: Option<Vec<TargetHost>>,
}

/// A server named by a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetServer {
    /// Name, the key under which a transport is bound.
    pub name: String,
    /// Stable id; wins over the name where both are known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
}

/// A host profile named by a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetHost {
    /// Name.
    pub name: String,
    /// Stable id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// Servers bound under this host; an empty list means none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub servers: Option<Vec<TargetServer>>,
}

/// Suite-level settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedDefaults {
    /// `provider/model` or a bare model.
    pub model: String,
    /// Provider of a bare model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// System prompt of every conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system_prompt: Option<String>,
    /// Sampling temperature; absent leaves it to the provider.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub temperature: Option<f64>,
    /// Trials per case.
    pub iterations: u32,
    /// Fraction of eligible trials that must pass.
    pub pass_threshold: f64,
    /// Validity checks; `minEligibleTrials` stays absent when not authored.
    pub validity: ResolvedValidity,
    /// Which tools may be called; absent restrains nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_policy: Option<ToolPolicy>,
    /// Judge settings, as authored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judge: Option<Value>,
    /// Always `full`.
    pub capture_level: String,
    /// Suite-level match options (extension, §10).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub match_options: Option<MatchOptions>,
}

/// Validity checks of a run (`suite-file.md` §4.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedValidity {
    /// Explicit minimum; absent demands that every configured trial was attempted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min_eligible_trials: Option<u64>,
    /// Least fraction of attempted trials that completed.
    pub min_completion_rate: f64,
    /// Greatest fraction of attempted trials that the evaluator may lose.
    pub max_evaluator_error_rate: f64,
}

/// Which tools a model may call (`suite-file.md` §4.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPolicy {
    /// Default rule.
    pub mode: ToolPolicyMode,
    /// Names that are always allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Names that are never allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// Default rule of a tool policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolPolicyMode {
    /// Everything but declared destructive tools.
    Default,
    /// Only tools declared read-only.
    ReadOnly,
}

/// How recorded calls are matched (`assertions.md` §2.1), public spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchOptions {
    /// `any`, `in-order` or `exact`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_order: Option<String>,
    /// `"unlimited"` or a count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub extra_tool_calls: Option<Value>,
    /// `partial`, `exact` or `ignore`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<String>,
}

/// Bounds of a run (`suite-file.md` §10), milliseconds where named so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Execution {
    /// One user turn.
    pub turn_timeout_ms: u64,
    /// One tool call.
    pub tool_call_timeout_ms: u64,
    /// One trial.
    pub iteration_timeout_ms: u64,
    /// The whole run.
    pub run_timeout_ms: u64,
    /// Times a failed turn is tried again.
    pub turn_retries: u32,
    /// Model steps per prompt.
    pub max_steps: u32,
    /// Trials at once.
    pub concurrency: u32,
    /// A tool error fails the trial.
    pub fail_on_tool_error: bool,
    /// Fresh server session per trial, or one shared by all (extension).
    pub session: SessionMode,
    /// Time a server may take to start and initialize.
    pub setup_timeout_ms: u64,
    /// Time to wait for late tools after initialize.
    pub tool_settle_ms: u64,
}

/// How server sessions relate to trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionMode {
    /// A fresh session per trial.
    #[default]
    Fresh,
    /// One session shared by all trials of the run.
    Shared,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            turn_timeout_ms: 360_000,
            tool_call_timeout_ms: 30_000,
            iteration_timeout_ms: 600_000,
            run_timeout_ms: 1_800_000,
            turn_retries: 0,
            max_steps: 10,
            concurrency: 1,
            fail_on_tool_error: true,
            session: SessionMode::Fresh,
            setup_timeout_ms: 30_000,
            tool_settle_ms: 0,
        }
    }
}

/// A case with every default applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedCase {
    /// Stable id, unique in the suite.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What the user is after, for slicing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intent: Option<String>,
    /// `capability` or `regression`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Case-level predicates.
    pub assertions: Vec<AuthoredAssertion>,
    /// Inherited standard checks that this case switches off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed_suite_standard_check_ids: Vec<String>,
    /// Case-level judge switch, as authored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judge: Option<Value>,
    /// What a good answer says, for the judge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_output: Option<String>,
    /// Correct behaviour is to call nothing.
    pub is_negative_test: bool,
    /// `provider/model` or a bare model.
    pub model: String,
    /// Provider of a bare model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// Trials.
    pub iterations: u32,
    /// Fraction of eligible trials that must pass.
    pub pass_threshold: f64,
    /// Kept in the file, never run.
    pub disabled: bool,
    /// Where a converted case stands, as authored.
    #[serde(rename = "import", skip_serializing_if = "Option::is_none", default)]
    pub import: Option<Value>,
    /// Case-level match options (extension, §10).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub match_options: Option<MatchOptions>,
    /// The scripted model's turns (extension).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub script: Option<Value>,
}

/// One step of a case (`suite-file.md` §6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Step {
    /// One user message.
    Prompt {
        /// Unique in the case.
        id: String,
        /// The message.
        prompt: String,
    },
    /// A call that needs no model.
    ToolCall {
        /// Unique in the case.
        id: String,
        /// The server, by name.
        server_name: String,
        /// The server, by id; wins over the name.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        server_id: Option<String>,
        /// The server's own tool name.
        tool_name: String,
        /// Arguments as sent.
        arguments: Map<String, Value>,
        /// Time a widget may take to render.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        render_timeout_ms: Option<u64>,
    },
    /// Drives a mounted widget.
    Interact {
        /// Unique in the case.
        id: String,
        /// The widget's tool.
        tool_name: String,
        /// What to do, as authored.
        action: Value,
    },
    /// A check at this point of the conversation.
    Assert {
        /// Unique in the case.
        id: String,
        /// A predicate (`type`) or a widget assertion (`kind`).
        assertion: AuthoredAssertion,
    },
}

impl Step {
    /// Returns the step's id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Prompt { id, .. }
            | Self::ToolCall { id, .. }
            | Self::Interact { id, .. }
            | Self::Assert { id, .. } => id,
        }
    }

    /// Returns the wire word of the step's kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => "prompt",
            Self::ToolCall { .. } => "toolCall",
            Self::Interact { .. } => "interact",
            Self::Assert { .. } => "assert",
        }
    }
}
