//! A run and a page of its iterations → the summary (`decision-summary.md` §5).

use std::borrow::Cow;

use serde_json::Value;
use strandline_contract::{
    decision::{DECISION_SUMMARY_SCHEMA_VERSION, DecisionSummary, Diagnostic, Diagnostics},
    run::{RunRecord, TrialRecord},
    words::TaskResult,
};

use super::{
    IterationInput, MalformedSummaryInput, Page, RunInput, SummaryInput, diagnostic::diagnose,
    resolution,
};

/// Derives the summary of a run.
#[must_use]
pub fn derive_decision_summary(input: &SummaryInput<'_>) -> DecisionSummary {
    let resolution = resolution::resolve(&input.run);
    let items = input
        .iterations
        .iter()
        .filter(|iteration| iteration.result.as_deref() != Some("passed"))
        .map(|iteration| diagnose(&input.project_id, &input.run.id, iteration))
        .collect();
    DecisionSummary {
        schema_version: DECISION_SUMMARY_SCHEMA_VERSION,
        run_id: input.run.id.to_string(),
        run_status: input.run.status.to_string(),
        diagnostics: Diagnostics {
            items,
            complete: input.page.complete,
            next_cursor: input
                .page
                .next_cursor
                .as_deref()
                .filter(|cursor| !cursor.is_empty())
                .map(str::to_owned),
            scanned_iterations: input.iterations.len() as u64,
        },
        verdict: resolution.verdict,
        verdict_source: resolution.source,
        undecided: resolution.undecided,
        counts: resolution.counts,
        decision: resolution.decision,
    }
}

/// Derives the diagnostic of one of our own trials; `None` when it passed.
#[must_use]
pub fn diagnose_trial(project_id: &str, trial: &TrialRecord) -> Option<Diagnostic> {
    let passed = trial.result == Some(TaskResult::Passed);
    (!passed).then(|| diagnose(project_id, &trial.run_id, &IterationInput::from(trial)))
}

/// Derives the summary of `{projectId, run, iterations, page}`.
///
/// # Errors
///
/// Fails where a required field is missing or of another type.
pub fn derive_decision_summary_from_json(
    input: &Value,
) -> Result<DecisionSummary, MalformedSummaryInput> {
    SummaryInput::from_json(input).map(|input| derive_decision_summary(&input))
}

/// Derives the summary of one of our own runs, `trials` being one page.
#[must_use]
pub fn summarize_run<'a>(
    project_id: &str,
    run: &RunRecord,
    trials: impl IntoIterator<Item = &'a TrialRecord>,
    page: Page<'_>,
) -> DecisionSummary {
    derive_decision_summary(&SummaryInput {
        project_id: Cow::Borrowed(project_id),
        run: RunInput::from(run),
        iterations: trials.into_iter().map(IterationInput::from).collect(),
        page,
    })
}
