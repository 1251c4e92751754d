//! One score per rule, under an id that edits of other rules leave alone
//! (`assertions.md` §11).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strandline_contract::{
    assertion::{PromptSummary, ResultRow, ScoreRow},
    canonical::sha256_canonical,
    words::{ArgumentMatching, AssertionKind, ErrorPolicy, RuleRole, ScoreStatus},
};

use super::{
    expectations::Turn,
    reason::{bounded_reason, counted, shown_list, shown_text},
    role::identity_of,
    rule::CompiledRule,
    turn::TurnGrade,
};

/// Version of the rule behind `toolCalls:match`.
const MATCH_VERSION: u32 = 3;
/// Version of the rule behind `toolCalls:arguments`.
const ARGUMENTS_VERSION: u32 = 1;

/// A rule with its row of one trial.
#[derive(Debug)]
pub(super) struct GradedRow<'a> {
    /// Index of the rule in the order that ids were assigned in.
    pub(super) rule_index: usize,
    pub(super) rule: &'a CompiledRule,
    pub(super) row: ResultRow,
    /// The turn engine decided it, not its own predicate.
    pub(super) expectation: bool,
}

/// Ids and implementation hashes of a case's rules, in row order.
#[derive(Debug, Clone, Default)]
pub(super) struct ScoreIds(Vec<ScoreId>);

#[derive(Debug, Clone)]
struct ScoreId {
    id: String,
    implementation_hash: String,
}

impl ScoreIds {
    /// Assigns an id to every rule; a repeat of an identical rule gets `.2`,
    /// `.3` and so on.
    pub(super) fn assign<'a>(rules: impl Iterator<Item = &'a CompiledRule>) -> Self {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        Self(
            rules
                .map(|rule| {
                    let mut id = predicate_id(rule.authored());
                    let repeats = seen.entry(id.clone()).or_default();
                    *repeats += 1;
                    if *repeats > 1 {
                        id = format!("{id}.{repeats}");
                    }
                    ScoreId {
                        id,
                        implementation_hash: implementation_hash(rule),
                    }
                })
                .collect(),
        )
    }

    /// Scores a graded trial: the two tool rows, then one per rule that has a
    /// row.
    pub(super) fn scores(
        &self,
        turns: &[Turn],
        grades: &[TurnGrade],
        prompts: &[PromptSummary],
        rows: &[GradedRow<'_>],
    ) -> Vec<ScoreRow> {
        let mut scores = vec![match_score(turns, grades, prompts)];
        scores.extend(arguments_score(turns, prompts));
        scores.extend(rows.iter().filter_map(|graded| {
            self.0
                .get(graded.rule_index)
                .map(|id| predicate_score(id, graded))
        }));
        scores
    }
}

/// Returns the stable id of an authored rule; `role` and `severity` are no
/// part of it.
fn predicate_id(rule: &Value) -> String {
    let kind = rule
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("unknown");
    format!("predicate:{kind}#{}", sha256_canonical(&identity(rule)))
}

fn identity(rule: &Value) -> Value {
    rule.as_object()
        .map_or_else(|| rule.clone(), |rule| Value::Object(identity_of(rule)))
}

/// Hashes what decides a rule's score: the rule, and the engine where another
/// engine could decide otherwise.
fn implementation_hash(rule: &CompiledRule) -> String {
    let mut decides = json!({ "rule": identity(rule.authored()) });
    let engine = match rule.kind() {
        Some(AssertionKind::ResponseCloseTo) => Some(json!({
            "algorithm": "levenshtein",
            "version": 1,
            "limits": {"codeUnits": 100_000, "cells": 4_000_000},
        })),
        Some(AssertionKind::ToolInputMatches | AssertionKind::ToolResultMatches) => Some(json!({
            "algorithm": "regex-linear",
            "version": 1,
            "limits": {"codeUnits": 100_000, "patterns": 8, "patternCodeUnits": 512},
        })),
        _ => None,
    };
    if let (Some(engine), Some(decides)) = (engine, decides.as_object_mut()) {
        decides.insert("implementation".to_owned(), engine);
    }
    sha256_canonical(&decides)
}

