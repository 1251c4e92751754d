//! Stage analytics (`analytics.md`).

mod classify;
mod parity;
mod properties;
mod rates;
mod stored;
mod worked;

use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::AnalyticsInput,
    words::{Stage, Vocabulary},
};
use strandline_derive::analytics::derive_stage_analytics;
use strandline_testkit::vectors;

#[test]
fn funnels_are_as_the_vectors_say() {
    vectors::check("analytics", |input| {
        let input: AnalyticsInput<'_> =
            serde_json::from_str(input).map_err(|error| error.to_string())?;
        Ok(json!(derive_stage_analytics(&input)))
    });
}

/// The run of the specification's worked example.
fn run() -> Value {
    json!({
        "runId": "r1", "suiteId": "s1", "runGroupId": "g1", "configRevision": "cfg1",
        "caseSetFingerprint": "cs1", "materializationState": "final", "now": 1000,
        "createdAt": 900, "readerStageAnalyzerVersion": 8,
    })
}

/// A trial that is counted: six passed stages, measured as they imply.
fn trial(key: &str) -> Value {
    let rows: Vec<Value> = Stage::ALL
        .iter()
        .map(|stage| json!({"stage": stage, "state": "passed"}))
        .collect();
    let measured: Vec<Value> = Stage::ALL
        .iter()
        .map(|stage| json!({"stage": stage, "reach": "reached"}))
        .collect();
    json!({
        "trialKey": key, "status": "completed", "stageResults": rows, "stageAnalyzerVersion": 8,
        "chainVerified": true, "measurementsVerified": true,
        "measurements": {"schemaVersion": 1, "stageAnalyzerVersion": 8, "rows": measured},
    })
}

/// Sets a stage's row and the reach that goes with it.
fn set(trial: &mut Value, stage: Stage, state: &str, reason: Option<&str>, reach: &str) {
    let index = stage as usize;
    trial["stageResults"][index]["state"] = json!(state);
    if let Some(reason) = reason {
        trial["stageResults"][index]["reason"] = json!(reason);
    }
    trial["measurements"]["rows"][index]["reach"] = json!(reach);
}

fn time(trial: &mut Value, stage: Stage, milliseconds: f64) {
    trial["measurements"]["rows"][stage as usize]["latency"] =
        json!({"unit": "ms", "basis": "evidence_span_union", "value": milliseconds});
}

fn funnel(trials: &[Value], signals: &[Value]) -> StageAnalytics {
    funnel_of(&run(), trials, signals)
}

fn funnel_of(run: &Value, trials: &[Value], signals: &[Value]) -> StageAnalytics {
    let text = json!({"run": run, "trials": trials, "setupSignals": signals}).to_string();
    let input: AnalyticsInput<'_> = serde_json::from_str(&text).expect("an input");
    derive_stage_analytics(&input)
}
