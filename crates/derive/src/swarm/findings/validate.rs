//! Stored findings → accepted or violations (`swarm.md` §8).

use serde_json::Value;
use strandline_contract::{
    swarm::{
        SWARM_CONTRACT_VERSION,
        findings::{
            Disclosure, FindingsJob, MAX_FINDINGS, PersonaRow, SwarmFindings, Verification,
            WavePopulation,
        },
    },
    words::{Disposition, Tone, Vocabulary},
};

use super::read_finding::{at_most, owned, read_finding, read_persona};
use crate::{
    document::{Findings, Node, Path},
    swarm::{InvalidSwarmDocument, invalid::read_checked},
};

/// Reads stored findings.
///
/// # Errors
///
/// Returns every violation of §8 (the first 100).
pub fn validate_findings(document: &Value) -> Result<SwarmFindings, InvalidSwarmDocument> {
    Ok(read_checked(document, read_findings, check_findings)?)
}

/// Reads how far deriving findings has come.
///
/// # Errors
///
/// Returns every violation of §8.
pub fn validate_findings_job(document: &Value) -> Result<FindingsJob, InvalidSwarmDocument> {
    Ok(read_checked(document, read_job, |_, _, _| {})?)
}

fn read_findings(node: &Node<'_>) -> Option<SwarmFindings> {
    node.closed_object(&[
        "contractVersion",
        "generatedAt",
        "sourceRevision",
        "pipelineVersion",
        "extractionVersion",
        "extractionModel",
        "reasoningModel",
        "summaryKind",
        "population",
        "coverageNotes",
        "disclosure",
        "personas",
        "findings",
        "verification",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let text = |key: &str| node.required_with(key, owned);
    let version = node.required_with("contractVersion", |node| {
        node.literal_count(SWARM_CONTRACT_VERSION)
    });
    let generated_at = count("generatedAt");
    let source_revision = text("sourceRevision");
    let pipeline_version = count("pipelineVersion");
    let extraction_version = count("extractionVersion");
    let extraction_model = text("extractionModel");
    let reasoning_model = text("reasoningModel");
    let summary_kind = node.required_with("summaryKind", |node| node.word());
    let population = node.required_with("population", read_population);
    let coverage_notes = node.required_with("coverageNotes", |node| node.list(|node| node.word()));
    let disclosure = node.required_with("disclosure", |node| {
        node.closed_object(&["rail", "evidenceSent"])?;
        let rail = node.required_with("rail", |node| node.word());
        let evidence_sent = node.required_with("evidenceSent", |node| node.list(owned));
        Some(Disclosure {
            rail: rail?,
            evidence_sent: evidence_sent?,
        })
    });
    let personas = node.required_with("personas", |node| node.list(read_persona_row));
    let findings = node.required_with("findings", |node| at_most(node, MAX_FINDINGS, read_finding));
    let verification = node.optional_with("verification", read_verification);
    Some(SwarmFindings {
        contract_version: version?,
        generated_at: generated_at?,
        source_revision: source_revision?,
        pipeline_version: pipeline_version?,
        extraction_version: extraction_version?,
        extraction_model: extraction_model?,
        reasoning_model: reasoning_model?,
        summary_kind: summary_kind?,
        population: population?,
        coverage_notes: coverage_notes?,
        disclosure: disclosure?,
        personas: personas?,
        findings: findings?,
        verification: verification?,
    })
}

fn read_population(node: &Node<'_>) -> Option<WavePopulation> {
    node.closed_object(&[
        "configured",
        "started",
        "read",
        "unread",
        "withdrawn",
        "limited",
        "graded",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let configured = count("configured");
    let started = count("started");
    let read = count("read");
    let unread = count("unread");
    let withdrawn = count("withdrawn");
    let limited = count("limited");
    let graded = count("graded");
    Some(WavePopulation {
        configured: configured?,
        started: started?,
        read: read?,
        unread: unread?,
        withdrawn: withdrawn?,
        limited: limited?,
        graded: graded?,
    })
}

fn read_persona_row(node: &Node<'_>) -> Option<PersonaRow> {
    node.closed_object(&["persona", "disposition", "tone", "goalRunIds"])?;
    let persona = node.required_with("persona", read_persona);
    let disposition = node.required_with("disposition", |node| node.word());
    let tone = node.required_with("tone", |node| node.word());
    let goal_run_ids = node.required_with("goalRunIds", |node| node.list(owned));
    Some(PersonaRow {
        persona: persona?,
        disposition: disposition?,
        tone: tone?,
        goal_run_ids: goal_run_ids?,
    })
}

/// The sum of its parts is the producer's promise and not checked on reading.
fn read_verification(node: &Node<'_>) -> Option<Verification> {
    node.closed_object(&["proposed", "confirmed", "rejected", "unverified", "omitted"])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let proposed = count("proposed");
    let confirmed = count("confirmed");
    let rejected = count("rejected");
    let unverified = count("unverified");
    let omitted = count("omitted");
    Some(Verification {
        proposed: proposed?,
        confirmed: confirmed?,
        rejected: rejected?,
        unverified: unverified?,
        omitted: omitted?,
    })
}

fn read_job(node: &Node<'_>) -> Option<FindingsJob> {
    node.closed_object(&["status", "errorCode", "updatedAt"])?;
    let status = node.required_with("status", |node| node.word());
    let error_code = node.optional_with("errorCode", owned);
    let updated_at = node.required_with("updatedAt", |node| node.count());
    Some(FindingsJob {
        status: status?,
        error_code: error_code?,
        updated_at: updated_at?,
    })
}

/// Every row has the tone of its disposition.
fn check_findings(document: &SwarmFindings, root: &Path<'_>, findings: &Findings) {
    let demand = |disposition: Disposition, tone: Tone, place: &Path<'_>| {
        findings.demand(
            tone == disposition.tone(),
            &place.key("tone"),
            format_args!(
                "must be `{}`, the tone of the disposition",
                disposition.tone().wire()
            ),
        );
    };
    let place = root.key("personas");
    for (index, row) in document.personas.iter().enumerate() {
        demand(row.disposition, row.tone, &place.index(index));
    }
    let place = root.key("findings");
    for (index, row) in document.findings.iter().enumerate() {
        demand(row.disposition, row.tone, &place.index(index));
    }
}
