//! The transcript of a recorded trial: what rules read of its trace
//! (`assertions.md` §6.1, §6.2).

use std::sync::Arc;

use serde_json::Value;
use strandline_contract::{
    canonical::canonical_json,
    ecma,
    trace::{Message, Part, Role, Span, SpanStatus, Trace},
    transcript::{
        Capture, InventoryTool, MAX_RESULT_TEXT, MAX_TOOL_CALL_TIMINGS, MAX_TOOL_RESULTS,
        ResultSize, TokenUsage, ToolCall, ToolCallTiming, ToolDeclaration, ToolError, ToolResult,
        Transcript,
    },
    words::{CaptureState, SizeBasis, TimingProvenance, ToolErrorKind},
};

/// What a producer knows beside the trace.
#[derive(Debug, Clone, Default)]
pub struct TraceContext<'a> {
    /// Tokens used, when the provider reported any.
    pub usage: Option<TokenUsage>,
    /// Errors of calls that left no span and no message part, in order.
    pub explicit_errors: &'a [ToolError],
    /// The tools that the model was shown.
    pub inventory: Option<&'a Arc<[InventoryTool]>>,
    /// The tools that the servers declare, when all of them were listed.
    pub declarations: Option<&'a Arc<[ToolDeclaration]>>,
}

/// Returns the transcript of a trace, so far or whole.
#[must_use]
pub fn transcript(trace: &Trace, context: &TraceContext<'_>) -> Transcript {
    let results = tool_results(&trace.messages);
    let timings = timings(&trace.spans);
    let bounded = |rows: usize, cap: usize| {
        if rows > cap {
            CaptureState::Partial
        } else {
            CaptureState::Complete
        }
    };
    let stated = |given: bool| {
        if given {
            CaptureState::Complete
        } else {
            CaptureState::Absent
        }
    };
    let capture = Capture {
        tool_results: bounded(results.len(), MAX_TOOL_RESULTS),
        tool_call_timings: bounded(timings.len(), MAX_TOOL_CALL_TIMINGS),
        tool_inventory: stated(context.inventory.is_some()),
        tool_declarations: stated(context.declarations.is_some()),
    };
    Transcript {
        tool_calls: calls(&trace.messages).map(|(_, call)| call).collect(),
        tool_errors: Some(tool_errors(trace, context.explicit_errors)),
        final_assistant_message: final_message(&trace.messages),
        usage: context.usage,
        turn_count: turn_count(&trace.messages),
        tool_results: Some(results.into_iter().take(MAX_TOOL_RESULTS).collect()),
        tool_call_timings: Some(timings.into_iter().take(MAX_TOOL_CALL_TIMINGS).collect()),
        tool_inventory: context.inventory.cloned(),
        tool_declarations: context.declarations.cloned(),
        render_observations: None,
        capture: Some(capture),
    }
}

/// Returns the final message (§6.1): the text of the last assistant message,
/// `None` when it is blank. An earlier message never stands in for it.
#[must_use]
pub fn final_message(messages: &[Message]) -> Option<String> {
    let last = messages
        .iter()
        .rfind(|message| message.role == Role::Assistant)?;
    let text: String = last
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::ToolCall { .. } | Part::ToolResult { .. } => None,
        })
        .collect();
    (!ecma::is_blank(&text)).then_some(text)
}

/// Returns the number of user messages; `None`, not 0, without any message.
#[must_use]
pub fn turn_count(messages: &[Message]) -> Option<f64> {
    if messages.is_empty() {
        return None;
    }
    let turns = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .count();
    #[expect(clippy::cast_precision_loss, reason = "a trial has far fewer messages")]
    Some(turns as f64)
}

/// Returns every call that reached a server with the ordinal of its turn, in
/// order. Calls that the tool policy blocked are no calls.
pub fn calls(messages: &[Message]) -> impl Iterator<Item = (u32, ToolCall)> {
    let blocked: Vec<&str> = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult {
                tool_call_id,
                policy_block: true,
                ..
            } => Some(tool_call_id.as_str()),
            Part::Text { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => None,
        })
        .collect();
    messages.iter().flat_map(move |message| {
        let blocked = blocked.clone();
        message.parts.iter().filter_map(move |part| match part {
            Part::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
                ..
            } if !blocked.contains(&tool_call_id.as_str()) => Some((
                message.prompt_index,
                ToolCall {
                    tool_name: tool_name.clone(),
                    arguments: if arguments.is_null() {
                        strandline_contract::transcript::no_arguments()
                    } else {
                        arguments.clone()
                    },
                    tool_call_id: Some(tool_call_id.clone()),
                },
            )),
            Part::ToolCall { .. } | Part::Text { .. } | Part::ToolResult { .. } => None,
        })
    })
}

