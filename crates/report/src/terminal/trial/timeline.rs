//! The trace in order of time: turns, messages, model requests, tool calls.
//!
//! Messages have an order and no times; spans have times. A model's message is
//! told at the model request that brought it, a tool's answer at its call;
//! spans that belong to no message are told where their time puts them.

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::{
    redact::redact_text,
    telemetry::{
        ERROR_TYPE, GEN_AI_REQUEST_MODEL, GEN_AI_RESPONSE_FINISH_REASONS, GEN_AI_RESPONSE_MODEL,
        GEN_AI_USAGE_INPUT_TOKENS, GEN_AI_USAGE_OUTPUT_TOKENS, HTTP_REQUEST_RESEND_COUNT,
        HTTP_RESPONSE_STATUS_CODE,
    },
    trace::{Message, Part, Role, Span, SpanStatus, Trace},
};

use super::{
    Detail, HANG, TrialInput,
    entry::{Entry, took},
    name,
};
use crate::{
    escape,
    layout::{flow, hanging},
    style::{Ink, Style},
    terminal::Trial,
    words::counted,
};

/// Entries shown in brief; the rest is counted.
const MAX_BRIEF: usize = 120;

pub(super) fn render(
    input: &TrialInput<'_>,
    trial: &Trial<'_>,
    detail: Detail,
    style: &Style,
) -> Vec<String> {
    let Some(trace) = input.trace else {
        let text = "the trace was deleted to save space; the trial's record is whole";
        return hanging("timeline", text, 1, HANG, style.columns());
    };
    let mut lines = measured(input, trace, style);
    let entries = entries(input, trial, trace);
    let most = match detail {
        Detail::Brief => MAX_BRIEF,
        Detail::Full => usize::MAX,
    };
    for entry in entries.iter().take(most) {
        lines.extend(entry.render(detail, style));
    }
    if entries.len() > most {
        let dots = style.mark("…", "...");
        let more = entries.len() - most;
        lines.push(format!(" {dots} {more} more entries with --trace"));
    }
    lines.extend(tolerated(trace, detail, style));
    lines
}

/// Returns everything that a trace tells, in order of time.
pub(crate) fn entries<'a>(
    input: &TrialInput<'_>,
    trial: &'a Trial<'_>,
    trace: &'a Trace,
) -> Vec<Entry<'a>> {
    Telling::new(input, trial, trace).tell()
}

fn measured(input: &TrialInput<'_>, trace: &Trace, style: &Style) -> Vec<String> {
    let dot = format!(" {} ", style.dot());
    let mut label = "timeline";
    let mut lines = Vec::new();
    let facts = counts(input, trace);
    for line in flow(&facts, &dot, style.columns().saturating_sub(HANG)) {
        lines.extend(hanging(label, &line, 1, HANG, style.columns()));
        label = "";
    }
    lines
}

/// Returns the counts that the timeline spells out.
pub(crate) fn counts(input: &TrialInput<'_>, trace: &Trace) -> Vec<String> {
    let trial = input.trial;
    let turns: BTreeSet<u32> = trace
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .map(|message| message.prompt_index)
        .collect();
    let mut facts = vec![
        counted(turns.len() as u64, "turn", "turns"),
        counted(
            u64::from(trial.model_requests),
            "model request",
            "model requests",
        ),
        counted(
            trial.actual_tool_calls.len() as u64,
            "tool call",
            "tool calls",
        ),
    ];
    if trial.model_wait_ms > 0.0 {
        facts.push(format!(
            "{} waiting for the model",
            took(trial.model_wait_ms)
        ));
    }
    if trial.server_wait_ms > 0.0 {
        facts.push(format!(
            "{} waiting for servers",
            took(trial.server_wait_ms)
        ));
    }
    if let (Some(read), Some(written)) = (trial.usage.input_tokens, trial.usage.output_tokens) {
        let cached = trial
            .usage
            .cached_input_tokens
            .map_or(String::new(), |cached| format!(" ({cached} from a cache)"));
        facts.push(format!("{read} tokens read{cached}, {written} written"));
    }
    facts
}

