//! Trials: those that did not pass page by page, and one with its chain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strandline_contract::{
    decision::{Diagnostic, Diagnostics, SummaryChain},
    run::{ExecutionVariant, LOCAL_PROJECT, SkippedStep, TrialError, Usage},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};
use strandline_derive::decision::{
    IterationInput, Page, derive_next_action, derive_summary_chain, summarize_run,
};
use strandline_report::{escape, words::counted};
use strandline_store::TrialFilter;

use super::find::{self, TrialName};
use crate::{
    bounds,
    desk::Desk,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Diagnostics on a page unless asked otherwise, and at most.
const DIAGNOSTICS: (u32, u32) = (10, 50);
/// Longest text of a value that comes from a suite, a server or a model.
const TEXT: usize = 1_000;
/// Longest name in a text.
const NAME: usize = 80;
/// Assertion rows of a trial that are told.
const ROWS: usize = 60;

/// Lists trials that did not pass.
pub(crate) struct ListDiagnostics;

/// Which trials.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListDiagnosticsInput {
    /// The run's id, the beginning of it, or `last`.
    run: String,
    /// Only trials of this case.
    #[serde(default)]
    case: Option<String>,
    /// Only trials whose chain first failed at this stage.
    #[serde(default)]
    first_failed_stage: Option<Stage>,
    /// Only trials whose failure is grouped under this category.
    #[serde(default)]
    failure_category: Option<FailureCategory>,
    /// Trials on a page, 10 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// `nextCursor` of the page before, with the same filters.
    #[serde(default)]
    cursor: Option<String>,
}

/// One page of trials that did not pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListDiagnosticsOutput {
    /// The run.
    run_id: String,
    /// The page. `complete` is true only when it holds every trial of the ended run that did not
    /// pass: never with a filter, never on a page reached by a cursor.
    diagnostics: Diagnostics,
    /// Trials were left out by a filter.
    filtered: bool,
    /// Long texts on the page were shortened; `get_trial_chain` and `get_trace` have them.
    shortened: bool,
}

impl EvalTool for ListDiagnostics {
    type Input = ListDiagnosticsInput;
    type Output = ListDiagnosticsOutput;
    const NAME: &'static str = "list_diagnostics";
    const TITLE: &'static str = "List trials that did not pass";
    const DESCRIPTION: &'static str = "Returns one page of a run's trials that did not pass, each with its six-stage \
        chain, the tools expected and observed, where its evidence lies and who looks next. Use it after `get_run`, \
        group what you see by first failed stage and reason, then open one trial per group with `get_trial_chain`. \
        Check `diagnostics.complete` and follow `nextCursor` before you say how many there are. Trials without a result \
        were not graded: they are no failures. A stage is a location, a category a bucket; neither is a cause.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        let run = desk.run(&store, &input.run).await?;
        if let Some(case) = &input.case {
            find::variant(&run, case, None)?;
        }
        let filtered = input.case.is_some()
            || input.first_failed_stage.is_some()
            || input.failure_category.is_some();
        let filter = TrialFilter {
            case_id: input.case,
            not_passed: true,
            first_failed_stage: input.first_failed_stage,
            failure_category: input.failure_category,
            ..TrialFilter::default()
        };
        let limit = input.limit.unwrap_or(DIAGNOSTICS.0).clamp(1, DIAGNOSTICS.1);
        let cursor = input.cursor.as_deref();
        let page = store.trials(&run.record.id, &filter, cursor, limit).await?;
        let ended = run.record.ended_at.is_some();
        let covers = Page {
            complete: page.complete && !filtered && ended,
            next_cursor: page.next_cursor.map(Into::into),
        };
        let mut diagnostics =
            summarize_run(LOCAL_PROJECT, &run.record, &page.items, covers).diagnostics;
        let mut shortened = false;
        for item in &mut diagnostics.items {
            shortened |= shorten(item);
        }
        Ok(Answer {
            text: told(&diagnostics, filtered, ended),
            content: ListDiagnosticsOutput {
                run_id: run.record.id,
                diagnostics,
                filtered,
                shortened,
            },
        })
    }
}

