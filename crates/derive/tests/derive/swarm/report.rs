//! Run reports and what goes into them (`swarm.md` §6).

use serde_json::{Value, json};
use strandline_contract::{
    swarm::{report::VerdictSummary, session::SessionVerdict},
    verdict::ValidityPolicy,
    words::{SummaryVerdict, SwarmUndecidedReason, Verdict},
};
use strandline_derive::swarm::{
    SummaryInput, TargetSessions, derive_run_report_from_json, derive_verdict_summary,
};

use super::{failed, passed, report, verdict};

fn summarise(sessions: &[SessionVerdict], configured: u64) -> VerdictSummary {
    let targets = [TargetSessions {
        target_id: "host:h1",
        configured,
        sessions,
    }];
    derive_verdict_summary(&SummaryInput {
        policy: &ValidityPolicy::resolve(Some(1), Some(0.0), Some(1.0)),
        pass_threshold: 0.5,
        targets: &targets,
        updated_at: 7,
    })
}

fn session(id: &str, evidence: &str, verdict: &SessionVerdict) -> Value {
    json!({"id": id, "startEvidence": evidence, "verdict": verdict, "observations": []})
}

fn spend_refusal() -> SessionVerdict {
    verdict(json!({"hasTranscript": false,
        "attempt": {"status": "rate_limited", "errorCode": "spend_cap_exceeded"}}))
}

fn broke_and_failed() -> SessionVerdict {
    verdict(
        json!({"attempt": {"status": "failed"}, "goalScore": {"status": "completed", "passed": false}}),
    )
}

fn judge_errored() -> SessionVerdict {
    verdict(json!({"goalScore": {"status": "failed"}}))
}

fn waiting() -> SessionVerdict {
    verdict(json!({"grading": {"state": "running"}}))
}

fn ungraded() -> SessionVerdict {
    verdict(json!({"judge": {"automatic": false, "role": "advisory"}}))
}

/// The example of §6.2.
fn example() -> Value {
    json!({
        "runId": "r1",
        "executionComplete": true,
        "configuredSessions": 5,
        "verdictSummary": summarise(&[passed()], 1),
        "evaluatorDefinitions": [],
        "sessions": [
            session("s1", "started", &passed()),
            session("s2", "started", &broke_and_failed()),
            session("s3", "notStarted", &spend_refusal()),
            session("s4", "started", &judge_errored()),
        ],
    })
}

#[test]
fn execution_grading_and_verdict_are_three_facts() {
    let report = json!(report(&example()));
    assert_eq!(
        report["execution"],
        json!({"unit": "sessions", "configured": 5, "reported": 4, "started": 3, "notStarted": 1,
            "unknown": 1, "completed": 2, "interrupted": 1, "neverLaunched": false})
    );
    assert_eq!(
        report["goalGrading"],
        json!({"unit": "sessions", "reported": 4, "passed": 1, "failed": 1, "pending": 0,
            "unavailable": 1, "notRequested": 1, "waitingForDecisiveGrading": 0})
    );
    assert_eq!(report["verdict"], "passed");
    assert_eq!(report["verdictSource"], "policyV2");
    assert_eq!(report["decision"], example()["verdictSummary"]["decision"]);
}

#[test]
fn observations_are_counted_over_all_sessions() {
    let mut input = example();
    let defined = |id: &str, kind: &str| json!({"evaluatorId": id, "predicateType": kind, "role": "advisory"});
    input["evaluatorDefinitions"] =
        json!([defined("z", "toolCalledWith"), defined("a", "noToolErrors")]);
    let mut seen = defined("z", "toolCalledWith");
    seen["status"] = json!("failed");
    input["sessions"][1]["observations"] = json!([seen]);
    let report = json!(report(&input));
    let tally = |id: &str, kind: &str, stage: &str, failed: u64| {
        json!({"evaluatorId": id, "predicateType": kind, "role": "advisory", "stage": stage,
            "unit": "sessions", "total": 4, "passed": 0, "failed": failed, "pending": 0,
            "unavailable": 4 - failed})
    };
    assert_eq!(
        report["observations"],
        json!([
            tally("a", "noToolErrors", "response", 0),
            tally("z", "toolCalledWith", "selection", 1)
        ])
    );
    input["sessions"] = json!([]);
    assert_eq!(json!(super::report(&input))["observations"], json!([]));
}

