//! What one trial left behind: messages, spans and raw frames.
//!
//! Times are milliseconds since the Unix epoch, with fraction. Everything here
//! came from a server or a model and is hostile until shown escaped.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The whole record of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Trace {
    /// The conversation, in order, with the server's own tool names.
    pub messages: Vec<Message>,
    /// Timed units of work, in order of their start.
    pub spans: Vec<Span>,
    /// Raw wire frames, in order of arrival, bounded.
    pub frames: Vec<Frame>,
    /// Frames that were not kept because the trial's budget was used up.
    pub frames_dropped: u64,
    /// The tools offered to the model, by turn ordinal.
    pub offered_tools: Vec<OfferedTools>,
    /// Everything we repaired, skipped, renamed, cut or rewrote.
    pub adaptations: Vec<Adaptation>,
    /// Findings about the server that never change a verdict.
    pub lints: Vec<Lint>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that precede the conversation.
    System,
    /// The simulated user.
    User,
    /// The model.
    Assistant,
    /// Tool results handed back to the model.
    Tool,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Ordinal of the turn that the message belongs to.
    pub prompt_index: u32,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Part {
    /// Plain text.
    Text {
        /// The text as received.
        text: String,
    },
    /// The model asks for a tool call.
    ToolCall {
        /// Unique within the trial.
        tool_call_id: String,
        /// The server's own name for the tool.
        tool_name: String,
        /// The arguments; an object unless the model wrote something else.
        arguments: Value,
        /// What the model wrote, when it is not a JSON object.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        raw_arguments: Option<String>,
        /// Opaque state that a provider wants back with this call.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        provider_state: Option<Value>,
    },
    /// The outcome of a tool call, as handed back to the model.
    ToolResult {
        /// The call this answers.
        tool_call_id: String,
        /// The server's own name for the tool.
        tool_name: String,
        /// The server's raw `tools/call` result, when there was one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
        /// The text that the model was given.
        model_text: String,
        /// The result's own `isError`, or true when no result came back.
        is_error: bool,
        /// The call was blocked by the tool policy and never reached a server.
        #[serde(default)]
        policy_block: bool,
        /// The JSON-RPC or transport error, when no result came back.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error: Option<String>,
    },
}

/// Whether a unit of work ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpanStatus {
    /// It ended well.
    Ok,
    /// It ended in an error.
    Error,
}

/// Attributes of a span; the names we write ourselves are constants.
pub type Attributes = BTreeMap<Cow<'static, str>, Value>;

/// A timed unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// Unique within the trial.
    pub id: String,
    /// The span this one happened inside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<String>,
    /// Name after the OpenTelemetry conventions (`chat MODEL`, `tools/call TOOL`).
    pub name: String,
    /// `tool`, `llm`, `connection`, `discovery` or `step`.
    pub category: String,
    /// How it ended.
    pub status: SpanStatus,
    /// The server's own tool name, on tool spans.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_name: Option<String>,
    /// The call this span timed, on tool spans.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_call_id: Option<String>,
    /// Ordinal of the turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt_index: Option<u32>,
    /// JSON-RPC error code, when the call ended in one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mcp_error_code: Option<i64>,
    /// Start, ms since the Unix epoch.
    pub started_at: f64,
    /// End, ms since the Unix epoch.
    pub ended_at: f64,
    /// OpenTelemetry GenAI / MCP attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub attributes: Attributes,
}

/// Where a raw frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// We sent it.
    Sent,
    /// The server sent it as protocol.
    Received,
    /// The server wrote it to standard error.
    Stderr,
    /// The server wrote it where protocol belongs, and it is none.
    Noise,
}

/// One raw frame on the wire between us and a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// When, ms since the Unix epoch.
    pub at: f64,
    /// The server's name in the suite.
    pub server: String,
    /// Where it went.
    pub direction: Direction,
    /// The bytes as text (invalid UTF-8 replaced), cut to the frame limit.
    pub text: String,
    /// Length of the whole frame in bytes.
    pub bytes: u64,
    /// SHA-256 of the whole frame, when the text was cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<String>,
    /// Transport facts: HTTP status, method, SSE event id.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub transport: Map<String, Value>,
}

/// The exact set of tools offered to the model in one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferedTools {
    /// Ordinal of the turn.
    pub prompt_index: u32,
    /// The server's own tool names, in the order offered.
    pub tool_names: Vec<String>,
    /// Names as the provider saw them, where they differ: own name → alias.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub aliases: BTreeMap<String, String>,
}

/// Something we changed or tolerated on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adaptation {
    /// Short stable word: `toolNameAliased`, `resultCut`, `schemaRewritten`, …
    pub kind: String,
    /// What it was done to (a tool, a server, a message).
    pub subject: String,
    /// What was done, in one sentence.
    pub detail: String,
}

/// A finding about a server that never changes a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// Short stable word: `stdoutNoise`, `duplicateToolName`, …
    pub code: String,
    /// The server's name in the suite.
    pub server: String,
    /// The tool concerned, if one is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_name: Option<String>,
    /// What was seen, in one sentence.
    pub message: String,
}
