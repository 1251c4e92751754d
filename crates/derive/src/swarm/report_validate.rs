//! Stored run reports → accepted or violations (`swarm.md` §6.2).

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::{
    swarm::{
        SWARM_CONTRACT_VERSION,
        report::{Execution, GoalGrading, ObservationTally, RunReport, SessionUnit},
    },
    words::{SummaryVerdict, VerdictSource, Vocabulary},
};

use super::{InvalidSwarmDocument, invalid::read_checked, report::stage};
use crate::{
    document::{Findings, Node, Path},
    verdict::{check_decision, read_decision},
};

/// Reads a stored run report.
///
/// # Errors
///
/// Returns every violation of §6.2 (the first 100).
pub fn validate_run_report(document: &Value) -> Result<RunReport, InvalidSwarmDocument> {
    Ok(read_checked(document, read_report, check_report)?)
}

/// Reads the shape of a report; the decision in it is checked whole.
pub(super) fn read_report(node: &Node<'_>) -> Option<RunReport> {
    node.closed_object(&[
        "contractVersion",
        "runId",
        "verdict",
        "verdictSource",
        "decision",
        "undecidedReason",
        "execution",
        "goalGrading",
        "observations",
    ])?;
    let version = node.required_with("contractVersion", |node| {
        node.literal_count(SWARM_CONTRACT_VERSION)
    });
    let run_id = node.required_with("runId", |node| node.owned_non_empty_text());
    let verdict = node.required_with("verdict", |node| node.word());
    let verdict_source = node.required_with("verdictSource", |node| match node.word()? {
        VerdictSource::Legacy => node.refuse("must be `policyV2` or `none`"),
        source => Some(source),
    });
    let decision = node.optional_with("decision", |node| {
        let decision = read_decision(node)?;
        check_decision(node, &decision);
        Some(decision)
    });
    let undecided_reason = node.optional_with("undecidedReason", |node| node.word());
    let execution = node.required_with("execution", read_execution);
    let goal_grading = node.required_with("goalGrading", read_grading);
    let observations = node.required_with("observations", |node| node.list(read_tally));
    Some(RunReport {
        contract_version: version?,
        run_id: run_id?,
        verdict: verdict?,
        verdict_source: verdict_source?,
        decision: decision?,
        undecided_reason: undecided_reason?,
        execution: execution?,
        goal_grading: goal_grading?,
        observations: observations?,
    })
}

/// Reads the unit of every count of a swarm document.
pub(super) fn read_unit(node: &Node<'_>) -> Option<SessionUnit> {
    match node.text()? {
        "sessions" => Some(SessionUnit::Sessions),
        _ => node.refuse("must be `sessions`"),
    }
}

