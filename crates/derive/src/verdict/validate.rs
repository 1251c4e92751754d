//! Stored decisions, rows, rates and policies → accepted or violations
//! (`verdict.md` §8).
//!
//! Shapes first; the rules across fields (Q, C, D, in [`super::consistency`])
//! need a sound shape.

use serde_json::Value;
use strandline_contract::{
    rate::{Counts, Rate},
    verdict::{
        CaseAggregate, Coverage, Decision, MAX_CONFIGURED_TRIALS, MAX_NAME_UNITS, MAX_ROWS,
        RowVariant, VERDICT_POLICY_VERSION, Validity, ValidityPolicy, is_opaque_id,
    },
    words::{CoverageKind, DecisionReason, ExclusionReason, RateState, Vocabulary},
};

use super::consistency;
use crate::document::{Findings, Node, Violation};

/// Reads a stored decision.
///
/// # Errors
///
/// Returns every violation of `verdict.md` §8 (the first 100).
pub fn validate_decision(document: &Value) -> Result<Decision, Vec<Violation>> {
    validate(document, read_decision, consistency::decision)
}

/// Reads a stored case row.
///
/// # Errors
///
/// Returns every violation of the structural rules and C0–C12.
pub fn validate_case_aggregate(document: &Value) -> Result<CaseAggregate, Vec<Violation>> {
    validate(document, read_row, consistency::row)
}

/// Reads a stored rate.
///
/// # Errors
///
/// Returns every violation of the structural rules and Q1, Q2.
pub fn validate_rate(document: &Value) -> Result<Rate<ExclusionReason>, Vec<Violation>> {
    validate(document, read_rate, consistency::rate)
}

/// Reads a stored policy.
///
/// # Errors
///
/// Returns every violation of the structural rules.
pub fn validate_policy(document: &Value) -> Result<ValidityPolicy, Vec<Violation>> {
    validate(document, read_policy, |_, _, _| {})
}

