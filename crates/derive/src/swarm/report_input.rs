//! What a run report is assembled from, as it came (`swarm.md` §6.1).

use std::collections::{BTreeMap, BTreeSet};

use strandline_contract::{
    swarm::report::{
        EvaluatorDefinition, NotEstablishedReason, ReportedSession, RunReportInput,
        SessionObservation, VerdictSummary,
    },
    words::{StartEvidence, SwarmLifecycle, VerdictSummaryStatus},
};

use super::session_validate::{check_verdict, read_verdict};
use crate::{
    document::{Findings, Node, Path},
    verdict::{check_decision, read_decision},
};

/// Reads the shape of an input.
pub(super) fn read(node: &Node<'_>) -> Option<RunReportInput> {
    node.closed_object(&[
        "runId",
        "executionComplete",
        "configuredSessions",
        "verdictSummary",
        "evaluatorDefinitions",
        "sessions",
    ])?;
    let run_id = node.required_with("runId", |node| node.owned_text());
    let execution_complete = node.required_with("executionComplete", |node| node.boolean());
    let configured_sessions = node.required_with("configuredSessions", |node| node.count());
    let verdict_summary = node.nullable_with("verdictSummary", read_summary);
    let evaluator_definitions =
        node.required_with("evaluatorDefinitions", |node| node.list(read_definition));
    let sessions = node.required_with("sessions", |node| node.list(read_session));
    Some(RunReportInput {
        run_id: run_id?,
        execution_complete: execution_complete?,
        configured_sessions: configured_sessions?,
        verdict_summary: verdict_summary?,
        evaluator_definitions: evaluator_definitions?,
        sessions: sessions?,
    })
}

fn read_summary(node: &Node<'_>) -> Option<VerdictSummary> {
    node.open_object()?;
    let status: VerdictSummaryStatus = node.required_with("status", |node| node.word())?;
    let closed = |key: &str| node.closed_object(&["status", key, "updatedAt"]);
    let updated_at = node.required_with("updatedAt", |node| node.count());
    match status {
        VerdictSummaryStatus::Pending => {
            closed("pendingSessions")?;
            let pending_sessions = node.required_with("pendingSessions", |node| node.count());
            Some(VerdictSummary::Pending {
                pending_sessions: pending_sessions?,
                updated_at: updated_at?,
            })
        }
        VerdictSummaryStatus::Decided => {
            closed("decision")?;
            let decision = node.required_with("decision", |node| {
                let decision = read_decision(node)?;
                check_decision(node, &decision);
                Some(Box::new(decision))
            });
            Some(VerdictSummary::Decided {
                decision: decision?,
                updated_at: updated_at?,
            })
        }
        VerdictSummaryStatus::NotEstablished => {
            closed("reason")?;
            let reason = node.required_with("reason", |node| match node.text()? {
                "gradingNotConfigured" => Some(NotEstablishedReason::GradingNotConfigured),
                _ => node.refuse("must be `gradingNotConfigured`"),
            });
            Some(VerdictSummary::NotEstablished {
                reason: reason?,
                updated_at: updated_at?,
            })
        }
        VerdictSummaryStatus::IntegrityFailed => {
            closed("reason")?;
            let reason = node.required_with("reason", |node| node.owned_text());
            Some(VerdictSummary::IntegrityFailed {
                reason: reason?,
                updated_at: updated_at?,
            })
        }
    }
}

fn read_definition(node: &Node<'_>) -> Option<EvaluatorDefinition> {
    node.closed_object(&["evaluatorId", "predicateType", "role"])?;
    let evaluator_id = node.required_with("evaluatorId", |node| node.owned_text());
    let predicate_type = node.required_with("predicateType", |node| node.word());
    let role = node.required_with("role", |node| node.word());
    Some(EvaluatorDefinition {
        evaluator_id: evaluator_id?,
        predicate_type: predicate_type?,
        role: role?,
    })
}