fn read_execution(node: &Node<'_>) -> Option<Execution> {
    node.closed_object(&[
        "unit",
        "configured",
        "reported",
        "started",
        "notStarted",
        "unknown",
        "completed",
        "interrupted",
        "neverLaunched",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let unit = node.required_with("unit", read_unit);
    let configured = count("configured");
    let reported = count("reported");
    let started = count("started");
    let not_started = count("notStarted");
    let unknown = count("unknown");
    let completed = count("completed");
    let interrupted = count("interrupted");
    let never_launched = node.required_with("neverLaunched", |node| node.boolean());
    Some(Execution {
        unit: unit?,
        configured: configured?,
        reported: reported?,
        started: started?,
        not_started: not_started?,
        unknown: unknown?,
        completed: completed?,
        interrupted: interrupted?,
        never_launched: never_launched?,
    })
}

fn read_grading(node: &Node<'_>) -> Option<GoalGrading> {
    node.closed_object(&[
        "unit",
        "reported",
        "passed",
        "failed",
        "pending",
        "unavailable",
        "notRequested",
        "waitingForDecisiveGrading",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let unit = node.required_with("unit", read_unit);
    let reported = count("reported");
    let passed = count("passed");
    let failed = count("failed");
    let pending = count("pending");
    let unavailable = count("unavailable");
    let not_requested = count("notRequested");
    let waiting = count("waitingForDecisiveGrading");
    Some(GoalGrading {
        unit: unit?,
        reported: reported?,
        passed: passed?,
        failed: failed?,
        pending: pending?,
        unavailable: unavailable?,
        not_requested: not_requested?,
        waiting_for_decisive_grading: waiting?,
    })
}

fn read_tally(node: &Node<'_>) -> Option<ObservationTally> {
    node.closed_object(&[
        "evaluatorId",
        "predicateType",
        "role",
        "stage",
        "unit",
        "total",
        "passed",
        "failed",
        "pending",
        "unavailable",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let evaluator_id = node.required_with("evaluatorId", |node| node.owned_non_empty_text());
    let predicate_type = node.required_with("predicateType", |node| node.word());
    let role = node.required_with("role", |node| node.word());
    let stage = node.required_with("stage", |node| node.word());
    let unit = node.required_with("unit", read_unit);
    let total = count("total");
    let passed = count("passed");
    let failed = count("failed");
    let pending = count("pending");
    let unavailable = count("unavailable");
    Some(ObservationTally {
        evaluator_id: evaluator_id?,
        predicate_type: predicate_type?,
        role: role?,
        stage: stage?,
        unit: unit?,
        total: total?,
        passed: passed?,
        failed: failed?,
        pending: pending?,
        unavailable: unavailable?,
    })
}

/// The rules across fields.
pub(super) fn check_report(report: &RunReport, root: &Path<'_>, findings: &Findings) {
    check_verdict(report, root, findings);
    check_execution(&report.execution, &root.key("execution"), findings);
    let reported = report.execution.reported;
    let grading = &report.goal_grading;
    let place = root.key("goalGrading");
    findings.demand(
        grading.reported == reported
            && sum(&[
                grading.passed,
                grading.failed,
                grading.pending,
                grading.unavailable,
                grading.not_requested,
            ]) == Some(reported),
        &place.key("reported"),
        "must be the reported sessions and the sum of the five classes",
    );
    findings.demand(
        grading.waiting_for_decisive_grading <= reported,
        &place.key("waitingForDecisiveGrading"),
        "must be at most `reported`",
    );
    let place = root.key("observations");
    let mut seen = BTreeSet::new();
    for (index, tally) in report.observations.iter().enumerate() {
        let place = place.index(index);
        let demand = |holds: bool, key: &str, message: &str| {
            findings.demand(holds, &place.key(key), message);
        };
        demand(
            seen.insert(tally.evaluator_id.as_str()),
            "evaluatorId",
            "is there twice",
        );
        demand(
            tally.stage == stage(tally.predicate_type),
            "stage",
            "is not the stage of the kind",
        );
        let parts = [tally.passed, tally.failed, tally.pending, tally.unavailable];
        demand(
            sum(&parts) == Some(tally.total) && tally.total <= reported,
            "total",
            "must be the sum of its four parts and at most the reported sessions",
        );
    }
}

fn check_verdict(report: &RunReport, root: &Path<'_>, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &root.key(key), message);
    };
    let decided = report.verdict_source == VerdictSource::PolicyV2;
    demand(
        decided == report.decision.is_some(),
        "decision",
        "must be there exactly when policy v2 decided",
    );
    demand(
        decided != report.undecided_reason.is_some(),
        "undecidedReason",
        "must be there exactly when nothing was decided",
    );
    let verdict = match &report.decision {
        Some(decision) => decision.verdict.into(),
        None => SummaryVerdict::NotEstablished,
    };
    findings.demand(
        report.verdict == verdict,
        &root.key("verdict"),
        format_args!("must be `{}`", verdict.wire()),
    );
}

fn check_execution(execution: &Execution, place: &Path<'_>, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &place.key(key), message);
    };
    let reported = execution.reported;
    let at_most_reported = |parts: &[u64]| sum(parts).is_some_and(|sum| sum <= reported);
    demand(
        sum(&[execution.started, execution.not_started, execution.unknown])
            == Some(execution.configured),
        "configured",
        "must be `started` + `notStarted` + `unknown`",
    );
    demand(
        reported <= execution.configured,
        "reported",
        "must be at most `configured`",
    );
    demand(
        at_most_reported(&[execution.started, execution.not_started]),
        "reported",
        "must be at least `started` + `notStarted`",
    );
    demand(
        at_most_reported(&[execution.completed, execution.interrupted]),
        "reported",
        "must be at least `completed` + `interrupted`",
    );
    let never_launched = execution.configured > 0
        && reported == execution.configured
        && execution.not_started == execution.configured;
    demand(
        execution.never_launched == never_launched,
        "neverLaunched",
        "must say whether every configured session is known never to have started",
    );
}

fn sum(parts: &[u64]) -> Option<u64> {
    parts
        .iter()
        .try_fold(0_u64, |sum, part| sum.checked_add(*part))
}
