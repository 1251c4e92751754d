//! The worked examples of `decision-summary.md` §6–§8, §11.

use serde_json::{Value, json};
use strandline_contract::{
    chain::STAGE_ANALYZER_VERSION,
    verdict::ValidityPolicy,
    words::{AdviceStrength, NextAction, StageReason, Vocabulary},
};
use strandline_derive::{decision::trace_path, verdict::derive_decision};

use super::{iteration, stages, summarize};

/// Three case variants: c1 passes at 2 of 3, c2 fails, c3 passes.
fn decision() -> Value {
    let trial = |passed| strandline_contract::verdict::TrialObservation {
        status: strandline_contract::words::IterationStatus::Completed.into(),
        task_verdict: Some(if passed {
            strandline_contract::words::TaskResult::Passed
        } else {
            strandline_contract::words::TaskResult::Failed
        }),
        evaluator_error: false,
    };
    let cases = [
        ("c1", vec![true, true, false]),
        ("c2", vec![false]),
        ("c3", vec![true]),
    ]
    .map(|(id, trials)| strandline_contract::verdict::CaseInput {
        case_id: id.to_owned(),
        execution_variant: None,
        configured_trials: trials.len() as u64,
        effective_pass_threshold: 0.5,
        trials: trials.into_iter().map(trial).collect(),
    });
    let decision = derive_decision(&ValidityPolicy::default(), &cases).expect("a decision");
    serde_json::to_value(decision).expect("a decision is JSON")
}

/// Says verdict, source and why in one line.
fn told(summary: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let undecided = &summary["undecided"];
    format!(
        "{} {} {} {}",
        word(&summary["verdict"]),
        word(&summary["verdictSource"]),
        word(&undecided["reason"]),
        word(&undecided["detail"]),
    )
}

fn run(mut fields: Value) -> Value {
    fields["id"] = json!("r");
    summarize(fields, json!([]))
}

#[test]
fn an_unfinished_run_has_no_verdict_whatever_is_stored() {
    for status in ["running", "weird", "pending", ""] {
        let summary = run(json!({"status": status, "verdictPolicyVersion": 2,
            "verdictSummary": decision(), "result": "passed"}));
        assert_eq!(told(&summary), "notEstablished none runNotTerminal -");
        assert_eq!(summary["counts"], Value::Null);
        assert_eq!(summary["decision"], Value::Null);
    }
}

#[test]
fn a_readable_decision_is_reported_whole_however_the_run_ended() {
    for status in ["completed", "failed", "cancelled", "timed_out"] {
        let summary = run(json!({"status": status, "verdictPolicyVersion": 2.0,
            "verdictSummary": decision(), "result": "passed",
            "verdictPolicyIntegrityError": "boom", "summary": {"total": 9}}));
        assert_eq!(told(&summary), "failed policyV2 - -");
        assert_eq!(
            summary["counts"],
            json!({"measurementUnit": "caseVariant", "total": 3, "passed": 2, "failed": 1,
                "inconclusive": 0})
        );
        assert_eq!(summary["decision"], decision());
    }
}

#[test]
fn an_unreadable_decision_never_falls_back() {
    let unavailable = "notEstablished none verdictSummaryUnavailable";
    let summary = run(json!({"status": "completed", "verdictPolicyVersion": 2,
        "verdictPolicyIntegrityError": "boom", "result": "passed"}));
    assert_eq!(told(&summary), format!("{unavailable} boom"));
    let summary = run(json!({"status": "completed", "verdictPolicyVersion": 2,
        "verdictSummary": null, "verdictPolicyIntegrityError": ""}));
    assert_eq!(told(&summary), format!("{unavailable} -"));
    let mut flipped = decision();
    flipped["verdict"] = json!("passed");
    let mut extra = decision();
    extra["extra"] = json!(true);
    for stored in [flipped, extra, json!([]), json!({})] {
        let summary = run(json!({"status": "completed", "verdictPolicyVersion": 2,
            "verdictSummary": stored, "result": "passed"}));
        assert_eq!(told(&summary), format!("{unavailable} -"));
    }
}