/// Shortens the free texts of a diagnostic.
fn shorten(item: &mut Diagnostic) -> bool {
    let mut cut = false;
    let mut text = |text: &mut String| {
        let mut value = Value::String(std::mem::take(text));
        cut |= bounds::shorten(&mut value, TEXT);
        if let Value::String(shown) = value {
            *text = shown;
        }
    };
    if let SummaryChain::Verified(chain) = &mut item.chain {
        for row in &mut chain.stages {
            if let Some(evidence) = &mut row.evidence {
                evidence
                    .predicate_reasons
                    .iter_mut()
                    .flatten()
                    .for_each(&mut text);
            }
        }
    }
    if let Some(observed) = &mut item.observed {
        observed.failure.iter_mut().for_each(&mut text);
    }
    item.evidence
        .reasons
        .iter_mut()
        .flatten()
        .for_each(&mut text);
    cut
}

fn told(diagnostics: &Diagnostics, filtered: bool, ended: bool) -> String {
    let count = diagnostics.items.len() as u64;
    let mut lines = vec![match (count, filtered) {
        (0, false) if diagnostics.complete => "Every stored trial passed.".to_owned(),
        (0, _) => "No further trial here.".to_owned(),
        _ => format!("{} that did not pass:", counted(count, "trial", "trials")),
    }];
    lines.extend(diagnostics.items.iter().map(line));
    lines.push(match (&diagnostics.next_cursor, diagnostics.complete) {
        (Some(_), _) => "There are more: pass `nextCursor` as `cursor`.".to_owned(),
        (None, true) => "That is every trial that did not pass.".to_owned(),
        (None, false) if !ended => "The run has not ended: more may follow.".to_owned(),
        (None, false) => "That is the last page of this listing.".to_owned(),
    });
    lines.join("\n")
}

fn line(item: &Diagnostic) -> String {
    let case = item.case_id.as_deref().unwrap_or("(no case id)");
    let place = match item.chain.verified() {
        None => "its chain is absent or withheld".to_owned(),
        Some(chain) => match chain.first_failed_stage {
            None => "no stage failed".to_owned(),
            Some(stage) => {
                let row = chain.stages.iter().find(|row| row.stage == stage);
                let reason = row.and_then(|row| row.reason).map(|reason| reason.label());
                let reason = reason.map(|reason| format!(": {reason}"));
                format!(
                    "first failed stage {}{}",
                    stage.label(),
                    reason.unwrap_or_default()
                )
            }
        },
    };
    let graded = match item.result {
        Some(_) => "",
        None => "not graded, ",
    };
    format!(
        "{}  case {} trial {}  {graded}{place}",
        item.iteration_id,
        escape::line(case, NAME),
        item.iteration_number + 1
    )
}

/// Shows one trial's chain.
pub(crate) struct GetTrialChain;

/// One trial with its chain.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetTrialChainOutput {
    /// The run.
    run_id: String,
    /// The trial.
    trial_id: String,
    /// The case's id in the suite.
    case_id: String,
    /// The case's title.
    title: String,
    /// The model, where the run fans out over several.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<ExecutionVariant>,
    /// Which trial of the case, counted from 1.
    trial_number: u32,
    /// Lifecycle.
    status: IterationStatus,
    /// What its checks say; absent when it was not graded.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TaskResult>,
    /// The grader broke, so the trial says nothing about the server.
    evaluator_error: bool,
    /// Why it did not run to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TrialError>,
    /// The six stages, where the stored chain passed its check; else `unverified` (withheld) or `absent`.
    chain: SummaryChain,
    /// Who looks next, in one sentence; it names no cause. Only for a trial that did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<&'static str>,
    /// Calls that the case requires, `{toolName, arguments}`.
    expected_tool_calls: Vec<Value>,
    /// Calls that were made, `{toolName, arguments, toolCallId}`.
    actual_tool_calls: Vec<Value>,
    /// Assertion rows as stored (`strandline://schema/assertion-row`), case rows first.
    assertions: Vec<Value>,
    /// Reach and latency of the six stages (`strandline://schema/stage-measurements`).
    stage_measurements: Value,
    /// Calls that the tool policy blocked.
    policy_blocks: Vec<Value>,
    /// Steps that never ran, and why.
    skipped_steps: Vec<SkippedStep>,
    /// Tokens used.
    usage: Usage,
    /// Calls, assertion rows and blocks that are not listed above.
    more_items: u64,
    /// Long texts were shortened; `get_trace` has the messages.
    shortened: bool,
}

