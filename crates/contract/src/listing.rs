//! Runs as they are listed (`strandline runs --json`), and the trials of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    decision::{SummaryCounts, Undecided},
    run::{ExecutionVariant, RunStatus},
    words::{FailureCategory, IterationStatus, Stage, SummaryVerdict, TaskResult, VerdictSource},
};

/// One page of runs, the one that started last first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<RunListItem>,
    /// The page holds every run that was asked for.
    pub complete: bool,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// Whether somebody is running a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunActivity {
    /// It has ended.
    Ended,
    /// A process is running it.
    Running,
    /// It has not ended, and the process that ran it is gone.
    Killed,
}

/// What a listing says about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunListItem {
    /// The run's id.
    pub run_id: String,
    /// The beginning of the id that tells it from all others in its store.
    pub short_id: String,
    /// The suite's id.
    pub suite_id: String,
    /// The suite's name.
    pub suite_name: String,
    /// Where the suite was read from.
    pub suite_path: String,
    /// Lifecycle, as stored.
    pub run_status: RunStatus,
    /// Whether somebody is running it.
    pub activity: RunActivity,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<i64>,
    /// What was decided (`decision-summary.md` §4).
    pub verdict: SummaryVerdict,
    /// Who decided.
    pub verdict_source: VerdictSource,
    /// Why nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undecided: Option<Undecided>,
    /// Counts with their unit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counts: Option<SummaryCounts>,
    /// Trials that the plan has.
    pub configured_trials: u64,
    /// Trials that are stored.
    pub stored_trials: u64,
    /// Every model in the run is the scripted one.
    pub scripted: bool,
    /// Why the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The version that made the run.
    pub strandline_version: String,
}

/// One page of a run's trials, in plan order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialList {
    /// The run.
    pub run_id: String,
    /// The trials.
    pub trials: Vec<TrialListItem>,
    /// The page holds every trial that was asked for.
    pub complete: bool,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// What a listing says about a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialListItem {
    /// The trial.
    pub trial_id: String,
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title as planned.
    pub title: String,
    /// The model it ran under.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
    /// Lifecycle.
    pub status: IterationStatus,
    /// What its checks say, when it completed and was graded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<TaskResult>,
    /// The grader broke: the trial says nothing about the server.
    pub evaluator_error: bool,
    /// Where its chain first failed: a location, never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_failed_stage: Option<Stage>,
    /// The bucket its failure is grouped under: never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure_category: Option<FailureCategory>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch.
    pub ended_at: i64,
}
