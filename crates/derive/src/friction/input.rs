//! The calls of one trial and their results (`friction.md` §2).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use strandline_contract::{
    trace::{Part, Trace},
    words::{FrictionGap, Vocabulary},
};
use thiserror::Error;

use super::lenient::{self, Parsed};

/// What the signals of one trial are derived from.
#[derive(Debug, Clone, Default)]
pub struct FrictionInput {
    /// The trial's calls, in order, as graded: `{toolName, arguments, toolCallId}`.
    pub tools_called: Vec<Value>,
    /// Results by the id of the call they answer.
    pub results: BTreeMap<String, ResultEntry>,
    /// What the producer already knows to be missing.
    pub evidence_hole: Option<FrictionGap>,
    /// Positions of calls whose arguments have no canonical form.
    pub(super) inexact_arguments: Vec<usize>,
}

impl FrictionInput {
    /// Makes an input of calls and results.
    #[must_use]
    pub fn new(tools_called: Vec<Value>, results: BTreeMap<String, ResultEntry>) -> Self {
        Self {
            tools_called,
            results,
            evidence_hole: None,
            inexact_arguments: Vec::new(),
        }
    }
}

/// The result of one call, as captured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultEntry {
    /// The result, bare or wrapped.
    pub raw: Value,
    /// The call is known to have failed; an error object says nothing itself.
    pub is_error: bool,
    /// When the call began, ms since the Unix epoch.
    pub started_at_ms: Option<f64>,
    /// When the result was there, ms since the Unix epoch.
    pub settled_at_ms: Option<f64>,
}

/// An input that no signals can be derived from.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MalformedFrictionInput(String);

/// Takes results from a stored transcript.
///
/// A later result of the same call overwrites an earlier one; an item with
/// only `output` is not taken.
#[must_use]
pub fn results_from_transcript(messages: &[Value]) -> BTreeMap<String, ResultEntry> {
    let mut results = BTreeMap::new();
    let contents = messages
        .iter()
        .filter(|message| message.get("role").and_then(Value::as_str) == Some("tool"))
        .filter_map(|message| message.get("content")?.as_array());
    for item in contents.flatten() {
        let is_result = item.get("type").and_then(Value::as_str) == Some("tool-result");
        let id = non_empty(item.get("toolCallId"));
        if let (true, Some(id), Some(_)) = (is_result, id, item.get("result")) {
            let entry = ResultEntry {
                raw: item.clone(),
                ..ResultEntry::default()
            };
            results.insert(id.to_owned(), entry);
        }
    }
    results
}

/// Takes results, with their times, from our own trace of a trial.
#[must_use]
pub fn results_from_trace(trace: &Trace) -> BTreeMap<String, ResultEntry> {
    let times: BTreeMap<&str, (f64, f64)> = trace
        .spans
        .iter()
        .filter_map(|span| {
            let id = span.tool_call_id.as_deref()?;
            Some((id, (span.started_at, span.ended_at)))
        })
        .collect();
    let parts = trace.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolResult {
                tool_call_id,
                result,
                is_error,
                error,
                ..
            } => {
                let raw = result.clone().unwrap_or_else(|| json!({"message": error}));
                let times = times.get(tool_call_id.as_str());
                let entry = ResultEntry {
                    raw,
                    is_error: *is_error,
                    started_at_ms: times.map(|(start, _)| *start),
                    settled_at_ms: times.map(|(_, end)| *end),
                };
                Some((tool_call_id.clone(), entry))
            }
            Part::Text { .. } | Part::ToolCall { .. } => None,
        })
        .collect()
}