impl EvalTool for GetTrialChain {
    type Input = TrialName;
    type Output = GetTrialChainOutput;
    const NAME: &'static str = "get_trial_chain";
    const TITLE: &'static str = "Get a trial's chain";
    const DESCRIPTION: &'static str = "Returns one trial: its six-stage chain with the evidence of each row, calls \
        required and made, what every assertion says, and stage measurements. Use it for one trial of each group that \
        `list_diagnostics` shows; then read `get_trace` at the spans and turns that the failed row names. \
        `notReached`, `notMeasured` and `notApplicable` are three different absences and none of them is a pass.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        let trial = find::trial(desk, &store, &input).await?;
        let chain = derive_summary_chain(&IterationInput::from(&trial).chain);
        let passed = trial.result == Some(TaskResult::Passed);
        let next_action = (!passed).then(|| derive_next_action(&chain, trial.result).label());
        let mut more_items = 0;
        let mut shortened = false;
        let mut bounded = |mut items: Vec<Value>| {
            more_items += items.len().saturating_sub(ROWS) as u64;
            items.truncate(ROWS);
            for item in &mut items {
                shortened |= bounds::shorten(item, TEXT);
            }
            items
        };
        let content = GetTrialChainOutput {
            expected_tool_calls: bounded(trial.expected_tool_calls),
            actual_tool_calls: bounded(trial.actual_tool_calls),
            assertions: bounded(trial.predicate_results),
            policy_blocks: bounded(trial.policy_blocks),
            run_id: trial.run_id,
            trial_id: trial.id,
            case_id: trial.case_id,
            title: trial.title,
            variant: trial.variant,
            trial_number: trial.iteration_number + 1,
            status: trial.status,
            result: trial.result,
            evaluator_error: trial.evaluator_error,
            error: trial.error,
            chain,
            next_action,
            stage_measurements: trial.stage_measurements,
            skipped_steps: trial.skipped_steps,
            usage: trial.usage,
            more_items,
            shortened,
        };
        Ok(Answer {
            text: story(&content),
            content,
        })
    }
}

/// Tells a trial's chain, one stage a line.
fn story(trial: &GetTrialChainOutput) -> String {
    let result = match trial.result {
        Some(result) => result.label(),
        None => "not graded",
    };
    let mut lines = vec![format!(
        "Trial {} of case {}: {}, {result}.",
        trial.trial_number,
        escape::line(&trial.case_id, NAME),
        trial.status.label()
    )];
    match &trial.chain {
        SummaryChain::Verified(chain) => {
            lines.extend(chain.stages.iter().map(|row| {
                let reason = row.reason.map(|reason| format!(" ({})", reason.label()));
                format!(
                    "{}: {}{}",
                    row.stage.label(),
                    row.state.label(),
                    reason.unwrap_or_default()
                )
            }));
        }
        SummaryChain::Unverified(_) => {
            lines.push("Its stored chain does not pass its check and is withheld.".to_owned());
        }
        SummaryChain::Absent(_) => lines.push("No chain is stored.".to_owned()),
    }
    if let Some(error) = &trial.error {
        lines.push(format!(
            "It did not run to its end ({}): {}",
            error.layer.label(),
            escape::line(&error.message, 300)
        ));
    }
    if let Some(next) = trial.next_action {
        lines.push(format!("Who looks next: {next}."));
    }
    lines.join("\n")
}
