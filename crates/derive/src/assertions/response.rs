//! Rules filed under response: what tools answered (`assertions.md` §8.4).

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::{
    canonical::{canonical_json_bounded, number_text},
    ecma,
    number::as_count,
    transcript::{ToolCall, ToolError, ToolResult},
    words::CaptureState,
};

use super::{
    evidence::{Evidence, Inventory, Scope},
    outcome::{Outcome, Params, Unusable, malformed},
    patterns::{Bounds, MAX_SUBJECT, PatternRule, Subject},
    reason::{counted, shown_list, shown_pattern, shown_text},
    rule::Rule,
    schema::{Schema, shown_violations},
};

/// Largest authored schema, in bytes of JSON.
const MAX_AUTHORED_SCHEMA: usize = 16_384;

/// What a narrowed channel holds (`assertions.md` §8.4, empty scope).
enum Rows<T> {
    /// Some rows.
    Some(Vec<T>),
    /// The channel is complete and no call was made.
    NothingRan,
}

/// Reads the rows in scope, or says why there are none.
fn rows_in_scope<T>(
    evidence: &Evidence<'_>,
    scope: &Scope,
    state: CaptureState,
    rows: Vec<T>,
    what: &str,
) -> Result<Rows<T>, Outcome> {
    if !rows.is_empty() {
        return Ok(Rows::Some(rows));
    }
    if state != CaptureState::Complete {
        return Err(Outcome::Error(format!("the channel of {what}s is {state}")));
    }
    let calls = evidence.calls_in(scope).count();
    if calls > 0 {
        return Err(Outcome::Error(format!(
            "{} to {} without a {what}",
            counted(calls, "call"),
            scope.label()
        )));
    }
    Ok(Rows::NothingRan)
}

fn result_rows<'a>(
    evidence: &Evidence<'a>,
    scope: &Scope,
) -> Result<Rows<&'a ToolResult>, Outcome> {
    rows_in_scope(
        evidence,
        scope,
        evidence.capture().tool_results,
        evidence.results_in(scope),
        "tool result",
    )
}

/// Returns whether rows may be missing or some text is cut.
fn has_gap(evidence: &Evidence<'_>, rows: &[&ToolResult]) -> bool {
    evidence.capture().tool_results != CaptureState::Complete
        || rows.iter().any(|row| row.truncated == Some(true))
}

/// The value that a result carries: structured content, else JSON, else its
/// text read as JSON.
enum Payload<'a> {
    Received(&'a Value),
    Parsed(Value),
}

impl Payload<'_> {
    fn of(row: &ToolResult) -> Option<Payload<'_>> {
        if let Some(received) = row.structured_content.as_ref().or(row.json.as_ref()) {
            return Some(Payload::Received(received.value()));
        }
        let text = row.text.as_deref()?;
        serde_json::from_str(text).ok().map(Payload::Parsed)
    }

    const fn value(&self) -> &Value {
        match self {
            Self::Received(value) => value,
            Self::Parsed(value) => value,
        }
    }
}

/// No tool error was recorded.
pub(super) struct NoToolErrors;

impl Rule for NoToolErrors {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let errors = evidence.errors();
        if errors.is_empty() {
            return Outcome::Pass("0 tool error records".to_owned());
        }
        let shown = errors.iter().map(|error| {
            format!(
                "{} {}{}",
                error
                    .tool_name
                    .as_deref()
                    .map_or_else(|| "a tool".to_owned(), shown_text),
                error.kind,
                error
                    .message
                    .as_deref()
                    .map_or_else(String::new, |message| format!(": {}", shown_text(message)))
            )
        });
        Outcome::Fail(format!(
            "{}: {}",
            counted(errors.len(), "tool error record"),
            shown_list(shown)
        ))
    }
}

/// The slowest call took less than a bound.
pub(super) struct ToolLatencyUnder {
    ms: u64,
    scope: Scope,
}

