//! Friction signals in a trial's report and in a run's.

use insta::assert_snapshot;
use serde_json::{Value, json};
use strandline_contract::run::TrialRecord;
use strandline_derive::friction::derive_friction_signals_from_json;
use strandline_report::{friction::trial_lines, style::Style};

use crate::fixture::{Fixture, passed};

/// A trial that passed and whose calls are these.
fn with_calls(calls: Value, results: Value) -> TrialRecord {
    let input = json!({"toolsCalled": calls, "resultsByToolCallId": results});
    let signals = derive_friction_signals_from_json(&input.to_string()).expect("an input");
    let mut trial = passed();
    trial
        .metadata
        .insert("frictionSignals".to_owned(), json!(signals));
    trial
}

fn searching() -> TrialRecord {
    let call = |id: &str, tool: &str, arguments: Value| json!({"toolCallId": id, "toolName": tool, "arguments": arguments});
    let found = |ids: &[&str]| {
        let results: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        json!({"raw": {"structuredContent": {"results": results}}})
    };
    with_calls(
        json!([
            call("a", "search", json!({"q": "open"})),
            call("b", "search", json!({"q": "open bugs"})),
            call("c", "get", json!({"title": "x"})),
            call("d", "get", json!({"title": "x"})),
            call("e", "get", json!({"title": "x", "cursor": "p2"})),
        ]),
        json!({
            "a": found(&["ISSUE-41", "ISSUE-42"]), "b": found(&["ISSUE-41"]),
            "c": {"raw": {"isError": true}}, "d": {"raw": {}}, "e": {"raw": {}},
        }),
    )
}

#[test]
fn signals_stand_beside_their_benign_reading_and_hold_no_identifier() {
    let lines = trial_lines(&searching()).join("\n");
    assert!(!lines.contains("ISSUE"), "{lines}");
    assert_snapshot!(lines);
}

#[test]
fn what_was_not_measured_says_why_and_what_was_never_measured_says_nothing() {
    assert_eq!(trial_lines(&passed()), [""; 0]);
    assert_eq!(
        trial_lines(&with_calls(json!([]), json!({}))),
        ["not measured: the trial made no tool call"]
    );
    let unfollowed = with_calls(json!([{"toolName": "a"}]), json!({}));
    assert_eq!(
        trial_lines(&unfollowed),
        ["identifiers in results were not followed: a call kept no result"]
    );
    let quiet = with_calls(
        json!([{"toolName": "a", "toolCallId": "1"}]),
        json!({"1": {"raw": {}}}),
    );
    assert_eq!(trial_lines(&quiet), [""; 0]);
    let mut doubted = passed();
    doubted
        .metadata
        .insert("frictionSignals".to_owned(), json!({"version": 2}));
    assert!(trial_lines(&doubted)[0].contains("withheld"));
}

#[test]
fn a_run_tells_how_many_trials_show_which_signal() {
    let mut fixture = Fixture::new();
    let unfollowed = with_calls(
        json!([{"toolName": "a", "arguments": {}}, {"toolName": "a", "arguments": {}}]),
        json!({}),
    );
    fixture
        .case(
            "a",
            "finds an issue",
            1.0,
            3,
            vec![searching(), unfollowed, passed()],
        )
        .decide();
    let report = fixture.report(Style::plain(100));
    assert!(
        report.contains("a call was repeated with identical arguments in 2 of 2 trials measured"),
        "{report}"
    );
    let plain: String = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("the same tool was searched again after it had returned identifiers in 1 of 1 trial measured (often just a refinement, or a second question)"),
        "{report}"
    );
    assert!(
        report.contains("PASSED"),
        "a signal is never a verdict: {report}"
    );
}
