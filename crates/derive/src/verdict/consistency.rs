//! The rules across the fields of a decision (`verdict.md` §8: Q, C, D).

use std::collections::{BTreeMap, BTreeSet};

use strandline_contract::{
    number::MAX_COUNT,
    rate::{Rate, quotient},
    verdict::{CaseAggregate, Coverage, Decision, MAX_CASES},
    words::{ExclusionReason, RateState, Vocabulary},
};

use super::{case, identity, run};
use crate::document::{Findings, Path, Violation};

/// Returns the first violation of a decision that we built ourselves.
pub(super) fn first_violation(built: &Decision) -> Option<Violation> {
    let findings = Findings::default();
    // The one structural rule that a built decision can break.
    if let Coverage::MinEligibleTrials(least) = built.validity.policy.coverage {
        let path = Path::ROOT;
        let (validity, policy) = (path.key("validity"), "policy.coverage.minEligibleTrials");
        findings.demand(
            least <= MAX_COUNT,
            &validity.key(policy),
            "must be at most 2^53-1",
        );
    }
    decision(built, &Path::ROOT, &findings);
    findings.into_result(Some(())).err()?.into_iter().next()
}

/// Q1, Q2.
pub(super) fn rate(rate: &Rate<ExclusionReason>, path: &Path<'_>, findings: &Findings) {
    let Rate::Measured {
        value,
        numerator,
        denominator,
        ..
    } = rate
    else {
        return;
    };
    findings.demand(
        numerator <= denominator,
        &path.key("numerator"),
        "must be at most the denominator",
    );
    let expected = quotient(*numerator, *denominator);
    findings.demand(
        *value == expected,
        &path.key("value"),
        format_args!("must be numerator / denominator: {expected}"),
    );
}

/// C0–C12.
pub(super) fn row(row: &CaseAggregate, path: &Path<'_>, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &path.key(key), message);
    };
    let (passed, failed) = (row.passed_trials, row.failed_trials);
    let eligible = row.eligible_trials;

    // C0.
    rate(&row.pass_rate, &path.key("passRate"), findings);
    rate(&row.completion_rate, &path.key("completionRate"), findings);
    let stability = path.key("observedStability");
    rate(&row.observed_stability, &stability, findings);
    // C1.
    demand(
        row.attempted_trials <= row.configured_trials,
        "attemptedTrials",
        "must be at most `configuredTrials`",
    );
    // C2.
    demand(
        eligible <= row.attempted_trials,
        "eligibleTrials",
        "must be at most `attemptedTrials`",
    );
    // C3.
    demand(
        eligible == passed.saturating_add(failed),
        "eligibleTrials",
        "must be passed plus failed trials",
    );
    // C4.
    demand(
        row.mixed_verdict == (passed > 0 && failed > 0),
        "mixedVerdict",
        "must say whether some trial passed and some failed",
    );
    // C5.
    demand(
        row.pass_rate.denominator() == eligible,
        "passRate",
        "denominator must be `eligibleTrials`",
    );
    // C6.
    demand(
        row.pass_rate.numerator() == passed,
        "passRate",
        "numerator must be `passedTrials`",
    );
    // C7.
    demand(
        row.completion_rate.denominator() == row.attempted_trials,
        "completionRate",
        "denominator must be `attemptedTrials`",
    );
    // C8.
    demand(
        row.observed_stability.denominator() == eligible,
        "observedStability",
        "denominator must be `eligibleTrials`",
    );
    // C9.
    demand(
        row.observed_stability.numerator() == passed.max(failed),
        "observedStability",
        "numerator must be the larger of passed and failed trials",
    );
    // C11. Nothing can be said of a row whose pass rate is missing.
    if eligible > 0 && row.pass_rate.state() == RateState::NotMeasured {
        return demand(false, "passRate", "must be measured");
    }
    // C10, C12.
    let (verdict, reason) = if eligible == 0 {
        let nothing = Rate::measure(0, 0, Default::default());
        case::verdict_of(&nothing, row.effective_pass_threshold)
    } else {
        case::verdict_of(&row.pass_rate, row.effective_pass_threshold)
    };
    demand(
        row.verdict == verdict,
        "verdict",
        &format!("must be `{verdict}`"),
    );
    demand(
        row.reason == reason,
        "reason",
        &format!("must be `{reason}`"),
    );
}

