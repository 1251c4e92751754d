//! The aggregator's input as JSON (`verdict.md` §2, §7).

use serde_json::{Map, Value};
use strandline_contract::{
    run::ExecutionVariant,
    verdict::{CaseInput, DecidedRun, Decision, MAX_ROWS, TrialObservation},
    words::{TaskResult, VerdictRefusal, Vocabulary},
};

use super::{Refusal, policy, run, statistics, trial};

/// Decides `{policy, cases}` as it came, with the refusal its fault calls for.
///
/// # Errors
///
/// Refuses by R1–R27 in the order of `verdict.md` §7, first hit; a shape that
/// those rules cannot name is `malformed_input`.
pub fn derive_decision_from_json(input: &Value) -> Result<Decision, Refusal> {
    let policy = policy::read(input.get("policy"))?;
    let Some(Value::Array(items)) = input.get("cases") else {
        return Err(malformed("`cases` must be an array"));
    };
    // R12 before anything is built from a list of any length.
    if items.len() > MAX_ROWS {
        return Err(Refusal::new(VerdictRefusal::TooManyRows, "cases"));
    }
    let mut cases = Vec::with_capacity(items.len());
    let mut faults = Vec::with_capacity(items.len());
    for item in items {
        let (case, fault) = read_case(item)?;
        cases.push(case);
        faults.push(fault);
    }
    run::derive_decision_with(&policy, &cases, |index| {
        faults.get(index).copied().flatten()
    })
}

/// Decides `{policy, cases}` as it came, with the statistics beside the decision.
///
/// # Errors
///
/// As [`derive_decision_from_json`].
pub fn derive_verdict_from_json(input: &Value) -> Result<DecidedRun, Refusal> {
    let decision = derive_decision_from_json(input)?;
    Ok(DecidedRun {
        trial_statistics: statistics::derive_trial_statistics(&decision),
        decision,
    })
}

fn malformed(what: &str) -> Refusal {
    Refusal::new(VerdictRefusal::MalformedInput, what)
}

/// Reads a case; unknown keys are ignored. Values of another type become ones
/// that the rule for the field refuses.
fn read_case(item: &Value) -> Result<(CaseInput, Option<VerdictRefusal>), Refusal> {
    let Value::Object(case) = item else {
        return Err(malformed("a case must be an object"));
    };
    let Some(Value::Array(trials)) = case.get("trials") else {
        return Err(malformed("`trials` must be an array"));
    };
    let (execution_variant, fault) = read_variant(case);
    let case = CaseInput {
        case_id: text_or_empty(case.get("caseId")),
        execution_variant,
        configured_trials: case
            .get("configuredTrials")
            .and_then(strandline_contract::number::as_count)
            .unwrap_or(0),
        effective_pass_threshold: case
            .get("effectivePassThreshold")
            .and_then(Value::as_f64)
            .unwrap_or(f64::NAN),
        trials: trials.iter().map(read_trial).collect::<Result<_, _>>()?,
    };
    Ok((case, fault))
}

/// Reads a variant; `null` is absent here. What cannot be held by the type is
/// returned as the fault that R22 or R23 reports.
fn read_variant(case: &Map<String, Value>) -> (Option<ExecutionVariant>, Option<VerdictRefusal>) {
    match case.get("executionVariant") {
        None | Some(Value::Null) => (None, None),
        Some(Value::Object(variant)) => {
            let known = |key: &String| key == "model" || key == "provider";
            let fault = (!variant.keys().all(known)).then_some(VerdictRefusal::VariantUnknownField);
            let variant = ExecutionVariant {
                model: text_or_empty(variant.get("model")),
                provider: variant
                    .get("provider")
                    .map(|name| text_or_empty(Some(name))),
            };
            (Some(variant), fault)
        }
        Some(_) => {
            let variant = ExecutionVariant {
                model: String::new(),
                provider: None,
            };
            (Some(variant), Some(VerdictRefusal::VariantNotObject))
        }
    }
}

fn text_or_empty(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Reads a trial observation; unknown keys are ignored.
fn read_trial(trial: &Value) -> Result<TrialObservation, Refusal> {
    let task_verdict = match trial.get("taskVerdict") {
        None => None,
        Some(word) => Some(
            word.as_str()
                .and_then(TaskResult::from_wire)
                .ok_or_else(|| malformed("`taskVerdict` must be absent, `passed` or `failed`"))?,
        ),
    };
    let evaluator_error = match trial.get("evaluatorError") {
        None => false,
        Some(Value::Bool(evaluator_error)) => *evaluator_error,
        Some(_) => return Err(malformed("`evaluatorError` must be a boolean")),
    };
    Ok(TrialObservation {
        status: trial::observed_status(trial.get("status")),
        task_verdict,
        evaluator_error,
    })
}
