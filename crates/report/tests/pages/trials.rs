//! The page of a trial.

use std::{fs, path::Path};

use serde_json::{Value, json};
use strandline_contract::{
    run::{RunRecord, TrialRecord},
    trace::Trace,
};
use strandline_report::{
    html::trial::{TrialPage, title, trial as shown_trial},
    terminal::trial::{FramesKept, TrialInput},
};

use crate::{
    fixture::{Fixture, trial, with_evidence, with_turn},
    look::{Addresses, HOSTILE, read, whole},
};

/// Returns a page with both neighbours.
fn shown(name: &str, run: &RunRecord, trial: &TrialRecord, trace: Option<&Trace>) -> String {
    let frames = match trace {
        Some(_) => FramesKept::InTrace,
        None => FramesKept::Pruned(4),
    };
    let page = TrialPage {
        input: TrialInput {
            run,
            run_reference: "019ad2b4",
            trial,
            trace,
            frames,
            judge_passes: &[],
        },
        previous: Some("before"),
        next: Some("after"),
    };
    whole(name, &title(&page), &shown_trial(&Addresses, &page))
}

fn span(id: &str, name: &str, category: &str, more: &Value) -> Value {
    let mut span = json!({
        "id": id, "name": name, "category": category, "status": "ok", "promptIndex": 0,
        "startedAt": 0.0, "endedAt": 8.5
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        span[key] = value.clone();
    }
    span
}

/// One turn: a call with wrong arguments that the tool refuses, with `text` at
/// every place that a server or a model fills.
fn trace(text: &str) -> Trace {
    let llm = |id: &str, at: f64| {
        span(
            id,
            "chat small-1",
            "llm",
            &json!({"startedAt": at, "endedAt": at + 380.5, "attributes": {
                "gen_ai.response.model": "small-1-2026",
                "gen_ai.usage.input_tokens": 406, "gen_ai.usage.output_tokens": 48,
                "gen_ai.response.finish_reasons": ["tool_calls", text],
            }}),
        )
    };
    serde_json::from_value(json!({
        "messages": [
            {"role": "system", "promptIndex": 0, "parts": [{"type": "text", "text": text}]},
            {"role": "user", "promptIndex": 0, "parts": [{"type": "text", "text": "Refund order 17."}]},
            {"role": "assistant", "promptIndex": 0, "parts": [
                {"type": "text", "text": text},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "refund_order",
                 "arguments": {"id": 17, "amount": "40.00", "note": text}},
                {"type": "tool-call", "toolCallId": "c2", "toolName": text, "arguments": {},
                 "rawArguments": text}]},
            {"role": "tool", "promptIndex": 0, "parts": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "refund_order",
                 "modelText": format!("amount must be a number\n{text}"), "isError": true,
                 "result": {"isError": true, "content": [{"type": "text", "text": text}]}},
                {"type": "tool-result", "toolCallId": "c2", "toolName": text,
                 "modelText": "", "isError": true, "error": text}]},
            {"role": "assistant", "promptIndex": 0, "parts": [
                {"type": "text", "text": "I could not refund it."}]},
        ],
        "spans": [
            span("s0", "initialize", "connection", &json!({"promptIndex": null, "startedAt": 1.0})),
            span("s1", "tools/list", "discovery", &json!({"promptIndex": null, "startedAt": 9.75, "endedAt": 11.0})),
            llm("s2", 12.5),
            span("s 3\"<", "tools/call refund_order", "tool", &json!({"toolName": "refund_order",
                "toolCallId": "c1", "startedAt": 400.0, "endedAt": 412.25, "status": "error"})),
            llm("s4", 420.0),
            span("s5", text, "other", &json!({"startedAt": 800.0, "endedAt": 850.0, "status": "error",
                "attributes": {"error.type": text}})),
        ],
        "frames": [
            {"at": 400.1, "server": text, "direction": "sent", "text": text, "bytes": 40,
             "transport": {"method": text}},
            {"at": 405.0, "server": "shop", "direction": "stderr", "text": text, "bytes": 40},
            {"at": 406.0, "server": "shop", "direction": "noise", "text": text, "bytes": 40},
        ],
        "framesDropped": 3,
        "adaptations": [{"kind": "toolNameAliased", "subject": text, "detail": text}],
        "lints": [{"code": text, "server": text, "message": text}],
    }))
    .expect("a trace")
}

fn failed(text: &str) -> (Fixture, TrialRecord) {
    let mut record = with_evidence(
        with_turn(
            trial("PPPF.P", "argumentMismatch", Some("arguments")),
            json!({
                "missing": [{"toolName": "notify_customer", "arguments": {"id": 17, "text": text}}],
                "unexpected": [{"toolName": text, "arguments": {}}],
                "argumentMismatches": [{
                    "toolName": "refund_order",
                    "expectedArgs": {"id": 17, "amount": 40},
                    "actualArgs": {"id": 17, "amount": "40.00", "note": text}
                }]
            }),
        ),
        json!({"spanIds": ["s 3\"<", "gone"], "promptIndexes": [0], "predicateReasons": [text]}),
    );
    record.predicate_results = vec![
        json!({"predicate": {"type": "noToolErrors"}, "passed": false, "reason": text}),
        json!({"predicate": {"type": "responseContains", "role": "advisory"}, "passed": true,
            "reason": "the answer holds \"refund\"", "scope": {"kind": "turn", "promptIndex": 0}}),
        json!({"predicate": {"type": text}, "passed": false, "status": "error", "reason": text}),
    ];
    record.policy_blocks = vec![json!({"odd": text})];
    record.skipped_steps = vec![
        serde_json::from_value(
            json!({"stepId": text, "stepIndex": 2, "kind": text, "reason": text}),
        )
        .expect("a step"),
    ];
    record.error = serde_json::from_value(
        json!({"layer": "model", "code": text, "message": text, "httpStatus": 429}),
    )
    .expect("an error");
    record.stage_measurements = json!({
        "schemaVersion": 1, "stageAnalyzerVersion": 12,
        "rows": [{"stage": "call", "reach": "reached",
            "latency": {"unit": "ms", "basis": "evidence_span_union", "value": 12.25}}]
    });
    record.ended_at = 900;
    let mut fixture = Fixture::new();
    fixture.case("refund", "refunds a late order", 1.0, 3, vec![record]);
    let mut record = fixture.trials[0].clone();
    record.id = "t1".to_owned();
    (fixture, record)
}

