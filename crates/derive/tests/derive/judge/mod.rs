//! LLM judges: prompts, answers, aggregation, and what follows from them.

mod attribution;
mod condition;
mod goal;
mod regrade;
mod settings;

use serde::Deserialize;
use serde_json::{Value, json};
use strandline_contract::{
    judgement::JudgeProvenance, run::TrialRecord, suite::ResolvedSuite, trace::Trace,
};
use strandline_derive::judge::JudgeSettings;

/// Returns what a suite with this judge says about a case.
pub(crate) fn settings(judge: Value, case: Value) -> JudgeSettings {
    let mut document = json!({
        "schemaVersion": "2", "suite": {"id": "s", "name": "S"}, "target": {},
        "defaults": {
            "model": "m", "iterations": 1, "passThreshold": 1.0, "captureLevel": "full",
            "validity": {"minCompletionRate": 0.8, "maxEvaluatorErrorRate": 0.1}
        },
        "cases": [{
            "id": "c", "title": "t", "steps": [], "assertions": [], "isNegativeTest": false,
            "model": "m", "iterations": 1, "passThreshold": 1.0, "disabled": false
        }],
        "execution": {},
    });
    if !judge.is_null() {
        document["defaults"]["judge"] = judge;
    }
    for (key, value) in case.as_object().expect("an object") {
        document["cases"][0][key] = value.clone();
    }
    let suite = ResolvedSuite::deserialize(&document).expect("a suite");
    JudgeSettings::of(&suite, &suite.cases[0])
}

/// A conversation: request, one call, answer.
pub(crate) fn trace(answer: &str) -> Trace {
    let part = |part: Value| json!([part]);
    serde_json::from_value(json!({"messages": [
        {"role": "user", "promptIndex": 0, "parts": part(json!({"type": "text", "text": "Where is order 7?"}))},
        {"role": "assistant", "promptIndex": 0, "parts": part(json!({
            "type": "tool-call", "toolCallId": "c1", "toolName": "find_order", "arguments": {"id": 7}}))},
        {"role": "tool", "promptIndex": 0, "parts": part(json!({
            "type": "tool-result", "toolCallId": "c1", "toolName": "find_order",
            "result": {"content": [{"type": "text", "text": "shipped"}]}, "modelText": "shipped",
            "isError": false}))},
        {"role": "assistant", "promptIndex": 0, "parts": part(json!({"type": "text", "text": answer}))},
    ]}))
    .expect("a trace")
}

/// A completed trial with these evidence members; its chain is derived.
pub(crate) fn trial(evidence: Value, authored: Value) -> TrialRecord {
    let mut input = json!({
        "authored": {"mode": "model_driven", "expectsToolCall": true, "assertionCount": 1},
        "evidence": {
            "spans": [{"id": "s1", "category": "tool", "status": "ok"}],
            "prompts": [{"promptIndex": 0, "passed": true}],
            "toolSignals": {"toolsTotalBefore": 3},
        },
        "iteration": {"status": "completed"},
    });
    for (target, more) in [("evidence", evidence), ("authored", authored)] {
        for (key, value) in more.as_object().expect("an object") {
            input[target][key] = value.clone();
        }
    }
    let chain = strandline_derive::judge::derive_trial_chain(&input);
    serde_json::from_value(json!({
        "id": "t1", "runId": "r1", "caseId": "c", "title": "t", "iterationNumber": 0,
        "status": "completed", "result": "passed", "startedAt": 0, "endedAt": 1,
        "expectedToolCalls": [{"toolName": "find_order", "arguments": {"id": 7}}],
        "actualToolCalls": [{"toolName": "find_order", "arguments": {"id": 7}, "toolCallId": "c1"}],
        "chainInput": input, "chain": chain, "stageMeasurements": null,
    }))
    .expect("a trial")
}

pub(crate) fn provenance() -> JudgeProvenance {
    JudgeProvenance {
        model: "openai/judge".to_owned(),
        is_model_under_test: false,
        judge_template_version: 4,
        judge_template_hash: "0a".repeat(32),
        generated_at: 1_796_083_200_000,
    }
}
