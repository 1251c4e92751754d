//! Whether a stored chain may be believed, and what a reader gets of it
//! (`chain.md` §11.2, §11.3).
//!
//! An invalid chain is never repaired, derived again or shown in part.

use serde::Deserialize;
use serde_json::{Map, Value};
use strandline_contract::{
    chain::Chain,
    words::{FailureCategory, Stage, StageReason, StageState, Vocabulary},
};

use crate::document::{Findings, Node, Violation};

/// The keys of a stored chain.
const KEYS: [&str; 4] = [
    "stageResults",
    "firstFailedStage",
    "failureCategory",
    "stageAnalyzerVersion",
];
const ROW_KEYS: [&str; 4] = ["stage", "state", "reason", "evidence"];
const EVIDENCE_KEYS: [&str; 3] = ["spanIds", "promptIndexes", "predicateReasons"];

/// Checks a stored chain; unknown keys are ignored, `null` is not absent.
///
/// Not checked: reason against state, caps, position, and the version against
/// ours.
///
/// # Errors
///
/// Returns every violation, with its path.
pub fn validate_chain(stored: &Value) -> Result<(), Vec<Violation>> {
    let findings = Findings::default();
    let valid = validate(&Node::root(stored, &findings));
    findings.into_result(valid)
}

/// Reads a stored chain that lies inside another document.
pub(crate) fn read_chain(node: &Node<'_>) -> Option<Chain<'static>> {
    validate(node)?;
    let read = Chain::deserialize(node.value());
    read.map(Chain::into_owned)
        .map_or_else(|error| node.refuse(error), Some)
}

fn validate(node: &Node<'_>) -> Option<()> {
    node.open_object()?;
    // 1. Rows of known words.
    let rows = node.required_with("stageResults", |node| node.list(read_row));
    // 4. The category is not checked against the rows.
    let category = node.optional_with("failureCategory", |node| node.word::<FailureCategory>());
    // 5. The version of the rules, whichever.
    let version = node.required_with("stageAnalyzerVersion", |node| node.count());
    let first_failed = node.optional_with("firstFailedStage", |node| node.word::<Stage>());
    let rows = rows?;
    // 2. Six rows in stage order.
    if !rows.iter().map(|row| row.0).eq(Stage::ALL.iter().copied()) {
        return node.refuse("`stageResults` must hold the six stages once each, in stage order");
    }
    // 3. The first failed stage is that of the first failed row.
    let failed = rows.iter().find(|row| row.1 == StageState::Failed);
    if first_failed? != failed.map(|row| row.0) {
        return node.refuse(match failed {
            Some((stage, _)) => format!("`firstFailedStage` must be `{stage}`"),
            None => "`firstFailedStage` must be absent: no stage failed".to_owned(),
        });
    }
    category.and(version).map(|_| ())
}

fn read_row(node: &Node<'_>) -> Option<(Stage, StageState)> {
    node.open_object()?;
    let stage = node.required_with("stage", |node| node.word::<Stage>());
    let state = node.required_with("state", |node| node.word::<StageState>());
    let reason = node.optional_with("reason", |node| node.word::<StageReason>());
    let evidence = node.optional_with("evidence", |node| {
        node.open_object()?;
        let texts = |key| node.optional_with(key, |node| node.list(|node| node.text().map(|_| ())));
        let span_ids = texts("spanIds");
        let reasons = texts("predicateReasons");
        let turns = node.optional_with("promptIndexes", |node| node.list(|node| node.number()));
        span_ids.and(reasons).and(turns)
    });
    reason.and(evidence)?;
    Some((stage?, state?))
}

/// Returns what a reader gets of a trial's metadata: the four keys of a valid
/// chain, a flag when it is not valid, nothing when there is none.
#[must_use]
pub fn project_chain(metadata: &Value) -> Map<String, Value> {
    if metadata.get("stageResults").is_none() {
        return Map::new();
    }
    if validate_chain(metadata).is_ok() {
        return pick(metadata, &KEYS, |key, value| match key {
            "stageResults" => map_items(value, project_row),
            _ => value.clone(),
        });
    }
    let mut projected = Map::from_iter([("stageResultsUnverified".to_owned(), Value::Bool(true))]);
    let version = metadata.get("stageAnalyzerVersion");
    if let Some(version) = version.filter(|version| is_version(version)) {
        projected.insert("stageAnalyzerVersion".to_owned(), version.clone());
    }
    projected
}

fn is_version(value: &Value) -> bool {
    strandline_contract::number::as_count(value).is_some()
}

fn project_row(row: &Value) -> Value {
    Value::Object(pick(row, &ROW_KEYS, |key, value| match key {
        "evidence" => Value::Object(pick(value, &EVIDENCE_KEYS, |_, value| value.clone())),
        _ => value.clone(),
    }))
}

/// Returns the named members of an object, each made over.
fn pick(object: &Value, keys: &[&str], make: impl Fn(&str, &Value) -> Value) -> Map<String, Value> {
    keys.iter()
        .filter_map(|key| Some(((*key).to_owned(), make(key, object.get(key)?))))
        .collect()
}

fn map_items(list: &Value, make: impl Fn(&Value) -> Value) -> Value {
    list.as_array()
        .map(|items| items.iter().map(make).collect())
        .unwrap_or_default()
}
