//! One tool call: from what was asked for to what is recorded.
//!
//! | what happens | recorded as |
//! |---|---|
//! | blocked by the tool policy | a policy block; no call, no span, no error |
//! | arguments are no JSON object | a call; it never reaches a server |
//! | no server has the tool | a call; it never reaches a server |
//! | the server answers with a result | a call and a span; failed if `isError` |
//! | anything else | a call and a failed span with the code that stands for it |

use std::time::Duration;

use serde_json::{Value, json};
use strandline_contract::{
    policy::{Denial, PolicyBlock},
    telemetry::{ToolCallFacts, tool_call_attributes, tool_call_span_name},
    trace::{Adaptation, Part, Span, SpanStatus},
};

use super::{catalog::Catalog, gathered::Gathered, servers::Connected};
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
pub(super) struct Wanted {
    /// Unique in the trial.
    pub(super) tool_call_id: String,
    /// The server's own tool name.
    pub(super) tool_name: String,
    /// The arguments; an object unless the model wrote something else.
    pub(super) arguments: Value,
    /// What the model wrote, when it is no JSON object.
    pub(super) raw_arguments: Option<String>,
}

/// Where a wanted call goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Route<'a> {
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
    pub(super) fn route<'a>(&self, catalog: &Catalog, servers: &'a [Connected]) -> Route<'a> {
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
pub(super) fn record_block(
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
///
/// The fault is the model's: the result is no tool error.
pub(super) fn record_unsendable(
    gathered: &mut Gathered,
    wanted: &Wanted,
    unknown_tool: bool,
) -> Part {
    let text = if unknown_tool {
        format!("There is no tool named `{}`.", wanted.tool_name)
    } else {
        format!(
            "The arguments of `{}` are not a JSON object, so the call was not sent.",
            wanted.tool_name
        )
    };
    gathered.adapt(Adaptation {
        kind: "callNotSent".to_owned(),
        subject: wanted.tool_call_id.clone(),
        detail: text.clone(),
    });
    wanted.result_part(text, false)
}

/// Records a call that was sent, and returns what the model is told.
pub(super) fn record_sent(
    gathered: &mut Gathered,
    wanted: &Wanted,
    server: &Connected,
    record: CallRecord,
) -> Part {
    let elapsed = (record.ended_at - record.started_at).max(0.0);
    gathered.server_wait_ms += elapsed;
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
    let shown = result_text(&wanted.tool_name, &raw, DEFAULT_RESULT_CHARACTERS);
    if let Some(adaptation) = shown.adaptation {
        gathered.adapt(adaptation);
    }
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
    Result {
        raw: Value,
        is_error: bool,
    },
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

#[cfg(test)]
mod tests {
    use super::*;

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