fn read_session(node: &Node<'_>) -> Option<ReportedSession> {
    node.closed_object(&["id", "startEvidence", "verdict", "observations"])?;
    let id = node.required_with("id", |node| node.owned_text());
    let start_evidence = node.required_with("startEvidence", |node| node.word());
    let verdict = node.required_with("verdict", read_verdict);
    let observations = node.required_with("observations", |node| node.list(read_observation));
    Some(ReportedSession {
        id: id?,
        start_evidence: start_evidence?,
        verdict: verdict?,
        observations: observations?,
    })
}

fn read_observation(node: &Node<'_>) -> Option<SessionObservation> {
    node.closed_object(&["evaluatorId", "predicateType", "role", "status"])?;
    let evaluator_id = node.required_with("evaluatorId", |node| node.owned_text());
    let predicate_type = node.required_with("predicateType", |node| node.word());
    let role = node.required_with("role", |node| node.word());
    let status = node.required_with("status", |node| node.word());
    Some(SessionObservation {
        evaluator_id: evaluator_id?,
        predicate_type: predicate_type?,
        role: role?,
        status: status?,
    })
}

/// The rules across fields.
pub(super) fn check(input: &RunReportInput, root: &Path<'_>, findings: &Findings) {
    findings.demand(
        !input.run_id.is_empty(),
        &root.key("runId"),
        "must not be empty",
    );
    findings.demand(
        input.configured_sessions >= input.sessions.len() as u64,
        &root.key("configuredSessions"),
        "must be at least the number of sessions",
    );
    if let Some(VerdictSummary::IntegrityFailed { reason, .. }) = &input.verdict_summary {
        let place = root.key("verdictSummary");
        findings.demand(
            !reason.is_empty(),
            &place.key("reason"),
            "must not be empty",
        );
    }
    let place = root.key("evaluatorDefinitions");
    let mut definitions = BTreeMap::new();
    for (index, definition) in input.evaluator_definitions.iter().enumerate() {
        let place = place.index(index);
        let place = place.key("evaluatorId");
        let id = definition.evaluator_id.as_str();
        findings.demand(!id.is_empty(), &place, "must not be empty");
        findings.demand(
            definitions.insert(id, definition).is_none(),
            &place,
            "is there twice",
        );
    }
    let place = root.key("sessions");
    let mut ids = BTreeSet::new();
    for (index, session) in input.sessions.iter().enumerate() {
        let place = place.index(index);
        let id = session.id.as_str();
        findings.demand(!id.is_empty(), &place.key("id"), "must not be empty");
        findings.demand(ids.insert(id), &place.key("id"), "is there twice");
        check_session(session, &definitions, &place, findings);
    }
}

fn check_session(
    session: &ReportedSession,
    definitions: &BTreeMap<&str, &EvaluatorDefinition>,
    place: &Path<'_>,
    findings: &Findings,
) {
    check_verdict(&session.verdict, &place.key("verdict"), findings);
    findings.demand(
        session.start_evidence != StartEvidence::NotStarted
            || !matches!(
                session.verdict.lifecycle,
                SwarmLifecycle::Running | SwarmLifecycle::Ran
            ),
        &place.key("startEvidence"),
        "must not be `notStarted`: the session runs or ran",
    );
    let place = place.key("observations");
    let mut seen = BTreeSet::new();
    for (index, observation) in session.observations.iter().enumerate() {
        let place = place.index(index);
        let id = observation.evaluator_id.as_str();
        findings.demand(seen.insert(id), &place.key("evaluatorId"), "is there twice");
        let Some(definition) = definitions.get(id) else {
            findings.add(&place.key("evaluatorId"), "is not defined for the run");
            continue;
        };
        findings.demand(
            definition.role == observation.role,
            &place.key("role"),
            "is not the role defined for the run",
        );
        findings.demand(
            definition.predicate_type == observation.predicate_type,
            &place.key("predicateType"),
            "is not the kind defined for the run",
        );
    }
}
