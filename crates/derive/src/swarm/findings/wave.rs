//! A wave → its findings (`swarm.md` §9.4, §9.5).

use std::{cmp::Ordering, collections::BTreeSet};

use serde_json::{Value, json};
use strandline_contract::{
    canonical::{by_code_units, sha256_canonical},
    swarm::{
        SWARM_CONTRACT_VERSION,
        findings::{
            Disclosure, Finding, FindingPersona, MAX_SCANNED_SESSIONS, PersonaRow, SwarmFindings,
            WavePopulation,
        },
        report::RunReport,
        wave::{WaveInput, WaveSession},
    },
    words::{
        DisclosureRail, Disposition, FindingsNote, FindingsSummaryKind, FrictionState,
        SummaryVerdict, SwarmLifecycle, Tone, Vocabulary,
    },
};

use super::{
    disposition::first_failed,
    input,
    reading::Reading,
    rows::{Rows, worst},
    session::{Considered, filed_signal, session_id},
};
use crate::swarm::{
    InvalidSwarmDocument,
    invalid::{checked, read_checked},
};

/// The version of these rules.
const PIPELINE_VERSION: u64 = 1;
/// No model read anything.
const EXTRACTION_VERSION: u64 = 0;
const NO_MODEL: &str = "none";

/// Derives the findings of a wave that has come to its end.
///
/// # Errors
///
/// Refuses duplicate slots, sessions and runs, session ids that no citation
/// can name, and nested documents that do not hold together.
pub fn derive_findings(input: &WaveInput) -> Result<SwarmFindings, InvalidSwarmDocument> {
    checked(input, input::check)?;
    Ok(derive(input))
}

/// Derives the findings of a wave from the input as it came.
///
/// # Errors
///
/// As [`derive_findings`], and refuses any other shape.
pub fn derive_findings_from_json(input: &Value) -> Result<SwarmFindings, InvalidSwarmDocument> {
    let input = read_checked(input, input::read, input::check)?;
    Ok(derive(&input))
}

fn derive(input: &WaveInput) -> SwarmFindings {
    let reading = Reading::of(&input.sessions);
    let considered: Vec<_> = reading
        .considered
        .iter()
        .map(|session| Considered::of(session))
        .collect();
    let rows = Rows::of(&considered);
    let population = population(input, &reading);
    let personas = personas(&reading.sessions, &rows.goals);
    SwarmFindings {
        contract_version: SWARM_CONTRACT_VERSION,
        generated_at: input.generated_at,
        source_revision: revision(&input.wave_id, &reading.sessions),
        pipeline_version: PIPELINE_VERSION,
        extraction_version: EXTRACTION_VERSION,
        extraction_model: NO_MODEL.to_owned(),
        reasoning_model: NO_MODEL.to_owned(),
        summary_kind: summary_kind(&input.reports, &population, &personas, &rows.goals),
        coverage_notes: notes(&reading, &population),
        population,
        disclosure: Disclosure {
            rail: DisclosureRail::Gateway,
            evidence_sent: Vec::new(),
        },
        personas,
        findings: rows.into_findings(),
        verification: None,
    }
}

fn population(input: &WaveInput, reading: &Reading<'_>) -> WavePopulation {
    let count = |holds: &dyn Fn(&WaveSession) -> bool| {
        reading
            .sessions
            .iter()
            .filter(|session| holds(session))
            .count() as u64
    };
    WavePopulation {
        configured: input
            .reports
            .iter()
            .fold(0, |sum, report| sum + report.execution.configured),
        started: reading.started,
        read: reading.read.len() as u64,
        unread: reading.unread(),
        withdrawn: count(&|session| session.verdict.lifecycle == SwarmLifecycle::Withdrawn),
        limited: count(&|session| session.verdict.lifecycle == SwarmLifecycle::Limited),
        graded: count(&|session| {
            matches!(
                session.verdict.verdict,
                SummaryVerdict::Passed | SummaryVerdict::Failed
            )
        }),
    }
}

