//! OpenTelemetry attribute names of our spans, in one place.
//!
//! The GenAI and MCP conventions are in development and live in their own
//! repository; these follow its version 0.1.0. A span of a model request is
//! named [`chat_span_name`], one of a tool call [`tool_call_span_name`].

use std::borrow::Cow;

use serde_json::Value;

use crate::trace::Attributes;

/// `chat` on a model request, `execute_tool` on a tool call.
pub const GEN_AI_OPERATION_NAME: &str = "gen_ai.operation.name";
/// The provider, by the conventions' own names (`gcp.gemini`).
pub const GEN_AI_PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The model asked for.
pub const GEN_AI_REQUEST_MODEL: &str = "gen_ai.request.model";
/// Sampling temperature asked for.
pub const GEN_AI_REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
/// Seed asked for.
pub const GEN_AI_REQUEST_SEED: &str = "gen_ai.request.seed";
/// The model that answered.
pub const GEN_AI_RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The provider's id of the answer.
pub const GEN_AI_RESPONSE_ID: &str = "gen_ai.response.id";
/// Why the model stopped: a list with one word.
pub const GEN_AI_RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens read, cached ones included.
pub const GEN_AI_USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens written.
pub const GEN_AI_USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Of the tokens read, those read from the provider's cache.
pub const GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// The server's own tool name.
pub const GEN_AI_TOOL_NAME: &str = "gen_ai.tool.name";
/// The model's id of the call.
pub const GEN_AI_TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// MCP method: `tools/call`, `tools/list`, `initialize`.
pub const MCP_METHOD_NAME: &str = "mcp.method.name";
/// The session's id, where the transport has one.
pub const MCP_SESSION_ID: &str = "mcp.session.id";
/// Negotiated protocol version.
pub const MCP_PROTOCOL_VERSION: &str = "mcp.protocol.version";
/// Id of the JSON-RPC request, as text.
pub const JSONRPC_REQUEST_ID: &str = "jsonrpc.request.id";
/// JSON-RPC error code, as text.
pub const RPC_RESPONSE_STATUS_CODE: &str = "rpc.response.status_code";
/// `pipe` for stdio, `tcp` for HTTP.
pub const NETWORK_TRANSPORT: &str = "network.transport";
/// Low-cardinality word for a failure: `tool_error`, `-32602`, `rate_limited`.
pub const ERROR_TYPE: &str = "error.type";
/// HTTP status of the answer.
pub const HTTP_RESPONSE_STATUS_CODE: &str = "http.response.status_code";
/// Requests made beyond the first.
pub const HTTP_REQUEST_RESEND_COUNT: &str = "http.request.resend_count";

/// [`ERROR_TYPE`] of a result whose `isError` is true.
pub const ERROR_TYPE_TOOL_ERROR: &str = "tool_error";

/// Returns the name of a span around a model request.
#[must_use]
pub fn chat_span_name(model: &str) -> String {
    format!("chat {model}")
}

/// Returns the name of a span around a tool call.
#[must_use]
pub fn tool_call_span_name(tool_name: &str) -> String {
    format!("tools/call {tool_name}")
}

/// What is known about a tool call, for its span.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolCallFacts<'a> {
    /// The server's own tool name.
    pub tool_name: &'a str,
    /// The model's id of the call; absent on a pinned call.
    pub tool_call_id: Option<&'a str>,
    /// `stdio`, `http` or `sse`.
    pub transport: &'a str,
    /// The session's id, where the transport has one.
    pub session_id: Option<&'a str>,
    /// Negotiated protocol version.
    pub protocol_version: Option<&'a str>,
    /// The result's own `isError`.
    pub is_error: bool,
    /// JSON-RPC error code, when the call ended in one.
    pub rpc_error_code: Option<i64>,
    /// Low-cardinality word when it ended in neither: `timeout`, `transport`.
    pub failure: Option<&'a str>,
}

/// Returns the attributes of a span around a tool call.
#[must_use]
pub fn tool_call_attributes(facts: &ToolCallFacts<'_>) -> Attributes {
    let rpc_error_code = facts.rpc_error_code.map(|code| code.to_string());
    let error_type = rpc_error_code
        .as_deref()
        .or(facts.failure)
        .or(facts.is_error.then_some(ERROR_TYPE_TOOL_ERROR));
    let transport = match facts.transport {
        "stdio" => "pipe",
        _ => "tcp",
    };
    [
        (GEN_AI_OPERATION_NAME, Some("execute_tool")),
        (GEN_AI_TOOL_NAME, Some(facts.tool_name)),
        (GEN_AI_TOOL_CALL_ID, facts.tool_call_id),
        (MCP_METHOD_NAME, Some("tools/call")),
        (MCP_SESSION_ID, facts.session_id),
        (MCP_PROTOCOL_VERSION, facts.protocol_version),
        (NETWORK_TRANSPORT, Some(transport)),
        (RPC_RESPONSE_STATUS_CODE, rpc_error_code.as_deref()),
        (ERROR_TYPE, error_type),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((Cow::Borrowed(name), Value::from(value?))))
    .collect()
}
