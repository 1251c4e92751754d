//! What a failed stage row rests on, in lines that can be read at a glance.

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    assertion::PromptSummary,
    decision::SummaryStage,
    redact::{redact_text, redact_value},
    run::{TrialError, TrialRecord},
    trace::{Part, Trace},
    transcript::ToolCall,
    words::{StageReason, Vocabulary},
};

use crate::{
    diff::{Difference, differences},
    escape,
    style::Style,
};

/// Lines shown for one trial.
const MAX_LINES: usize = 4;
/// Longest explanation, error text or argument object shown, characters.
const MAX_TEXT: usize = 240;
const MAX_NAME: usize = 80;
const MAX_ARGUMENTS: usize = 120;

/// Returns the evidence of one trial for a stage row, one fact a line.
///
/// Only this row's own evidence is quoted: what happened at other stages
/// explains nothing here.
pub(crate) fn of_row(
    trial: &TrialRecord,
    row: &SummaryStage,
    trace: Option<&Trace>,
    style: &Style,
) -> Vec<String> {
    let mut lines = match row.reason {
        Some(StageReason::MissingToolCall) => missing(trial, row),
        Some(StageReason::UnexpectedToolCall) => unexpected(trial, row),
        Some(StageReason::ArgumentMismatch) => mismatches(trial, row),
        Some(StageReason::ToolError) => tool_errors(trial, trace, Channel::Result, style),
        Some(StageReason::ProtocolError) => tool_errors(trial, trace, Channel::Protocol, style),
        _ => Vec::new(),
    };
    lines.extend(explanations(row));
    if lines.is_empty()
        && let Some(error) = &trial.error
    {
        lines.push(of_error(error));
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more in the trace"));
    }
    lines
}

/// Returns why a trial did not run to its end; the first words say whose side
/// the fault lies on.
pub(crate) fn of_error(error: &TrialError) -> String {
    let side = error.layer.label();
    let status = error
        .http_status
        .map_or(String::new(), |status| format!(", HTTP {status}"));
    format!(
        "{side}: {} ({}{status})",
        escape::line(&redact_text(&error.message), MAX_TEXT),
        escape::line(&error.code, MAX_NAME)
    )
}

/// Returns the explanations that the row itself carries.
fn explanations(row: &SummaryStage) -> Vec<String> {
    row.evidence
        .iter()
        .flat_map(|evidence| evidence.predicate_reasons.iter().flatten())
        .map(|reason| escape::line(&redact_text(reason), MAX_TEXT))
        .collect()
}

/// Returns the turns that the row points at.
fn turns(trial: &TrialRecord, row: &SummaryStage) -> Vec<PromptSummary> {
    let evidence = row.evidence.as_ref();
    let indexes = evidence.and_then(|evidence| evidence.prompt_indexes.as_deref());
    let cited = |turn: &PromptSummary| {
        indexes.is_none_or(|indexes| indexes.contains(&f64::from(turn.prompt_index)))
    };
    trial
        .prompts
        .iter()
        .filter_map(|turn| PromptSummary::deserialize(turn).ok())
        .filter(cited)
        .collect()
}

/// Returns "turn 2: " where a trial has several turns.
fn turn_label(trial: &TrialRecord, turn: &PromptSummary) -> String {
    if trial.prompts.len() < 2 {
        return String::new();
    }
    format!("turn {}: ", turn.prompt_index.saturating_add(1))
}

fn call(call: &ToolCall) -> String {
    let name = escape::line(&call.tool_name, MAX_NAME);
    format!(
        "{name} {}",
        escape::json(&redact_value(&call.arguments), MAX_ARGUMENTS)
    )
}

fn missing(trial: &TrialRecord, row: &SummaryStage) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in turns(trial, row) {
        if turn.missing.is_empty() {
            continue;
        }
        let label = turn_label(trial, &turn);
        for wanted in &turn.missing {
            lines.push(format!("{label}expected {}", call(wanted)));
        }
        lines.push(match turn.actual_tool_calls.as_slice() {
            [] => format!("{label}called no tool"),
            calls => {
                let calls: Vec<String> = calls.iter().map(call).collect();
                format!("{label}called {}", calls.join(", then "))
            }
        });
    }
    lines
}

fn unexpected(trial: &TrialRecord, row: &SummaryStage) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in turns(trial, row) {
        let label = turn_label(trial, &turn);
        lines.extend(
            turn.unexpected
                .iter()
                .map(|made| format!("{label}called {}", call(made))),
        );
    }
    lines
}

fn mismatches(trial: &TrialRecord, row: &SummaryStage) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in turns(trial, row) {
        let label = turn_label(trial, &turn);
        for mismatch in &turn.argument_mismatches {
            let name = escape::line(&mismatch.tool_name, MAX_NAME);
            for difference in differences(&mismatch.expected_args, &mismatch.actual_args) {
                lines.push(format!("{label}{name}: {}", sides(&difference)));
            }
        }
    }
    lines
}

fn sides(difference: &Difference) -> String {
    let word = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
    let path = match difference.path.as_str() {
        "" => "arguments",
        path => path,
    };
    format!(
        "{path} expected {}, got {}",
        word(&difference.expected),
        word(&difference.got)
    )
}

/// How a tool's failure came back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    /// A result whose `isError` is true.
    Result,
    /// A JSON-RPC or transport error, without a result.
    Protocol,
}

/// Returns what tools said when they failed, from the trace; without a trace
/// only their names are known.
fn tool_errors(
    trial: &TrialRecord,
    trace: Option<&Trace>,
    channel: Channel,
    style: &Style,
) -> Vec<String> {
    let arrow = style.mark("→", "->");
    let said: Vec<String> = trace
        .iter()
        .flat_map(|trace| &trace.messages)
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult {
                tool_call_id,
                tool_name,
                model_text,
                is_error: true,
                policy_block: false,
                error,
                ..
            } => {
                let text = match (channel, error) {
                    (Channel::Result, None) => model_text,
                    (Channel::Protocol, Some(error)) => error,
                    _ => return None,
                };
                let made = made(trial, tool_call_id, tool_name);
                let text = escape::line(redact_text(text).trim(), MAX_TEXT);
                Some(format!("{made} {arrow} {text}"))
            }
            _ => None,
        })
        .collect();
    if !said.is_empty() {
        return said;
    }
    let kind = match channel {
        Channel::Result => "content-error",
        Channel::Protocol => "protocol-error",
    };
    let errors = trial.chain_input.pointer("/evidence/toolErrors");
    errors
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|error| error["kind"] == kind)
        .filter_map(|error| error["toolName"].as_str())
        .map(|name| format!("{} answered with an error", escape::line(name, MAX_NAME)))
        .collect()
}

/// Returns the call with its arguments, when the trial has it under that id.
fn made(trial: &TrialRecord, tool_call_id: &str, tool_name: &str) -> String {
    let recorded = trial
        .actual_tool_calls
        .iter()
        .filter_map(|recorded| ToolCall::deserialize(recorded).ok())
        .find(|recorded| recorded.tool_call_id.as_deref() == Some(tool_call_id));
    recorded.map_or_else(|| escape::line(tool_name, MAX_NAME), |made| call(&made))
}
