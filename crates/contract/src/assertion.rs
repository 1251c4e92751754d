//! What grading a trial leaves behind: rows, turn summaries, the roll-up and
//! score rows (`assertions.md` §4, §7, §11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    transcript::ToolCall,
    words::{ErrorPolicy, RowStatus, ScoreStatus},
};

/// What one rule says about one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultRow {
    /// The rule as authored, with the arguments of `toolCalledWith` redacted.
    pub predicate: Value,
    /// The rule was evaluated and holds.
    pub passed: bool,
    /// `error` when the rule could not be evaluated; absent means scored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<RowStatus>,
    /// Counts, names and the cause, in one bounded line without secrets.
    pub reason: String,
    /// The turn that the rule was graded at; absent for whole-trial rules.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<RowScope>,
}

impl ResultRow {
    /// Returns whether the rule could not be evaluated: nobody is blamed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.status == Some(RowStatus::Error)
    }
}

/// What part of a trial a row was graded on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum RowScope {
    /// The trial up to an assert step of this turn.
    Turn {
        /// Ordinal of the turn.
        prompt_index: u32,
    },
}

/// An expected call beside the call that was made in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArgumentMismatch {
    /// The tool that both name.
    pub tool_name: String,
    /// What the case requires.
    pub expected_args: Value,
    /// What was sent.
    pub actual_args: Value,
}

/// What a flat list of calls says about a flat list of expectations
/// (`assertions.md` §2.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchResult {
    /// Expected calls without a partner.
    pub missing: Vec<ToolCall>,
    /// Calls without an expectation.
    pub extra: Vec<ToolCall>,
    /// Always empty: order shows as missing and extra calls.
    pub out_of_order: Vec<ToolCall>,
    /// Pairs whose arguments differ.
    pub argument_mismatches: Vec<ArgumentMismatch>,
    /// Nothing is missing or differs, and the extras are within the cap.
    pub passed: bool,
}

/// What one turn's calls say about the turn's expectations.
///
/// `unexpected` is filled even where extra calls are allowed: read `passed`,
/// never infer a failure from a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// Ordinal of the turn.
    pub prompt_index: u32,
    /// The prompt's text, or a line that names a pinned call.
    pub prompt: String,
    /// One entry per demanded call.
    pub expected_tool_calls: Vec<ToolCall>,
    /// Every call of the turn, unfiltered.
    pub actual_tool_calls: Vec<ToolCall>,
    /// What a good answer says; on the last prompt turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_output: Option<String>,
    /// Demanded calls without a partner.
    pub missing: Vec<ToolCall>,
    /// Calls without an expectation.
    pub unexpected: Vec<ToolCall>,
    /// Pairs whose arguments differ.
    pub argument_mismatches: Vec<ArgumentMismatch>,
    /// Everything demanded of the turn holds.
    pub passed: bool,
    /// The turn was opened by a call that needs no model.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub pinned: bool,
}

/// The turn summaries of one trial taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchRollUp {
    /// Demanded calls of all asserted turns.
    pub expected_tool_calls: Vec<ToolCall>,
    /// Every call of the trial.
    pub tools_called: Vec<ToolCall>,
    /// Demanded calls without a partner.
    pub missing: Vec<ToolCall>,
    /// Calls without an expectation, of asserted turns.
    pub unexpected: Vec<ToolCall>,
    /// Pairs whose arguments differ.
    pub argument_mismatches: Vec<ArgumentMismatch>,
    /// No asserted turn failed.
    pub passed: bool,
    /// Turns of the trial.
    pub turn_count: u32,
    /// Turns that failed.
    pub failed_turn_count: u32,
    /// The first turn that failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_failed_turn_index: Option<u32>,
}

/// One score of a trial under a stable rule id (`assertions.md` §11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScoreRow {
    /// Stable over edits of other rules: `toolCalls:match`, `toolCalls:arguments`
    /// or `predicate:<type>#<hash>`.
    pub id: String,
    /// SHA-256 over what decides the score, the evaluating engine included.
    pub implementation_hash: String,
    /// Whether there is a value.
    pub status: ScoreStatus,
    /// 1 or 0; absent when the rule could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<u8>,
    /// The value that the score must reach.
    pub threshold: u8,
    /// Failing it fails the trial.
    pub required: bool,
    /// What follows when there is no value.
    pub on_error: ErrorPolicy,
    /// Counts, names and the cause.
    pub reason: String,
}
