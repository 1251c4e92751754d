//! What verdict policy v2 says of a run's sessions (`swarm.md` §6.3).

use strandline_contract::{
    swarm::{
        report::{NotEstablishedReason, VerdictSummary},
        session::{SessionTrial, SessionVerdict},
    },
    verdict::{CaseInput, TrialObservation, ValidityPolicy},
    words::{SessionReason, StartEvidence, SwarmLifecycle},
};

use super::lifecycle::never_ran;
use crate::verdict::derive_decision;

/// The integrity failure of a run in which some sessions are graded and some
/// never can be.
const MIXED_GRADING: &str = "mixedGradingConfiguration";

/// What a run's decision is made from.
#[derive(Debug, Clone)]
pub struct SummaryInput<'a> {
    /// What must have been measured before the run may decide.
    pub policy: &'a ValidityPolicy,
    /// Fraction of a target's gradeable sessions that must pass (0.8 for 80 %).
    pub pass_threshold: f64,
    /// The run's targets, in order.
    pub targets: &'a [TargetSessions<'a>],
    /// When the summary is made, ms since the Unix epoch.
    pub updated_at: u64,
}

/// The sessions of one target.
#[derive(Debug, Clone)]
pub struct TargetSessions<'a> {
    /// Opaque id of the target.
    pub target_id: &'a str,
    /// Sessions that the target was configured for.
    pub configured: u64,
    /// The sessions that are known, by session index.
    pub sessions: &'a [SessionVerdict],
}

/// Returns whether a session is known to have started.
#[must_use]
pub const fn start_evidence(lifecycle: SwarmLifecycle, message_count: u64) -> StartEvidence {
    if message_count > 0 || matches!(lifecycle, SwarmLifecycle::Running | SwarmLifecycle::Ran) {
        return StartEvidence::Started;
    }
    if never_ran(lifecycle, message_count) {
        return StartEvidence::NotStarted;
    }
    StartEvidence::Unknown
}

/// Decides a run over its sessions, or says why it cannot be decided.
#[must_use]
pub fn derive_verdict_summary(input: &SummaryInput<'_>) -> VerdictSummary {
    let updated_at = input.updated_at;
    let sessions = || input.targets.iter().flat_map(|target| target.sessions);
    let pending = sessions().filter(|session| is_pending(session)).count();
    if pending > 0 {
        return VerdictSummary::Pending {
            pending_sessions: pending as u64,
            updated_at,
        };
    }
    let ran = || sessions().filter(|session| session.lifecycle == SwarmLifecycle::Ran);
    let ungraded = ran()
        .filter(|session| session.reason == SessionReason::Ungraded)
        .count();
    if ungraded > 0 && ungraded == ran().count() {
        return VerdictSummary::NotEstablished {
            reason: NotEstablishedReason::GradingNotConfigured,
            updated_at,
        };
    }
    if ungraded > 0 {
        return VerdictSummary::IntegrityFailed {
            reason: MIXED_GRADING.to_owned(),
            updated_at,
        };
    }
    let cases: Vec<CaseInput> = input
        .targets
        .iter()
        .map(|target| case(target, input))
        .collect();
    match derive_decision(input.policy, &cases) {
        Ok(decision) => VerdictSummary::Decided {
            decision: Box::new(decision),
            updated_at,
        },
        Err(refusal) => VerdictSummary::IntegrityFailed {
            reason: refusal.to_string(),
            updated_at,
        },
    }
}

/// A session whose grade has not come: not ended, or its trial is awaited.
fn is_pending(session: &SessionVerdict) -> bool {
    match session.lifecycle {
        SwarmLifecycle::Pending | SwarmLifecycle::Running => true,
        SwarmLifecycle::Ran => session.trial.is_none() && session.reason != SessionReason::Ungraded,
        SwarmLifecycle::Broke | SwarmLifecycle::Limited | SwarmLifecycle::Withdrawn => false,
    }
}

fn case(target: &TargetSessions<'_>, input: &SummaryInput<'_>) -> CaseInput {
    CaseInput {
        case_id: target_case_id(target.target_id),
        execution_variant: None,
        configured_trials: target.configured,
        effective_pass_threshold: input.pass_threshold,
        trials: target
            .sessions
            .iter()
            .filter_map(|session| session.trial.map(observation))
            .collect(),
    }
}

fn observation(trial: SessionTrial) -> TrialObservation {
    TrialObservation {
        status: trial.status.into(),
        task_verdict: trial.task_verdict,
        evaluator_error: trial.evaluator_error == Some(true),
    }
}

/// Returns the case id under which verdict policy v2 knows a target:
/// `target_` and the id's UTF-8 in base64url without padding.
#[must_use]
pub fn target_case_id(target_id: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut id = "target_".to_owned();
    for chunk in target_id.as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .chain([0; 2].iter())
            .take(3)
            .fold(0_usize, |bits, byte| (bits << 8) | usize::from(*byte));
        // n bytes fill n + 1 digits.
        for digit in 0..=chunk.len() {
            let at = (bits >> (18 - 6 * digit)) & 63;
            id.push(char::from(ALPHABET[at]));
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_case_under_its_id_in_base64url() {
        for (target, case) in [
            ("host:h1", "target_aG9zdDpoMQ"),
            ("", "target_"),
            ("a", "target_YQ"),
            ("ab", "target_YWI"),
            ("abc", "target_YWJj"),
            ("¿?>~", "target_wr8_Pn4"),
        ] {
            assert_eq!(target_case_id(target), case);
        }
    }

    #[test]
    fn a_session_that_left_no_message_is_only_known_not_to_have_started_when_it_ended() {
        use SwarmLifecycle as L;
        for (lifecycle, messages, evidence) in [
            (L::Pending, 0, StartEvidence::Unknown),
            (L::Pending, 1, StartEvidence::Started),
            (L::Running, 0, StartEvidence::Started),
            (L::Ran, 0, StartEvidence::Started),
            (L::Broke, 0, StartEvidence::NotStarted),
            (L::Broke, 2, StartEvidence::Started),
            (L::Limited, 0, StartEvidence::NotStarted),
        ] {
            assert_eq!(start_evidence(lifecycle, messages), evidence);
        }
    }
}