#[test]
fn a_legacy_run_reports_its_result_and_only_what_it_counted() {
    for version in [json!("2"), json!(3), json!(null)] {
        let summary = run(
            json!({"status": "completed", "verdictPolicyVersion": version,
            "verdictSummary": decision(), "result": "failed"}),
        );
        assert_eq!(told(&summary), "failed legacy - -");
        assert_eq!(summary["counts"], Value::Null);
    }
    for status in ["cancelled", "timed_out", "failed"] {
        let summary = run(json!({"status": status, "result": "passed",
            "summary": {"total": 3, "passed": 3, "failed": 0}}));
        assert_eq!(told(&summary), "notEstablished none runStatusNotAVerdict -");
        assert_eq!(summary["counts"], Value::Null);
    }
    for result in [json!(null), json!("pending"), json!(1)] {
        let summary = run(json!({"status": "completed", "result": result}));
        assert_eq!(told(&summary), "notEstablished none runResultNotAVerdict -");
    }
    let counts = |summary: Value| {
        run(json!({"status": "completed", "result": "passed", "summary": summary}))["counts"]
            .clone()
    };
    assert_eq!(
        counts(json!({"total": 6, "passed": 4, "failed": 2, "passRate": 66})),
        json!({"measurementUnit": "trial", "total": 6, "passed": 4, "failed": 2})
    );
    assert_eq!(
        counts(json!({"total": 6, "passed": -1, "failed": 1.5})),
        json!({"measurementUnit": "trial", "total": 6})
    );
    assert_eq!(counts(json!({})), Value::Null);
    assert_eq!(counts(json!(null)), Value::Null);
}

#[test]
fn a_whole_diagnostic_is_as_pinned() {
    let stored = json!({"id": "i 1", "iterationNumber": 0, "status": "completed",
        "result": "failed", "caseId": "c_1", "testCaseId": "row1", "title": "T",
        "expectedToolCalls": [{"toolName": "a"}, {"tool": "b"}, {"name": "a"},
            {"toolName": "", "name": "c"}, "x", null, {}],
        "actualToolCalls": [{"toolName": "b"}, {"toolName": "b"}], "error": "bad args",
        "stageAnalyzerVersion": 8, "failureCategory": "arguments", "firstFailedStage": "call",
        "stageResults": [
            {"stage": "connection", "state": "passed"},
            {"stage": "discovery", "state": "passed"},
            {"stage": "selection", "state": "passed", "reason": "observed",
                "evidence": {"spanIds": ["s0"]}},
            {"stage": "call", "state": "failed", "reason": "argumentMismatch",
                "evidence": {"spanIds": ["s1", "s1", "", "s2"],
                    "promptIndexes": [0, 0, 2, -1, 1.5], "predicateReasons": ["r", "r"]},
                "extra": true},
            {"stage": "response", "state": "notReached", "reason": "earlierStageFailed"},
            {"stage": "userValue", "state": "failed", "reason": "predicateFailed",
                "evidence": {"spanIds": ["s9"]}}]});
    let input = json!({"projectId": "p 1", "run": {"id": "r/1", "status": "completed"},
        "iterations": [stored], "page": {"complete": true}});
    let summary =
        strandline_derive::decision::derive_decision_summary_from_json(&input).expect("a summary");
    let mut stages = stored["stageResults"].clone();
    stages[3].as_object_mut().expect("a row").remove("extra");
    assert_eq!(
        serde_json::to_value(&summary.diagnostics.items[0]).expect("an item is JSON"),
        json!({"iterationId": "i 1", "iterationNumber": 0, "caseId": "c_1",
            "testCaseId": "row1", "title": "T", "status": "completed", "result": "failed",
            "chain": {"status": "verified", "stages": stages, "firstFailedStage": "call",
                "failureCategory": "arguments", "analyzerVersion": 8},
            "expected": {"toolNames": ["a", "b", "c"]},
            "observed": {"toolNames": ["b"], "failure": "bad args"},
            "evidence": {"runId": "r/1", "iterationId": "i 1",
                "tracePath": "/projects/p%201/eval-runs/r%2F1/iterations/i%201/trace",
                "stage": "call", "spanIds": ["s1", "s2"], "promptIndexes": [0, 2],
                "reasons": ["r"]},
            "nextAction": NextAction::Arguments.label()})
    );
}

