//! What a chat session says to the chain (`chain.md` §14.6).

use std::borrow::Cow;

use strandline_contract::{
    chain_input::{
        AssertionRole, AssertionRow, AssertionStatus, AuthoredCase, ChainInput, Evidence,
        Iteration, JudgeEvidence,
    },
    chat_session::{ChatSession, GoalJudge, SessionCriteria, SwarmPolicy},
    words::{
        CaseMode, CriteriaStatus, GoalJudgeStatus, IterationStatus, JudgeStatus, JudgeVerdict,
        PendingKind, SessionLifecycle, SessionSource, Stage, ToolExpectation,
    },
};

use super::judge::pending;
use crate::kinds::route_of;

/// Derives the chain's input from a session; never setup signals, turns or a
/// policy.
#[must_use]
pub fn chat_chain_input<'a>(session: &'a ChatSession<'a>) -> ChainInput<'a> {
    ChainInput {
        authored: AuthoredCase {
            has_user_ask: session.has_user_ask,
            tool_expectation: Some(ToolExpectation::Open),
            ..AuthoredCase::new(CaseMode::ModelDriven)
        },
        evidence: evidence(session),
        iteration: Iteration {
            status: match session.lifecycle {
                SessionLifecycle::Running => IterationStatus::Running,
                SessionLifecycle::Settled => IterationStatus::Completed,
                SessionLifecycle::Stopped => IterationStatus::Cancelled,
            },
        },
        policy: None,
    }
}

fn evidence<'a>(session: &'a ChatSession<'a>) -> Evidence<'a> {
    let policy = swarm_policy(session);
    let judge_decisive = policy.is_some_and(|policy| policy.judge_decisive);

    // 1. Trace and spans as they are.
    let mut evidence = Evidence {
        trace_absent: session.trace_absent,
        spans: session.spans.clone(),
        ..Evidence::default()
    };
    // 2. Advertised tools, where their number is known.
    evidence.tool_signals.tools_total_before = session
        .readiness
        .filter(|readiness| readiness.advertised_tools_known)
        .and_then(|readiness| readiness.advertised_tool_count)
        .filter(|count| *count > 0.0);
    // 3. Graded criteria, without their reasons. 4. Where the judge decides,
    // only those that a judge cannot speak to, or that did not pass.
    evidence.predicate_results = graded_rows(session)
        .iter()
        .filter(|row| !judge_decisive || stays_beside_judge(row))
        .map(|row| AssertionRow {
            reason: None,
            ..row.clone()
        })
        .collect();
    // 5. Grading broke.
    evidence.evaluator_errored = criteria_status(session) == Some(CriteriaStatus::Failed)
        && policy.is_none_or(|policy| policy.required_criteria > 0.0);
    // 6. The goal judge, where it may speak.
    let judge = judge(session, policy);
    evidence.judge_evidence.clone_from(&judge);
    // 7. Criteria that a swarm requires.
    if let Some(policy) = policy.filter(|policy| policy.required_criteria > 0.0) {
        require_criteria(session, policy, &mut evidence);
    }
    // 8. A decisive judge that says no is not silenced by broken grading.
    if judge_decisive && goal_verdict(session) == Some(false) {
        evidence.evaluator_errored = false;
        if judge.is_some() {
            evidence.judge_evidence = judge;
        }
    }
    evidence
}

/// Step 4: a pass at user value leaves the stage to the judge.
fn stays_beside_judge(row: &AssertionRow<'_>) -> bool {
    row.passed == Some(false)
        || row.status == AssertionStatus::Error
        || route_of(row.predicate.kind).catalogue != Some(Stage::UserValue)
}

