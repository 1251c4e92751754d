//! Rules that the vectors touch lightly (`friction.md` §2, §4, §6).

use serde_json::{Map, Value, json};
use strandline_contract::{
    friction::{FrictionSignal, IdentifierSignals, MAX_FRICTION_SIGNALS},
    trace::{Message, Part, Role, Span, SpanStatus, Trace},
    words::{FrictionGap, FrictionSignalKind, Vocabulary},
};
use strandline_derive::friction::{
    FrictionInput, derive_friction_rates, derive_friction_signals,
    derive_friction_signals_from_json, results_from_trace, results_from_transcript,
};

use super::derive;

#[test]
fn the_empty_document_is_written_as_pinned() {
    let document = derive(&json!([]), &json!({}));
    assert_eq!(
        serde_json::to_string(&document).expect("JSON"),
        r#"{"version":1,"state":"notMeasured","notMeasuredReason":"noToolCalls","callCount":0,"resultAvailableCount":0,"timedCallCount":0,"identifierSignals":{"state":"notMeasured","reason":"noToolCalls"},"signals":[]}"#
    );
}

#[test]
fn arguments_without_a_canonical_form_leave_the_trial_unmeasured() {
    let input = |arguments: &str, elsewhere: &str| {
        format!(
            r#"{{"toolsCalled":[{{"toolName":"a","x":{elsewhere},"arguments":{{"n":{arguments}}}}}],"resultsByToolCallId":{{}}}}"#
        )
    };
    let reason = |text: String| {
        let document = derive_friction_signals_from_json(&text).expect("an input");
        document.not_measured_reason
    };
    assert_eq!(
        reason(input("1e999", "0")),
        Some(FrictionGap::EvidenceIncomplete)
    );
    // Only arguments are compared, so only they need a canonical form.
    assert_eq!(reason(input("1", "1e999")), None);
    assert!(derive_friction_signals_from_json("{").is_err());
    assert!(derive_friction_signals_from_json(r#"{"toolsCalled":{}}"#).is_err());
    let hole = r#"{"toolsCalled":[],"evidenceHole":"someHole"}"#;
    assert!(derive_friction_signals_from_json(hole).is_err());
}

#[test]
fn integers_beyond_a_double_are_equal_when_their_doubles_are() {
    let text = r#"{"toolsCalled":[{"toolName":"a","arguments":[9007199254740993]},
        {"toolName":"a","arguments":[9007199254740992]}],"resultsByToolCallId":{}}"#;
    let document = derive_friction_signals_from_json(text).expect("an input");
    assert_eq!(
        document.signals[0].kind(),
        FrictionSignalKind::IdenticalRetry
    );
}

#[test]
fn the_cap_keeps_one_of_every_kind() {
    // 30 adjacent retries, then one paging step: the last kind is reserved.
    let mut calls = vec![json!({"toolName": "a", "arguments": {}}); 31];
    calls.push(json!({"toolName": "a", "arguments": {"page": 2}}));
    let document = derive(&json!(calls), &json!({}));
    assert_eq!(document.signals.len(), MAX_FRICTION_SIGNALS);
    let last = document.signals.last().expect("24 signals");
    assert_eq!(last.kind(), FrictionSignalKind::PaginationContinuation);
    assert_eq!(document.signals[22].observed_at(), 23);
}

#[test]
fn an_error_result_shows_before_a_retry_and_hides_its_identifiers() {
    let calls = json!([{"toolName": "a", "toolCallId": "1"}, {"toolName": "a", "toolCallId": "2"},
        {"toolName": "b", "toolCallId": "3"}]);
    let result = json!({"content": [{"type": "text", "text": "{\"id\":\"ISSUE-41\"}"}]});
    let wrap = |raw: Value, is_error: bool| json!({"raw": raw, "isError": is_error});
    let results = |first: Value| json!({"1": first, "2": {"raw": null}, "3": {"raw": null}});
    let good = derive(&calls, &results(wrap(result.clone(), false)));
    assert_eq!(good.signals.len(), 2);
    for error in [
        wrap(result.clone(), true),
        wrap(json!({"result": result, "isError": true}), false),
        wrap(json!({"output": {"value": {"isError": true}}}), false),
    ] {
        let document = derive(&calls, &results(error));
        assert_eq!(
            document.signals,
            [FrictionSignal::IdenticalRetry {
                call_index: 1,
                prior_call_index: 0,
                tool_name: "a".to_owned(),
                after_error: true,
            }]
        );
    }
    // Exactly `true`, not truthy.
    let truthy = wrap(
        json!({"isError": 1, "structuredContent": {"id": "ISSUE-41"}}),
        false,
    );
    assert_eq!(derive(&calls, &results(truthy)).signals.len(), 2);
}

