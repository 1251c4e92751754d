//! The sessions of one launch, as findings read them (`swarm.md` §9).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    findings::{FindingGoal, FindingPersona, FindingTarget},
    report::RunReport,
    session::SessionVerdict,
};
use crate::{chain::Chain, friction::FrictionSignals, number};

/// Everything that findings are derived from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaveInput {
    /// The wave; not empty.
    #[schemars(length(min = 1))]
    pub wave_id: String,
    /// When the findings are derived, ms since the Unix epoch.
    #[serde(deserialize_with = "number::read_count")]
    pub generated_at: u64,
    /// The reports of the wave's runs, one per run.
    pub reports: Vec<RunReport>,
    /// Every slot of the wave that is known, in any order.
    pub sessions: Vec<WaveSession>,
}

/// One slot of a wave with what its session left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaveSession {
    /// The session that the attempt claimed; `null` when it claimed none. Not
    /// empty, without `/`.
    #[schemars(length(min = 1))]
    pub session_id: Option<String>,
    /// Position among the sessions of its run and target, from 0.
    #[serde(deserialize_with = "number::read_count")]
    pub session_index: u64,
    /// Who tried.
    pub persona: FindingPersona,
    /// What was tried, in which run.
    pub goal: FindingGoal,
    /// What it was tried against.
    pub target: FindingTarget,
    /// What the session says of the goal.
    pub verdict: SessionVerdict,
    /// Its six stages; `null` when no chain is on record.
    pub chain: Option<Chain<'static>>,
    /// Its friction document; `null` when friction was never measured.
    pub friction: Option<FrictionSignals>,
    /// Messages of the conversation.
    #[serde(deserialize_with = "number::read_count")]
    pub message_count: u64,
    /// The transcript could be loaded.
    pub transcript_loaded: bool,
    /// Facts read off the transcript; of no effect when it was not loaded.
    pub facts: RecordedFacts,
}

/// Facts read off one transcript, nothing interpreted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedFacts {
    /// Names of the advertised tools; `null` when the catalog is not known.
    pub tool_catalog: Option<Vec<String>>,
    /// Turns that the agent took.
    #[serde(deserialize_with = "number::read_count")]
    pub agent_turns: u64,
    /// Its tool calls, in order.
    pub calls: Vec<RecordedCall>,
    /// Some agent turn ended at the model's output limit.
    pub output_truncated: bool,
    /// The conversation ended because its turns were used up.
    pub turn_cap_reached: bool,
    /// Position of the first message with an errored tool result.
    pub errored_result_message: Option<u64>,
    /// Position of the last message of the assistant.
    pub last_assistant_message: Option<u64>,
}

/// One tool call of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedCall {
    /// The tool that was named.
    pub tool_name: String,
    /// Its result is an error, or the call failed on the wire.
    pub errored: bool,
}
