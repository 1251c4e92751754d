//! Which sessions of a wave count (`swarm.md` §9.1).

use std::cmp::Ordering;

use strandline_contract::{
    canonical::by_code_units,
    swarm::{findings::MAX_SCANNED_SESSIONS, wave::WaveSession},
};

use crate::swarm::lifecycle::never_ran;

/// The slots of a wave in order, with what was read of them.
pub(super) struct Reading<'w> {
    /// Every slot, in session order.
    pub(super) sessions: Vec<&'w WaveSession>,
    /// Sessions with at least one message.
    pub(super) started: u64,
    /// Scanned sessions whose transcript loaded.
    pub(super) read: Vec<&'w WaveSession>,
    /// Read sessions and those that never ran, in session order: only these
    /// enter rows.
    pub(super) considered: Vec<&'w WaveSession>,
    /// Some scanned session's transcript did not load.
    pub(super) transcript_missing: bool,
}

impl<'w> Reading<'w> {
    pub(super) fn of(sessions: &'w [WaveSession]) -> Self {
        let mut sessions: Vec<_> = sessions.iter().collect();
        sessions.sort_by(|left, right| session_order(left, right));
        let mut reading = Self {
            started: 0,
            read: Vec::new(),
            considered: Vec::new(),
            transcript_missing: false,
            sessions,
        };
        for session in &reading.sessions {
            if never_ran(session.verdict.lifecycle, session.message_count) {
                reading.considered.push(session);
            }
            if !is_started(session) {
                continue;
            }
            reading.started += 1;
            if reading.started > MAX_SCANNED_SESSIONS as u64 {
                continue;
            }
            if session.transcript_loaded {
                reading.read.push(session);
                reading.considered.push(session);
            } else {
                reading.transcript_missing = true;
            }
        }
        reading
    }

    /// Started sessions that were not read.
    pub(super) fn unread(&self) -> u64 {
        self.started - self.read.len() as u64
    }
}

pub(super) const fn is_started(session: &WaveSession) -> bool {
    session.message_count > 0
}

/// By run, target and session index.
fn session_order(left: &WaveSession, right: &WaveSession) -> Ordering {
    by_code_units(&left.goal.run_id, &right.goal.run_id)
        .then_with(|| by_code_units(&left.target.id, &right.target.id))
        .then_with(|| left.session_index.cmp(&right.session_index))
}