/// Notes of read sessions, and what limits the wave as a whole.
fn notes(reading: &Reading<'_>, population: &WavePopulation) -> Vec<FindingsNote> {
    let mut notes: BTreeSet<_> = reading
        .read
        .iter()
        .flat_map(|session| Considered::of(session).notes)
        .collect();
    let wave = [
        (
            population.started > MAX_SCANNED_SESSIONS as u64,
            FindingsNote::SessionScanCapped,
        ),
        (reading.transcript_missing, FindingsNote::TranscriptMissing),
        (population.unread > 0, FindingsNote::PartialRead),
        (population.withdrawn > 0, FindingsNote::SessionsWithdrawn),
        (population.limited > 0, FindingsNote::SessionsRateLimited),
    ];
    notes.extend(
        wave.iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, note)| *note),
    );
    notes.into_iter().collect()
}

/// First match, by the numbers of §9.5.
fn summary_kind(
    reports: &[RunReport],
    population: &WavePopulation,
    personas: &[PersonaRow],
    goals: &[Finding],
) -> FindingsSummaryKind {
    let never = |report: &RunReport| report.execution.never_launched;
    let some_persona = |tone: Tone| personas.iter().any(|row| row.tone == tone);
    // 1.
    if !reports.is_empty() && reports.iter().all(never) {
        return FindingsSummaryKind::NotLaunched;
    }
    // 2.
    if some_persona(Tone::Fail) {
        return FindingsSummaryKind::Broken;
    }
    // 3.
    if population.started > 0 && population.unread > population.read {
        return FindingsSummaryKind::Unread;
    }
    // 4.
    if some_persona(Tone::Warn) {
        return FindingsSummaryKind::Friction;
    }
    // 5.
    if goals
        .iter()
        .any(|row| row.disposition == Disposition::GoalMet)
    {
        return FindingsSummaryKind::Landed;
    }
    // 6.
    FindingsSummaryKind::Ungraded
}

/// One row per persona of the wave, by name and reference.
fn personas(sessions: &[&WaveSession], goals: &[Finding]) -> Vec<PersonaRow> {
    let mut personas: Vec<&FindingPersona> =
        sessions.iter().map(|session| &session.persona).collect();
    personas.sort_by(|left, right| persona_order(left, right));
    personas.dedup();
    personas
        .into_iter()
        .map(|persona| {
            let mut runs: Vec<String> = sessions
                .iter()
                .filter(|session| session.persona == *persona)
                .map(|session| session.goal.run_id.clone())
                .collect();
            runs.sort_by(|left, right| by_code_units(left, right));
            runs.dedup();
            let own = goals.iter().filter(|row| row.persona == *persona);
            let disposition =
                worst(own.map(|row| row.disposition)).unwrap_or(Disposition::NotMeasured);
            PersonaRow {
                persona: persona.clone(),
                disposition,
                tone: disposition.tone(),
                goal_run_ids: runs,
            }
        })
        .collect()
}

/// By name, then reference; none is as an empty one, and goes before it.
fn persona_order(left: &FindingPersona, right: &FindingPersona) -> Ordering {
    let reference =
        |persona: &'_ FindingPersona| persona.persona_ref_id.clone().unwrap_or_default();
    by_code_units(&left.name, &right.name)
        .then_with(|| by_code_units(&reference(left), &reference(right)))
        .then_with(|| left.persona_ref_id.cmp(&right.persona_ref_id))
}

/// Returns a hash of what findings are derived from; equal means that there is
/// nothing to derive again.
#[must_use]
pub fn source_revision(wave_id: &str, sessions: &[WaveSession]) -> String {
    revision(wave_id, &Reading::of(sessions).sessions)
}

fn revision(wave_id: &str, sessions: &[&WaveSession]) -> String {
    let sessions: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!([
                session_id(session),
                session.message_count,
                session.verdict.lifecycle,
                session.verdict.verdict,
                session.verdict.reason,
                first_failed(session.chain.as_ref()),
                friction_kinds(session),
                filed_signal(session),
            ])
        })
        .collect();
    sha256_canonical(&json!({"waveId": wave_id, "sessions": sessions}))
}

/// Kinds of a measured friction document, sorted by spelling, each once.
fn friction_kinds(session: &WaveSession) -> Option<Vec<&'static str>> {
    let document = session
        .friction
        .as_ref()
        .filter(|document| document.state == FrictionState::Measured)?;
    let kinds: BTreeSet<_> = document
        .signals
        .iter()
        .map(|signal| signal.kind().wire())
        .collect();
    Some(kinds.into_iter().collect())
}
