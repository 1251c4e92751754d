//! Where one session ended up (`swarm.md` §9.2).

use strandline_contract::{
    chain::Chain,
    friction::{FrictionSignal, FrictionSignals},
    swarm::wave::WaveSession,
    words::{
        Disposition, FrictionState, RecordedSignal, Stage, StageState, SummaryVerdict,
        SwarmLifecycle,
    },
};

use super::signals::recorded_signals;
use crate::swarm::lifecycle::never_ran;

/// Derives where a session ended up; first rule that holds, by their numbers.
#[must_use]
pub fn session_disposition(session: &WaveSession) -> Disposition {
    let lifecycle = session.verdict.lifecycle;
    let broken = first_failed(session.chain.as_ref());
    // 1.
    if !lifecycle.is_terminal() {
        return Disposition::NotMeasured;
    }
    // 2.
    if never_ran(lifecycle, session.message_count) {
        return Disposition::NotRun;
    }
    // 3.
    if lifecycle == SwarmLifecycle::Withdrawn {
        return Disposition::NotMeasured;
    }
    match session.verdict.verdict {
        // 4.
        SummaryVerdict::Failed => missed(broken),
        // 5.
        SummaryVerdict::Passed if is_frictional(session) => Disposition::GoalMetWithFriction,
        // 6.
        SummaryVerdict::Passed => Disposition::GoalMet,
        SummaryVerdict::Inconclusive | SummaryVerdict::NotEstablished => match broken {
            // 7.
            Some(Stage::Connection) => Disposition::BlockedConnecting,
            Some(Stage::Discovery) => Disposition::LostFindingTool,
            // 8.
            Some(Stage::Selection | Stage::Call | Stage::Response | Stage::UserValue) | None => {
                Disposition::NotMeasured
            }
        },
    }
}

/// Where a goal that was not met is filed (rule 4).
const fn missed(broken: Option<Stage>) -> Disposition {
    match broken {
        Some(Stage::Connection) => Disposition::BlockedConnecting,
        Some(Stage::Discovery | Stage::Selection) => Disposition::LostFindingTool,
        Some(Stage::Call) => Disposition::BlockedCallingTool,
        Some(Stage::Response) => Disposition::BlockedByResponse,
        Some(Stage::UserValue) | None => Disposition::GoalMissed,
    }
}

/// Returns the first stage whose row failed.
pub(super) fn first_failed(chain: Option<&Chain<'_>>) -> Option<Stage> {
    chain?
        .stage_results
        .iter()
        .find(|row| row.state == StageState::Failed)
        .map(|row| row.stage)
}

/// Avoidable trouble on the way to a goal that was met.
fn is_frictional(session: &WaveSession) -> bool {
    session.verdict.lifecycle == SwarmLifecycle::Broke
        || first_failed(session.chain.as_ref()).is_some()
        || loaded_signals(session)
            .into_iter()
            .any(RecordedSignal::is_friction)
        || session.friction.as_ref().is_some_and(shows_friction)
}

/// Facts count only where the transcript could be loaded.
pub(super) fn loaded_signals(session: &WaveSession) -> Vec<RecordedSignal> {
    if session.transcript_loaded {
        recorded_signals(&session.facts)
    } else {
        Vec::new()
    }
}

/// Paging, and trying other arguments without an error before, are no friction.
fn shows_friction(document: &FrictionSignals) -> bool {
    document.state == FrictionState::Measured
        && document.signals.iter().any(|signal| match signal {
            FrictionSignal::IdentifierSurfacedUnused { .. }
            | FrictionSignal::SearchRepeatedAfterIdentifier { .. }
            | FrictionSignal::IdenticalRetry { .. } => true,
            FrictionSignal::ChangedRetry { after_error, .. } => *after_error,
            FrictionSignal::PaginationContinuation { .. } => false,
        })
}