/// Tells a trace entry by entry.
struct Telling<'a> {
    trace: &'a Trace,
    began: f64,
    cited: BTreeSet<&'a str>,
    /// Calls whose answer is a message.
    answered: BTreeSet<&'a str>,
    /// Spans in order of their start; told ones are taken out.
    spans: Vec<&'a Span>,
    turn: Option<u32>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Telling<'a> {
    fn new(input: &TrialInput<'_>, trial: &'a Trial<'_>, trace: &'a Trace) -> Self {
        let cited = trial
            .first_failed()
            .and_then(|row| row.evidence.as_ref())
            .and_then(|evidence| evidence.span_ids.as_ref());
        let mut spans: Vec<&Span> = trace.spans.iter().collect();
        spans.sort_by(|a, b| a.started_at.total_cmp(&b.started_at));
        Self {
            trace,
            began: input.trial.started_at as f64,
            cited: cited.into_iter().flatten().map(String::as_str).collect(),
            answered: answered(trace),
            spans,
            turn: None,
            entries: Vec::new(),
        }
    }

    fn tell(mut self) -> Vec<Entry<'a>> {
        for message in &self.trace.messages {
            self.message(message);
        }
        self.others(f64::INFINITY);
        self.entries
    }

    fn message(&mut self, message: &'a Message) {
        match message.role {
            Role::System => self.texts("system", message),
            Role::User => {
                self.open_turn(message.prompt_index);
                self.texts("user", message);
            }
            Role::Assistant => {
                self.open_turn(message.prompt_index);
                self.model_request(message.prompt_index);
                self.answer(message);
            }
            Role::Tool => {
                self.open_turn(message.prompt_index);
                self.results(message);
            }
        }
    }

    /// Begins a turn; what happened before its own work comes first.
    fn open_turn(&mut self, turn: u32) {
        if self.turn == Some(turn) {
            return;
        }
        self.turn = Some(turn);
        let own = self
            .spans
            .iter()
            .find(|span| span.prompt_index == Some(turn))
            .map(|span| span.started_at);
        if let Some(start) = own {
            self.others(start);
        }
        let at = own.map(|start| start - self.began);
        let entry = Entry::new("turn").at(at).ink(Ink::Strong);
        self.push(entry.fact((u64::from(turn) + 1).to_string()));
    }

    fn push(&mut self, mut entry: Entry<'a>) {
        entry.turn = self.turn;
        self.entries.push(entry);
    }

    fn texts(&mut self, kind: &'static str, message: &'a Message) {
        for part in &message.parts {
            self.part(kind, part);
        }
    }

    /// Tells the model request of a turn that comes next.
    fn model_request(&mut self, turn: u32) {
        let brought = |span: &&Span| {
            is_answered_request(span) && span.prompt_index.is_none_or(|index| index == turn)
        };
        if let Some(next) = self.spans.iter().find(|span| brought(span)) {
            self.others(next.started_at);
        }
        if let Some(next) = self.spans.iter().position(brought) {
            let span = self.spans.remove(next);
            self.span(span);
        }
    }

    fn answer(&mut self, message: &'a Message) {
        for part in &message.parts {
            self.part("says", part);
        }
    }

    fn results(&mut self, message: &'a Message) {
        for part in &message.parts {
            self.part("tool", part);
        }
    }

    fn part(&mut self, kind: &'static str, part: &'a Part) {
        match part {
            Part::Text { text } => self.push(Entry::new(kind).part(part).text(text)),
            Part::ToolCall {
                tool_name,
                arguments,
                raw_arguments,
                ..
            } => {
                let call = format!("{tool_name} {arguments}");
                let entry = match raw_arguments {
                    None => Entry::new("asks").text(call),
                    Some(raw) => Entry::new("asks")
                        .ink(Ink::Unsure)
                        .fact(format!(
                            "{} with arguments that are no JSON object",
                            name(tool_name)
                        ))
                        .text(raw),
                };
                self.push(entry.part(part));
            }
            Part::ToolResult {
                tool_call_id,
                tool_name,
                model_text,
                is_error,
                policy_block,
                error,
                ..
            } => {
                let span = self.take_call(tool_call_id);
                let mut entry = Entry::new(if *policy_block { "blocked" } else { "answer" })
                    .at(span.map(|span| span.started_at - self.began))
                    .fact(name(tool_name));
                if let Some(span) = span {
                    entry.cited = self.cited.contains(span.id.as_str());
                    entry.span = Some(span);
                    entry = entry.fact(took(span.ended_at - span.started_at));
                }
                entry = match (policy_block, error) {
                    (true, _) => entry
                        .ink(Ink::Unsure)
                        .fact("stopped by the tool policy, never reached the server"),
                    (false, Some(error)) => entry
                        .ink(Ink::Bad)
                        .fact("no result came back")
                        .fact(escape::line(&redact_text(error), Detail::Brief.limit())),
                    (false, None) if *is_error => {
                        entry.ink(Ink::Bad).fact("the tool says it is an error")
                    }
                    (false, None) => entry,
                };
                let size = model_text.len() as u64;
                entry = entry.fact(counted(size, "byte", "bytes"));
                if !model_text.is_empty() {
                    entry = entry.text(model_text);
                }
                self.push(entry.part(part));
            }
        }
    }

    /// Takes the span of a call, with all that came before it told first.
    fn take_call(&mut self, tool_call_id: &str) -> Option<&'a Span> {
        let found = |span: &&'a Span| {
            span.category == "tool" && span.tool_call_id.as_deref() == Some(tool_call_id)
        };
        let start = self.spans.iter().find(|span| found(span))?.started_at;
        self.others(start);
        let index = self.spans.iter().position(found)?;
        Some(self.spans.remove(index))
    }

    /// Tells the spans that started before `until` and belong to no message.
    fn others(&mut self, until: f64) {
        let (told, kept): (Vec<&Span>, Vec<&Span>) = self.spans.iter().partition(|span| {
            let id = span.tool_call_id.as_deref();
            let awaited =
                is_answered_request(span) || id.is_some_and(|id| self.answered.contains(id));
            span.started_at < until && (until.is_infinite() || !awaited)
        });
        self.spans = kept;
        for span in told {
            self.span(span);
        }
    }

    fn span(&mut self, span: &'a Span) {
        let kind = match span.category.as_str() {
            "llm" => "model",
            "tool" => "call",
            "connection" => "connect",
            "discovery" => "list",
            // A step is the turn that it opened, unless it went wrong.
            "step" if span.status == SpanStatus::Ok => return,
            "step" => "step",
            _ => "span",
        };
        let attribute = |key: &str| span.attributes.get(key);
        let mut entry = Entry::new(kind).at(Some(span.started_at - self.began));
        entry.cited = self.cited.contains(span.id.as_str());
        entry.span = Some(span);
        entry = entry.fact(match span.category.as_str() {
            "llm" => attribute(GEN_AI_RESPONSE_MODEL)
                .filter(|model| is_a_name(model))
                .or_else(|| attribute(GEN_AI_REQUEST_MODEL))
                .and_then(Value::as_str)
                .map_or_else(|| name(&span.name), name),
            _ => name(&span.name),
        });
        entry = entry.fact(took(span.ended_at - span.started_at));
        let tokens = |key| attribute(key).and_then(Value::as_u64);
        if let (Some(read), Some(written)) = (
            tokens(GEN_AI_USAGE_INPUT_TOKENS),
            tokens(GEN_AI_USAGE_OUTPUT_TOKENS),
        ) {
            entry = entry.fact(format!("{read} tokens read, {written} written"));
        }
        if let Some(Value::Array(reasons)) = attribute(GEN_AI_RESPONSE_FINISH_REASONS) {
            let reasons: Vec<String> = reasons.iter().filter_map(Value::as_str).map(name).collect();
            entry = entry.fact(format!("stopped for {}", reasons.join(", ")));
        }
        if let Some(resent) = tokens(HTTP_REQUEST_RESEND_COUNT).filter(|count| *count > 0) {
            entry = entry.fact(counted(resent, "retry", "retries"));
        }
        if span.status == SpanStatus::Error {
            entry = entry.ink(Ink::Bad).fact("failed");
            let kind = attribute(ERROR_TYPE).and_then(Value::as_str);
            entry.facts.extend(kind.map(name));
            let code = span.mcp_error_code;
            entry
                .facts
                .extend(code.map(|code| format!("JSON-RPC error {code}")));
            let status = tokens(HTTP_RESPONSE_STATUS_CODE);
            entry
                .facts
                .extend(status.map(|status| format!("HTTP {status}")));
        }
        self.push(entry);
    }
}