/// Returns the tool errors of a trace (§6.2), then those given explicitly.
#[must_use]
pub fn tool_errors(trace: &Trace, explicit: &[ToolError]) -> Vec<ToolError> {
    let mut errors = errors_in(trace);
    errors.extend_from_slice(explicit);
    errors
}

/// Returns whether a trace shows a tool failure (§7.3).
#[must_use]
pub fn shows_tool_failure(trace: &Trace) -> bool {
    !errors_in(trace).is_empty()
}

fn errors_in(trace: &Trace) -> Vec<ToolError> {
    let parts = || trace.messages.iter().flat_map(|message| &message.parts);
    // (a) Spans of calls that ended in an error. Our spans also mark results
    // that say `isError`; what such a result says is read under (b), and it is
    // no protocol error.
    let answered = |id: Option<&str>| {
        parts().any(|part| {
            matches!(part, Part::ToolResult { tool_call_id, result: Some(_), .. }
                if Some(tool_call_id.as_str()) == id)
        })
    };
    let spans = trace
        .spans
        .iter()
        .filter(|span| span.category == "tool" && span.status == SpanStatus::Error)
        .filter(|span| !answered(span.tool_call_id.as_deref()))
        .map(|span| ToolError {
            tool_name: span.tool_name.clone(),
            kind: ToolErrorKind::ProtocolError,
            message: None,
            tool_call_id: span.tool_call_id.clone(),
        });
    // (b) Result parts.
    spans.chain(parts().filter_map(part_error)).collect()
}

fn part_error(part: &Part) -> Option<ToolError> {
    let Part::ToolResult {
        tool_call_id,
        tool_name,
        result,
        model_text,
        is_error,
        policy_block: false,
        error,
    } = part
    else {
        return None;
    };
    let record = |kind, message: String| ToolError {
        tool_name: Some(tool_name.clone()),
        kind,
        message: Some(message),
        tool_call_id: Some(tool_call_id.clone()),
    };
    if let Some(error) = error.as_ref().filter(|error| !ecma::is_blank(error)) {
        return Some(record(ToolErrorKind::ProtocolError, error.clone()));
    }
    match result {
        Some(result) if result.get("isError") == Some(&Value::Bool(true)) => {
            Some(record(ToolErrorKind::ContentError, result_text(result)))
        }
        Some(_) | None if *is_error => {
            Some(record(ToolErrorKind::ContentError, model_text.clone()))
        }
        Some(_) | None => None,
    }
}

/// Returns what a result says: its text parts joined by a space, else its
/// structured content as JSON.
#[must_use]
pub fn result_text(result: &Value) -> String {
    let texts = text_blocks(result);
    if !texts.is_empty() {
        return texts.join(" ");
    }
    result
        .get("structuredContent")
        .map(canonical_json)
        .unwrap_or_default()
}

fn text_blocks(result: &Value) -> Vec<&str> {
    result
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect()
}

/// Returns one row per result that a server sent, in order.
fn tool_results(messages: &[Message]) -> Vec<ToolResult> {
    messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult {
                tool_call_id,
                tool_name,
                result: Some(result),
                ..
            } => Some(result_row(tool_name, Some(tool_call_id), result)),
            Part::ToolResult { .. } | Part::Text { .. } | Part::ToolCall { .. } => None,
        })
        .collect()
}

/// Returns the row of one raw `tools/call` result.
#[must_use]
pub fn result_row(tool_name: &str, tool_call_id: Option<&str>, result: &Value) -> ToolResult {
    let texts = text_blocks(result);
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    // The size is measured before the text is cut.
    let bytes = serde_json::to_vec(result).map_or(0, |raw| raw.len());
    let kept = text
        .as_deref()
        .map(|text| ecma::utf16_prefix(text, MAX_RESULT_TEXT).to_owned());
    let truncated = kept.as_ref().map(String::len) < text.as_ref().map(String::len);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a result is far smaller than 2^53 bytes"
    )]
    let bytes = bytes as f64;
    ToolResult {
        tool_call_id: tool_call_id.map(str::to_owned),
        tool_name: tool_name.to_owned(),
        text: kept,
        truncated: truncated.then_some(true),
        structured_content: result.get("structuredContent").cloned().map(Into::into),
        json: None,
        is_error: result.get("isError").and_then(Value::as_bool),
        size: ResultSize {
            bytes,
            basis: SizeBasis::RawResult,
            complete: true,
        },
        raw_bytes: Some(bytes),
    }
}

/// Returns the duration of every call that reached a server.
fn timings(spans: &[Span]) -> Vec<ToolCallTiming> {
    spans
        .iter()
        .filter(|span| span.category == "tool")
        .filter_map(|span| {
            Some(ToolCallTiming {
                tool_call_id: span.tool_call_id.clone(),
                tool_name: span.tool_name.clone()?,
                duration_ms: (span.ended_at - span.started_at).max(0.0),
                provenance: TimingProvenance::Span,
            })
        })
        .collect()
}
