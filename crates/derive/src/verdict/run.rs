//! Policy and case variants → the run's decision (`verdict.md` §5, §7).

use std::collections::{BTreeMap, BTreeSet};

use strandline_contract::{
    rate::{Counts, Rate},
    verdict::{
        CaseAggregate, CaseInput, Coverage, Decision, MAX_CASES, MAX_NAME_UNITS, MAX_ROWS,
        VERDICT_POLICY_VERSION, Validity, ValidityPolicy, is_opaque_id,
    },
    words::{DecisionReason, ExclusionReason, Verdict, VerdictRefusal},
};

use super::{Refusal, case, consistency, identity, policy};

/// Decides a run under policy v2.
///
/// Rows keep the order of `cases`.
///
/// # Errors
///
/// Refuses by R3–R27 in the order of `verdict.md` §7, first hit. A refusal is
/// an integrity problem of the run: the caller stores no decision.
pub fn derive_decision(policy: &ValidityPolicy, cases: &[CaseInput]) -> Result<Decision, Refusal> {
    derive_decision_with(policy, cases, |_| None)
}

/// Decides a run; `variant_fault` tells what decoding found wrong with the
/// shape of a case's variant, reported where R22 and R23 stand.
pub(super) fn derive_decision_with(
    policy: &ValidityPolicy,
    cases: &[CaseInput],
    variant_fault: impl Fn(usize) -> Option<VerdictRefusal>,
) -> Result<Decision, Refusal> {
    // R3, R4, R10.
    policy::check(policy)?;
    // R11–R15.
    check_identities(cases)?;
    // R16–R20.
    let aggregated = cases
        .iter()
        .map(case::aggregate)
        .collect::<Result<Vec<_>, _>>()?;
    // R21–R26.
    for (index, case) in cases.iter().enumerate() {
        check_names(case, variant_fault(index))?;
    }
    let decision = decide(*policy, aggregated);
    // R27.
    if let Some(violation) = consistency::first_violation(&decision) {
        return Err(Refusal::new(VerdictRefusal::SelfCheckFailed, violation));
    }
    Ok(decision)
}

/// Checks that rows are few enough and distinct (R11–R15).
fn check_identities(cases: &[CaseInput]) -> Result<(), Refusal> {
    // R11.
    if cases.is_empty() {
        return Err(Refusal::new(VerdictRefusal::NoCases, "cases"));
    }
    // R12.
    if cases.len() > MAX_ROWS {
        return Err(Refusal::new(VerdictRefusal::TooManyRows, "cases"));
    }
    // R13.
    let mut seen = BTreeSet::new();
    for case in cases {
        let key = identity::input_key(&case.case_id, case.execution_variant.as_ref());
        if !seen.insert(key) {
            return Err(Refusal::of_case(
                VerdictRefusal::DuplicateIdentity,
                &case.case_id,
            ));
        }
    }
    // R14.
    let mut keyed = BTreeMap::new();
    for case in cases {
        let has_variant = case.execution_variant.is_some();
        if *keyed.entry(case.case_id.as_str()).or_insert(has_variant) != has_variant {
            return Err(Refusal::of_case(
                VerdictRefusal::MixedIdentity,
                &case.case_id,
            ));
        }
    }
    // R15.
    if keyed.len() > MAX_CASES {
        return Err(Refusal::new(VerdictRefusal::TooManyCases, "cases"));
    }
    Ok(())
}

/// Checks the names of a row (R21–R26).
fn check_names(case: &CaseInput, variant_fault: Option<VerdictRefusal>) -> Result<(), Refusal> {
    let too_long = |name: &str| name.encode_utf16().count() > MAX_NAME_UNITS;
    let code = match &case.execution_variant {
        // R21.
        _ if !is_opaque_id(&case.case_id) => Some(VerdictRefusal::CaseIdInvalid),
        // R22, R23.
        _ if variant_fault.is_some() => variant_fault,
        None => None,
        Some(variant) => match (variant.model.as_str(), variant.provider.as_deref()) {
            // R24.
            ("", _) => Some(VerdictRefusal::ModelEmpty),
            // R25.
            (model, _) if too_long(model) => Some(VerdictRefusal::ModelTooLong),
            // R26.
            (_, Some("")) => Some(VerdictRefusal::ProviderEmpty),
            (_, Some(provider)) if too_long(provider) => Some(VerdictRefusal::ProviderTooLong),
            _ => None,
        },
    };
    code.map_or(Ok(()), |code| Err(Refusal::of_case(code, &case.case_id)))
}

