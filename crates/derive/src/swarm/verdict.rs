//! What one session says of its goal (`swarm.md` §4.3).

use serde_json::Value;
use strandline_contract::{
    swarm::{
        SWARM_CONTRACT_VERSION,
        session::{GoalScore, SessionTrial, SessionVerdict, SessionVerdictInput},
    },
    words::{
        CriteriaStatus, GradingState, IterationStatus, SessionReason, SessionVerdictSource,
        SummaryVerdict, SwarmLifecycle, TaskResult,
    },
};

use super::{
    InvalidSwarmDocument,
    graders::Facts,
    invalid::{checked, read_checked},
    lifecycle::derive_lifecycle,
    session_input,
};

/// The error code of an attempt that the spending cap stopped.
const SPEND_CAP_EXCEEDED: &str = "spend_cap_exceeded";

/// Derives what a session says of its goal.
///
/// # Errors
///
/// Refuses duplicate and unknown criterion ids, and empty names (§4.1).
pub fn derive_session_verdict(
    input: &SessionVerdictInput,
) -> Result<SessionVerdict, InvalidSwarmDocument> {
    checked(input, session_input::check)?;
    Ok(derive(input))
}

/// Derives what a session says of its goal from the input as it came.
///
/// # Errors
///
/// As [`derive_session_verdict`], and refuses any other shape.
pub fn derive_session_verdict_from_json(
    input: &Value,
) -> Result<SessionVerdict, InvalidSwarmDocument> {
    let input = read_checked(input, session_input::read, session_input::check)?;
    Ok(derive(&input))
}

fn derive(input: &SessionVerdictInput) -> SessionVerdict {
    let lifecycle = derive_lifecycle(input.attempt.as_ref(), input.has_transcript);
    let facts = Facts::of(input);
    let (reason, verdict_source) = decide(input, lifecycle, &facts);
    let verdict = reason.verdict();
    SessionVerdict {
        contract_version: SWARM_CONTRACT_VERSION,
        lifecycle,
        verdict,
        reason,
        verdict_source,
        grading: input.grading.clone(),
        graders: facts.graders(),
        counts: facts.counts,
        trial: project_trial(lifecycle, verdict),
    }
}

