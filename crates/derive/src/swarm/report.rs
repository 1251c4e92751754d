//! What one swarm run reports (`swarm.md` §6.2).

use serde_json::Value;
use strandline_contract::{
    canonical::by_code_units,
    swarm::{
        SWARM_CONTRACT_VERSION,
        report::{
            EvaluatorDefinition, Execution, GoalGrading, ObservationTally, ReportedSession,
            RunReport, RunReportInput, SessionUnit, VerdictSummary,
        },
        session::SessionVerdict,
    },
    words::{
        AssertionKind, GradingState, ObservationStatus, SessionReason, Stage, StartEvidence,
        SummaryVerdict, SwarmLifecycle, SwarmUndecidedReason, VerdictSource,
    },
};

use super::{
    InvalidSwarmDocument,
    invalid::{checked, read_checked},
    report_input,
};
use crate::kinds;

/// Assembles a run's report.
///
/// # Errors
///
/// Refuses what §6.1 rejects.
pub fn derive_run_report(input: &RunReportInput) -> Result<RunReport, InvalidSwarmDocument> {
    checked(input, report_input::check)?;
    Ok(assemble(input))
}

/// Assembles a run's report from the input as it came.
///
/// # Errors
///
/// As [`derive_run_report`], and refuses any other shape.
pub fn derive_run_report_from_json(input: &Value) -> Result<RunReport, InvalidSwarmDocument> {
    let input = read_checked(input, report_input::read, report_input::check)?;
    Ok(assemble(&input))
}

fn assemble(input: &RunReportInput) -> RunReport {
    let goal_grading = goal_grading(&input.sessions);
    let outcome = outcome(input, goal_grading.waiting_for_decisive_grading);
    let decision = outcome.as_ref().ok().cloned();
    RunReport {
        contract_version: SWARM_CONTRACT_VERSION,
        run_id: input.run_id.clone(),
        verdict: decision
            .as_ref()
            .map_or(SummaryVerdict::NotEstablished, |decision| {
                decision.verdict.into()
            }),
        verdict_source: match decision {
            Some(_) => VerdictSource::PolicyV2,
            None => VerdictSource::None,
        },
        decision,
        undecided_reason: outcome.err(),
        execution: execution(input),
        goal_grading,
        observations: observations(input),
    }
}

/// Returns the decision, or why there is none; first match.
fn outcome(
    input: &RunReportInput,
    waiting: u64,
) -> Result<strandline_contract::verdict::Decision, SwarmUndecidedReason> {
    if !input.execution_complete {
        return Err(SwarmUndecidedReason::ExecutionPending);
    }
    let pending = matches!(input.verdict_summary, Some(VerdictSummary::Pending { .. }));
    if waiting > 0 || pending {
        return Err(SwarmUndecidedReason::GradingPending);
    }
    match &input.verdict_summary {
        None => Err(SwarmUndecidedReason::VerdictSummaryUnavailable),
        Some(VerdictSummary::IntegrityFailed { .. }) => Err(SwarmUndecidedReason::IntegrityFailed),
        Some(VerdictSummary::NotEstablished { .. }) => {
            Err(SwarmUndecidedReason::GradingNotConfigured)
        }
        // Told above.
        Some(VerdictSummary::Pending { .. }) => Err(SwarmUndecidedReason::GradingPending),
        Some(VerdictSummary::Decided { decision, .. }) => Ok((**decision).clone()),
    }
}