impl FrictionInput {
    /// Reads `{toolsCalled, resultsByToolCallId, evidenceHole?}` from its text.
    ///
    /// # Errors
    ///
    /// Fails on text that is not JSON and where a field has another type.
    pub fn from_json(text: &str) -> Result<Self, MalformedFrictionInput> {
        let malformed = |what: &str| MalformedFrictionInput(what.to_owned());
        let Some(Parsed { value, exact }) = lenient::parse(text) else {
            return Err(malformed("the input is not JSON"));
        };
        let Value::Object(mut input) = value else {
            return Err(malformed("the input must be an object"));
        };
        let Some(Value::Array(tools_called)) = input.remove("toolsCalled") else {
            return Err(malformed("`toolsCalled` must be an array"));
        };
        let results = match input.remove("resultsByToolCallId") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(results)) => results,
            Some(_) => return Err(malformed("`resultsByToolCallId` must be an object")),
        };
        let evidence_hole = match input.get("evidenceHole") {
            None | Some(Value::Null) => None,
            Some(hole) => Some(
                hole.as_str()
                    .and_then(FrictionGap::from_wire)
                    .ok_or_else(|| malformed("`evidenceHole` must be a known reason"))?,
            ),
        };
        Ok(Self {
            inexact_arguments: if exact {
                Vec::new()
            } else {
                inexact_arguments(text)
            },
            tools_called,
            results: results
                .into_iter()
                .map(|(id, entry)| (id, read_entry(entry)))
                .collect(),
            evidence_hole,
        })
    }
}

/// Finds the calls whose own arguments could not be read whole.
fn inexact_arguments(text: &str) -> Vec<usize> {
    use serde_json::value::RawValue;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Calls<'a> {
        #[serde(borrow)]
        tools_called: Vec<&'a RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        arguments: &'a RawValue,
    }

    let calls: Result<Calls<'_>, _> = serde_json::from_str(text);
    let calls = calls.map(|calls| calls.tools_called).unwrap_or_default();
    let inexact = |call: &RawValue| {
        let call: Call<'_> = serde_json::from_str(call.get()).ok()?;
        lenient::parse(call.arguments.get()).filter(|parsed| !parsed.exact)
    };
    calls
        .iter()
        .enumerate()
        .filter_map(|(index, call)| inexact(call).map(|_| index))
        .collect()
}

fn read_entry(entry: Value) -> ResultEntry {
    let Value::Object(mut entry) = entry else {
        return ResultEntry::default();
    };
    let time = |entry: &Map<String, Value>, key: &str| entry.get(key).and_then(Value::as_f64);
    ResultEntry {
        is_error: entry.get("isError") == Some(&Value::Bool(true)),
        started_at_ms: time(&entry, "startedAtMs"),
        settled_at_ms: time(&entry, "settledAtMs"),
        raw: entry.remove("raw").unwrap_or_default(),
    }
}

/// How a call's result can be placed in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ordering {
    /// By the order of messages.
    MessageOrder,
    /// By its own times.
    Timed,
    /// Not at all.
    Unknown,
}

/// One call with its result.
pub(super) struct Call<'a> {
    pub(super) index: usize,
    /// Empty when the call names no tool.
    pub(super) tool_name: &'a str,
    pub(super) tool_call_id: Option<&'a str>,
    /// `null` when absent.
    pub(super) arguments: &'a Value,
    pub(super) entry: Option<&'a ResultEntry>,
}

impl<'a> Call<'a> {
    /// Reads every call; none is skipped.
    pub(super) fn all(input: &'a FrictionInput) -> Vec<Self> {
        input
            .tools_called
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let tool_call_id = non_empty(call.get("toolCallId"));
                Self {
                    index,
                    tool_name: ["toolName", "tool", "name"]
                        .into_iter()
                        .find_map(|key| non_empty(call.get(key)))
                        .unwrap_or_default(),
                    tool_call_id,
                    arguments: call.get("arguments").unwrap_or(&Value::Null),
                    entry: tool_call_id.and_then(|id| input.results.get(id)),
                }
            })
            .collect()
    }

    pub(super) fn ordering(&self) -> Ordering {
        match self.entry {
            None => Ordering::Unknown,
            Some(_) if self.times().is_some() => Ordering::Timed,
            Some(_) => Ordering::MessageOrder,
        }
    }

    fn times(&self) -> Option<(f64, f64)> {
        let entry = self.entry?;
        entry.started_at_ms.zip(entry.settled_at_ms)
    }

    /// Returns whether this call's result was there before another call began.
    pub(super) fn is_available_to(&self, other: &Self) -> bool {
        match (self.times(), other.times()) {
            (Some((_, settled)), Some((started, _))) => settled < started,
            _ => self.index < other.index,
        }
    }
}

fn non_empty(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.is_empty())
}