/// The ordered rules, by their numbers; first match decides.
fn decide(
    input: &SessionVerdictInput,
    lifecycle: SwarmLifecycle,
    facts: &Facts<'_>,
) -> (SessionReason, SessionVerdictSource) {
    use SessionReason as Reason;
    use SessionVerdictSource as Source;

    let counts = facts.counts;
    let grading = input.grading.state;
    let criteria = input.criteria.as_ref().map(|criteria| criteria.status);
    let goal = input.goal_score;
    let goal_passed = match goal {
        Some(GoalScore::Completed { passed }) => Some(passed),
        Some(GoalScore::Running {} | GoalScore::Failed {}) | None => None,
    };
    let goal_failed = matches!(goal, Some(GoalScore::Failed {}));
    let goal_running = matches!(goal, Some(GoalScore::Running {}));
    let undecided = |reason| (reason, Source::None);

    match lifecycle {
        // 1.
        SwarmLifecycle::Pending => return undecided(Reason::AttemptPending),
        // 2.
        SwarmLifecycle::Running => return undecided(Reason::AttemptRunning),
        // 3.
        SwarmLifecycle::Withdrawn => return undecided(Reason::Withdrawn),
        // 4.
        SwarmLifecycle::Limited => {
            let code = input
                .attempt
                .as_ref()
                .and_then(|attempt| attempt.error_code.as_deref());
            return undecided(if code == Some(SPEND_CAP_EXCEEDED) {
                Reason::SpendCapReached
            } else {
                Reason::NotRun
            });
        }
        SwarmLifecycle::Ran | SwarmLifecycle::Broke => {}
    }
    // 5.
    if counts.gating_failed > 0 {
        return (Reason::GatingCriterionFailed, Source::RequiredAssertions);
    }
    // 6.
    if facts.decisive && goal_passed == Some(false) {
        return (Reason::JudgeFailed, Source::GoalJudge);
    }
    // 7.
    if !input.has_transcript {
        return undecided(if lifecycle == SwarmLifecycle::Ran {
            Reason::GradingUnavailable
        } else {
            Reason::ExecutionFailed
        });
    }
    // 8.
    if counts.gating > 0 && criteria == Some(CriteriaStatus::Failed) {
        return undecided(Reason::CriteriaGradingErrored);
    }
    // 9.
    if criteria == Some(CriteriaStatus::Completed) && counts.gating_unmeasured > 0 {
        return undecided(Reason::GatingCriterionUnmeasured);
    }
    // 10.
    if facts.decisive && goal_failed {
        return undecided(Reason::JudgeErrored);
    }
    let goal_owed = facts.owed && goal_passed.is_none();
    // 11.
    if grading == GradingState::Unavailable && (counts.gating_unmeasured > 0 || goal_owed) {
        return undecided(Reason::GradingUnavailable);
    }
    let settled = grading == GradingState::Settled;
    // 12.
    if counts.gating_unmeasured > 0 {
        return undecided(if settled {
            Reason::GatingCriterionUnmeasured
        } else if criteria.is_some() {
            Reason::CriteriaPending
        } else {
            Reason::GradingNotClaimed
        });
    }
    // 13.
    if goal_owed {
        return undecided(if settled {
            Reason::GradingUnavailable
        } else if facts.waiting || goal_running {
            Reason::JudgePending
        } else {
            Reason::GradingNotClaimed
        });
    }
    // 14. An old pass is not used again while grading goes on.
    if facts.waiting {
        return undecided(if facts.owed {
            Reason::JudgePending
        } else {
            Reason::CriteriaPending
        });
    }
    // 15.
    if facts.decisive && goal_passed == Some(true) {
        return if counts.gating > 0 {
            (Reason::AllGradersPassed, Source::Combined)
        } else {
            (Reason::JudgePassed, Source::GoalJudge)
        };
    }
    // 16.
    if counts.gating > 0 {
        return (Reason::AllGatingCriteriaPassed, Source::RequiredAssertions);
    }
    // 17.
    undecided(Reason::Ungraded)
}

/// Projects a session to a trial of verdict policy v2.
fn project_trial(lifecycle: SwarmLifecycle, verdict: SummaryVerdict) -> Option<SessionTrial> {
    let Some(status) = trial_status(lifecycle) else {
        return ran_trial(verdict);
    };
    Some(SessionTrial {
        status,
        task_verdict: None,
        evaluator_error: None,
    })
}

/// Returns the trial status of a session that did not run to its end.
pub(super) const fn trial_status(lifecycle: SwarmLifecycle) -> Option<IterationStatus> {
    match lifecycle {
        SwarmLifecycle::Pending => Some(IterationStatus::Pending),
        SwarmLifecycle::Running => Some(IterationStatus::Running),
        SwarmLifecycle::Withdrawn => Some(IterationStatus::Cancelled),
        SwarmLifecycle::Limited => Some(IterationStatus::SetupFailed),
        SwarmLifecycle::Broke => Some(IterationStatus::Failed),
        SwarmLifecycle::Ran => None,
    }
}

fn ran_trial(verdict: SummaryVerdict) -> Option<SessionTrial> {
    let task_verdict = match verdict {
        SummaryVerdict::Passed => Some(TaskResult::Passed),
        SummaryVerdict::Failed => Some(TaskResult::Failed),
        SummaryVerdict::Inconclusive => None,
        // Aggregation waits.
        SummaryVerdict::NotEstablished => return None,
    };
    Some(SessionTrial {
        status: IterationStatus::Completed,
        evaluator_error: task_verdict.is_none().then_some(true),
        task_verdict,
    })
}
