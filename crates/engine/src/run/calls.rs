//! One tool call: from what was asked for to what is recorded.
//!
//! | what happens | recorded as |
//! |---|---|
//! | blocked by the tool policy | a policy block; no call, no span, no error |
//! | arguments are no JSON object | a call; it never reaches a server |
//! | no server has the tool | a call; it never reaches a server |
//! | the server answers with a result | call, span, result row, timing; a content error if `isError` |
//! | anything else | call, failed span with its code, protocol error, timing |

use std::time::Duration;

use serde_json::{Value, json};
use strandline_contract::{
    ecma::{utf16_len, utf16_prefix},
    policy::{Denial, PolicyBlock},
    telemetry::{ToolCallFacts, tool_call_attributes, tool_call_span_name},
    trace::{Part, Span, SpanStatus},
    transcript::{
        MAX_RESULT_TEXT, MAX_TOOL_CALL_TIMINGS, MAX_TOOL_RESULTS, ResultSize, ToolCall,
        ToolCallTiming, ToolError, ToolResult,
    },
    words::{SizeBasis, TimingProvenance, ToolErrorKind},
};

use super::{
    gathered::Gathered,
    catalog::Catalog,
    servers::Connected,
};
use crate::{
    mcp::{CallOutcome, CallRecord},
    models::{DEFAULT_RESULT_CHARACTERS, result_text},
};

/// JSON-RPC code that stands for a session that ended (`chain.md` §1).
const CONNECTION_CLOSED: i64 = -32000;
/// JSON-RPC code that stands for an answer that did not come in time.
const REQUEST_TIMEOUT: i64 = -32001;

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Unique in the trial.
    pub tool_call_id: String,
    /// The server's own tool name.
    pub tool_name: String,
    /// The arguments; an object unless the model wrote something else.
    pub arguments: Value,
    /// What the model wrote, when it is no JSON object.
    pub raw_arguments: Option<String>,
}

/// Where a wanted call goes.
#[derive(Debug, Clone, Copy)]
pub enum Route<'a> {
    /// To this server.
    Server(&'a Connected),
    /// Nowhere: the tool policy blocks it.
    Blocked(Denial),
    /// Nowhere: the model wrote arguments that are no JSON object.
    NoObject,
    /// Nowhere: no server has a tool of that name.
    Unknown,
}

impl Wanted {
    /// Decides where the call goes: policy first, then the model's own faults.
    #[must_use]
    pub fn route<'a>(&self, catalog: &Catalog, servers: &'a [Connected]) -> Route<'a> {
        if let Some(denial) = catalog.denial(&self.tool_name) {
            return Route::Blocked(denial);
        }
        let server = catalog
            .server_of(&self.tool_name)
            .and_then(|index| servers.get(index));
        match server {
            None => Route::Unknown,
            Some(_) if self.raw_arguments.is_some() || !self.arguments.is_object() => {
                Route::NoObject
            }
            Some(server) => Route::Server(server),
        }
    }

    fn call(&self) -> ToolCall {
        ToolCall {
            tool_name: self.tool_name.clone(),
            arguments: self.arguments.clone(),
            tool_call_id: Some(self.tool_call_id.clone()),
        }
    }

    fn result_part(&self, model_text: String, is_error: bool) -> Part {
        Part::ToolResult {
            tool_call_id: self.tool_call_id.clone(),
            tool_name: self.tool_name.clone(),
            result: None,
            model_text,
            is_error,
            policy_block: false,
            error: None,
        }
    }
}

/// Records a call that the tool policy blocked (`suite-file.md` §4.2).
pub fn record_block(
    gathered: &mut Gathered,
    wanted: &Wanted,
    case_id: &str,
    iteration_number: u32,
    denial: Denial,
) -> Part {
    gathered.policy_blocks.push(PolicyBlock {
        case_id: case_id.to_owned(),
        iteration_number,
        tool_name: wanted.tool_name.clone(),
        tool_call_id: Some(wanted.tool_call_id.clone()),
        reason: denial.reason,
        classification: denial.classification,
    });
    let text = format!(
        "The tool policy blocked the call to `{}` ({}); it never reached the server.",
        wanted.tool_name, denial.reason
    );
    Part::ToolResult {
        tool_call_id: wanted.tool_call_id.clone(),
        tool_name: wanted.tool_name.clone(),
        result: Some(json!({
            "content": [{"type": "text", "text": text}],
            "isError": true,
            "policyBlock": true,
        })),
        model_text: text,
        is_error: true,
        policy_block: true,
        error: None,
    }
}

