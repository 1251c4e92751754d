//! The frozen tool policy of a run and the calls it blocked
//! (`suite-file.md` §4.2).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    suite::ToolPolicyMode,
    words::{PolicyReason, ToolClassification},
};

/// Which calls reach a server, decided once after the tools were listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrozenPolicy {
    /// Default rule.
    pub mode: ToolPolicyMode,
    /// Listed tools that may not be called, and why.
    pub denied: BTreeMap<String, Denial>,
    /// Every listed tool.
    pub known: BTreeSet<String>,
    /// What happens to a tool that was not listed.
    pub unknown_tool: UnknownTool,
}

/// Why a tool may not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The rule that denies it.
    pub reason: PolicyReason,
    /// What its annotations say.
    pub classification: ToolClassification,
}

/// What happens to a call of a tool that was not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UnknownTool {
    /// It never reaches a server.
    Deny,
}

/// One call that the policy blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyBlock {
    /// The case.
    pub case_id: String,
    /// The trial, from 0.
    pub iteration_number: u32,
    /// The tool that was asked for.
    pub tool_name: String,
    /// The call, when the model named it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
    /// The rule that denied it.
    pub reason: PolicyReason,
    /// What the tool's annotations say.
    pub classification: ToolClassification,
}