#[test]
fn what_is_not_usable_does_not_appear() {
    let summary = summarize(
        json!({"id": "run-1", "status": "completed"}),
        json!([{"id": "it-1", "iterationNumber": 1, "status": "running", "caseId": "has space",
            "testCaseId": "", "title": null, "error": "", "result": "errored"}]),
    );
    assert_eq!(
        summary["diagnostics"]["items"][0],
        json!({"iterationId": "it-1", "iterationNumber": 1, "status": "running",
            "chain": {"status": "absent"},
            "evidence": {"runId": "run-1", "iterationId": "it-1",
                "tracePath": "/projects/p/eval-runs/run-1/iterations/it-1/trace"},
            "nextAction": "open the trial's trace: no failure category was recorded"})
    );
}

#[test]
fn a_page_counts_what_it_scanned_and_drops_an_empty_cursor() {
    let input = |cursor: &str| {
        json!({"projectId": "p", "run": {"id": "r", "status": "completed"},
            "iterations": [
                {"id": "a", "iterationNumber": 0, "status": "completed", "result": "failed"},
                {"id": "b", "iterationNumber": 1, "status": "completed", "result": "passed"}],
            "page": {"complete": false, "nextCursor": cursor}})
    };
    let page = |cursor| {
        strandline_derive::decision::derive_decision_summary_from_json(&input(cursor))
            .expect("a summary")
            .diagnostics
    };
    let first = page("c2");
    assert_eq!((first.items.len(), first.scanned_iterations), (1, 2));
    assert_eq!(
        (first.complete, first.next_cursor.as_deref()),
        (false, Some("c2"))
    );
    assert_eq!(page("").next_cursor, None);
}

#[test]
fn ids_are_percent_encoded_in_a_trace_path() {
    assert_eq!(
        trace_path("a b/ü", "r!~*'()", "i:1?"),
        "/projects/a%20b%2F%C3%BC/eval-runs/r!~*'()/iterations/i%3A1%3F/trace"
    );
}

/// Returns the chain a summary shows of an iteration with these fields.
fn shown(fields: Value) -> Value {
    let summary = summarize(
        json!({"id": "r", "status": "completed"}),
        json!([iteration(&fields)]),
    );
    summary["diagnostics"]["items"][0]["chain"].clone()
}

#[test]
fn a_chain_is_shown_only_if_it_validates() {
    let known = STAGE_ANALYZER_VERSION;
    let ahead = |reported| json!({"reported": reported, "known": known});
    let good = || stages(&[]);
    let call_failed = |reason: &str| {
        let mut rows = stages(&[
            ("call", "failed"),
            ("response", "notReached"),
            ("userValue", "notReached"),
        ]);
        rows[3]["reason"] = json!(reason);
        rows
    };
    let absent = json!({"status": "absent"});
    assert_eq!(shown(json!({})), absent);
    assert_eq!(shown(json!({"stageAnalyzerVersion": 8})), absent);
    assert_eq!(shown(json!({"stageResultsUnverified": "true"})), absent);
    assert_eq!(
        shown(json!({"stageResults": null})),
        json!({"status": "unverified"})
    );
    assert_eq!(
        shown(json!({"stageResultsUnverified": true, "stageAnalyzerVersion": 4})),
        json!({"status": "unverified", "analyzerVersion": 4})
    );
    assert_eq!(
        shown(json!({"stageResults": good()[..5], "stageAnalyzerVersion": 8})),
        json!({"status": "unverified", "analyzerVersion": 8})
    );
    assert_eq!(
        shown(json!({"stageResults": good()})),
        json!({"status": "unverified"})
    );
    assert_eq!(
        shown(
            json!({"stageResults": good(), "firstFailedStage": "call", "stageAnalyzerVersion": 99})
        ),
        json!({"status": "unverified", "analyzerVersion": 99, "analyzerVersionAhead": ahead(99)})
    );
    for null in ["failureCategory", "firstFailedStage"] {
        let mut fields = json!({"stageResults": good(), "stageAnalyzerVersion": 8});
        fields[null] = json!(null);
        assert_eq!(
            shown(fields),
            json!({"status": "unverified", "analyzerVersion": 8})
        );
    }
    let newer = shown(json!({"stageResults": call_failed("toolError"),
        "firstFailedStage": "call", "stageAnalyzerVersion": 99}));
    assert_eq!(newer["status"], "verified");
    assert_eq!(newer["analyzerVersionAhead"], ahead(99));
    assert_eq!(
        shown(
            json!({"stageResults": call_failed("somethingNew"), "firstFailedStage": "call",
            "stageAnalyzerVersion": 99})
        ),
        json!({"status": "unverified", "analyzerVersion": 99, "analyzerVersionAhead": ahead(99)})
    );
    // Swapped rows, a null reason, evidence of another type.
    let mut swapped = good();
    swapped.swap(0, 1);
    let mut null_reason = good();
    null_reason[2]["reason"] = json!(null);
    let mut odd_evidence = good();
    odd_evidence[2]["evidence"] = json!({"promptIndexes": ["0"]});
    for rows in [swapped, null_reason, odd_evidence] {
        let chain = shown(json!({"stageResults": rows, "stageAnalyzerVersion": 8}));
        assert_eq!(chain["status"], "unverified");
    }
}