/// Records a call that could not be sent because of what the model wrote.
pub fn record_unsendable(gathered: &mut Gathered, wanted: &Wanted, unknown_tool: bool) -> Part {
    gathered.record_call(wanted.call());
    let text = if unknown_tool {
        format!("There is no tool named `{}`.", wanted.tool_name)
    } else {
        format!(
            "The arguments of `{}` are not a JSON object, so the call was not sent.",
            wanted.tool_name
        )
    };
    wanted.result_part(text, true)
}

/// Records a call that was sent, and returns what the model is told.
pub fn record_sent(
    gathered: &mut Gathered,
    wanted: &Wanted,
    server: &Connected,
    record: CallRecord,
) -> Part {
    gathered.record_call(wanted.call());
    let elapsed = (record.ended_at - record.started_at).max(0.0);
    gathered.server_wait_ms += elapsed;
    push_timing(gathered, wanted, elapsed);
    let ending = Ending::of(record.outcome);
    let span_id = gathered.span_id("tool");
    let prompt_index = gathered.prompt_index();
    gathered.trace.spans.push(Span {
        id: span_id,
        parent_id: None,
        name: tool_call_span_name(&wanted.tool_name),
        category: "tool".to_owned(),
        status: if ending.failed() {
            SpanStatus::Error
        } else {
            SpanStatus::Ok
        },
        tool_name: Some(wanted.tool_name.clone()),
        tool_call_id: Some(wanted.tool_call_id.clone()),
        prompt_index: Some(prompt_index),
        mcp_error_code: ending.code(),
        started_at: record.started_at,
        ended_at: record.ended_at,
        attributes: tool_call_attributes(&ToolCallFacts {
            tool_name: &wanted.tool_name,
            tool_call_id: Some(&wanted.tool_call_id),
            transport: server.transport(),
            protocol_version: Some(server.session().protocol_version()),
            is_error: matches!(ending, Ending::Result { is_error: true, .. }),
            rpc_error_code: ending.wire_code(),
            failure: ending.failure(),
            ..ToolCallFacts::default()
        }),
    });
    match ending {
        Ending::Result { raw, is_error } => record_result(gathered, wanted, raw, is_error),
        Ending::NoResult { message, .. } => {
            gathered.record_tool_error(ToolError {
                tool_name: Some(wanted.tool_name.clone()),
                kind: ToolErrorKind::ProtocolError,
                message: Some(message.clone()),
                tool_call_id: Some(wanted.tool_call_id.clone()),
            });
            let mut part = wanted.result_part(message.clone(), true);
            if let Part::ToolResult { error, .. } = &mut part {
                *error = Some(message);
            }
            part
        }
        Ending::Cancelled => wanted.result_part("The call was cancelled.".to_owned(), true),
    }
}

fn record_result(gathered: &mut Gathered, wanted: &Wanted, raw: Value, is_error: bool) -> Part {
    let whole = result_text(&wanted.tool_name, &raw, usize::MAX).text;
    let shown = result_text(&wanted.tool_name, &raw, DEFAULT_RESULT_CHARACTERS);
    if let Some(adaptation) = shown.adaptation {
        gathered.adapt(adaptation);
    }
    if is_error {
        gathered.record_tool_error(ToolError {
            tool_name: Some(wanted.tool_name.clone()),
            kind: ToolErrorKind::ContentError,
            message: Some(error_text(&raw)),
            tool_call_id: Some(wanted.tool_call_id.clone()),
        });
    }
    push_result_row(gathered, wanted, &raw, &whole);
    Part::ToolResult {
        tool_call_id: wanted.tool_call_id.clone(),
        tool_name: wanted.tool_name.clone(),
        result: Some(raw),
        model_text: shown.text,
        is_error,
        policy_block: false,
        error: None,
    }
}

/// How a call ended, with the code that stands for it on the span.
enum Ending {
    Result { raw: Value, is_error: bool },
    NoResult {
        /// The server's code, or the one that stands for what happened.
        code: i64,
        /// What happened, when the code is not the server's own.
        failure: Option<&'static str>,
        message: String,
    },
    Cancelled,
}

