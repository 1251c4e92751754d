//! The validity policy that the aggregator is given (`verdict.md` §7, R1–R10).

use serde_json::{Map, Value};
use strandline_contract::{
    number,
    verdict::{Coverage, ValidityPolicy},
    words::{CoverageKind, VerdictRefusal, Vocabulary},
};

use super::Refusal;

fn refuse<T>(code: VerdictRefusal) -> Result<T, Refusal> {
    Err(Refusal::new(code, "policy"))
}

/// Reads a resolved policy; nothing is defaulted (R1–R10, in order).
pub(super) fn read(policy: Option<&Value>) -> Result<ValidityPolicy, Refusal> {
    // R1.
    let Some(Value::Object(policy)) = policy else {
        return refuse(VerdictRefusal::PolicyNotObject);
    };
    // R2.
    const KEYS: [&str; 3] = ["coverage", "minCompletionRate", "maxEvaluatorErrorRate"];
    if has_other_keys(policy, &KEYS) {
        return refuse(VerdictRefusal::PolicyUnknownField);
    }
    // R3, R4.
    let rate = |key: &str| policy.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let min_completion_rate = rate("minCompletionRate");
    let max_evaluator_error_rate = rate("maxEvaluatorErrorRate");
    check_rate(min_completion_rate)?;
    check_rate(max_evaluator_error_rate)?;
    // R5–R10.
    let coverage = read_coverage(policy.get("coverage"))?;
    Ok(ValidityPolicy {
        coverage,
        min_completion_rate,
        max_evaluator_error_rate,
    })
}

fn read_coverage(coverage: Option<&Value>) -> Result<Coverage, Refusal> {
    // R5.
    let Some(Value::Object(coverage)) = coverage else {
        return refuse(VerdictRefusal::CoverageNotObject);
    };
    let kind = coverage
        .get("kind")
        .and_then(Value::as_str)
        .and_then(CoverageKind::from_wire);
    match kind {
        Some(CoverageKind::AllConfiguredTrialsAttempted) => {
            // R6.
            if has_other_keys(coverage, &["kind", "minGradeableTrials"]) {
                return refuse(VerdictRefusal::CoverageUnknownField);
            }
            // R7.
            if coverage
                .get("minGradeableTrials")
                .and_then(number::as_count)
                != Some(1)
            {
                return refuse(VerdictRefusal::MinGradeableNotOne);
            }
            Ok(Coverage::AllConfiguredTrialsAttempted)
        }
        // R8.
        None => refuse(VerdictRefusal::CoverageUnknownKind),
        Some(CoverageKind::MinEligibleTrials) => {
            // R9.
            if has_other_keys(coverage, &["kind", "minEligibleTrials"]) {
                return refuse(VerdictRefusal::CoverageUnknownField);
            }
            // R10.
            let Some(least) = coverage.get("minEligibleTrials").and_then(as_whole_number) else {
                return refuse(VerdictRefusal::MinEligibleNotCount);
            };
            if least == 0 {
                return refuse(VerdictRefusal::MinEligibleBelowOne);
            }
            Ok(Coverage::MinEligibleTrials(least))
        }
    }
}

/// Returns a non-negative integer of any size; huge ones saturate, and are
/// refused later by R27.
fn as_whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let double = value.as_f64()?;
        (double >= 0.0 && double.fract() == 0.0).then_some(double as u64)
    })
}

fn has_other_keys(object: &Map<String, Value>, keys: &[&str]) -> bool {
    object.keys().any(|key| !keys.contains(&key.as_str()))
}

/// Checks what a typed policy can still get wrong (R3, R4, R10).
pub(super) fn check(policy: &ValidityPolicy) -> Result<(), Refusal> {
    check_rate(policy.min_completion_rate)?;
    check_rate(policy.max_evaluator_error_rate)?;
    match policy.coverage {
        Coverage::MinEligibleTrials(0) => refuse(VerdictRefusal::MinEligibleBelowOne),
        Coverage::MinEligibleTrials(_) | Coverage::AllConfiguredTrialsAttempted => Ok(()),
    }
}

fn check_rate(rate: f64) -> Result<(), Refusal> {
    if !rate.is_finite() {
        return refuse(VerdictRefusal::RateNotFinite);
    }
    if !(0.0..=1.0).contains(&rate) {
        return refuse(VerdictRefusal::RateOutOfRange);
    }
    Ok(())
}