fn validate<T>(
    document: &Value,
    read: impl FnOnce(&Node<'_>) -> Option<T>,
    check: impl FnOnce(&T, &crate::document::Path<'_>, &Findings),
) -> Result<T, Vec<Violation>> {
    let findings = Findings::default();
    let node = Node::root(document, &findings);
    let typed = read(&node);
    if let (Some(typed), true) = (&typed, findings.is_empty()) {
        check(typed, node.path(), &findings);
    }
    findings.into_result(typed)
}

/// Reads a decision's shape; used where a decision lies inside another document.
pub(crate) fn read_decision(node: &Node<'_>) -> Option<Decision> {
    const KEYS: [&str; 5] = [
        "verdictPolicyVersion",
        "verdict",
        "reasons",
        "validity",
        "cases",
    ];
    node.closed_object(&KEYS)?;
    let version = node.required_with("verdictPolicyVersion", |node| {
        node.literal_count(VERDICT_POLICY_VERSION)
    });
    let verdict = node.required_with("verdict", |node| node.word());
    let reasons = node.required_with("reasons", |node| {
        bounded_list(node, DecisionReason::ALL.len(), |node| {
            node.word::<DecisionReason>()
        })
    });
    let validity = node.required_with("validity", read_validity);
    let cases = node.required_with("cases", |node| bounded_list(node, MAX_ROWS, read_row));
    Some(Decision {
        verdict_policy_version: version?,
        verdict: verdict?,
        reasons: reasons?,
        validity: validity?,
        cases: cases?,
    })
}

/// Notes the violations across the fields of a decision inside a document,
/// unless its shape already has one.
pub(crate) fn check_decision(node: &Node<'_>, decision: &Decision) {
    if node.findings().is_empty() {
        consistency::decision(decision, node.path(), node.findings());
    }
}

/// Reads a list of 1 to `most` elements.
fn bounded_list<T>(
    node: &Node<'_>,
    most: usize,
    read: impl FnMut(&Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let length = node.value().as_array().map_or(1, Vec::len);
    if !(1..=most).contains(&length) {
        return node.refuse(format_args!("must hold 1 to {most} elements, not {length}"));
    }
    node.list(read)
}

fn read_validity(node: &Node<'_>) -> Option<Validity> {
    const KEYS: [&str; 7] = [
        "policy",
        "holds",
        "configuredTrials",
        "attemptedTrials",
        "eligibleTrials",
        "completionRate",
        "evaluatorErrorRate",
    ];
    node.closed_object(&KEYS)?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let rate = |key: &str| node.required_with(key, read_rate);
    let policy = node.required_with("policy", read_policy);
    let holds = node.required_with("holds", |node| node.boolean());
    let configured_trials = count("configuredTrials");
    let attempted_trials = count("attemptedTrials");
    let eligible_trials = count("eligibleTrials");
    let completion_rate = rate("completionRate");
    let evaluator_error_rate = rate("evaluatorErrorRate");
    Some(Validity {
        policy: policy?,
        holds: holds?,
        configured_trials: configured_trials?,
        attempted_trials: attempted_trials?,
        eligible_trials: eligible_trials?,
        completion_rate: completion_rate?,
        evaluator_error_rate: evaluator_error_rate?,
    })
}

fn read_policy(node: &Node<'_>) -> Option<ValidityPolicy> {
    node.closed_object(&["coverage", "minCompletionRate", "maxEvaluatorErrorRate"])?;
    let fraction = |key: &str| node.required_with(key, |node| node.fraction());
    let coverage = node.required_with("coverage", read_coverage);
    let min_completion_rate = fraction("minCompletionRate");
    let max_evaluator_error_rate = fraction("maxEvaluatorErrorRate");
    Some(ValidityPolicy {
        coverage: coverage?,
        min_completion_rate: min_completion_rate?,
        max_evaluator_error_rate: max_evaluator_error_rate?,
    })
}

fn read_coverage(node: &Node<'_>) -> Option<Coverage> {
    node.open_object()?;
    let kind = node.required_with("kind", |node| node.word::<CoverageKind>())?;
    match kind {
        CoverageKind::AllConfiguredTrialsAttempted => {
            node.closed_object(&["kind", "minGradeableTrials"])?;
            node.required("minGradeableTrials")?.literal_count(1)?;
            Some(Coverage::AllConfiguredTrialsAttempted)
        }
        CoverageKind::MinEligibleTrials => {
            node.closed_object(&["kind", "minEligibleTrials"])?;
            let least = node.required("minEligibleTrials")?.count_from(1)?;
            Some(Coverage::MinEligibleTrials(least))
        }
    }
}

fn read_row(node: &Node<'_>) -> Option<CaseAggregate> {
    const KEYS: [&str; 14] = [
        "caseId",
        "executionVariant",
        "configuredTrials",
        "attemptedTrials",
        "eligibleTrials",
        "passedTrials",
        "failedTrials",
        "effectivePassThreshold",
        "passRate",
        "completionRate",
        "observedStability",
        "mixedVerdict",
        "verdict",
        "reason",
    ];
    node.closed_object(&KEYS)?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let rate = |key: &str| node.required_with(key, read_rate);
    let case_id = node.required_with("caseId", read_case_id);
    let execution_variant = node.optional_with("executionVariant", read_variant);
    let configured_trials = node.required_with("configuredTrials", |node| {
        let count = node.count()?;
        if !(1..=MAX_CONFIGURED_TRIALS).contains(&count) {
            return node.refuse(format_args!("must lie in 1 to {MAX_CONFIGURED_TRIALS}"));
        }
        Some(count)
    });
    let attempted_trials = count("attemptedTrials");
    let eligible_trials = count("eligibleTrials");
    let passed_trials = count("passedTrials");
    let failed_trials = count("failedTrials");
    let effective_pass_threshold =
        node.required_with("effectivePassThreshold", |node| node.fraction());
    let pass_rate = rate("passRate");
    let completion_rate = rate("completionRate");
    let observed_stability = rate("observedStability");
    let mixed_verdict = node.required_with("mixedVerdict", |node| node.boolean());
    let verdict = node.required_with("verdict", |node| node.word());
    let reason = node.required_with("reason", |node| node.word());
    Some(CaseAggregate {
        case_id: case_id?,
        execution_variant: execution_variant?,
        configured_trials: configured_trials?,
        attempted_trials: attempted_trials?,
        eligible_trials: eligible_trials?,
        passed_trials: passed_trials?,
        failed_trials: failed_trials?,
        effective_pass_threshold: effective_pass_threshold?,
        pass_rate: pass_rate?,
        completion_rate: completion_rate?,
        observed_stability: observed_stability?,
        mixed_verdict: mixed_verdict?,
        verdict: verdict?,
        reason: reason?,
    })
}

pub(super) fn read_case_id(node: &Node<'_>) -> Option<String> {
    let text = node.text()?;
    if !is_opaque_id(text) {
        return node.refuse("must be 1 to 128 of letters, digits, `_` and `-`");
    }
    Some(text.to_owned())
}

pub(super) fn read_variant(node: &Node<'_>) -> Option<RowVariant> {
    node.closed_object(&["model", "provider", "selectionKey"])?;
    let model = node.required_with("model", read_name);
    let provider = node.optional_with("provider", read_name);
    let selection_key = node.optional_with("selectionKey", |node| {
        node.non_empty_text().map(str::to_owned)
    });
    Some(RowVariant {
        model: model?,
        provider: provider?,
        selection_key: selection_key?,
    })
}

fn read_name(node: &Node<'_>) -> Option<String> {
    let text = node.non_empty_text()?;
    if text.encode_utf16().count() > MAX_NAME_UNITS {
        return node.refuse(format_args!("must be at most {MAX_NAME_UNITS} characters"));
    }
    Some(text.to_owned())
}

fn read_rate(node: &Node<'_>) -> Option<Rate<ExclusionReason>> {
    node.closed_object(&["state", "value", "numerator", "denominator", "exclusions"])?;
    let state = node.required_with("state", |node| node.word::<RateState>());
    let exclusions = node.required_with("exclusions", read_counts);
    match state? {
        RateState::Measured => {
            let value = node.required_with("value", |node| node.fraction());
            let numerator = node.required_with("numerator", |node| node.count());
            let denominator = node.required_with("denominator", |node| node.count_from(1));
            Some(Rate::Measured {
                value: value?,
                numerator: numerator?,
                denominator: denominator?,
                exclusions: exclusions?,
            })
        }
        RateState::NotMeasured => {
            let null = node.required_with("value", |node| {
                if !node.value().is_null() {
                    return node.refuse("must be null when not measured");
                }
                Some(())
            });
            let zero = |key: &str| node.required_with(key, |node| node.literal_count(0));
            let (numerator, denominator) = (zero("numerator"), zero("denominator"));
            null?;
            numerator?;
            denominator?;
            Some(Rate::NotMeasured {
                exclusions: exclusions?,
            })
        }
    }
}

/// Reads counts per member of a vocabulary; an explicit 0 is kept.
fn read_counts<K: Vocabulary + Ord>(node: &Node<'_>) -> Option<Counts<K>> {
    let keys: Vec<&str> = K::ALL.iter().map(|member| member.wire()).collect();
    node.closed_object(&keys)?;
    let mut counts = Counts::new();
    let mut complete = true;
    for member in K::ALL {
        match node.optional(member.wire()).map(|node| node.count()) {
            None => {}
            Some(Some(count)) => {
                counts.insert(*member, count);
            }
            Some(None) => complete = false,
        }
    }
    complete.then_some(counts)
}