impl Ending {
    fn of(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Result { raw, is_error } => Self::Result { raw, is_error },
            CallOutcome::ProtocolError { code, message, .. } => Self::NoResult {
                code,
                failure: None,
                message: format!("the server answered with JSON-RPC error {code}: {message}"),
            },
            CallOutcome::Malformed { message, .. } => Self::NoResult {
                code: INVALID_RESULT,
                failure: Some("malformed_result"),
                message: format!("the server's answer is no tool result: {message}"),
            },
            CallOutcome::TransportLost { message } => Self::NoResult {
                code: CONNECTION_CLOSED,
                failure: Some("transport"),
                message: format!("the session ended before the answer: {message}"),
            },
            CallOutcome::TimedOut { budget } => Self::NoResult {
                code: REQUEST_TIMEOUT,
                failure: Some("timeout"),
                message: format!("no answer within {}", seconds(budget)),
            },
            CallOutcome::Cancelled => Self::Cancelled,
        }
    }

    const fn failed(&self) -> bool {
        match self {
            Self::Result { is_error, .. } => *is_error,
            Self::NoResult { .. } => true,
            Self::Cancelled => false,
        }
    }

    const fn failure(&self) -> Option<&'static str> {
        match self {
            Self::NoResult { failure, .. } => *failure,
            Self::Result { .. } | Self::Cancelled => None,
        }
    }

    /// Returns the code that the server itself sent.
    const fn wire_code(&self) -> Option<i64> {
        match self {
            Self::NoResult {
                code,
                failure: None,
                ..
            } => Some(*code),
            Self::NoResult { .. } | Self::Result { .. } | Self::Cancelled => None,
        }
    }

    const fn code(&self) -> Option<i64> {
        match self {
            Self::NoResult { code, .. } => Some(*code),
            Self::Result { .. } | Self::Cancelled => None,
        }
    }
}

/// JSON-RPC code that stands for an answer that is no tool result.
const INVALID_RESULT: i64 = -32603;

fn seconds(budget: Duration) -> String {
    format!("{} s", budget.as_secs_f64())
}

fn push_timing(gathered: &mut Gathered, wanted: &Wanted, duration_ms: f64) {
    let timings = gathered.transcript.tool_call_timings.get_or_insert_default();
    if timings.len() < MAX_TOOL_CALL_TIMINGS {
        timings.push(ToolCallTiming {
            tool_call_id: Some(wanted.tool_call_id.clone()),
            tool_name: wanted.tool_name.clone(),
            duration_ms,
            provenance: TimingProvenance::Span,
        });
    } else {
        gathered.timings_dropped = true;
    }
}

fn push_result_row(gathered: &mut Gathered, wanted: &Wanted, raw: &Value, whole: &str) {
    let rows = gathered.transcript.tool_results.get_or_insert_default();
    if rows.len() >= MAX_TOOL_RESULTS {
        gathered.results_dropped = true;
        return;
    }
    let truncated = utf16_len(whole) > MAX_RESULT_TEXT;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a result is far smaller than 2^53 bytes"
    )]
    let bytes = whole.len() as f64;
    rows.push(ToolResult {
        tool_call_id: Some(wanted.tool_call_id.clone()),
        tool_name: wanted.tool_name.clone(),
        text: Some(utf16_prefix(whole, MAX_RESULT_TEXT).to_owned()),
        truncated: truncated.then_some(true),
        structured_content: raw
            .get("structuredContent")
            .map(|content| content.clone().into()),
        json: None,
        is_error: raw.get("isError").and_then(Value::as_bool),
        size: ResultSize {
            bytes,
            basis: SizeBasis::ModelVisibleOutput,
            complete: true,
        },
        raw_bytes: None,
    });
}

/// Returns the text of an error result: its text parts joined by a space, else
/// its structured content (`assertions.md` §6.2).
fn error_text(raw: &Value) -> String {
    let texts: Vec<&str> = raw
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    if texts.is_empty() {
        raw.get("structuredContent")
            .map(Value::to_string)
            .unwrap_or_default()
    } else {
        texts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_speaks_through_its_text_or_its_structure() {
        let raw = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(error_text(&raw), "a b");
        assert_eq!(error_text(&json!({"structuredContent": {"e": 1}})), r#"{"e":1}"#);
        assert_eq!(error_text(&json!({})), "");
    }

    #[test]
    fn only_a_code_of_the_server_itself_is_reported_as_its_own() {
        let ending = Ending::of(CallOutcome::TimedOut {
            budget: Duration::from_secs(2),
        });
        assert_eq!(ending.code(), Some(REQUEST_TIMEOUT));
        assert_eq!(ending.wire_code(), None);
        assert_eq!(ending.failure(), Some("timeout"));
        let ending = Ending::of(CallOutcome::ProtocolError {
            code: -32602,
            message: "no".to_owned(),
            data: None,
        });
        assert_eq!(ending.wire_code(), Some(-32602));
    }
}