#[test]
fn a_transcript_gives_the_last_result_of_each_call() {
    let item = |id: &str, result: Value| json!({"type": "tool-result", "toolCallId": id, "result": result});
    let messages = [
        json!({"role": "tool", "content": [item("1", json!("first")), item("2", json!(null)),
            {"type": "tool-result", "toolCallId": "3", "output": {"value": 1}},
            item("", json!(1)), "x"]}),
        json!({"role": "assistant", "content": [item("4", json!(1))]}),
        json!({"role": "tool", "content": [item("1", json!("second"))]}),
        json!({"role": "tool", "content": "text"}),
    ];
    let results = results_from_transcript(&messages);
    assert_eq!(results.keys().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(results["1"].raw["result"], "second");
}

#[test]
fn our_own_trace_gives_results_with_their_times() {
    let part = |id: &str, result: Option<Value>, error: Option<&str>| Part::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: "t".to_owned(),
        is_error: error.is_some(),
        error: error.map(str::to_owned),
        result,
        model_text: String::new(),
        policy_block: false,
    };
    let trace = Trace {
        messages: vec![Message {
            role: Role::Tool,
            prompt_index: 0,
            parts: vec![
                part(
                    "1",
                    Some(json!({"structuredContent": {"id": "ISSUE-41"}})),
                    None,
                ),
                part("2", None, Some("connection lost")),
            ],
        }],
        spans: vec![Span {
            id: "s".to_owned(),
            parent_id: None,
            name: "tools/call t".to_owned(),
            category: "tool".to_owned(),
            status: SpanStatus::Ok,
            tool_name: None,
            tool_call_id: Some("1".to_owned()),
            prompt_index: None,
            mcp_error_code: None,
            started_at: 10.0,
            ended_at: 20.0,
            attributes: Default::default(),
        }],
        ..Trace::default()
    };
    let results = results_from_trace(&trace);
    assert_eq!(results["1"].settled_at_ms, Some(20.0));
    assert_eq!(
        (results["2"].is_error, results["2"].started_at_ms),
        (true, None)
    );
    let calls = vec![
        json!({"toolName": "t", "toolCallId": "1", "arguments": {}}),
        json!({"toolName": "u", "toolCallId": "2", "arguments": {}}),
    ];
    let document = derive_friction_signals(&FrictionInput::new(calls, results));
    assert_eq!(
        (document.result_available_count, document.timed_call_count),
        (2, 1)
    );
    let gap = IdentifierSignals::NotMeasured {
        reason: FrictionGap::OrderingUnknown,
    };
    assert_eq!(document.identifier_signals, gap);
}

#[test]
fn a_case_counts_trials_not_signals() {
    let retry = json!([{"toolName": "a"}, {"toolName": "a"}, {"toolName": "a"}]);
    let once = json!([{"toolName": "a"}]);
    let result = json!({"raw": null});
    let with_result = json!([{"toolName": "a", "toolCallId": "1"}]);
    let documents = [
        derive(&retry, &json!({})),
        derive(&once, &json!({})),
        derive(&with_result, &json!({"1": result})),
        derive(&json!([]), &json!({})),
    ];
    let rates = derive_friction_rates(&documents).expect("documents");
    assert_eq!(rates.len(), FrictionSignalKind::ALL.len());
    let told = |kind| {
        let rate: &strandline_contract::rate::Rate<FrictionGap> = &rates[&kind];
        let gaps: Map<String, Value> = rate
            .exclusions()
            .iter()
            .map(|(gap, count)| (gap.wire().to_owned(), json!(count)))
            .collect();
        (rate.numerator(), rate.denominator(), Value::Object(gaps))
    };
    assert_eq!(
        told(FrictionSignalKind::IdenticalRetry),
        (1, 3, json!({"noToolCalls": 1}))
    );
    assert_eq!(
        told(FrictionSignalKind::IdentifierSurfacedUnused),
        (0, 1, json!({"noToolCalls": 1, "resultsUnavailable": 2}))
    );
    assert_eq!(derive_friction_rates([]), None);
}

#[test]
fn every_kind_has_a_benign_reading_of_its_own() {
    let mut readings: Vec<_> = FrictionSignalKind::ALL
        .iter()
        .map(|kind| kind.benign_reading())
        .collect();
    readings.sort_unstable();
    readings.dedup();
    assert_eq!(readings.len(), FrictionSignalKind::ALL.len());
}

/// A server and a model that both mean ill: 200 calls, each result full of
/// identifiers, each call full of near misses.
#[test]
fn hostile_calls_take_bounded_time() {
    let near: String = "aaa-aaab ".repeat(200);
    let calls: Vec<Value> = (0..200)
        .map(|index| {
            json!({"toolName": "a", "toolCallId": index.to_string(),
            "arguments": {"q": format!("{near}{index}")}})
        })
        .collect();
    let results: Map<String, Value> = (0..200)
        .map(|index| {
            let ids: Vec<Value> = (0..12)
                .map(|id| json!({"id": format!("aaa-{index}-{id}")}))
                .collect();
            (
                index.to_string(),
                json!({"raw": {"structuredContent": ids}}),
            )
        })
        .collect();
    let document = derive(&json!(calls), &Value::Object(results));
    assert_eq!(document.signals.len(), MAX_FRICTION_SIGNALS);
}
