//! The rows of findings, their order and their cap (`swarm.md` §9.4).

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use strandline_contract::{
    canonical::by_code_units,
    swarm::{
        findings::{
            Finding, FindingPopulation, MAX_CITATIONS, MAX_FINDING_SESSIONS, MAX_FINDINGS,
            ReportExcerpt,
        },
        report::SessionUnit,
    },
    words::{ChainStageBasis, Disposition, FindingBasis, FindingScope, RecordedSignal, Vocabulary},
};

use super::{
    reading::is_started,
    session::{Considered, StageTriple, session_id},
};
use crate::swarm::fold_verdicts;

/// The rows of a wave, before the cap.
pub(super) struct Rows {
    /// One per cell.
    pub(super) goals: Vec<Finding>,
    /// One per cell and signal.
    pub(super) signals: Vec<Finding>,
    /// One per considered session.
    pub(super) sessions: Vec<Finding>,
}

impl Rows {
    pub(super) fn of(considered: &[Considered<'_>]) -> Self {
        let mut cells: BTreeMap<String, Vec<&Considered<'_>>> = BTreeMap::new();
        for session in considered {
            cells.entry(session.cell_key()).or_default().push(session);
        }
        let mut rows = Self {
            goals: Vec::new(),
            signals: Vec::new(),
            sessions: considered.iter().map(session_row).collect(),
        };
        for (key, cell) in &cells {
            rows.goals.push(goal_row(key, cell));
            rows.signals.extend(signal_rows(key, cell));
        }
        rows.goals.sort_by(by_rank_and_id);
        rows.signals.sort_by(|left, right| {
            left.signal
                .cmp(&right.signal)
                .then_with(|| by_id(left, right))
        });
        // Stable: equal ranks keep session order.
        rows.sessions.sort_by_key(|row| row.disposition.rank());
        rows
    }

    /// Returns the rows in order, as many as are kept.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        let rows = self.goals.into_iter().chain(self.signals);
        rows.chain(self.sessions).take(MAX_FINDINGS).collect()
    }
}

fn by_id(left: &Finding, right: &Finding) -> Ordering {
    by_code_units(&left.id, &right.id)
}

fn by_rank_and_id(left: &Finding, right: &Finding) -> Ordering {
    let rank = |row: &Finding| row.disposition.rank();
    rank(left)
        .cmp(&rank(right))
        .then_with(|| by_id(left, right))
}

/// Returns the worst disposition.
pub(super) fn worst(dispositions: impl Iterator<Item = Disposition>) -> Option<Disposition> {
    dispositions.min_by_key(|disposition| disposition.rank())
}

fn goal_row(key: &str, cell: &[&Considered<'_>]) -> Finding {
    let disposition = worst_of(cell);
    let counted: Vec<_> = cell
        .iter()
        .copied()
        .filter(|session| session.disposition == disposition)
        .collect();
    let stage = counted
        .iter()
        .map(|session| session.stage)
        .find(StageTriple::is_measured)
        .unwrap_or(StageTriple::UNMEASURED);
    row(
        format!("goal:{key}"),
        (FindingBasis::PopulationFact, FindingScope::Goal),
        &counted,
        cell.len(),
        disposition,
        stage,
    )
}

fn signal_rows(key: &str, cell: &[&Considered<'_>]) -> Vec<Finding> {
    let started = cell
        .iter()
        .filter(|session| is_started(session.session))
        .count();
    let of = |signal: RecordedSignal| {
        let counted: Vec<_> = cell
            .iter()
            .copied()
            .filter(|session| session.signal == Some(signal))
            .collect();
        if counted.is_empty() {
            return None;
        }
        let stage = StageTriple {
            stage: Some(signal.stage()),
            state: None,
            basis: ChainStageBasis::Reported,
        };
        Some(Finding {
            outcome_phrase: Some(signal.label().to_owned()),
            signal: Some(signal),
            ..row(
                format!("signal:{}:{key}", signal.wire()),
                (FindingBasis::PopulationFact, FindingScope::Goal),
                &counted,
                started,
                worst_of(&counted),
                stage,
            )
        })
    };
    RecordedSignal::ALL
        .iter()
        .filter_map(|signal| of(*signal))
        .collect()
}

fn session_row(session: &Considered<'_>) -> Finding {
    let id = match &session.session.session_id {
        Some(id) => format!("session:{id}"),
        None => session_id(session.session),
    };
    let row = row(
        id,
        (FindingBasis::SessionReport, FindingScope::Session),
        &[session],
        1,
        session.disposition,
        session.stage,
    );
    let excerpt = (!row.citations.is_empty()).then(|| ReportExcerpt {
        actual: account_of(session),
        account: None,
        citations: row.citations.clone(),
    });
    Finding {
        report_excerpt: excerpt,
        ..row
    }
}

/// Says verdict and chain of a session in wire words.
fn account_of(session: &Considered<'_>) -> String {
    let verdict = &session.session.verdict;
    let chain = match (session.stage.stage, session.stage.state) {
        (Some(stage), Some(state)) => format!("chain: {stage} {state}"),
        _ => "chain not measured".to_owned(),
    };
    format!("{} ({}); {chain}", verdict.verdict, verdict.reason)
}

fn worst_of(sessions: &[&Considered<'_>]) -> Disposition {
    worst(sessions.iter().map(|session| session.disposition)).unwrap_or(Disposition::NotMeasured)
}

/// Makes a row over counted sessions; persona, goal and target are those of
/// the first, which all share.
fn row(
    id: String,
    (basis, scope_level): (FindingBasis, FindingScope),
    counted: &[&Considered<'_>],
    total: usize,
    disposition: Disposition,
    stage: StageTriple,
) -> Finding {
    // Every caller counts at least one session.
    let first = counted[0].session;
    let notes: BTreeSet<_> = counted.iter().flat_map(|session| &session.notes).collect();
    let citations = counted.iter().flat_map(|session| session.citations());
    Finding {
        id,
        basis,
        scope_level,
        persona: first.persona.clone(),
        goal: first.goal.clone(),
        target: first.target.clone(),
        population: FindingPopulation {
            count: counted.len() as u64,
            total: total as u64,
            unit: SessionUnit::Sessions,
        },
        session_ids: counted
            .iter()
            .take(MAX_FINDING_SESSIONS)
            .map(|session| session_id(session.session))
            .collect(),
        citations: citations.take(MAX_CITATIONS).collect(),
        verdict_seen: fold_verdicts(
            counted
                .iter()
                .map(|session| session.session.verdict.verdict),
        ),
        chain_stage: stage.stage,
        chain_stage_state: stage.state,
        chain_stage_basis: stage.basis,
        disposition,
        tone: disposition.tone(),
        coverage_notes: notes.into_iter().copied().collect(),
        outcome_phrase: disposition.outcome_phrase().map(str::to_owned),
        mechanism_phrase: None,
        fix_phrase: None,
        report_excerpt: None,
        mechanism_id: None,
        signal: None,
    }
}