/// Adds the rows up and decides (§5.3–§5.7).
fn decide(policy: ValidityPolicy, aggregated: Vec<case::Aggregated>) -> Decision {
    let sum = |count: fn(&case::Aggregated) -> u64| aggregated.iter().map(count).sum::<u64>();
    let configured_trials = sum(|case| case.row.configured_trials);
    let attempted_trials = sum(|case| case.row.attempted_trials);
    let eligible_trials = sum(|case| case.row.eligible_trials);
    let completed = sum(|case| case.completed);
    let evaluator_errors = sum(|case| case.evaluator_errors);
    let mut exclusions: Counts<ExclusionReason> = Counts::new();
    for (reason, count) in aggregated.iter().flat_map(|case| &case.attempt_exclusions) {
        *exclusions.entry(*reason).or_default() += count;
    }
    let mut validity = Validity {
        policy,
        holds: false,
        configured_trials,
        attempted_trials,
        eligible_trials,
        completion_rate: Rate::measure(completed, attempted_trials, exclusions.clone()),
        evaluator_error_rate: Rate::measure(evaluator_errors, attempted_trials, exclusions),
    };
    let cases: Vec<CaseAggregate> = aggregated.into_iter().map(|case| case.row).collect();
    let failed_checks = failed_checks(&validity, &cases);
    validity.holds = failed_checks.is_empty();
    let (verdict, reasons) = conclude(failed_checks, &cases);
    Decision {
        verdict_policy_version: VERDICT_POLICY_VERSION,
        verdict,
        reasons,
        validity,
        cases,
    }
}

/// Returns the reason of every validity check that is not met, in vocabulary
/// order (§5.5); `validity.holds` is not read.
pub(super) fn failed_checks(validity: &Validity, cases: &[CaseAggregate]) -> Vec<DecisionReason> {
    let policy = &validity.policy;
    let mut reasons = Vec::new();
    match policy.coverage {
        Coverage::AllConfiguredTrialsAttempted => {
            if validity.attempted_trials != validity.configured_trials {
                reasons.push(DecisionReason::ConfiguredTrialsNotAttempted);
            }
            if validity.eligible_trials < 1 {
                reasons.push(DecisionReason::NoGradeableTrials);
            }
        }
        Coverage::MinEligibleTrials(least) => {
            if validity.eligible_trials < least {
                reasons.push(DecisionReason::EligibleTrialsBelowMinimum);
            }
        }
    }
    // A rate that is not measured meets neither a floor nor a ceiling.
    match validity.completion_rate.value() {
        None => reasons.push(DecisionReason::CompletionRateNotMeasured),
        Some(value) if value < policy.min_completion_rate => {
            reasons.push(DecisionReason::CompletionRateBelowMinimum);
        }
        Some(_) => {}
    }
    match validity.evaluator_error_rate.value() {
        None => reasons.push(DecisionReason::EvaluatorErrorRateNotMeasured),
        Some(value) if value > policy.max_evaluator_error_rate => {
            reasons.push(DecisionReason::EvaluatorErrorRateAboveMaximum);
        }
        Some(_) => {}
    }
    if cases.iter().any(|case| case.eligible_trials == 0) {
        reasons.push(DecisionReason::CaseHasNoEligibleTrials);
    }
    reasons
}

/// Returns the verdict and its reasons (§5.7).
///
/// A built decision has no inconclusive row when every check is met; a stored
/// one may claim so, and is inconclusive then (D11, D12).
pub(super) fn conclude(
    failed_checks: Vec<DecisionReason>,
    cases: &[CaseAggregate],
) -> (Verdict, Vec<DecisionReason>) {
    if !failed_checks.is_empty() {
        return (Verdict::Inconclusive, failed_checks);
    }
    let any = |verdict| cases.iter().any(|case| case.verdict == verdict);
    if any(Verdict::Inconclusive) {
        return (
            Verdict::Inconclusive,
            vec![DecisionReason::CasePassRateBelowThreshold],
        );
    }
    if any(Verdict::Failed) {
        return (
            Verdict::Failed,
            vec![DecisionReason::CasePassRateBelowThreshold],
        );
    }
    (
        Verdict::Passed,
        vec![DecisionReason::AllMeasuredCasesMetThreshold],
    )
}