#[test]
fn a_run_is_undecided_for_the_first_reason_that_holds() {
    type Change = fn(&mut Value);
    let summary = |status: &str, key: &str, value: Value| json!({"status": status, key: value, "updatedAt": 1});
    let integrity = summary("integrityFailed", "reason", json!("x"));
    let cases: [(SwarmUndecidedReason, Value, Change); 6] = [
        (
            SwarmUndecidedReason::ExecutionPending,
            Value::Null,
            |input| input["executionComplete"] = json!(false),
        ),
        (
            SwarmUndecidedReason::GradingPending,
            summary("pending", "pendingSessions", json!(1)),
            |_| {},
        ),
        (
            SwarmUndecidedReason::GradingPending,
            integrity.clone(),
            |input| {
                input["sessions"][3]["verdict"] = json!(waiting());
            },
        ),
        (
            SwarmUndecidedReason::VerdictSummaryUnavailable,
            Value::Null,
            |_| {},
        ),
        (SwarmUndecidedReason::IntegrityFailed, integrity, |_| {}),
        (
            SwarmUndecidedReason::GradingNotConfigured,
            summary("notEstablished", "reason", json!("gradingNotConfigured")),
            |_| {},
        ),
    ];
    for (reason, summary, change) in cases {
        let mut input = example();
        input["verdictSummary"] = summary;
        change(&mut input);
        let report = report(&input);
        assert_eq!(report.undecided_reason, Some(reason));
        assert_eq!(report.verdict, SummaryVerdict::NotEstablished);
        assert_eq!(report.decision, None);
    }
}

#[test]
fn what_a_report_cannot_be_made_from_is_refused() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 9] = [
        ("runId", |v| v["runId"] = json!("")),
        ("configuredSessions", |v| v["configuredSessions"] = json!(3)),
        ("sessions[1].id", |v| v["sessions"][1]["id"] = json!("s1")),
        ("sessions[0].startEvidence", |v| {
            v["sessions"][0]["startEvidence"] = json!("notStarted")
        }),
        ("sessions[0].verdict.verdict", |v| {
            v["sessions"][0]["verdict"]["verdict"] = json!("failed")
        }),
        ("sessions[0].observations[0].evaluatorId", |v| {
            v["sessions"][0]["observations"] = json!([{"evaluatorId": "x", "role": "advisory",
                "predicateType": "noToolErrors", "status": "passed"}])
        }),
        ("verdictSummary.decision.verdict", |v| {
            v["verdictSummary"]["decision"]["verdict"] = json!("maybe")
        }),
        (
            "verdictSummary.reason",
            |v| {
                v["verdictSummary"] =
                    json!({"status": "integrityFailed", "reason": "", "updatedAt": 1})
            },
        ),
        (
            "verdictSummary.reason",
            |v| {
                v["verdictSummary"] =
                    json!({"status": "notEstablished", "reason": "x", "updatedAt": 1})
            },
        ),
    ];
    for (place, change) in cases {
        let mut input = example();
        change(&mut input);
        let refused = derive_run_report_from_json(&input).expect_err(place);
        let found = refused
            .violations
            .iter()
            .any(|violation| violation.path == place);
        assert!(found, "{place}: {refused}");
    }
}

#[test]
fn a_runs_decision_waits_for_grades_and_never_mixes_graded_with_ungraded() {
    let pending = summarise(&[passed(), waiting()], 2);
    assert!(matches!(
        pending,
        VerdictSummary::Pending {
            pending_sessions: 1,
            updated_at: 7
        }
    ));
    let nothing = summarise(&[ungraded(), ungraded(), spend_refusal()], 3);
    assert!(matches!(nothing, VerdictSummary::NotEstablished { .. }));
    let VerdictSummary::IntegrityFailed { reason, .. } = summarise(&[ungraded(), passed()], 2)
    else {
        panic!("mixed grading is decided");
    };
    assert_eq!(reason, "mixedGradingConfiguration");
    let VerdictSummary::IntegrityFailed { reason, .. } = summarise(&[passed()], 0) else {
        panic!("a target without configured sessions is decided");
    };
    assert!(reason.contains("target_aG9zdDpoMQ"), "{reason}");
}

#[test]
fn only_sessions_that_ran_count_for_the_decision() {
    let sessions = [
        passed(),
        broke_and_failed(),
        failed(),
        judge_errored(),
        spend_refusal(),
    ];
    let VerdictSummary::Decided { decision, .. } = summarise(&sessions, 6) else {
        panic!("the run is decided");
    };
    let row = &decision.cases[0];
    assert_eq!(row.case_id, "target_aG9zdDpoMQ");
    assert_eq!(
        (row.passed_trials, row.failed_trials, row.configured_trials),
        (1, 1, 6)
    );
    assert_eq!(decision.verdict, Verdict::Passed);
    // Nothing ran: a decision that withholds a verdict, not the absence of one.
    let VerdictSummary::Decided { decision, .. } = summarise(&[spend_refusal()], 1) else {
        panic!("the run is decided");
    };
    assert_eq!(decision.verdict, Verdict::Inconclusive);
}
