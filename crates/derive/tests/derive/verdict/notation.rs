//! The notation of the worked examples (`verdict.md` §12).

use strandline_contract::{
    run::ExecutionVariant,
    verdict::{CaseInput, Coverage, TrialObservation, ValidityPolicy},
    words::{IterationStatus, TaskResult},
};

/// Default coverage with these rates.
pub(super) fn full_coverage(completion: f64, evaluator: f64) -> ValidityPolicy {
    ValidityPolicy::resolve(None, Some(completion), Some(evaluator))
}

/// An explicit floor with these rates.
pub(super) fn floor(least: u64, completion: f64, evaluator: f64) -> ValidityPolicy {
    ValidityPolicy {
        coverage: Coverage::MinEligibleTrials(least),
        ..full_coverage(completion, evaluator)
    }
}

/// Reads `id@model/provider[configured, threshold] trials`.
pub(super) fn case(text: &str) -> CaseInput {
    let (head, trials) = text.split_once(']').expect("a bracket");
    let (name, numbers) = head.split_once('[').expect("a bracket");
    let (configured, threshold) = numbers.split_once(", ").expect("two numbers");
    let (case_id, variant) = match name.split_once('@') {
        None => (name, None),
        Some((id, variant)) => (id, Some(variant)),
    };
    CaseInput {
        case_id: case_id.to_owned(),
        execution_variant: variant.map(|variant| match variant.split_once('/') {
            None => ExecutionVariant {
                model: variant.to_owned(),
                provider: None,
            },
            Some((model, provider)) => ExecutionVariant {
                model: model.to_owned(),
                provider: Some(provider.to_owned()),
            },
        }),
        configured_trials: configured.parse().expect("a count"),
        effective_pass_threshold: threshold.parse().expect("a number"),
        trials: trials.trim().chars().map(trial).collect(),
    }
}

pub(super) fn trial(letter: char) -> TrialObservation {
    let (status, task_verdict) = match letter {
        'P' => (IterationStatus::Completed, Some(TaskResult::Passed)),
        'F' => (IterationStatus::Completed, Some(TaskResult::Failed)),
        'E' => (IterationStatus::Completed, None),
        't' => (IterationStatus::TimedOut, None),
        'x' => (IterationStatus::Failed, None),
        'S' => (IterationStatus::SetupFailed, None),
        'r' => (IterationStatus::Running, None),
        'c' => (IterationStatus::Cancelled, None),
        'p' => (IterationStatus::Pending, None),
        's' => (IterationStatus::Skipped, None),
        other => panic!("no trial letter: {other}"),
    };
    TrialObservation {
        status: status.into(),
        task_verdict,
        evaluator_error: letter == 'E',
    }
}