fn predicate_score(id: &ScoreId, graded: &GradedRow<'_>) -> ScoreRow {
    let required = graded.rule.role() == RuleRole::Required;
    let row = &graded.row;
    ScoreRow {
        id: id.id.clone(),
        implementation_hash: id.implementation_hash.clone(),
        status: if row.is_error() {
            ScoreStatus::Error
        } else {
            ScoreStatus::Scored
        },
        value: (!row.is_error()).then_some(u8::from(row.passed)),
        threshold: 1,
        required,
        on_error: if required {
            ErrorPolicy::Unresolved
        } else {
            ErrorPolicy::Ignore
        },
        reason: row.reason.clone(),
    }
}

/// `toolCalls:match`: selection only.
fn match_score(turns: &[Turn], grades: &[TurnGrade], prompts: &[PromptSummary]) -> ScoreRow {
    let failing: Vec<&PromptSummary> = turns
        .iter()
        .zip(grades)
        .zip(prompts)
        .filter(|((turn, grade), summary)| {
            if turn.pinned || turn.negative {
                return !summary.passed;
            }
            // Whatever fails a turn and is no argument mismatch counts here.
            !summary.missing.is_empty()
                || !grade.extras.passed
                || (!summary.passed && summary.argument_mismatches.is_empty())
        })
        .map(|(_, summary)| summary)
        .collect();
    let reason = if failing.is_empty() {
        format!(
            "{}, every demanded call made",
            counted(prompts.len(), "turn")
        )
    } else {
        shown_list(failing.iter().map(|summary| {
            format!(
                "turn {}: {} missing, {} unexpected",
                summary.prompt_index,
                summary.missing.len(),
                summary.unexpected.len()
            )
        }))
    };
    tool_score("toolCalls:match", MATCH_VERSION, failing.is_empty(), reason)
}

/// `toolCalls:arguments`: declared only where some expectation compares
/// arguments.
fn arguments_score(turns: &[Turn], prompts: &[PromptSummary]) -> Option<ScoreRow> {
    let declared = turns
        .iter()
        .filter(|turn| !turn.negative)
        .flat_map(|turn| &turn.expectations)
        .any(|expectation| expectation.argument_matching != ArgumentMatching::Ignore);
    if !declared {
        return None;
    }
    let several_turns = prompts.len() > 1;
    let mut findings = Vec::new();
    for summary in prompts {
        for mismatch in &summary.argument_mismatches {
            // Keys only: values stay in the summaries.
            let keys = mismatch
                .expected_args
                .as_object()
                .into_iter()
                .flat_map(|args| args.keys())
                .map(|key| shown_text(key));
            let turn = if several_turns {
                format!("turn {}: ", summary.prompt_index)
            } else {
                String::new()
            };
            findings.push(format!(
                "{turn}{} ({})",
                shown_text(&mismatch.tool_name),
                shown_list(keys)
            ));
        }
    }
    let reason = match findings.len() {
        0 => "no argument mismatch".to_owned(),
        1..=3 => findings.join("; "),
        count => format!("{} and {} more", findings[..3].join("; "), count - 3),
    };
    Some(tool_score(
        "toolCalls:arguments",
        ARGUMENTS_VERSION,
        findings.is_empty(),
        reason,
    ))
}

fn tool_score(id: &str, version: u32, passed: bool, reason: String) -> ScoreRow {
    ScoreRow {
        id: id.to_owned(),
        implementation_hash: sha256_canonical(&json!({ "id": id, "version": version })),
        status: ScoreStatus::Scored,
        value: Some(u8::from(passed)),
        threshold: 1,
        required: true,
        on_error: ErrorPolicy::Unresolved,
        reason: bounded_reason(reason),
    }
}
