//! Runs: listed, read, and what each decided.

use axum::extract::State;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    decision::{DecisionSummary, Diagnostics},
    listing::{RunActivity, RunList, RunListItem},
    run::{LOCAL_PROJECT, PlannedCase, RunRecord, RunStatus},
};
use strandline_derive::decision::{Page, summarize_run};
use strandline_report::terminal::runs::{RunFacts, run_list_item};
use strandline_store::{Liveness, RunFilter, RunHead, Store, StoreError, StoredRun, TrialFilter};

use super::Answered;
use crate::{
    app::App,
    document,
    params::{In, Params, Slice, page},
};

/// Which runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunsQuery {
    /// Where the page begins: `nextCursor` of the page before.
    cursor: Option<String>,
    /// Most runs of the page; 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Only runs of the suite with this id or this name.
    pub(crate) suite: Option<String>,
    /// Only runs with this status.
    pub(crate) status: Option<RunStatus>,
}

impl RunsQuery {
    pub(crate) fn slice(&self) -> Result<Slice<'_>, crate::problem::Problem> {
        page(self.cursor.as_deref(), self.limit)
    }

    pub(crate) fn filter(&self) -> RunFilter {
        RunFilter {
            suite: self.suite.clone(),
            status: self.status,
        }
    }
}

/// Which diagnostics.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DiagnosticsQuery {
    /// Where the page begins: `nextCursor` of the page before.
    cursor: Option<String>,
    /// Most trials that the page examines; 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Examine only trials that did not pass, so that no page is empty for the
    /// passing ones' sake; `scannedIterations` then counts only these.
    #[serde(default)]
    not_passed: bool,
}

/// One run: what it is, what it decided, and a first page of what did not pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    /// What a listing says about it.
    run: RunListItem,
    /// What it decided, with the first page of diagnostics.
    summary: DecisionSummary,
    /// What is run, in order.
    plan: Vec<PlannedCase>,
}

/// Lists runs.
pub(crate) async fn list(
    State(app): State<App>,
    Params(query): Params<RunsQuery>,
    headers: HeaderMap,
) -> Answered {
    let list = run_list(app.store(), &query.filter(), query.slice()?).await?;
    document::json(&headers, &list)
}

/// Reads a page of runs.
pub(crate) async fn run_list(
    store: &Store,
    filter: &RunFilter,
    slice: Slice<'_>,
) -> Result<RunList, StoreError> {
    let page = store.runs(filter, slice.cursor, slice.limit).await?;
    Ok(RunList {
        runs: page.items.iter().map(item).collect(),
        complete: page.complete,
        next_cursor: page.next_cursor,
    })
}

/// Returns what a listing says about a run.
pub(crate) fn item(head: &RunHead) -> RunListItem {
    let facts = RunFacts {
        short_id: &head.short_id,
        activity: activity(head.liveness),
        configured_trials: head.configured_trials,
        stored_trials: head.stored_trials,
    };
    run_list_item(&head.record, &facts)
}

/// Returns what a listing says about a run that was read whole.
pub(crate) fn item_of(run: &StoredRun) -> RunListItem {
    let planned = run.record.plan.iter();
    let facts = RunFacts {
        short_id: &run.short_id,
        activity: activity(run.liveness),
        configured_trials: planned.map(|case| u64::from(case.configured_trials)).sum(),
        stored_trials: run.stored_trials,
    };
    run_list_item(&run.record, &facts)
}

/// Returns whether somebody is running a run.
pub(crate) const fn activity(liveness: Liveness) -> RunActivity {
    match liveness {
        Liveness::Ended => RunActivity::Ended,
        Liveness::Live { .. } => RunActivity::Running,
        Liveness::Dead { .. } => RunActivity::Killed,
    }
}

/// Reads a run with its decision.
pub(crate) async fn read(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<DiagnosticsQuery>,
    headers: HeaderMap,
) -> Answered {
    let slice = page(query.cursor.as_deref(), query.limit)?;
    let stored = app.store().run(&run).await?;
    let summary = summary(app.store(), &stored.record, slice, query.not_passed).await?;
    let view = RunView {
        run: item_of(&stored),
        summary,
        plan: stored.record.plan,
    };
    document::json(&headers, &view)
}

/// Reads a page of diagnostics.
pub(crate) async fn diagnostics(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<DiagnosticsQuery>,
    headers: HeaderMap,
) -> Answered {
    let slice = page(query.cursor.as_deref(), query.limit)?;
    let head = app.store().run_head(&run).await?;
    let summary = summary(app.store(), &head.record, slice, query.not_passed).await?;
    document::json::<Diagnostics>(&headers, &summary.diagnostics)
}

/// Summarizes a run with one page of its trials. The page is complete when it
/// began at the start and none follows (`decision-summary.md` §5).
async fn summary(
    store: &Store,
    run: &RunRecord,
    slice: Slice<'_>,
    not_passed: bool,
) -> Result<DecisionSummary, StoreError> {
    let filter = TrialFilter {
        not_passed,
        ..TrialFilter::default()
    };
    let trials = store
        .trials(&run.id, &filter, slice.cursor, slice.limit)
        .await?;
    let page = Page {
        complete: trials.complete,
        next_cursor: trials.next_cursor.as_deref().map(Into::into),
    };
    Ok(summarize_run(LOCAL_PROJECT, run, &trials.items, page))
}

/// Reads a run's record as it is stored, with suite, plan and tool lists.
pub(crate) async fn record(
    State(app): State<App>,
    In(run): In<String>,
    headers: HeaderMap,
) -> Answered {
    let stored = app.store().run(&run).await?;
    document::json(&headers, &stored.record)
}
