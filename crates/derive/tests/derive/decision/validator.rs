//! Every rule of the summary validator refuses what breaks it
//! (`decision-summary.md` §9).

use serde_json::{Value, json};
use strandline_contract::verdict::{CaseInput, TrialObservation, ValidityPolicy};
use strandline_contract::words::{IterationStatus, TaskResult};
use strandline_derive::{decision::validate_decision_summary, verdict::derive_decision};

use super::{iteration, stages, summarize};

fn decision() -> Value {
    let case = CaseInput {
        case_id: "a".to_owned(),
        execution_variant: None,
        configured_trials: 1,
        effective_pass_threshold: 1.0,
        trials: vec![TrialObservation {
            status: IterationStatus::Completed.into(),
            task_verdict: Some(TaskResult::Failed),
            evaluator_error: false,
        }],
    };
    let decision = derive_decision(&ValidityPolicy::default(), &[case]).expect("a decision");
    serde_json::to_value(decision).expect("a decision is JSON")
}

fn decided() -> Value {
    let mut rows = stages(&[("call", "failed")]);
    rows[3]["evidence"] =
        json!({"spanIds": ["s"], "promptIndexes": [0], "predicateReasons": ["r"]});
    let chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12,
        "firstFailedStage": "call", "failureCategory": "serverData", "error": "e",
        "actualToolCalls": [{"toolName": "t"}], "expectedToolCalls": [{"toolName": "t"}]});
    summarize(
        json!({"id": "r", "status": "completed", "verdictPolicyVersion": 2,
            "verdictSummary": decision()}),
        json!([iteration(&chain)]),
    )
}

fn legacy() -> Value {
    summarize(
        json!({"id": "r", "status": "completed", "result": "failed", "summary": {"total": 1}}),
        json!([]),
    )
}

fn undecided() -> Value {
    summarize(json!({"id": "r", "status": "running"}), json!([]))
}

#[track_caller]
fn refused(mut document: Value, path: &str, change: fn(&mut Value)) {
    assert!(validate_decision_summary(&document).is_ok(), "{document}");
    change(&mut document);
    let violations = validate_decision_summary(&document).expect_err(path);
    let paths: Vec<&str> = violations
        .iter()
        .map(|violation| violation.path.as_str())
        .collect();
    assert!(paths.contains(&path), "{path}: {paths:?}");
}

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().expect("an object").remove(key);
}

#[test]
fn a_page_may_not_be_complete_and_go_on() {
    refused(decided(), "diagnostics.nextCursor", |v| {
        v["diagnostics"]["nextCursor"] = json!("c")
    });
    refused(decided(), "diagnostics.scannedIterations", |v| {
        v["diagnostics"]["scannedIterations"] = json!(0)
    });
}

#[test]
fn a_policy_v2_summary_is_its_decisions() {
    refused(decided(), "decision", |v| remove(v, "decision"));
    refused(decided(), "verdict", |v| v["verdict"] = json!("passed"));
    refused(decided(), "undecided", |v| {
        v["undecided"] = json!({"reason": "runNotTerminal"})
    });
    refused(decided(), "counts", |v| remove(v, "counts"));
    refused(decided(), "counts", |v| {
        v["counts"] = json!({"measurementUnit": "trial", "total": 1})
    });
    refused(decided(), "counts", |v| v["counts"]["passed"] = json!(1));
    refused(decided(), "decision.verdict", |v| {
        v["decision"]["verdict"] = json!("passed")
    });
}

#[test]
fn a_legacy_summary_has_a_result_and_no_decision() {
    refused(legacy(), "decision", |v| v["decision"] = decision());
    refused(legacy(), "verdict", |v| {
        v["verdict"] = json!("inconclusive")
    });
    refused(legacy(), "undecided", |v| {
        v["undecided"] = json!({"reason": "runNotTerminal"})
    });
    refused(
        legacy(),
        "counts",
        |v| v["counts"] = json!({"measurementUnit": "caseVariant", "total": 1, "passed": 1, "failed": 0, "inconclusive": 0}),
    );
}

#[test]
fn a_summary_without_verdict_says_why_and_counts_nothing() {
    refused(undecided(), "decision", |v| v["decision"] = decision());
    refused(undecided(), "verdict", |v| v["verdict"] = json!("failed"));
    refused(undecided(), "undecided", |v| remove(v, "undecided"));
    refused(undecided(), "counts", |v| {
        v["counts"] = json!({"measurementUnit": "trial", "total": 1})
    });
}

