//! One considered session with everything that rows read of it
//! (`swarm.md` §9.2–§9.5).

use serde_json::json;
use strandline_contract::{
    canonical::canonical_json,
    chain::Chain,
    swarm::wave::WaveSession,
    words::{
        ChainStageBasis, Disposition, FindingsNote, JudgeGrader, RecordedSignal, Stage, StageState,
        SummaryVerdict,
    },
};

use super::{
    disposition::{first_failed, loaded_signals, session_disposition},
    reading::is_started,
};

/// A considered session.
pub(super) struct Considered<'w> {
    pub(super) session: &'w WaveSession,
    pub(super) disposition: Disposition,
    /// The signal that the session is filed under.
    pub(super) signal: Option<RecordedSignal>,
    pub(super) stage: StageTriple,
    pub(super) notes: Vec<FindingsNote>,
}

impl<'w> Considered<'w> {
    pub(super) fn of(session: &'w WaveSession) -> Self {
        let stage = StageTriple::of(session.chain.as_ref());
        Self {
            disposition: session_disposition(session),
            signal: filed_signal(session),
            notes: session_notes(session, &stage),
            stage,
            session,
        }
    }

    /// The key of the session's persona, run and target.
    pub(super) fn cell_key(&self) -> String {
        cell_key(self.session)
    }

    /// Where the session's trouble and its end can be read.
    pub(super) fn citations(&self) -> Vec<String> {
        let Some(id) = &self.session.session_id else {
            return Vec::new();
        };
        if !is_started(self.session) {
            return Vec::new();
        }
        let facts = &self.session.facts;
        let mut messages: Vec<u64> = [facts.errored_result_message, facts.last_assistant_message]
            .into_iter()
            .flatten()
            .collect();
        messages.sort_unstable();
        messages.dedup();
        messages
            .into_iter()
            .map(|index| format!("{id}/m:{index}"))
            .collect()
    }
}

/// Returns the key of a session's cell: persona, run and target.
pub(super) fn cell_key(session: &WaveSession) -> String {
    canonical_json(&json!([
        session.persona.persona_ref_id,
        session.persona.name,
        session.goal.run_id,
        session.target.id,
    ]))
}

/// Returns the session's id, or what stands for it in a slot without one.
pub(super) fn session_id(session: &WaveSession) -> String {
    session.session_id.clone().unwrap_or_else(|| {
        let (run, target) = (&session.goal.run_id, &session.target.id);
        format!("slot:{run}:{target}:{}", session.session_index)
    })
}

/// Returns the one signal that a started session is filed under.
pub(super) fn filed_signal(session: &WaveSession) -> Option<RecordedSignal> {
    let signals = is_started(session).then(|| loaded_signals(session))?;
    signals.first().copied()
}

/// A stage, what is known about it, and how it was come by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StageTriple {
    pub(super) stage: Option<Stage>,
    pub(super) state: Option<StageState>,
    pub(super) basis: ChainStageBasis,
}

impl StageTriple {
    pub(super) const UNMEASURED: Self = Self {
        stage: None,
        state: None,
        basis: ChainStageBasis::Unmeasured,
    };

    /// The first stage that failed, else the last that passed.
    fn of(chain: Option<&Chain<'_>>) -> Self {
        let derived = |stage, state| Self {
            stage: Some(stage),
            state: Some(state),
            basis: ChainStageBasis::Derived,
        };
        if let Some(stage) = first_failed(chain) {
            return derived(stage, StageState::Failed);
        }
        chain
            .and_then(|chain| {
                chain
                    .stage_results
                    .iter()
                    .rfind(|row| row.state == StageState::Passed)
            })
            .map_or(Self::UNMEASURED, |row| {
                derived(row.stage, StageState::Passed)
            })
    }

    pub(super) fn is_measured(&self) -> bool {
        self.basis != ChainStageBasis::Unmeasured
    }
}

/// What limits what can be said of a started session (§9.5).
fn session_notes(session: &WaveSession, stage: &StageTriple) -> Vec<FindingsNote> {
    if !is_started(session) {
        return Vec::new();
    }
    let verdict = &session.verdict;
    let judge_not_run = verdict.verdict == SummaryVerdict::NotEstablished
        && matches!(
            verdict.graders.judge,
            JudgeGrader::NotConfigured | JudgeGrader::Pending
        );
    [
        (!stage.is_measured(), FindingsNote::ChainUnmeasured),
        (judge_not_run, FindingsNote::JudgeNotRun),
        (
            session.facts.tool_catalog.is_none(),
            FindingsNote::ToolCatalogMissing,
        ),
    ]
    .into_iter()
    .filter_map(|(holds, note)| holds.then_some(note))
    .collect()
}
