//! What one swarm run reports over its sessions (`swarm.md` §6).
//!
//! Execution, goal grading and observations are three facts; none is inferred
//! from another, and the report never decides from session counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionVerdict;
use crate::{
    number,
    verdict::Decision,
    words::{
        AssertionKind, ObservationStatus, RuleRole, Stage, StartEvidence, SummaryVerdict,
        SwarmUndecidedReason, VerdictSource,
    },
};

/// What a run report is assembled from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunReportInput {
    /// The run; not empty.
    #[schemars(length(min = 1))]
    pub run_id: String,
    /// Every attempt has ended.
    pub execution_complete: bool,
    /// Sessions that the run was configured for; at least those given.
    #[serde(deserialize_with = "number::read_count")]
    pub configured_sessions: u64,
    /// What the run decided; `null` when nothing is on record.
    pub verdict_summary: Option<VerdictSummary>,
    /// Advisory checks, frozen for the whole run, with unique ids.
    pub evaluator_definitions: Vec<EvaluatorDefinition>,
    /// The sessions that are known, with unique ids.
    pub sessions: Vec<ReportedSession>,
}

/// What a run decided over its sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "status",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum VerdictSummary {
    /// Some session has no final grade.
    Pending {
        /// Sessions that have none.
        pending_sessions: u64,
        /// When this was written, ms since the Unix epoch.
        updated_at: u64,
    },
    /// Verdict policy v2 decided.
    Decided {
        /// What it decided.
        decision: Box<Decision>,
        /// When this was written, ms since the Unix epoch.
        updated_at: u64,
    },
    /// Nothing was to grade the sessions.
    NotEstablished {
        /// Always `gradingNotConfigured`.
        reason: NotEstablishedReason,
        /// When this was written, ms since the Unix epoch.
        updated_at: u64,
    },
    /// The sessions cannot be decided together.
    IntegrityFailed {
        /// Why: an open text; not empty.
        #[schemars(length(min = 1))]
        reason: String,
        /// When this was written, ms since the Unix epoch.
        updated_at: u64,
    },
}

/// Why a verdict summary establishes nothing: there is one reason only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotEstablishedReason {
    /// Nothing was to grade the sessions.
    GradingNotConfigured,
}

/// One advisory check of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvaluatorDefinition {
    /// Unique within the run; not empty.
    #[schemars(length(min = 1))]
    pub evaluator_id: String,
    /// What it looks at.
    pub predicate_type: AssertionKind,
    /// Its role; the report carries it and does not decide by it.
    pub role: RuleRole,
}

/// One session as the report reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedSession {
    /// Unique within the run; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Whether it is known to have started.
    pub start_evidence: StartEvidence,
    /// What it says of the goal.
    pub verdict: SessionVerdict,
    /// What advisory checks say of it, at most one per evaluator.
    pub observations: Vec<SessionObservation>,
}

/// What one advisory check says of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionObservation {
    /// The check, as defined for the run.
    #[schemars(length(min = 1))]
    pub evaluator_id: String,
    /// What it looks at, as defined.
    pub predicate_type: AssertionKind,
    /// Its role, as defined.
    pub role: RuleRole,
    /// What it says; a check that errored is `unavailable`, never `failed`.
    pub status: ObservationStatus,
}

/// What every count of a report counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionUnit {
    /// Sessions.
    #[default]
    Sessions,
}

/// What one run reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunReport {
    /// Always 1.
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub contract_version: u64,
    /// The run.
    #[schemars(length(min = 1))]
    pub run_id: String,
    /// What the run decided.
    pub verdict: SummaryVerdict,
    /// `policyV2` with a decision, `none` without; never `legacy`.
    pub verdict_source: VerdictSource,
    /// The decision, copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<Decision>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undecided_reason: Option<SwarmUndecidedReason>,
    /// Whether sessions ran.
    pub execution: Execution,
    /// Whether goals were met.
    pub goal_grading: GoalGrading,
    /// What advisory checks say, by evaluator id; empty without sessions.
    pub observations: Vec<ObservationTally>,
}

/// Whether the sessions of a run ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Execution {
    /// Always `sessions`.
    pub unit: SessionUnit,
    /// Sessions the run was configured for; `started + notStarted + unknown`.
    #[serde(deserialize_with = "number::read_count")]
    pub configured: u64,
    /// Sessions that are known.
    #[serde(deserialize_with = "number::read_count")]
    pub reported: u64,
    /// Sessions known to have started.
    #[serde(deserialize_with = "number::read_count")]
    pub started: u64,
    /// Sessions known never to have started.
    #[serde(deserialize_with = "number::read_count")]
    pub not_started: u64,
    /// Sessions of which it is not known, those not reported included.
    #[serde(deserialize_with = "number::read_count")]
    pub unknown: u64,
    /// Sessions that ran to their end.
    #[serde(deserialize_with = "number::read_count")]
    pub completed: u64,
    /// Sessions that started and then broke or were withdrawn.
    #[serde(deserialize_with = "number::read_count")]
    pub interrupted: u64,
    /// Every configured session is known never to have started.
    pub never_launched: bool,
}

/// Whether the goals of a run's sessions were met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoalGrading {
    /// Always `sessions`.
    pub unit: SessionUnit,
    /// Sessions that are known; the sum of the next five.
    #[serde(deserialize_with = "number::read_count")]
    pub reported: u64,
    /// The goal was met.
    #[serde(deserialize_with = "number::read_count")]
    pub passed: u64,
    /// The goal was not met.
    #[serde(deserialize_with = "number::read_count")]
    pub failed: u64,
    /// A grade is due and on its way.
    #[serde(deserialize_with = "number::read_count")]
    pub pending: u64,
    /// A grade was due and cannot be had.
    #[serde(deserialize_with = "number::read_count")]
    pub unavailable: u64,
    /// No grade was ever due.
    #[serde(deserialize_with = "number::read_count")]
    pub not_requested: u64,
    /// Sessions whose deciding grade is queued or running, beside their class.
    #[serde(deserialize_with = "number::read_count")]
    pub waiting_for_decisive_grading: u64,
}

/// What one advisory check says over all sessions of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservationTally {
    /// The check.
    #[schemars(length(min = 1))]
    pub evaluator_id: String,
    /// What it looks at.
    pub predicate_type: AssertionKind,
    /// Its role.
    pub role: RuleRole,
    /// The stage that its kind is filed under.
    pub stage: Stage,
    /// Always `sessions`.
    pub unit: SessionUnit,
    /// Sessions; the sum of the next four.
    #[serde(deserialize_with = "number::read_count")]
    pub total: u64,
    /// Sessions in which it holds.
    #[serde(deserialize_with = "number::read_count")]
    pub passed: u64,
    /// Sessions in which it does not hold.
    #[serde(deserialize_with = "number::read_count")]
    pub failed: u64,
    /// Sessions in which it has not been evaluated.
    #[serde(deserialize_with = "number::read_count")]
    pub pending: u64,
    /// Sessions in which it errored or was not captured.
    #[serde(deserialize_with = "number::read_count")]
    pub unavailable: u64,
}