/// Step 6: first match wins; a decisive judge reads criteria as absent.
fn judge<'a>(
    session: &'a ChatSession<'a>,
    policy: Option<SwarmPolicy>,
) -> Option<JudgeEvidence<'a>> {
    // 1. A swarm whose criteria decide.
    if policy.is_some_and(|policy| !policy.judge_decisive) {
        return None;
    }
    // A policy that is left here is judge-decisive.
    let criteria = session.criteria.as_ref().filter(|_| policy.is_none());
    match criteria {
        Some(SessionCriteria {
            status: CriteriaStatus::Failed,
            ..
        }) => return None, // 2.
        Some(SessionCriteria {
            status: CriteriaStatus::Completed,
            results,
            none_authored,
        }) => {
            // 3. Criteria were graded.
            if !results.is_empty() {
                return None;
            }
            // 4. There are criteria, and no result yet.
            if !none_authored {
                return Some(pending());
            }
        }
        // 5. Criteria are due.
        Some(SessionCriteria {
            status: CriteriaStatus::Pending,
            ..
        }) => return Some(pending()),
        None => {}
    }
    match &session.goal_judge {
        // 6. The judge answered.
        Some(GoalJudge {
            status: GoalJudgeStatus::Completed,
            passed: Some(passed),
            reason,
        }) => Some(JudgeEvidence {
            verdict: Some(if *passed {
                JudgeVerdict::Pass
            } else {
                JudgeVerdict::Fail
            }),
            reasons: reason
                .as_deref()
                .filter(|reason| !reason.is_empty())
                .map(Cow::Borrowed)
                .into_iter()
                .collect(),
            ..JudgeEvidence::new(JudgeStatus::Scored)
        }),
        // 7. The judge broke.
        Some(GoalJudge {
            status: GoalJudgeStatus::Failed,
            ..
        }) => Some(JudgeEvidence::new(JudgeStatus::Error)),
        // 8. The judge is at work.
        Some(GoalJudge {
            status: GoalJudgeStatus::Running,
            ..
        }) => Some(pending()),
        // 9. Nothing was asked. 10. Nobody was asked to judge.
        None
        | Some(GoalJudge {
            status: GoalJudgeStatus::Completed,
            passed: None,
            ..
        }) => session.has_user_ask.then(|| JudgeEvidence {
            pending_kind: Some(PendingKind::NotRequested),
            ..JudgeEvidence::new(JudgeStatus::Pending)
        }),
    }
}

/// Step 7: without enough graded criteria nothing is decided, unless a
/// required one failed.
fn require_criteria(session: &ChatSession<'_>, policy: SwarmPolicy, evidence: &mut Evidence<'_>) {
    let required = || {
        session
            .criteria
            .iter()
            .flat_map(|criteria| &criteria.results)
            .filter(|row| row.predicate.role != AssertionRole::Advisory)
    };
    let required_failure =
        required().any(|row| row.status != AssertionStatus::Error && row.passed != Some(true));
    if required_failure {
        return;
    }
    match criteria_status(session) {
        Some(CriteriaStatus::Failed) => {}
        None | Some(CriteriaStatus::Pending) => {
            evidence.judge_evidence = Some(pending());
            evidence
                .predicate_results
                .retain(|row| row.passed == Some(false));
        }
        Some(CriteriaStatus::Completed) => {
            #[expect(clippy::cast_precision_loss, reason = "a session has few criteria")]
            let too_few = (required().count() as f64) < policy.required_criteria;
            if too_few || required().any(|row| row.status == AssertionStatus::Error) {
                evidence.evaluator_errored = true;
            }
        }
    }
}

/// Rows of criteria that have been graded.
fn graded_rows<'a>(session: &'a ChatSession<'a>) -> &'a [AssertionRow<'a>] {
    match &session.criteria {
        Some(criteria) if criteria.status == CriteriaStatus::Completed => &criteria.results,
        _ => &[],
    }
}

fn criteria_status(session: &ChatSession<'_>) -> Option<CriteriaStatus> {
    session.criteria.as_ref().map(|criteria| criteria.status)
}

/// Returns what a goal judge that answered says.
fn goal_verdict(session: &ChatSession<'_>) -> Option<bool> {
    session
        .goal_judge
        .as_ref()
        .filter(|judge| judge.status == GoalJudgeStatus::Completed)?
        .passed
}

/// The policy, which only a swarm has.
fn swarm_policy(session: &ChatSession<'_>) -> Option<SwarmPolicy> {
    session
        .swarm_policy
        .filter(|_| session.source == SessionSource::Swarm)
}