/// D1–D12.
pub(crate) fn decision(decision: &Decision, path: &Path<'_>, findings: &Findings) {
    let validity = &decision.validity;
    let cases = path.key("cases");

    // D1.
    for (index, case) in decision.cases.iter().enumerate() {
        row(case, &cases.index(index), findings);
    }
    // D2.
    let reasons = path.key("reasons");
    let mut seen = BTreeSet::new();
    for (index, reason) in decision.reasons.iter().enumerate() {
        findings.demand(seen.insert(reason), &reasons.index(index), "is named twice");
    }
    identities(&decision.cases, &cases, findings);
    totals(decision, path, findings);

    // D8. Recomputed from the decision's own totals and rates.
    let failed_checks = run::failed_checks(validity, &decision.cases);
    let holds = failed_checks.is_empty();
    findings.demand(
        validity.holds == holds,
        &path.key("validity").key("holds"),
        format_args!("must be {holds}"),
    );
    // D9–D12.
    let (verdict, expected) = run::conclude(failed_checks, &decision.cases);
    findings.demand(
        decision.verdict == verdict,
        &path.key("verdict"),
        format_args!("must be `{verdict}`"),
    );
    findings.demand(
        decision.reasons == expected,
        &reasons,
        format_args!(
            "must be exactly: {}",
            expected
                .iter()
                .map(|reason| reason.wire())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
}

/// D3, D4, D5.
fn identities(cases: &[CaseAggregate], path: &Path<'_>, findings: &Findings) {
    let mut keys = BTreeSet::new();
    let mut keyed = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let key = identity::row_key(&case.case_id, case.execution_variant.as_ref());
        findings.demand(
            keys.insert(key),
            &path.index(index),
            "the same case and variant has another row",
        );
        let has_variant = case.execution_variant.is_some();
        let first = *keyed.entry(case.case_id.as_str()).or_insert(has_variant);
        findings.demand(
            first == has_variant,
            path,
            format_args!("`{}` has rows with and without a variant", case.case_id),
        );
    }
    findings.demand(
        keyed.len() <= MAX_CASES,
        path,
        format_args!("must name at most {MAX_CASES} distinct cases"),
    );
}

/// D6, D7.
fn totals(decision: &Decision, path: &Path<'_>, findings: &Findings) {
    let validity = &decision.validity;
    let path = path.key("validity");
    let sum = |count: fn(&CaseAggregate) -> u64| {
        decision
            .cases
            .iter()
            .map(count)
            .fold(0, u64::saturating_add)
    };
    for (key, total, expected) in [
        (
            "configuredTrials",
            validity.configured_trials,
            sum(|case| case.configured_trials),
        ),
        (
            "attemptedTrials",
            validity.attempted_trials,
            sum(|case| case.attempted_trials),
        ),
        (
            "eligibleTrials",
            validity.eligible_trials,
            sum(|case| case.eligible_trials),
        ),
    ] {
        findings.demand(
            total == expected,
            &path.key(key),
            format_args!("must be the sum over the rows: {expected}"),
        );
    }
    for (key, validity_rate) in [
        ("completionRate", &validity.completion_rate),
        ("evaluatorErrorRate", &validity.evaluator_error_rate),
    ] {
        let path = path.key(key);
        findings.demand(
            validity_rate.denominator() == validity.attempted_trials,
            &path,
            "denominator must be `attemptedTrials`",
        );
        rate(validity_rate, &path, findings);
    }
}
