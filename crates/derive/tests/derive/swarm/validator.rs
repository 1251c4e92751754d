//! Every rule of the swarm validators refuses what breaks it, at its place.

use serde_json::{Value, json};
use strandline_derive::{
    Violation,
    swarm::{
        InvalidSwarmDocument, validate_findings, validate_findings_job, validate_run_report,
        validate_session_verdict,
    },
};

use super::{passed, report, verdict};

type Change = fn(&mut Value);

fn places(violations: &[Violation]) -> Vec<&str> {
    violations
        .iter()
        .map(|violation| violation.path.as_str())
        .collect()
}

fn check<T: std::fmt::Debug>(
    stored: &Value,
    validate: fn(&Value) -> Result<T, InvalidSwarmDocument>,
    cases: &[(&str, Change)],
) {
    validate(stored).expect("the document itself is accepted");
    for (place, change) in cases {
        let mut document = stored.clone();
        change(&mut document);
        let refused = validate(&document).expect_err(place);
        let places = places(&refused.violations);
        assert!(places.contains(place), "{place}: {places:?}");
    }
}

#[test]
fn a_session_verdict_holds_together() {
    check(
        &json!(passed()),
        validate_session_verdict,
        &[
            ("contractVersion", |v| v["contractVersion"] = json!(2)),
            ("lifecycle", |v| v["lifecycle"] = json!("done")),
            ("verdict", |v| v["reason"] = json!("judgeFailed")),
            ("counts", |v| v["counts"]["gating"] = json!(1)),
            ("trial", |v| v["lifecycle"] = json!("broke")),
            ("trial", |v| v["trial"] = json!(null)),
            ("trial", |v| v["trial"]["taskVerdict"] = json!("failed")),
            ("trial", |v| {
                v["trial"] = json!({"status": "completed", "evaluatorError": true})
            }),
            ("trial", |v| v["trial"] = json!({"status": "completed"})),
            ("trial", |v| v["trial"]["evaluatorError"] = json!(true)),
            ("trial", |v| v["trial"] = json!({"status": "failed"})),
            ("trial", |v| {
                v["trial"] = json!({"status": "failed", "taskVerdict": "passed"})
            }),
            ("trial.status", |v| {
                v["trial"] = json!({"status": "skipped"})
            }),
            ("trial.evaluatorError", |v| {
                v["trial"]["evaluatorError"] = json!(false)
            }),
            ("verdictSource", |v| v["verdictSource"] = json!("none")),
            ("graders.judge", |v| {
                v["graders"]["judge"] = json!("notClaimed")
            }),
            ("grading.reasonCode", |v| {
                v["grading"]["reasonCode"] = json!("")
            }),
            ("x", |v| v["x"] = json!(1)),
        ],
    );
    let limited = verdict(json!({"attempt": {"status": "rate_limited"}, "hasTranscript": false}));
    check(
        &json!(limited),
        validate_session_verdict,
        &[
            ("trial", |v| v["trial"] = json!(null)),
            ("trial", |v| v["trial"]["status"] = json!("failed")),
            ("verdictSource", |v| v["verdictSource"] = json!("goalJudge")),
        ],
    );
}

fn undecided_report() -> Value {
    json!(report(
        &json!({"runId": "r1", "executionComplete": true, "configuredSessions": 2,
        "verdictSummary": null,
        "evaluatorDefinitions": [{"evaluatorId": "e", "predicateType": "noToolErrors", "role": "advisory"}],
        "sessions": [{"id": "s1", "startEvidence": "started", "verdict": passed(), "observations": []}]})
    ))
}

#[test]
fn a_run_report_holds_together() {
    check(
        &undecided_report(),
        validate_run_report,
        &[
            ("runId", |v| v["runId"] = json!("")),
            ("verdict", |v| v["verdict"] = json!("passed")),
            ("verdictSource", |v| v["verdictSource"] = json!("legacy")),
            ("decision", |v| v["verdictSource"] = json!("policyV2")),
            ("undecidedReason", |v| {
                v.as_object_mut()
                    .expect("an object")
                    .remove("undecidedReason");
            }),
            ("execution.configured", |v| {
                v["execution"]["configured"] = json!(3)
            }),
            ("execution.reported", |v| {
                v["execution"]["reported"] = json!(3)
            }),
            ("execution.reported", |v| {
                v["execution"]["interrupted"] = json!(1)
            }),
            ("execution.reported", |v| {
                v["execution"]["notStarted"] = json!(1);
                v["execution"]["unknown"] = json!(0);
            }),
            ("execution.neverLaunched", |v| {
                v["execution"]["neverLaunched"] = json!(true)
            }),
            ("execution.unit", |v| {
                v["execution"]["unit"] = json!("trials")
            }),
            ("goalGrading.reported", |v| {
                v["goalGrading"]["failed"] = json!(1)
            }),
            ("goalGrading.waitingForDecisiveGrading", |v| {
                v["goalGrading"]["waitingForDecisiveGrading"] = json!(2)
            }),
            ("observations[0].stage", |v| {
                v["observations"][0]["stage"] = json!("call")
            }),
            ("observations[0].total", |v| {
                v["observations"][0]["failed"] = json!(1)
            }),
            ("observations[1].evaluatorId", |v| {
                v["observations"] =
                    json!([v["observations"][0].clone(), v["observations"][0].clone()])
            }),
        ],
    );
}