fn execution(input: &RunReportInput) -> Execution {
    let sessions = &input.sessions;
    let with =
        |evidence: StartEvidence| count(sessions, |session| session.start_evidence == evidence);
    let configured = input.configured_sessions;
    let reported = sessions.len() as u64;
    let not_started = with(StartEvidence::NotStarted);
    Execution {
        unit: SessionUnit::Sessions,
        configured,
        reported,
        started: with(StartEvidence::Started),
        not_started,
        unknown: with(StartEvidence::Unknown) + configured.saturating_sub(reported),
        completed: count(sessions, |session| {
            session.verdict.lifecycle == SwarmLifecycle::Ran
        }),
        interrupted: count(sessions, |session| {
            session.start_evidence == StartEvidence::Started
                && matches!(
                    session.verdict.lifecycle,
                    SwarmLifecycle::Broke | SwarmLifecycle::Withdrawn
                )
        }),
        never_launched: configured > 0 && not_started == configured,
    }
}

/// Where one session is counted in goal grading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Passed,
    Failed,
    Pending,
    Unavailable,
    NotRequested,
}

fn is_waiting(verdict: &SessionVerdict) -> bool {
    matches!(
        verdict.grading.state,
        GradingState::Queued | GradingState::Running
    )
}

/// First match.
fn class(verdict: &SessionVerdict) -> Class {
    match verdict.verdict {
        SummaryVerdict::Passed => return Class::Passed,
        SummaryVerdict::Failed => return Class::Failed,
        SummaryVerdict::Inconclusive => return Class::Unavailable,
        SummaryVerdict::NotEstablished => {}
    }
    if is_waiting(verdict) {
        return Class::Pending;
    }
    if matches!(
        verdict.reason,
        SessionReason::GradingNotClaimed
            | SessionReason::CriteriaPending
            | SessionReason::JudgePending
    ) {
        return Class::Unavailable;
    }
    Class::NotRequested
}

fn goal_grading(sessions: &[ReportedSession]) -> GoalGrading {
    let of = |wanted| count(sessions, |session| class(&session.verdict) == wanted);
    GoalGrading {
        unit: SessionUnit::Sessions,
        reported: sessions.len() as u64,
        passed: of(Class::Passed),
        failed: of(Class::Failed),
        pending: of(Class::Pending),
        unavailable: of(Class::Unavailable),
        not_requested: of(Class::NotRequested),
        waiting_for_decisive_grading: count(sessions, |session| is_waiting(&session.verdict)),
    }
}

fn count(sessions: &[ReportedSession], holds: impl Fn(&ReportedSession) -> bool) -> u64 {
    sessions.iter().filter(|session| holds(session)).count() as u64
}

fn observations(input: &RunReportInput) -> Vec<ObservationTally> {
    if input.sessions.is_empty() {
        return Vec::new();
    }
    let mut tallies: Vec<_> = input
        .evaluator_definitions
        .iter()
        .map(|definition| tally(definition, &input.sessions))
        .collect();
    tallies.sort_by(|left, right| by_code_units(&left.evaluator_id, &right.evaluator_id));
    tallies
}

fn tally(definition: &EvaluatorDefinition, sessions: &[ReportedSession]) -> ObservationTally {
    let mut tally = ObservationTally {
        evaluator_id: definition.evaluator_id.clone(),
        predicate_type: definition.predicate_type,
        role: definition.role,
        stage: stage(definition.predicate_type),
        unit: SessionUnit::Sessions,
        total: sessions.len() as u64,
        passed: 0,
        failed: 0,
        pending: 0,
        unavailable: 0,
    };
    for session in sessions {
        let observed = session
            .observations
            .iter()
            .find(|observation| observation.evaluator_id == definition.evaluator_id)
            .map_or(ObservationStatus::Unavailable, |observation| {
                observation.status
            });
        let count = match observed {
            ObservationStatus::Passed => &mut tally.passed,
            ObservationStatus::Failed => &mut tally.failed,
            ObservationStatus::Pending => &mut tally.pending,
            ObservationStatus::Unavailable => &mut tally.unavailable,
        };
        *count += 1;
    }
    tally
}

/// Returns the stage that a kind is filed under: every kind has one.
pub(super) fn stage(kind: AssertionKind) -> Stage {
    kinds::route(kind).catalogue.unwrap_or(Stage::UserValue)
}