impl ToolLatencyUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            ms: params.bound("ms")?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ToolLatencyUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let state = evidence.capture().tool_call_timings;
        let rows = rows_in_scope(
            evidence,
            &self.scope,
            state,
            evidence.timings_in(&self.scope),
            "timing",
        );
        let timings = match rows {
            Ok(Rows::Some(timings)) => timings,
            Ok(Rows::NothingRan) => {
                return Outcome::Pass(format!("0 calls to {}", self.scope.label()));
            }
            Err(error) => return error,
        };
        let slowest = timings
            .iter()
            .map(|timing| timing.duration_ms)
            .fold(f64::NEG_INFINITY, f64::max);
        let calls = evidence.calls_in(&self.scope).count();
        let reason = format!(
            "slowest of {} to {}: {} ms, under {} ms demanded",
            counted(timings.len(), "timed call"),
            self.scope.label(),
            shown_number(slowest),
            self.ms
        );
        if at_least(slowest, self.ms) {
            Outcome::Fail(reason)
        } else if timings.len() < calls || state != CaptureState::Complete {
            Outcome::Error(format!("{reason}; not every call was timed"))
        } else {
            Outcome::Pass(reason)
        }
    }
}

/// Some tool result contains a text.
pub(super) struct ToolResultContains {
    needle: String,
    case_sensitive: bool,
    scope: Scope,
}

