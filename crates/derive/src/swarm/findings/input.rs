//! The wave that findings are derived from, as it came.

use std::collections::BTreeSet;

use strandline_contract::{
    number::MAX_COUNT,
    swarm::wave::{RecordedCall, RecordedFacts, WaveInput, WaveSession},
};

use super::read_finding::{read_goal, read_persona, read_target};
use crate::{
    chain::read_chain,
    document::{Findings, Node, Path},
    friction::read_friction_signals,
    swarm::{
        report_validate::{check_report, read_report},
        session_validate::{check_verdict, read_verdict},
    },
};

/// Reads the shape of an input.
pub(super) fn read(node: &Node<'_>) -> Option<WaveInput> {
    node.closed_object(&["waveId", "generatedAt", "reports", "sessions"])?;
    let wave_id = node.required_with("waveId", |node| node.owned_text());
    let generated_at = node.required_with("generatedAt", |node| node.count());
    let reports = node.required_with("reports", |node| node.list(read_report));
    let sessions = node.required_with("sessions", |node| node.list(read_session));
    Some(WaveInput {
        wave_id: wave_id?,
        generated_at: generated_at?,
        reports: reports?,
        sessions: sessions?,
    })
}

fn read_session(node: &Node<'_>) -> Option<WaveSession> {
    node.closed_object(&[
        "sessionId",
        "sessionIndex",
        "persona",
        "goal",
        "target",
        "verdict",
        "chain",
        "friction",
        "messageCount",
        "transcriptLoaded",
        "facts",
    ])?;
    let session_id = node.nullable_with("sessionId", |node| node.owned_text());
    let session_index = node.required_with("sessionIndex", |node| node.count());
    let persona = node.required_with("persona", read_persona);
    let goal = node.required_with("goal", read_goal);
    let target = node.required_with("target", read_target);
    let verdict = node.required_with("verdict", read_verdict);
    let chain = node.nullable_with("chain", read_chain);
    let friction = node.nullable_with("friction", read_friction_signals);
    let message_count = node.required_with("messageCount", |node| node.count());
    let transcript_loaded = node.required_with("transcriptLoaded", |node| node.boolean());
    let facts = node.required_with("facts", read_facts);
    Some(WaveSession {
        session_id: session_id?,
        session_index: session_index?,
        persona: persona?,
        goal: goal?,
        target: target?,
        verdict: verdict?,
        chain: chain?,
        friction: friction?,
        message_count: message_count?,
        transcript_loaded: transcript_loaded?,
        facts: facts?,
    })
}

fn read_facts(node: &Node<'_>) -> Option<RecordedFacts> {
    node.closed_object(&[
        "toolCatalog",
        "agentTurns",
        "calls",
        "outputTruncated",
        "turnCapReached",
        "erroredResultMessage",
        "lastAssistantMessage",
    ])?;
    let tool_catalog =
        node.nullable_with("toolCatalog", |node| node.list(|node| node.owned_text()));
    let agent_turns = node.required_with("agentTurns", |node| node.count());
    let calls = node.required_with("calls", |node| node.list(read_call));
    let output_truncated = node.required_with("outputTruncated", |node| node.boolean());
    let turn_cap_reached = node.required_with("turnCapReached", |node| node.boolean());
    let errored_result_message = node.nullable_with("erroredResultMessage", |node| node.count());
    let last_assistant_message = node.nullable_with("lastAssistantMessage", |node| node.count());
    Some(RecordedFacts {
        tool_catalog: tool_catalog?,
        agent_turns: agent_turns?,
        calls: calls?,
        output_truncated: output_truncated?,
        turn_cap_reached: turn_cap_reached?,
        errored_result_message: errored_result_message?,
        last_assistant_message: last_assistant_message?,
    })
}

fn read_call(node: &Node<'_>) -> Option<RecordedCall> {
    node.closed_object(&["toolName", "errored"])?;
    let tool_name = node.required_with("toolName", |node| node.owned_text());
    let errored = node.required_with("errored", |node| node.boolean());
    Some(RecordedCall {
        tool_name: tool_name?,
        errored: errored?,
    })
}

/// The rules across fields.
pub(super) fn check(input: &WaveInput, root: &Path<'_>, findings: &Findings) {
    findings.demand(
        !input.wave_id.is_empty(),
        &root.key("waveId"),
        "must not be empty",
    );
    let place = root.key("reports");
    let mut runs = BTreeSet::new();
    let mut configured = 0_u64;
    for (index, report) in input.reports.iter().enumerate() {
        let place = place.index(index);
        check_report(report, &place, findings);
        let id = report.run_id.as_str();
        findings.demand(runs.insert(id), &place.key("runId"), "is there twice");
        configured = configured.saturating_add(report.execution.configured);
    }
    findings.demand(
        configured <= MAX_COUNT,
        &place,
        "have more configured sessions together than can be counted",
    );
    let place = root.key("sessions");
    let (mut ids, mut slots) = (BTreeSet::new(), BTreeSet::new());
    for (index, session) in input.sessions.iter().enumerate() {
        let place = place.index(index);
        let demand = |holds: bool, key: &str, message: &str| {
            findings.demand(holds, &place.key(key), message);
        };
        check_verdict(&session.verdict, &place.key("verdict"), findings);
        if let Some(id) = &session.session_id {
            demand(ids.insert(id.as_str()), "sessionId", "is there twice");
            demand(
                !id.is_empty() && !id.contains(is_uncitable),
                "sessionId",
                "must not be empty, nor hold `/` or a line end: citations name it",
            );
        }
        demand(
            slots.insert((
                session.goal.run_id.as_str(),
                session.target.id.as_str(),
                session.session_index,
            )),
            "sessionIndex",
            "is there twice for this run and target",
        );
        demand(
            session.session_id.is_some() || session.message_count == 0,
            "messageCount",
            "must be 0: no session was claimed",
        );
        demand(
            runs.contains(session.goal.run_id.as_str()),
            "goal",
            "names a run without a report",
        );
    }
}

/// Returns whether a citation cannot hold this character in its session id.
fn is_uncitable(character: char) -> bool {
    character == '/' || super::read_finding::is_line_terminator(character)
}
