//! The trial report as a person reads it.

use proptest::prelude::*;
use serde_json::{Value, json};
use strandline_contract::{
    run::TrialRecord,
    trace::{Direction, Frame, Message, Part, Role, Span, Trace},
    words::{IterationStatus, TaskResult},
};
use strandline_report::{
    style::Style,
    terminal::trial::{Detail, FramesKept, RawFrames, TrialInput, trial_report},
};

use crate::fixture::{Fixture, trial, ungraded, with_evidence, with_turn};

fn message(role: Role, prompt_index: u32, parts: Value) -> Message {
    Message {
        role,
        prompt_index,
        parts: serde_json::from_value(parts).expect("parts"),
    }
}

fn span(value: Value) -> Span {
    serde_json::from_value(value).expect("a span")
}

fn frame(direction: Direction, at: f64, text: &str) -> Frame {
    Frame {
        at,
        server: "shop".to_owned(),
        direction,
        text: text.to_owned(),
        bytes: text.len() as u64,
        sha256: None,
        transport: serde_json::Map::new(),
    }
}

/// Two turns: a call with wrong arguments, then an error and an answer.
fn trace() -> Trace {
    let llm = |id: &str, turn: u32, at: f64| {
        span(json!({
            "id": id, "name": "chat small-1", "category": "llm", "status": "ok",
            "promptIndex": turn, "startedAt": at, "endedAt": at + 380.5,
            "attributes": {
                "gen_ai.response.model": "small-1-2026",
                "gen_ai.usage.input_tokens": 406, "gen_ai.usage.output_tokens": 48,
                "gen_ai.response.finish_reasons": ["tool_calls"],
            }
        }))
    };
    let call = |id: &str, call: &str, turn: u32, at: f64, status: &str| {
        span(json!({
            "id": id, "name": "tools/call refund_order", "category": "tool", "status": status,
            "toolName": "refund_order", "toolCallId": call, "promptIndex": turn,
            "startedAt": at, "endedAt": at + 12.25
        }))
    };
    let asks = |id: &str, amount: Value| {
        json!([
            {"type": "text", "text": "I will refund it."},
            {"type": "tool-call", "toolCallId": id, "toolName": "refund_order",
             "arguments": {"id": 17, "amount": amount}}
        ])
    };
    Trace {
        messages: vec![
            message(Role::System, 0, json!([{"type": "text", "text": "You help customers.\nBe brief."}])),
            message(Role::User, 0, json!([{"type": "text", "text": "Refund order 17."}])),
            message(Role::Assistant, 0, asks("c1", json!("40.00"))),
            message(Role::Tool, 0, json!([
                {"type": "tool-result", "toolCallId": "c1", "toolName": "refund_order",
                 "modelText": "amount must be a number", "isError": true, "result": {"isError": true}}
            ])),
            message(Role::Assistant, 0, json!([{"type": "text", "text": "I could not refund it."}])),
            message(Role::User, 1, json!([{"type": "text", "text": "Try again."}])),
            message(Role::Assistant, 1, asks("c2", json!(40))),
            message(Role::Tool, 1, json!([
                {"type": "tool-result", "toolCallId": "c2", "toolName": "refund_order",
                 "modelText": "", "isError": true, "error": "JSON-RPC error -32000: database gone"},
                {"type": "tool-result", "toolCallId": "c3", "toolName": "delete_order",
                 "modelText": "not allowed", "isError": true, "policyBlock": true}
            ])),
        ],
        spans: vec![
            span(json!({"id": "s0", "name": "initialize", "category": "connection", "status": "ok",
                "startedAt": 1.0, "endedAt": 9.5})),
            span(json!({"id": "s1", "name": "tools/list", "category": "discovery", "status": "ok",
                "startedAt": 9.75, "endedAt": 11.0})),
            span(json!({"id": "p0", "name": "step prompt", "category": "step", "status": "ok",
                "promptIndex": 0, "startedAt": 12.0, "endedAt": 900.0})),
            llm("s2", 0, 12.5),
            call("s3", "c1", 0, 400.0, "error"),
            llm("s4", 0, 420.0),
            llm("s5", 1, 1_000.0),
            call("s6", "c2", 1, 1_400.0, "error"),
            span(json!({"id": "s7", "name": "chat small-1", "category": "llm", "status": "error",
                "promptIndex": 1, "startedAt": 1_450.0, "endedAt": 1_950.0,
                "attributes": {"error.type": "rate_limited", "http.response.status_code": 429,
                    "http.request.resend_count": 2}})),
        ],
        frames: vec![
            frame(Direction::Sent, 400.1, r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#),
            frame(Direction::Stderr, 405.0, "warning: amount is a string"),
            frame(Direction::Noise, 406.0, "listening…"),
            frame(Direction::Received, 412.0, r#"{"jsonrpc":"2.0","id":3,"result":{"isError":true}}"#),
        ],
        frames_dropped: 3,
        offered_tools: Vec::new(),
        adaptations: serde_json::from_value(json!([
            {"kind": "toolNameAliased", "subject": "refund.order", "detail": "offered as refund_order"}
        ]))
        .expect("adaptations"),
        lints: serde_json::from_value(json!([
            {"code": "stdoutNoise", "server": "shop", "message": "a line on stdout was no protocol"}
        ]))
        .expect("lints"),
    }
}

fn failed() -> TrialRecord {
    let mut record = with_evidence(
        with_turn(
            trial("PPPF.P", "argumentMismatch", Some("arguments")),
            json!({"argumentMismatches": [{
                "toolName": "refund_order",
                "expectedArgs": {"id": 17, "amount": 40},
                "actualArgs": {"id": 17, "amount": "40.00"}
            }]}),
        ),
        json!({"spanIds": ["s3"], "promptIndexes": [0]}),
    );
    record.predicate_results = vec![
        json!({"predicate": {"type": "noToolErrors"}, "passed": false, "reason": "2 tool errors"}),
        json!({"predicate": {"type": "responseContains", "role": "advisory"}, "passed": false,
            "reason": "the answer lacks \"refunded\"", "scope": {"kind": "turn", "promptIndex": 1}}),
        json!({"predicate": {"type": "toolCalledWith"}, "passed": false, "status": "error",
            "reason": "the pattern is no regular expression"}),
        json!({"predicate": {"type": "toolNeverCalled"}, "passed": true, "reason": "never called"}),
    ];
    record.policy_blocks = vec![json!({
        "caseId": "refunds", "iterationNumber": 1, "toolName": "delete_order", "toolCallId": "c3",
        "reason": "destructiveDefaultDeny", "classification": "destructive"
    })];
    record.skipped_steps = serde_json::from_value(json!([
        {"stepId": "s3", "stepIndex": 2, "kind": "assert", "reason": "an earlier step failed"}
    ]))
    .expect("skipped steps");
    record.actual_tool_calls = vec![json!({"toolName": "refund_order"}); 2];
    record.model_requests = 5;
    record.model_wait_ms = 1_641.5;
    record.server_wait_ms = 24.5;
    record.usage = serde_json::from_value(json!({
        "inputTokens": 1_218, "outputTokens": 144, "cachedInputTokens": 800
    }))
    .expect("usage");
    record.ended_at = 1_950;
    record
}

fn report(
    record: TrialRecord,
    trace: Option<&Trace>,
    detail: Detail,
    frames: RawFrames,
    style: Style,
) -> String {
    let mut fixture = Fixture::new();
    fixture.case("refunds", "refunds a late order", 0.8, 5, vec![record]);
    let input = TrialInput {
        run: &fixture.run,
        run_reference: "019ad2b4",
        trial: &fixture.trials[0],
        trace,
        frames: FramesKept::InTrace,
        judge_passes: &[],
    };
    trial_report(&input, detail, frames, &style)
}

#[test]
fn a_failed_trial() {
    insta::assert_snapshot!(report(
        failed(),
        Some(&trace()),
        Detail::Brief,
        RawFrames::Counted,
        Style::plain(100)
    ));
}

#[test]
fn a_failed_trial_in_full_with_frames() {
    insta::assert_snapshot!(report(
        failed(),
        Some(&trace()),
        Detail::Full,
        RawFrames::Listed,
        Style::ascii(80)
    ));
}

#[test]
fn a_trial_that_never_began_says_whose_side_it_was() {
    let record = ungraded(
        IterationStatus::SetupFailed,
        "??????",
        "setupAborted",
        Some("setup"),
        json!({"layer": "setup", "code": "pinned_server_not_connected", "message": "`shop-server` was not found"}),
    );
    insta::assert_snapshot!(report(
        record,
        Some(&Trace::default()),
        Detail::Brief,
        RawFrames::Counted,
        Style::plain(100)
    ));
}

#[test]
fn a_pruned_trace_is_said_to_be_gone() {
    let mut record = trial("PPPPPP", "observed", None);
    record.result = Some(TaskResult::Passed);
    insta::assert_snapshot!(report(
        record,
        None,
        Detail::Brief,
        RawFrames::Listed,
        Style::plain(100)
    ));
}

/// Every text of a trace that a server or a model may choose.
fn hostile(text: &str) -> (TrialRecord, Trace) {
    let mut trace = trace();
    for message in &mut trace.messages {
        for part in &mut message.parts {
            match part {
                Part::Text { text: own } => text.clone_into(own),
                Part::ToolCall {
                    tool_name,
                    arguments,
                    raw_arguments,
                    ..
                } => {
                    text.clone_into(tool_name);
                    *arguments = json!({text: [text]});
                    *raw_arguments = Some(text.to_owned());
                }
                Part::ToolResult {
                    tool_name,
                    model_text,
                    error,
                    ..
                } => {
                    text.clone_into(tool_name);
                    text.clone_into(model_text);
                    *error = Some(text.to_owned());
                }
            }
        }
    }
    for span in &mut trace.spans {
        text.clone_into(&mut span.name);
        for value in span.attributes.values_mut() {
            *value = json!(text);
        }
        span.ended_at = f64::NAN;
    }
    for frame in &mut trace.frames {
        text.clone_into(&mut frame.text);
        text.clone_into(&mut frame.server);
        frame.transport.insert(text.to_owned(), json!(text));
    }
    for lint in &mut trace.lints {
        text.clone_into(&mut lint.message);
        lint.tool_name = Some(text.to_owned());
    }
    for adaptation in &mut trace.adaptations {
        text.clone_into(&mut adaptation.subject);
        text.clone_into(&mut adaptation.detail);
    }
    let mut record = failed();
    for row in &mut record.predicate_results {
        row["reason"] = json!(text);
        row["predicate"]["type"] = json!(text);
    }
    record.policy_blocks = vec![json!({"toolName": text})];
    text.clone_into(&mut record.skipped_steps[0].reason);
    (record, trace)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_of_a_trace_reaches_the_terminal_raw(
        text in "[\\PC\\x00-\\x20\\x7f-\\x9f\u{200b}-\u{202e}]{0,60}",
        full in any::<bool>(),
    ) {
        let (record, trace) = hostile(&text);
        let detail = if full { Detail::Full } else { Detail::Brief };
        let shown = report(record, Some(&trace), detail, RawFrames::Listed, Style::plain(100));
        prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        let invisible = ['\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}'];
        prop_assert!(!shown.contains(invisible));
    }
}

#[test]
fn secrets_are_masked_wherever_they_stand() {
    let secret = "sk-abcdefghijklmnopqrstuvwx123456";
    for text in [secret.to_owned(), format!("token={secret}")] {
        let (record, trace) = hostile(&text);
        let shown = report(
            record,
            Some(&trace),
            Detail::Full,
            RawFrames::Listed,
            Style::plain(100),
        );
        assert!(!shown.contains("abcdefghijklmnop"), "{shown}");
    }
}

#[test]
fn a_flood_is_bounded_and_the_cut_is_counted() {
    let (record, mut trace) = hostile(&"x".repeat(100_000));
    let noise = trace.frames[2].clone();
    trace.frames.extend(std::iter::repeat_n(noise, 200));
    let shown = report(
        record,
        Some(&trace),
        Detail::Brief,
        RawFrames::Counted,
        Style::plain(100),
    );
    assert!(shown.len() < 30_000, "{} bytes", shown.len());
    assert!(shown.contains("195 earlier lines with --trace"));
}

fn judged() -> TrialRecord {
    let mut record = trial("PPPPPP", "judgeObserved", None);
    let provenance = json!({
        "model": "openai/judge-1", "judgeTemplateVersion": 4,
        "judgeTemplateHash": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "generatedAt": 1_796_083_200_000_i64,
    });
    let with = |mut document: Value| {
        let members = document.as_object_mut().expect("an object");
        members.extend(provenance.as_object().expect("an object").clone());
        document
    };
    let goal = with(json!({
        "status": "scored", "verdict": "pass", "score": 0.75, "threshold": 0.7, "partialFloor": 0.4,
        "scores": [0.9, 0.4, 0.75], "samples": 3, "aggregation": "median", "straddle": true,
        "role": "advisory", "isModelUnderTest": true,
        "criteria": [{"id": "state", "label": "names the state", "required": true, "met": 2, "of": 3}],
        "reasons": [
            "the samples straddle the threshold 0.7: 0.9, 0.4, 0.75 (median 0.75)",
            "The state is named \u{202e}and\u{1b}[31m supported by the call.",
        ],
    }));
    let condition = with(json!({
        "status": "scored", "condition": "missingUnits", "confidence": "medium",
        "remediation": "let get_order name the currency of total", "gradingKey": "refunds#0",
        "signalKind": "identicalRetry", "informationCallIndex": 0, "observedAtCallIndex": 1,
    }));
    record.metadata.insert("goalJudge".to_owned(), goal);
    record
        .metadata
        .insert("suspectedConditionVerdict".to_owned(), condition);
    record
}

#[test]
fn what_judges_say_is_told_with_who_they_are() {
    let text = report(
        judged(),
        None,
        Detail::Brief,
        RawFrames::Counted,
        Style::plain(100),
    );
    let section = text.split("\n\n").find(|part| part.contains(" judged"));
    insta::assert_snapshot!(section.expect("a section"));
}

#[test]
fn a_condition_that_cannot_be_believed_is_withheld() {
    let mut record = judged();
    record.metadata["suspectedConditionVerdict"]["confidence"] = json!("certain");
    let text = report(
        record,
        None,
        Detail::Brief,
        RawFrames::Counted,
        Style::plain(100),
    );
    assert!(text.contains("cannot be believed"), "{text}");
    assert!(!text.contains("currency"), "{text}");
}
