//! What is recorded of a chat session before its chain is derived
//! (`chain.md` §14.6). A reading view, like [`crate::chain_input`].

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    chain_input::{AssertionRow, EvidenceSpan},
    decode::{is_empty_list, null_as_default, text},
    words::{CriteriaStatus, GoalJudgeStatus, SessionLifecycle, SessionSource},
};

/// One chat session: user testing, swarm or direct.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatSession<'a> {
    /// Where it comes from.
    pub source: SessionSource,
    /// A user request is recorded.
    pub has_user_ask: bool,
    /// How far it has come.
    pub lifecycle: SessionLifecycle,
    /// Spans of its trace.
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    pub spans: Vec<EvidenceSpan<'a>>,
    /// There is no trace at all.
    #[serde(default, deserialize_with = "null_as_default")]
    pub trace_absent: bool,
    /// What was advertised before the session began.
    #[serde(default)]
    pub readiness: Option<SessionReadiness>,
    /// Machine-checked criteria.
    #[serde(borrow, default)]
    pub criteria: Option<SessionCriteria<'a>>,
    /// The goal judge.
    #[serde(borrow, default)]
    pub goal_judge: Option<GoalJudge<'a>>,
    /// What a swarm demands; only read when the source is a swarm.
    #[serde(default)]
    pub swarm_policy: Option<SwarmPolicy>,
}

/// What was advertised before the session began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionReadiness {
    /// Tools that the servers advertised.
    pub advertised_tool_count: Option<f64>,
    /// Whether that count is known rather than assumed.
    #[serde(deserialize_with = "null_as_default")]
    pub advertised_tools_known: bool,
}

/// Machine-checked criteria of a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCriteria<'a> {
    /// How far grading has come.
    pub status: CriteriaStatus,
    /// One row per graded criterion.
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    pub results: Vec<AssertionRow<'a>>,
    /// The session has no criteria: the list of their ids is there and empty.
    #[serde(rename = "criterionIds", default, deserialize_with = "is_empty_list")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub none_authored: bool,
}

/// What a session's goal judge says; advisory.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct GoalJudge<'a> {
    /// How far it has come.
    pub status: GoalJudgeStatus,
    /// Its verdict.
    #[serde(default)]
    pub passed: Option<bool>,
    /// Its own words.
    #[serde(borrow, default, deserialize_with = "text")]
    pub reason: Option<Cow<'a, str>>,
}

/// What a swarm demands of its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SwarmPolicy {
    /// The goal judge decides, not the criteria.
    pub judge_decisive: bool,
    /// Criteria that must be graded.
    pub required_criteria: f64,
}