#[test]
fn every_object_is_closed_and_every_optional_is_absent_or_right() {
    const ITEM: &str = "diagnostics.items[0]";
    let item =
        |path: &str, change: fn(&mut Value)| refused(decided(), &format!("{ITEM}{path}"), change);
    refused(decided(), "x", |v| v["x"] = json!(1));
    refused(decided(), "schemaVersion", |v| {
        v["schemaVersion"] = json!(2)
    });
    refused(decided(), "runId", |v| v["runId"] = json!(""));
    refused(decided(), "counts.inconclusive", |v| {
        remove(&mut v["counts"], "inconclusive")
    });
    refused(legacy(), "counts.inconclusive", |v| {
        v["counts"]["inconclusive"] = json!(0)
    });
    refused(legacy(), "counts.total", |v| {
        v["counts"]["total"] = json!(null)
    });
    refused(undecided(), "undecided.detail", |v| {
        v["undecided"]["detail"] = json!("")
    });
    item(".x", |v| v["diagnostics"]["items"][0]["x"] = json!(1));
    item(".title", |v| {
        v["diagnostics"]["items"][0]["title"] = json!(null)
    });
    item(".result", |v| {
        v["diagnostics"]["items"][0]["result"] = json!("errored")
    });
    item(".caseId", |v| {
        v["diagnostics"]["items"][0]["caseId"] = json!("a b")
    });
    item(".nextAction", |v| {
        v["diagnostics"]["items"][0]["nextAction"] = json!("")
    });
    item(".expected.toolNames", |v| {
        v["diagnostics"]["items"][0]["expected"]["toolNames"] = json!([])
    });
    item(".observed.toolNames[0]", |v| {
        v["diagnostics"]["items"][0]["observed"]["toolNames"] = json!([""])
    });
    item(".evidence.promptIndexes[0]", |v| {
        v["diagnostics"]["items"][0]["evidence"]["promptIndexes"] = json!([-1])
    });
    item(".evidence.spanIds", |v| {
        v["diagnostics"]["items"][0]["evidence"]["spanIds"] = json!([])
    });
    item(".chain.stages[0].state", |v| {
        v["diagnostics"]["items"][0]["chain"]["stages"][0]["state"] = json!("fine")
    });
    item(".chain.analyzerVersion", |v| {
        v["diagnostics"]["items"][0]["chain"] = json!({"status": "absent", "analyzerVersion": 1})
    });
    item(".chain.stages", |v| {
        v["diagnostics"]["items"][0]["chain"] = json!({"status": "unverified", "stages": []})
    });
    item(".chain.status", |v| {
        v["diagnostics"]["items"][0]["chain"]["status"] = json!("maybe")
    });
}

#[test]
fn what_the_rules_do_not_tie_is_accepted() {
    let accepted = |mut document: Value, change: fn(&mut Value)| {
        change(&mut document);
        let summary = validate_decision_summary(&document);
        assert!(summary.is_ok(), "{document}: {summary:?}");
    };
    accepted(decided(), |v| v["runStatus"] = json!("running"));
    accepted(legacy(), |v| {
        v["counts"] = json!({"measurementUnit": "trial"})
    });
    accepted(legacy(), |v| v["counts"]["passed"] = json!(77));
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["chain"]["stages"] = json!([])
    });
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["chain"]["firstFailedStage"] = json!("response")
    });
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["evidence"]["stage"] = json!("response")
    });
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["result"] = json!("passed")
    });
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["observed"] = json!({})
    });
    // Unknown keys of stage rows and their evidence are dropped, not refused.
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["chain"]["stages"][3]["extra"] = json!(1)
    });
    accepted(decided(), |v| {
        v["diagnostics"]["items"][0]["chain"]["stages"][3]["evidence"]["extra"] = json!(1)
    });
}

/// The assembler does not guard its caller.
#[test]
fn a_careless_caller_gets_a_summary_that_is_refused() {
    let input = json!({"projectId": "p", "run": {"id": "r", "status": ""}, "iterations": [],
        "page": {"complete": true, "nextCursor": "x"}});
    let summary =
        strandline_derive::decision::derive_decision_summary_from_json(&input).expect("a summary");
    let document = serde_json::to_value(summary).expect("JSON");
    assert!(validate_decision_summary(&document).is_err());
}
