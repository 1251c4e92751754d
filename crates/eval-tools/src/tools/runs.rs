//! Stored runs: listed, and what one decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    decision::{DecisionSummary, SummaryCounts},
    listing::{RunActivity, RunList, RunListItem},
    run::LOCAL_PROJECT,
    words::{RunStatus, Vocabulary},
};
use strandline_derive::decision::{Page, summarize_run};
use strandline_report::{
    escape,
    terminal::runs::{RunFacts, run_list_item},
    words::counted,
};
use strandline_store::{Liveness, RunFilter, RunHead, StoreError, StoredRun};

use crate::{
    bounds::{self, PageInfo},
    desk::Desk,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Runs on a page unless asked otherwise, and at most.
const RUNS: (u32, u32) = (20, 100);
/// Case variants on a page unless asked otherwise, and at most.
const ROWS: (usize, usize) = (25, 200);
/// Longest name in a text.
const NAME: usize = 80;

/// Lists stored runs.
pub(crate) struct ListRuns;

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListRunsInput {
    /// Only runs of the suite with this id or name.
    #[serde(default)]
    suite: Option<String>,
    /// Only runs with this status.
    #[serde(default)]
    status: Option<RunStatus>,
    /// Runs on a page, 20 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

impl EvalTool for ListRuns {
    type Input = ListRunsInput;
    type Output = RunList;
    const NAME: &'static str = "list_runs";
    const TITLE: &'static str = "List runs";
    const DESCRIPTION: &'static str = "Lists stored runs, the one that started last first, each with its verdict, \
        counts and whether a process is still running it. Use it to find a run's id, a baseline to compare with, or \
        whether somebody already ran the suite.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let none = || RunList {
            runs: Vec::new(),
            complete: input.cursor.is_none(),
            next_cursor: None,
        };
        // A cursor is the id of a run; the store takes any text as one.
        if let Some(cursor) = input.cursor.as_deref().filter(|cursor| !is_id(cursor)) {
            return Err(bounds::foreign(cursor).into());
        }
        let list = match desk.store().await {
            // A project without runs is no error.
            Err(StoreError::Missing { .. }) => none(),
            Err(error) => return Err(error.into()),
            Ok(store) => {
                let filter = RunFilter {
                    suite: input.suite.clone(),
                    status: input.status,
                };
                let limit = input.limit.unwrap_or(RUNS.0).clamp(1, RUNS.1);
                let page = store.runs(&filter, input.cursor.as_deref(), limit).await?;
                RunList {
                    runs: page.items.iter().map(item).collect(),
                    complete: page.complete,
                    next_cursor: page.next_cursor,
                }
            }
        };
        Ok(Answer {
            text: told(&list),
            content: list,
        })
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 36
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn told(list: &RunList) -> String {
    if list.runs.is_empty() {
        return "No such runs are stored. `run_suite` makes one.".to_owned();
    }
    let mut lines: Vec<String> = list
        .runs
        .iter()
        .map(|run| {
            let suite = escape::line(&run.suite_name, NAME);
            let verdict = run.verdict.label();
            let running = match run.activity {
                RunActivity::Ended => "",
                RunActivity::Running => ", still running",
                RunActivity::Killed => ", its process is gone",
            };
            format!("{}  “{suite}”  {verdict}{running}", run.short_id)
        })
        .collect();
    if list.next_cursor.is_some() {
        lines.push("There are older runs: pass `nextCursor` as `cursor`.".to_owned());
    }
    lines.join("\n")
}

/// Returns what a listing says about a run.
fn item(head: &RunHead) -> RunListItem {
    let facts = RunFacts {
        short_id: &head.short_id,
        activity: activity(head.liveness),
        configured_trials: head.configured_trials,
        stored_trials: head.stored_trials,
    };
    run_list_item(&head.record, &facts)
}

/// Returns whether somebody is running a run.
pub(crate) const fn activity(liveness: Liveness) -> RunActivity {
    match liveness {
        Liveness::Ended => RunActivity::Ended,
        Liveness::Live { .. } => RunActivity::Running,
        Liveness::Dead { .. } => RunActivity::Killed,
    }
}

/// Says what a run decided.
pub(crate) struct GetRun;

/// Which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetRunInput {
    /// The run's id, the beginning of it, or `last` for the one that started last.
    run: String,
    /// Case variants on a page, 25 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `caseVariants.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// What a run decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetRunOutput {
    /// The run.
    run: RunListItem,
    /// The decision summary. `decision.cases` holds one page of case variants, and `diagnostics` is
    /// empty and not complete: `list_diagnostics` pages through the trials that did not pass.
    summary: DecisionSummary,
    /// What the page of case variants leaves open; absent where nothing was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    case_variants: Option<PageInfo>,
}

impl EvalTool for GetRun {
    type Input = GetRunInput;
    type Output = GetRunOutput;
    const NAME: &'static str = "get_run";
    const TITLE: &'static str = "Get a run's decision";
    const DESCRIPTION: &'static str = "Returns what a run decided: the verdict and its reasons, how much was measured \
        (configured, attempted, gradeable trials), and one row per case variant with passed of gradeable trials. Use it \
        after `wait_run` says that the run ended. `inconclusive` and a run without a verdict say nothing about the \
        server; do what the reasons ask for. Then page through `list_diagnostics`.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        let run = desk.run(&store, &input.run).await?;
        let mut summary = summarize_run(LOCAL_PROJECT, &run.record, [], Page::default());
        let mut case_variants = None;
        if let Some(decision) = &mut summary.decision {
            let limit = input.limit.unwrap_or(ROWS.0).clamp(1, ROWS.1);
            let rows = std::mem::take(&mut decision.cases);
            let (rows, info) = bounds::page(rows, input.cursor.as_deref(), limit)?;
            decision.cases = rows;
            case_variants = Some(info);
        }
        let run = listed(&run);
        Ok(Answer {
            text: decided(&run, &summary),
            content: GetRunOutput {
                run,
                summary,
                case_variants,
            },
        })
    }
}

/// Returns what a listing says about a run that was read whole.
pub(crate) fn listed(run: &StoredRun) -> RunListItem {
    let configured = run
        .record
        .plan
        .iter()
        .map(|planned| u64::from(planned.configured_trials))
        .sum();
    let facts = RunFacts {
        short_id: &run.short_id,
        activity: activity(run.liveness),
        configured_trials: configured,
        stored_trials: run.stored_trials,
    };
    run_list_item(&run.record, &facts)
}

/// Says in a few sentences what a run decided.
pub(crate) fn decided(run: &RunListItem, summary: &DecisionSummary) -> String {
    let suite = escape::line(&run.suite_name, NAME);
    let mut text = format!(
        "Run {} of “{suite}”: {}.",
        run.short_id,
        summary.verdict.label()
    );
    let mut say = |sentence: &str| {
        text.push(' ');
        text.push_str(sentence);
    };
    if let Some(undecided) = &summary.undecided {
        let detail = undecided.detail.as_deref();
        let detail = detail.map(|detail| format!(" ({})", escape::line(detail, 300)));
        say(&format!(
            "No verdict: {}{}.",
            undecided.reason.label(),
            detail.unwrap_or_default()
        ));
    }
    if let Some(decision) = &summary.decision {
        let reasons: Vec<&str> = decision
            .reasons
            .iter()
            .map(|reason| reason.label())
            .collect();
        say(&format!("Why: {}.", reasons.join("; ")));
        let validity = &decision.validity;
        say(&format!(
            "Measured: {}, {} attempted, {} gradeable.",
            counted(
                validity.configured_trials,
                "configured trial",
                "configured trials"
            ),
            validity.attempted_trials,
            validity.eligible_trials
        ));
    }
    if let Some(SummaryCounts::CaseVariant {
        total,
        passed,
        failed,
        inconclusive,
    }) = &summary.counts
    {
        say(&format!(
            "{passed} of {} passed, {failed} failed, {inconclusive} inconclusive.",
            counted(*total, "case variant", "case variants")
        ));
    }
    if run.activity == RunActivity::Running {
        say("It is still running: `wait_run` waits for its end.");
    }
    if run.scripted {
        say(
            "Every model was scripted, so this says how the server and the checks behave and nothing about a model.",
        );
    }
    text
}