#[test]
fn a_failed_trial_shows_its_stages_and_what_happened() {
    let (fixture, record) = failed("as written");
    let shown = shown(
        "trial-failed",
        &fixture.run,
        &record,
        Some(&trace("as written")),
    );
    insta::assert_snapshot!(read(&shown));
}

#[test]
fn evidence_leads_to_the_spans_that_are_in_the_trace() {
    let (fixture, record) = failed("as written");
    let shown = shown(
        "trial-evidence",
        &fixture.run,
        &record,
        Some(&trace("as written")),
    );
    let anchor = "span-s_20_3_22__3c_";
    assert!(shown.contains(&format!("href=\"#{anchor}\" data-marks=\"{anchor}\"")));
    assert!(shown.contains(&format!("id=\"{anchor}\"")));
    assert!(shown.contains("1 cited span not in the trace"));
}

#[test]
fn a_pruned_trace_leaves_what_the_record_says() {
    let (fixture, record) = failed("as written");
    let shown = read(&shown("trial-pruned", &fixture.run, &record, None));
    for text in [
        "the trace was deleted to save space",
        "required and never made",
        "where the arguments differ",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn hostile_text_stays_text_in_every_place() {
    let (mut fixture, mut record) = failed(HOSTILE);
    record.title = HOSTILE.to_owned();
    fixture.run.suite_name = HOSTILE.to_owned();
    let shown = shown(
        "trial-hostile",
        &fixture.run,
        &record,
        Some(&trace(HOSTILE)),
    );
    assert!(!shown.contains("<img"));
    assert!(!shown.contains('\u{202e}'));
    assert!(shown.matches("&lt;/script&gt;&lt;img").count() > 25);
}

#[test]
fn what_judges_and_calls_say_stands_beside_the_timeline() {
    let (fixture, mut record) = failed("as written");
    let provenance = json!({"model": HOSTILE, "judgeTemplateVersion": 4,
        "judgeTemplateHash": "0a1b2c3d", "generatedAt": 1_796_083_200_000_i64});
    let mut goal = json!({
        "status": "scored", "verdict": "pass", "score": 0.75, "threshold": 0.7, "partialFloor": 0.4,
        "scores": [0.9, 0.4, 0.75], "samples": 3, "aggregation": "median", "straddle": true,
        "role": "advisory", "isModelUnderTest": true, "reasons": [HOSTILE],
        "criteria": [{"id": "state", "label": HOSTILE, "required": true, "met": 2, "of": 3}],
    });
    for (key, value) in provenance.as_object().expect("an object") {
        goal[key] = value.clone();
    }
    record.metadata.insert("goalJudge".to_owned(), goal);
    record
        .metadata
        .insert("frictionSignals".to_owned(), json!({"version": 2}));
    let shown = shown("trial-judged", &fixture.run, &record, None);
    assert!(!shown.contains("<img"));
    let text = read(&shown);
    for said in [
        "goal completion, advisory: pass, score 0.75 against a threshold of 0.7",
        "2 of 3 samples find it met",
        "which is the model under test",
        "the stored signals did not pass their check",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_flood_is_bounded_and_the_cut_is_counted() {
    let (fixture, record) = failed("as written");
    let mut flood = trace(&"x".repeat(200_000));
    let spans: Vec<Value> = (0..5_000)
        .map(|number| span(&format!("f{number}"), "tools/call x", "tool", &json!({})))
        .collect();
    flood.spans = serde_json::from_value(spans.into()).expect("spans");
    let shown = shown("trial-flood", &fixture.run, &record, Some(&flood));
    assert!(shown.len() < 4_000_000, "{} bytes", shown.len());
    assert!(shown.contains("The first 3000 entries."));
    assert!(shown.contains("(+180000 characters)"));
}

/// A kept run of a small local model on two real servers.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads a kept run")]
fn every_trial_of_a_kept_run_has_a_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/recorded/two-servers-one-small-model.json");
    let text = fs::read_to_string(path).expect("the fixture is there");
    let mut recorded: Value = serde_json::from_str(&text).expect("JSON");
    let run: RunRecord = serde_json::from_value(recorded["run"].take()).expect("a run");
    let kept: Vec<(TrialRecord, Trace)> =
        serde_json::from_value(recorded["trials"].take()).expect("trials with traces");
    assert_eq!(kept.len(), 12);
    for (number, (trial, trace)) in kept.iter().enumerate() {
        let shown = shown(&format!("trial-kept-{number}"), &run, trial, Some(trace));
        assert_eq!(shown.matches("<li class=\"card ").count(), 6);
    }
}