/// Whether a provider named the model that answered; some send a dash.
fn is_a_name(model: &Value) -> bool {
    let name = model.as_str().unwrap_or_default();
    name.chars().any(char::is_alphanumeric)
}

/// Returns whether a span is a model request that brought a message.
fn is_answered_request(span: &Span) -> bool {
    span.category == "llm" && span.status == SpanStatus::Ok
}

fn answered(trace: &Trace) -> BTreeSet<&str> {
    trace
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult { tool_call_id, .. } => Some(tool_call_id.as_str()),
            Part::Text { .. } | Part::ToolCall { .. } => None,
        })
        .collect()
}

/// Returns what was repaired or renamed on the way, and what was found about
/// the servers.
fn tolerated(trace: &Trace, detail: Detail, style: &Style) -> Vec<String> {
    let most = match detail {
        Detail::Brief => 6,
        Detail::Full => usize::MAX,
    };
    let mut lines = listed("adapted", adapted(trace, detail), most, style);
    lines.extend(listed("findings", found(trace, detail), most, style));
    lines
}

/// Returns what was repaired or renamed on the way.
pub(crate) fn adapted(trace: &Trace, detail: Detail) -> Vec<String> {
    let adapted = trace.adaptations.iter().map(|adaptation| {
        format!(
            "{} {}: {}",
            name(&adaptation.kind),
            name(&adaptation.subject),
            detail.lines(&adaptation.detail).join(" ")
        )
    });
    adapted.collect()
}

/// Returns what was found about the servers.
pub(crate) fn found(trace: &Trace, detail: Detail) -> Vec<String> {
    let found = trace.lints.iter().map(|lint| {
        let tool = lint
            .tool_name
            .as_deref()
            .map_or(String::new(), |tool| format!(" {}", name(tool)));
        format!(
            "{} {}{tool}: {}",
            name(&lint.server),
            name(&lint.code),
            detail.lines(&lint.message).join(" ")
        )
    });
    found.collect()
}

fn listed(heading: &str, texts: Vec<String>, most: usize, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut label = heading;
    for text in texts.iter().take(most) {
        lines.extend(hanging(label, text, 1, HANG, style.columns()));
        label = "";
    }
    if texts.len() > most {
        let more = texts.len() - most;
        let text = format!("{} {more} more with --trace", style.mark("…", "..."));
        lines.extend(hanging("", &text, 1, HANG, style.columns()));
    }
    lines
}