impl ToolResultContains {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let needle = params.text("needle")?;
        if needle.is_empty() {
            return Err(malformed("`needle` is empty"));
        }
        let case_sensitive = params.switch("caseSensitive")?;
        Ok(Self {
            needle: folded(&needle, case_sensitive),
            case_sensitive,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ToolResultContains {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let needle = shown_pattern(&self.needle);
        let rows = match result_rows(evidence, &self.scope) {
            Ok(Rows::Some(rows)) => rows,
            Ok(Rows::NothingRan) => {
                return Outcome::Fail(format!(
                    "0 results of {}, so none contains \"{needle}\"",
                    self.scope.label()
                ));
            }
            Err(error) => return error,
        };
        let containing = rows
            .iter()
            .filter(|row| folded(&row_text(row), self.case_sensitive).contains(&self.needle))
            .count();
        let reason = format!(
            "{containing} of {} of {} {} \"{needle}\"",
            counted(rows.len(), "result"),
            self.scope.label(),
            if containing == 1 {
                "contains"
            } else {
                "contain"
            }
        );
        if containing > 0 {
            Outcome::Pass(reason)
        } else if has_gap(evidence, &rows) {
            Outcome::Error(format!("{reason}; some result text was not captured"))
        } else {
            Outcome::Fail(reason)
        }
    }
}

/// Everything that a row can be searched in: its text and its values in the
/// key order received.
fn row_text(row: &ToolResult) -> String {
    let parts = [
        row.text.as_deref(),
        row.structured_content.as_ref().map(|json| json.compact()),
        row.json.as_ref().map(|json| json.compact()),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    parts.join("\n")
}

/// Lower-cases a text, unless case counts.
pub(super) fn folded(text: &str, case_sensitive: bool) -> String {
    if case_sensitive {
        text.to_owned()
    } else {
        text.to_lowercase()
    }
}

/// Every tool result validates against an authored schema.
pub(super) struct ToolResultMatchesSchema {
    schema: Value,
    scope: Scope,
}

impl ToolResultMatchesSchema {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            schema: params.any("schema")?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ToolResultMatchesSchema {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let rows = match result_rows(evidence, &self.scope) {
            Ok(Rows::Some(rows)) => rows,
            Ok(Rows::NothingRan) => {
                return Outcome::Fail(format!("0 results of {}", self.scope.label()));
            }
            Err(error) => return error,
        };
        let size = serde_json::to_vec(&self.schema).map_or(usize::MAX, |text| text.len());
        if size > MAX_AUTHORED_SCHEMA {
            return Outcome::Error(format!(
                "the schema has {size} bytes, {MAX_AUTHORED_SCHEMA} are allowed"
            ));
        }
        let schema = match Schema::compile(&self.schema) {
            Ok(schema) => schema,
            Err(error) => return Outcome::Error(error.to_string()),
        };
        let mut findings = Vec::new();
        for row in &rows {
            match Payload::of(row) {
                Some(payload) => {
                    let violations = schema.violations(payload.value());
                    if !violations.is_empty() {
                        findings.push(format!(
                            "{}: {}",
                            shown_text(&row.tool_name),
                            shown_violations(&violations)
                        ));
                    }
                }
                None if row.truncated == Some(true) => {
                    if findings.is_empty() {
                        return Outcome::Error(format!(
                            "a result of {} was cut and cannot be read",
                            shown_text(&row.tool_name)
                        ));
                    }
                    break;
                }
                None => findings.push(format!("{}: not JSON", shown_text(&row.tool_name))),
            }
        }
        if !findings.is_empty() {
            return Outcome::Fail(format!(
                "{} of {} of {} {} not fit the schema: {}",
                findings.len(),
                counted(rows.len(), "result"),
                self.scope.label(),
                if findings.len() == 1 { "does" } else { "do" },
                shown_list(&findings)
            ));
        }
        let reason = format!(
            "{} of {}, all fit the schema",
            counted(rows.len(), "result"),
            self.scope.label()
        );
        if has_gap(evidence, &rows) {
            Outcome::Error(format!("{reason}; some results were not captured"))
        } else {
            Outcome::Pass(reason)
        }
    }
}

/// The largest tool result is smaller than a bound.
pub(super) struct ToolResultSizeUnder {
    max_bytes: u64,
    scope: Scope,
}

impl ToolResultSizeUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            max_bytes: params.bound("maxBytes")?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ToolResultSizeUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let rows = match result_rows(evidence, &self.scope) {
            Ok(Rows::Some(rows)) => rows,
            Ok(Rows::NothingRan) => {
                return Outcome::Pass(format!("0 results of {}", self.scope.label()));
            }
            Err(error) => return error,
        };
        // The size is measured before the text is cut, so a cut is no gap.
        if rows.iter().any(|row| !row.size.complete) {
            return Outcome::Error("a result was not measured to its end".to_owned());
        }
        let largest = rows
            .iter()
            .map(|row| row.size.bytes)
            .fold(f64::NEG_INFINITY, f64::max);
        let reason = format!(
            "largest of {} of {}: {} bytes, under {} bytes demanded",
            counted(rows.len(), "result"),
            self.scope.label(),
            shown_number(largest),
            self.max_bytes
        );
        if at_least(largest, self.max_bytes) {
            Outcome::Fail(reason)
        } else if evidence.capture().tool_results != CaptureState::Complete {
            Outcome::Error(format!("{reason}; some results were not captured"))
        } else {
            Outcome::Pass(reason)
        }
    }
}

/// Returns whether a measured value reaches an authored bound ≤ 2^53-1.
#[expect(clippy::cast_precision_loss, reason = "the bound is at most 2^53-1")]
pub(super) fn at_least(measured: f64, bound: u64) -> bool {
    measured >= bound as f64
}

/// Returns a measured number without needless decimals.
pub(super) fn shown_number(number: f64) -> String {
    serde_json::Number::from_f64(number)
        .map_or_else(|| number.to_string(), |number| number_text(&number))
}

/// The number of results that match every pattern lies within bounds
/// (`assertions.md` §8.6).
pub(super) struct ToolResultMatches {
    rule: PatternRule,
    scope: Scope,
}

impl ToolResultMatches {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            rule: PatternRule::read(params)?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }

    fn subject(&self, row: &ToolResult) -> Subject {
        if let Some(key) = self.rule.key() {
            let container = row.structured_content.as_ref().or(row.json.as_ref());
            return Subject::of_property(container.map(|json| json.value()), key);
        }
        if row.truncated == Some(true) {
            return Subject::Unreadable;
        }
        let values = [row.structured_content.as_ref(), row.json.as_ref()];
        let mut parts: Vec<String> = row.text.iter().cloned().collect();
        for json in values.into_iter().flatten() {
            match canonical_json_bounded(json.value(), MAX_SUBJECT) {
                Ok(text) => parts.push(text),
                Err(_) => return Subject::Unreadable,
            }
        }
        Subject::of_text(parts.join("\n"))
    }
}

impl Rule for ToolResultMatches {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let rows = match result_rows(evidence, &self.scope) {
            Ok(Rows::Some(rows)) => rows,
            Ok(Rows::NothingRan) => Vec::new(),
            Err(error) => return error,
        };
        let bounds = if evidence.capture().tool_results == CaptureState::Complete {
            Bounds::Seen
        } else {
            Bounds::Open
        };
        self.rule.verdict(
            rows.iter().map(|row| self.subject(row)),
            bounds,
            "result",
            &format!("of {}", self.scope.label()),
        )
    }
}

/// Every tool error names a parameter or a value that was sent
/// (`assertions.md` §8.4.1).
pub(super) struct ToolErrorNamesInput {
    tool_name: Option<String>,
}

impl ToolErrorNamesInput {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            tool_name: params.optional_text("toolName")?,
        })
    }
}

impl Rule for ToolErrorNamesInput {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let errors: Vec<&ToolError> = evidence
            .errors()
            .iter()
            .filter(|error| self.tool_name.is_none() || error.tool_name == self.tool_name)
            .collect();
        if errors.is_empty() {
            return Outcome::Pass("0 tool error records".to_owned());
        }
        let inventory = match evidence.inventory() {
            Ok(inventory) => inventory,
            Err(error) => return error,
        };
        // The first error that is not helpful decides.
        for error in &errors {
            match names_input(error, evidence, inventory) {
                Naming::Names => {}
                Naming::Unclear => {
                    return Outcome::Error(format!(
                        "\"{}\" names a value that was sent, and no call is known to be the failing one",
                        shown_text(error.message.as_deref().unwrap_or_default())
                    ));
                }
                Naming::Silent => {
                    return Outcome::Fail(format!(
                        "\"{}\" of {} names neither a parameter nor a value that was sent",
                        shown_text(error.message.as_deref().unwrap_or_default()),
                        error
                            .tool_name
                            .as_deref()
                            .map_or_else(|| "a tool".to_owned(), shown_text)
                    ));
                }
            }
        }
        Outcome::Pass(format!(
            "{}, each names its input",
            counted(errors.len(), "tool error record")
        ))
    }
}

/// What an error message says about the input.
enum Naming {
    /// It names a parameter, or a value of the failing call.
    Names,
    /// It names a value of some call that may not be the failing one.
    Unclear,
    /// It names nothing that was sent.
    Silent,
}

fn names_input(error: &ToolError, evidence: &Evidence<'_>, inventory: Inventory<'_>) -> Naming {
    let Some(message) = error
        .message
        .as_deref()
        .filter(|message| !message.is_empty())
    else {
        return Naming::Silent;
    };
    let message = message.to_lowercase();
    let declared = error
        .tool_name
        .as_deref()
        .and_then(|name| inventory.tool(name))
        .and_then(|tool| tool.input_schema.as_ref()?.get("properties")?.as_object());
    if declared.is_some_and(|declared| {
        declared
            .keys()
            .any(|key| message.contains(&key.to_lowercase()))
    }) {
        return Naming::Names;
    }
    let candidates: Vec<&ToolCall> = evidence
        .calls()
        .iter()
        .filter(|call| {
            error
                .tool_name
                .as_ref()
                .is_none_or(|name| *name == call.tool_name)
        })
        .collect();
    let joined = candidates
        .iter()
        .find(|call| call.tool_call_id.is_some() && call.tool_call_id == error.tool_call_id)
        .or(match candidates.as_slice() {
            [only] => Some(only),
            _ => None,
        });
    let named = |call: &&ToolCall| sent_values(call).any(|value| message.contains(&value));
    match joined {
        Some(call) if named(call) => Naming::Names,
        None if candidates.iter().any(named) => Naming::Unclear,
        Some(_) | None => Naming::Silent,
    }
}

