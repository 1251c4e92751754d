//! Trials: listed and read.

use axum::extract::State;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    decision::SummaryChain,
    judgement::JudgePass,
    listing::{TrialList, TrialListItem},
    run::ExecutionVariant,
    words::{FailureCategory, IterationStatus, Stage, TaskResult},
};
use strandline_derive::decision::{StoredChain, derive_summary_chain};
use strandline_store::{Store, TrialFilter, TrialRow};

use super::Answered;
use crate::{
    app::App,
    document,
    params::{In, Params, Slice, page, word_or_empty},
    problem::Problem,
};

/// Which trials of a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TrialsQuery {
    /// Where the page begins: `nextCursor` of the page before.
    pub(crate) cursor: Option<String>,
    /// Most trials of the page; 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    pub(crate) limit: Option<u32>,
    /// Only trials of the case with this id.
    pub(crate) case: Option<String>,
    /// Only trials under this model; empty for trials without one.
    pub(crate) model: Option<String>,
    /// The model's provider.
    pub(crate) provider: Option<String>,
    /// Only the trial with this ordinal, from 0.
    pub(crate) iteration: Option<u32>,
    /// Only trials with this lifecycle status.
    #[serde(default, deserialize_with = "word_or_empty")]
    pub(crate) status: Option<IterationStatus>,
    /// Only trials whose result is not `passed`, undecided ones included.
    #[serde(default)]
    pub(crate) not_passed: bool,
    /// Only trials whose chain first failed at this stage.
    #[serde(default, deserialize_with = "word_or_empty")]
    pub(crate) stage: Option<Stage>,
    /// Only trials whose failure is grouped here.
    #[serde(default, deserialize_with = "word_or_empty")]
    pub(crate) category: Option<FailureCategory>,
}

impl TrialsQuery {
    pub(crate) fn slice(&self) -> Result<Slice<'_>, Problem> {
        page(self.cursor.as_deref(), self.limit)
    }

    pub(crate) fn filter(&self) -> Result<TrialFilter, Problem> {
        let variant = match (&self.model, &self.provider) {
            (None, None) => None,
            (None, Some(_)) => {
                return Err(Problem::bad_request("`provider` needs `model` beside it"));
            }
            (Some(model), None) if model.is_empty() => Some(None),
            (Some(model), provider) => Some(Some(ExecutionVariant {
                model: model.clone(),
                provider: provider.clone(),
            })),
        };
        Ok(TrialFilter {
            case_id: self.case.clone(),
            variant,
            iteration_number: self.iteration,
            status: self.status,
            not_passed: self.not_passed,
            first_failed_stage: self.stage,
            failure_category: self.category,
        })
    }
}

/// Lists a run's trials.
pub(crate) async fn list(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<TrialsQuery>,
    headers: HeaderMap,
) -> Answered {
    let run = app.store().resolve_run(&run).await?;
    let list = trial_list(app.store(), run, &query).await?;
    document::json(&headers, &list)
}

/// Reads a page of a run's trials.
pub(crate) async fn trial_list(
    store: &Store,
    run_id: String,
    query: &TrialsQuery,
) -> Result<TrialList, Problem> {
    let slice = query.slice()?;
    let page = store
        .trial_rows(&run_id, &query.filter()?, slice.cursor, slice.limit)
        .await?;
    Ok(TrialList {
        run_id,
        trials: page.items.into_iter().map(item).collect(),
        complete: page.complete,
        next_cursor: page.next_cursor,
    })
}

/// Returns what a listing says about a trial.
pub(crate) fn item(row: TrialRow) -> TrialListItem {
    TrialListItem {
        trial_id: row.id,
        case_id: row.case_id,
        title: row.title,
        variant: row.variant,
        iteration_number: row.iteration_number,
        status: row.status,
        result: row.result,
        evaluator_error: row.evaluator_error,
        first_failed_stage: row.first_failed_stage,
        failure_category: row.failure_category,
        started_at: row.started_at,
        ended_at: row.ended_at,
    }
}

/// Reads a trial's record.
pub(crate) async fn read(
    State(app): State<App>,
    In(trial): In<String>,
    headers: HeaderMap,
) -> Answered {
    let trial = app.store().trial(&trial).await?;
    document::json(&headers, &trial)
}

/// A trial's chain as far as it may be believed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrialChain {
    /// The run.
    run_id: String,
    /// The trial.
    trial_id: String,
    /// The case's id in the suite.
    case_id: String,
    /// The case's title.
    title: String,
    /// Ordinal among the case variant's trials, from 0.
    iteration_number: u32,
    /// Lifecycle.
    status: IterationStatus,
    /// What its checks say.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TaskResult>,
    /// The chain; withheld where it does not pass its check.
    chain: SummaryChain,
}

/// Reads a trial's chain.
pub(crate) async fn chain(
    State(app): State<App>,
    In(trial): In<String>,
    headers: HeaderMap,
) -> Answered {
    let trial = app.store().trial(&trial).await?;
    let chain = derive_summary_chain(&StoredChain::from(&trial.chain));
    let view = TrialChain {
        run_id: trial.run_id,
        trial_id: trial.id,
        case_id: trial.case_id,
        title: trial.title,
        iteration_number: trial.iteration_number,
        status: trial.status,
        result: trial.result,
        chain,
    };
    document::json(&headers, &view)
}

/// What LLM judges said about a trial.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JudgePasses {
    /// The trial.
    trial_id: String,
    /// The passes, the first one first.
    passes: Vec<NumberedPass>,
}

/// One pass of LLM judges over a trial.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NumberedPass {
    /// Ordinal among the trial's passes, from 1.
    number: u32,
    /// A later pass speaks of everything that this one speaks of.
    superseded: bool,
    /// What was asked and answered.
    pass: JudgePass,
}

/// Reads what LLM judges said about a trial.
pub(crate) async fn judge_passes(
    State(app): State<App>,
    In(trial): In<String>,
    headers: HeaderMap,
) -> Answered {
    let trial_id = app.store().resolve_trial(&trial).await?;
    let passes = app.store().judge_passes(&trial_id).await?;
    let passes = passes.into_iter().map(|stored| NumberedPass {
        number: stored.number,
        superseded: stored.superseded,
        pass: stored.pass,
    });
    let view = JudgePasses {
        passes: passes.collect(),
        trial_id,
    };
    document::json(&headers, &view)
}