#[test]
fn the_next_action_follows_the_category_alone() {
    use NextAction as A;
    let clean = |version| json!({"stageResults": stages(&[]), "stageAnalyzerVersion": version});
    let with = |told: &[(&str, &str)], version| json!({"stageResults": stages(told), "stageAnalyzerVersion": version});
    let mut ungraded = clean(8);
    ungraded["failureCategory"] = json!("evaluator");
    let mut selection = with(&[("selection", "failed")], 8);
    selection["firstFailedStage"] = json!("selection");
    let mut not_failed = clean(8);
    not_failed["result"] = json!(null);
    let all: Vec<(&str, &str)> = [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ]
    .map(|stage| (stage, "notApplicable"))
    .to_vec();
    let expected = [
        (ungraded, A::Evaluator),
        (clean(8), A::VerdictChainConflict),
        (clean(7), A::VerdictChainConflict),
        (clean(6), A::StaleAnalyzer),
        (clean(0), A::StaleAnalyzer),
        (
            with(
                &[("call", "notApplicable"), ("response", "notApplicable")],
                8,
            ),
            A::VerdictChainConflict,
        ),
        (with(&all, 8), A::NoCategory),
        (with(&[("selection", "notMeasured")], 8), A::NoCategory),
        (selection, A::NoCategory),
        (not_failed, A::NoCategory),
        (json!({}), A::NoCategory),
        (json!({"stageResults": []}), A::NoCategory),
    ];
    for (fields, action) in expected {
        let summary = summarize(
            json!({"id": "r", "status": "completed"}),
            json!([iteration(&fields)]),
        );
        assert_eq!(
            summary["diagnostics"]["items"][0]["nextAction"],
            action.label(),
            "{fields}"
        );
    }
}

/// An action keyed on anything but the category would be a diagnosis.
#[test]
fn no_two_actions_read_alike() {
    let mut texts: Vec<_> = NextAction::ALL
        .iter()
        .map(|action| action.label())
        .collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), NextAction::ALL.len());
}

#[test]
fn advice_is_as_strong_as_its_reason() {
    let count = |strength| {
        StageReason::ALL
            .iter()
            .filter(|reason| reason.advice_strength() == strength)
            .count()
    };
    assert_eq!(count(AdviceStrength::Direct), 9);
    assert_eq!(count(AdviceStrength::CheckWhether), 5);
    assert_eq!(count(AdviceStrength::NothingToFix), 15);
}

#[test]
fn a_malformed_input_is_named() {
    let error = |change: fn(&mut Value)| {
        let mut input = json!({"projectId": "p", "run": {"id": "r", "status": "completed"},
            "iterations": [{"id": "i", "iterationNumber": 0, "status": "completed"}],
            "page": {"complete": true}});
        change(&mut input);
        strandline_derive::decision::derive_decision_summary_from_json(&input)
            .expect_err("refused")
            .path
    };
    assert_eq!(error(|v| *v = json!(1)), "input");
    assert_eq!(error(|v| v["run"]["id"] = json!(1)), "run.id");
    assert_eq!(
        error(|v| v["page"]["complete"] = json!("yes")),
        "page.complete"
    );
    assert_eq!(error(|v| v["iterations"] = json!({})), "input.iterations");
    assert_eq!(
        error(|v| v["iterations"][0]["iterationNumber"] = json!(-1)),
        "iterations[0].iterationNumber"
    );
}
