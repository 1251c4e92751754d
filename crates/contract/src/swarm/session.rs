//! What one session of a swarm is judged by, and its verdict (`swarm.md` §4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    words::{
        AttemptStatus, CriteriaGrader, CriteriaStatus, GradingState, IterationStatus, JudgeGrader,
        RowStatus, RuleRole, SessionReason, SessionVerdictSource, SummaryVerdict, SwarmLifecycle,
        TaskResult,
    },
};

/// Everything that decides one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionVerdictInput {
    /// The attempt that claimed the session; `null` when there is none yet.
    pub attempt: Option<Attempt>,
    /// A transcript is on record.
    pub has_transcript: bool,
    /// The goal's criteria, with unique ids.
    pub rubric: Vec<Criterion>,
    /// What grading the criteria left; `null` when nobody began it.
    pub criteria: Option<CriteriaGrades>,
    /// What the goal judge left; `null` when there is nothing.
    pub goal_score: Option<GoalScore>,
    /// How the goal judge is set up.
    pub judge: JudgeSettings,
    /// Whether the grading that decides is ready.
    pub grading: Grading,
}

/// How an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// How far it has come.
    pub status: AttemptStatus,
    /// Why it did not run to its end: an open word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_code: Option<String>,
}

/// One criterion of a goal's rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Criterion {
    /// Opaque and stable; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Whether the session fails when it does not hold.
    pub role: RuleRole,
    /// The assertion kind, on machine-checked criteria; not empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(length(min = 1))]
    pub predicate_type: Option<String>,
}

/// What grading the criteria left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CriteriaGrades {
    /// How far grading has come; `failed` says that the grader broke.
    pub status: CriteriaStatus,
    /// The criteria that grading claimed, when it says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub criterion_ids: Option<Vec<String>>,
    /// Results so far; read only when grading completed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub results: Option<Vec<CriterionResult>>,
}

/// What one criterion says of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CriterionResult {
    /// The criterion.
    #[schemars(length(min = 1))]
    pub criterion_id: String,
    /// It was evaluated and holds.
    pub passed: bool,
    /// `error` when it could not be evaluated; absent means scored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<RowStatus>,
}

/// What the goal judge left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase", deny_unknown_fields)]
pub enum GoalScore {
    /// It answered.
    Completed {
        /// The goal was met.
        passed: bool,
    },
    /// It has not answered.
    Running {},
    /// It broke.
    Failed {},
}

/// How the goal judge of a run is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeSettings {
    /// It judges every session by itself.
    pub automatic: bool,
    /// Whether a session fails when it says no.
    pub role: RuleRole,
    /// Somebody asked it to judge this session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requested: Option<bool>,
}

/// Whether the grading that decides is ready; observations do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grading {
    /// How far it has come.
    pub state: GradingState,
    /// Why: an open word; not empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(length(min = 1))]
    pub reason_code: Option<String>,
}

/// What one session says of the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionVerdict {
    /// Always 1.
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub contract_version: u64,
    /// Whether it ran; never a verdict.
    pub lifecycle: SwarmLifecycle,
    /// Whether the goal was met.
    pub verdict: SummaryVerdict,
    /// Why the verdict reads so.
    pub reason: SessionReason,
    /// Which grader decided.
    pub verdict_source: SessionVerdictSource,
    /// Whether the grading that decides is ready, as it was given.
    pub grading: Grading,
    /// What each grader says of itself.
    pub graders: Graders,
    /// Criteria counted by outcome.
    pub counts: CriteriaCounts,
    /// What the session contributes to verdict policy v2; `null` while a grade
    /// is awaited or when none was ever due.
    pub trial: Option<SessionTrial>,
}

/// What each grader of a session says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Graders {
    /// The criteria.
    pub criteria: CriteriaGrader,
    /// The goal judge.
    pub judge: JudgeGrader,
}

/// Criteria of one session, counted by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CriteriaCounts {
    /// Required criteria; the sum of the next three.
    #[serde(deserialize_with = "number::read_count")]
    pub gating: u64,
    /// Required criteria that hold.
    #[serde(deserialize_with = "number::read_count")]
    pub gating_passed: u64,
    /// Required criteria that do not hold.
    #[serde(deserialize_with = "number::read_count")]
    pub gating_failed: u64,
    /// Required criteria without a measured result.
    #[serde(deserialize_with = "number::read_count")]
    pub gating_unmeasured: u64,
    /// Advisory criteria that do not hold.
    #[serde(deserialize_with = "number::read_count")]
    pub advisory_failed: u64,
}

/// What a session contributes to verdict policy v2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionTrial {
    /// One of `pending`, `running`, `completed`, `failed`, `setup_failed` and
    /// `cancelled`.
    pub status: IterationStatus,
    /// What its checks say; only when it completed and was graded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_verdict: Option<TaskResult>,
    /// Always `true` where present: it completed and its grader broke.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evaluator_error: Option<bool>,
}
