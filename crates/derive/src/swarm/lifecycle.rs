//! What became of a session, and of a run (`swarm.md` §2, §3).

use strandline_contract::{
    swarm::session::Attempt,
    words::{AttemptStatus, SwarmLifecycle, SwarmRunStatus, Vocabulary, WithdrawnCode},
};

/// Derives what became of a session; first rule that holds.
#[must_use]
pub fn derive_lifecycle(attempt: Option<&Attempt>, has_transcript: bool) -> SwarmLifecycle {
    // 1.
    let Some(attempt) = attempt.filter(|attempt| attempt.status != AttemptStatus::Pending) else {
        return SwarmLifecycle::Pending;
    };
    // 2.
    if attempt.status == AttemptStatus::Running {
        return SwarmLifecycle::Running;
    }
    // 3. Whatever the terminal status.
    let code = attempt.error_code.as_deref();
    if code.and_then(WithdrawnCode::from_wire).is_some() {
        return SwarmLifecycle::Withdrawn;
    }
    // 4.
    if attempt.status == AttemptStatus::RateLimited && !has_transcript {
        return SwarmLifecycle::Limited;
    }
    // 5.
    if attempt.status == AttemptStatus::Succeeded {
        return SwarmLifecycle::Ran;
    }
    SwarmLifecycle::Broke
}

/// Returns whether a session ended without a single message.
#[must_use]
pub const fn never_ran(lifecycle: SwarmLifecycle, message_count: u64) -> bool {
    message_count == 0
        && match lifecycle {
            SwarmLifecycle::Broke | SwarmLifecycle::Limited | SwarmLifecycle::Withdrawn => true,
            SwarmLifecycle::Pending | SwarmLifecycle::Running | SwarmLifecycle::Ran => false,
        }
}

/// Derives how far a run has come from the statuses of its attempts (§2).
///
/// A run without attempts has nothing left to do and is `completed`.
#[must_use]
pub fn derive_run_status(attempts: &[AttemptStatus]) -> SwarmRunStatus {
    let any = |status| attempts.contains(&status);
    let succeeded = |status: &AttemptStatus| *status == AttemptStatus::Succeeded;
    if any(AttemptStatus::Pending) || any(AttemptStatus::Running) {
        return SwarmRunStatus::Running;
    }
    if attempts.iter().all(succeeded) {
        return SwarmRunStatus::Completed;
    }
    if attempts.iter().any(succeeded) {
        return SwarmRunStatus::Partial;
    }
    if any(AttemptStatus::Failed) {
        return SwarmRunStatus::Failed;
    }
    SwarmRunStatus::RateLimited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_as_far_as_its_attempts() {
        use AttemptStatus as A;
        for (attempts, status) in [
            (&[A::Succeeded, A::Pending][..], SwarmRunStatus::Running),
            (&[A::Failed, A::Running], SwarmRunStatus::Running),
            (&[A::Succeeded, A::Succeeded], SwarmRunStatus::Completed),
            (&[A::Succeeded, A::RateLimited], SwarmRunStatus::Partial),
            (&[A::Failed, A::RateLimited], SwarmRunStatus::Failed),
            (
                &[A::RateLimited, A::RateLimited],
                SwarmRunStatus::RateLimited,
            ),
        ] {
            assert_eq!(derive_run_status(attempts), status, "{attempts:?}");
        }
    }

    #[test]
    fn a_withdrawal_outranks_how_the_attempt_ended() {
        let attempt = |status, code: &str| Attempt {
            status,
            error_code: Some(code.to_owned()),
        };
        for code in WithdrawnCode::ALL {
            let withdrawn = attempt(AttemptStatus::Succeeded, code.wire());
            assert_eq!(
                derive_lifecycle(Some(&withdrawn), true),
                SwarmLifecycle::Withdrawn
            );
        }
        let running = attempt(AttemptStatus::Running, "canceled");
        assert_eq!(
            derive_lifecycle(Some(&running), true),
            SwarmLifecycle::Running
        );
        let limited = attempt(AttemptStatus::RateLimited, "other");
        assert_eq!(
            derive_lifecycle(Some(&limited), true),
            SwarmLifecycle::Broke
        );
        assert!(never_ran(SwarmLifecycle::Limited, 0));
        assert!(!never_ran(SwarmLifecycle::Broke, 1));
        assert!(!never_ran(SwarmLifecycle::Ran, 0));
    }
}