fn stored_findings() -> Value {
    let row = json!({"id": "goal:x", "basis": "populationFact", "scopeLevel": "goal",
        "persona": {"personaRefId": null, "name": "Ana"},
        "goal": {"runId": "r1", "journeyRefId": "", "title": ""},
        "target": {"kind": "environment", "id": "environment:e", "label": "", "modelId": null},
        "population": {"count": 1, "total": 1, "unit": "sessions"}, "sessionIds": ["s1"],
        "citations": ["s1/m:0"], "verdictSeen": "failed", "chainStage": null,
        "chainStageState": null, "chainStageBasis": "unmeasured", "disposition": "goalMissed",
        "tone": "fail", "coverageNotes": ["chainUnmeasured"], "outcomePhrase": "goal was not met",
        "mechanismPhrase": null, "fixPhrase": null,
        "reportExcerpt": {"actual": "x", "citations": []}, "mechanismId": null});
    json!({"contractVersion": 1, "generatedAt": 1, "sourceRevision": "", "pipelineVersion": 1,
        "extractionVersion": 0, "extractionModel": "none", "reasoningModel": "none",
        "summaryKind": "broken",
        "population": {"configured": 1, "started": 1, "read": 1, "unread": 0, "withdrawn": 0,
            "limited": 0, "graded": 1},
        "coverageNotes": [], "disclosure": {"rail": "openrouter", "evidenceSent": []},
        "personas": [{"persona": {"personaRefId": "p1", "name": "Ana"}, "disposition": "goalMissed",
            "tone": "fail", "goalRunIds": ["r1"]}],
        "findings": [row]})
}

#[test]
fn findings_hold_together() {
    check(
        &stored_findings(),
        validate_findings,
        &[
            ("findings[0].tone", |v| {
                v["findings"][0]["tone"] = json!("warn")
            }),
            ("personas[0].tone", |v| {
                v["personas"][0]["tone"] = json!("ok")
            }),
            ("findings[0].id", |v| v["findings"][0]["id"] = json!("")),
            ("findings[0].citations[0]", |v| {
                v["findings"][0]["citations"] = json!(["s1"])
            }),
            ("findings[0].citations", |v| {
                v["findings"][0]["citations"] = json!(vec!["s/m:1"; 31])
            }),
            ("findings[0].sessionIds", |v| {
                v["findings"][0]["sessionIds"] = json!(vec!["s"; 1001])
            }),
            ("findings[0].outcomePhrase", |v| {
                v["findings"][0]["outcomePhrase"] = json!("2 goals")
            }),
            ("findings[0].outcomePhrase", |v| {
                v["findings"][0]["outcomePhrase"] = json!("a b c d e f g h i")
            }),
            ("findings[0].outcomePhrase", |v| {
                v["findings"][0]["outcomePhrase"] = json!("x".repeat(101))
            }),
            ("findings[0].reportExcerpt.actual", |v| {
                v["findings"][0]["reportExcerpt"]["actual"] = json!("x".repeat(1801))
            }),
            ("findings[0].reportExcerpt.account", |v| {
                v["findings"][0]["reportExcerpt"]["account"] = json!("x".repeat(601))
            }),
            ("findings[0].mechanismId", |v| {
                v["findings"][0]
                    .as_object_mut()
                    .expect("a row")
                    .remove("mechanismId");
            }),
            ("findings[0].signal", |v| {
                v["findings"][0]["signal"] = json!("other")
            }),
            ("findings", |v| {
                v["findings"] = json!(vec![v["findings"][0].clone(); 201])
            }),
            ("population.graded", |v| {
                v["population"]["graded"] = json!(-1)
            }),
            ("disclosure.rail", |v| {
                v["disclosure"]["rail"] = json!("other")
            }),
            ("verification.proposed", |v| v["verification"] = json!({})),
            ("y", |v| v["y"] = json!(null)),
        ],
    );
}

#[test]
fn what_older_producers_write_and_sums_of_others_are_accepted() {
    let mut stored = stored_findings();
    stored["findings"][0]["signal"] = json!(null);
    stored["findings"][0]["outcomePhrase"] = json!("");
    stored["findings"][0]["reportExcerpt"]["account"] = json!("");
    stored["verification"] =
        json!({"proposed": 1, "confirmed": 0, "rejected": 0, "unverified": 0, "omitted": 3});
    assert!(validate_findings(&stored).is_ok());
}

#[test]
fn a_findings_job_has_its_three_members_only() {
    let job = json!({"status": "failed", "errorCode": "x", "updatedAt": 3});
    check(
        &job,
        validate_findings_job,
        &[
            ("status", |v| v["status"] = json!("running")),
            ("errorCode", |v| v["errorCode"] = json!(null)),
            ("updatedAt", |v| v["updatedAt"] = json!(0.5)),
            ("z", |v| v["z"] = json!(1)),
        ],
    );
}