/// Argument values that are long enough to be recognized in a message.
fn sent_values(call: &ToolCall) -> impl Iterator<Item = String> {
    call.arguments
        .as_object()
        .into_iter()
        .flat_map(|arguments| arguments.values())
        .filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number_text(number)),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
        .filter(|text| ecma::utf16_len(text) >= 3)
        .map(|text| text.to_lowercase())
}

/// Every result as long as the requested page says whether there is more
/// (`assertions.md` §8.4.2).
pub(super) struct FullPageHasContinuation {
    scope: Scope,
}

impl FullPageHasContinuation {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

/// Arguments that ask for a page of some length, in order of preference.
const LIMIT_KEYS: [&str; 9] = [
    "limit",
    "page_size",
    "pageSize",
    "per_page",
    "perPage",
    "max_results",
    "maxResults",
    "first",
    "top",
];
/// Keys by which a result says whether there is more.
const CONTINUATION_KEYS: [&str; 9] = [
    "nextCursor",
    "next_cursor",
    "hasMore",
    "has_more",
    "cursor",
    "nextPage",
    "next_page",
    "nextPageToken",
    "truncated",
];

impl Rule for FullPageHasContinuation {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let state = evidence.capture().tool_results;
        if state != CaptureState::Complete {
            return Outcome::Error(format!("the channel of tool results is {state}"));
        }
        let rows = evidence
            .transcript()
            .tool_results
            .as_deref()
            .unwrap_or_default();
        let mut consumed = BTreeSet::new();
        let mut inspected = 0;
        for call in evidence.calls_in(&self.scope) {
            let Some(index) = result_of(call, rows, &consumed) else {
                continue;
            };
            consumed.insert(index);
            let (Some(limit), Some(payload)) = (page_limit(call), Payload::of(&rows[index])) else {
                continue;
            };
            let payload = payload.value();
            if list_length(payload) != Some(limit) {
                continue;
            }
            inspected += 1;
            let continues = payload
                .as_object()
                .is_some_and(|page| CONTINUATION_KEYS.iter().any(|key| page.contains_key(*key)));
            if !continues {
                return Outcome::Fail(format!(
                    "{} returned a full page of {limit} and does not say whether there is more",
                    shown_text(&call.tool_name)
                ));
            }
        }
        Outcome::Pass(if inspected == 0 {
            "0 full pages".to_owned()
        } else {
            format!(
                "{}, each says whether there is more",
                counted(inspected, "full page")
            )
        })
    }
}

/// Finds the result of a call: by id, else the first free one of its tool.
fn result_of(call: &ToolCall, rows: &[ToolResult], consumed: &BTreeSet<usize>) -> Option<usize> {
    if call.tool_call_id.is_some() {
        let same_id = rows
            .iter()
            .position(|row| row.tool_call_id == call.tool_call_id);
        if same_id.is_some() || rows.iter().all(|row| row.tool_call_id.is_some()) {
            return same_id;
        }
    }
    rows.iter()
        .enumerate()
        .find(|(index, row)| row.tool_name == call.tool_name && !consumed.contains(index))
        .map(|(index, _)| index)
}

fn page_limit(call: &ToolCall) -> Option<u64> {
    LIMIT_KEYS
        .iter()
        .filter_map(|key| as_count(call.arguments.get(key)?))
        .find(|limit| *limit > 0)
}

/// Length of a list, or of the longest list at an object's top level.
fn list_length(payload: &Value) -> Option<u64> {
    match payload {
        Value::Array(items) => Some(items.len() as u64),
        Value::Object(members) => members
            .values()
            .filter_map(|member| Some(member.as_array()?.len() as u64))
            .max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
