//! Stored funnels: what is refused, and what is not.

use serde_json::{Value, json};
use strandline_derive::analytics::validate_stage_analytics;

use super::{funnel, time, trial};

/// A valid row with every optional part.
fn stored() -> Value {
    let mut first = trial("t");
    first["intent"] = json!("refunds");
    first["provider"] = json!("p");
    first["model"] = json!("m");
    first["hostKey"] = json!("h");
    first["failureCategory"] = json!("arguments");
    first["stageResults"][3]["reason"] = json!("observed");
    time(&mut first, strandline_contract::words::Stage::Call, 10.0);
    let signal = json!({
        "phase": "connection", "outcome": "failed", "attribution": "theirs",
        "egressVerified": true, "durationMs": 5, "trialKey": "t",
    });
    let mut row = json!(funnel(&[first, trial("u")], &[signal]));
    row["sliceTruncation"] = json!([{"dimension": "model", "distinctValues": 3, "retained": 1}]);
    row
}

fn check(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut row = stored();
    change(&mut row);
    match validate_stage_analytics(&row) {
        Ok(_) => Vec::new(),
        Err(found) => found.into_iter().map(|violation| violation.path).collect(),
    }
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().expect("an object").remove(key);
}

#[test]
fn a_full_row_is_read_whole() {
    let row = stored();
    assert_eq!(
        validate_stage_analytics(&row).map(|read| json!(read)),
        Ok(row)
    );
}

#[test]
fn what_cannot_be_true_is_refused_at_its_place() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 30] = [
        ("extra", |row| row["extra"] = json!(1)),
        ("slices[0].stages[3].extra", |row| {
            row["slices"][0]["stages"][3]["extra"] = json!(1)
        }),
        ("schemaVersion", |row| row["schemaVersion"] = json!(2)),
        ("measurementUnit", |row| {
            row["measurementUnit"] = json!("caseVariant")
        }),
        ("runId", |row| row["runId"] = json!("")),
        ("runGroupId", |row| row["runGroupId"] = Value::Null),
        ("updatedAt", |row| row["updatedAt"] = json!(1.5)),
        ("createdAt", |row| {
            row["createdAt"] = json!(9_007_199_254_740_992_u64)
        }),
        ("stageAnalyzerVersion", |row| {
            row["stageAnalyzerVersion"] = json!(0)
        }),
        ("sourceStageAnalyzerVersions", |row| {
            row["sourceStageAnalyzerVersions"] = json!([8])
        }),
        ("materializationState", |row| {
            row["materializationState"] = json!("done")
        }),
        ("excludedTrials.weather", |row| {
            row["excludedTrials"]["weather"] = json!(1)
        }),
        ("excludedTrialDetail.skipped", |row| {
            row["excludedTrialDetail"]["skipped"] = Value::Null
        }),
        ("includedTrials", |row| {
            row["includedTrials"] = json!(3);
            row["slices"][0]["includedTrials"] = json!(3);
        }),
        ("slices", |row| {
            row["slices"][0]["includedTrials"] = json!(1)
        }),
        ("slices", |row| {
            let again = row["slices"][0].clone();
            row["slices"].as_array_mut().expect("slices").push(again);
        }),
        ("slices[1].slice.intent", |row| {
            row["slices"][1]["slice"]["intent"] = json!("")
        }),
        ("slices[1].slice.intent", |row| {
            remove(&mut row["slices"][1]["slice"], "intent")
        }),
        ("slices[0].failureCategories[0].count", |row| {
            row["slices"][0]["failureCategories"][0]["count"] = json!(0);
        }),
        ("slices[0].stages[3].reasons[0].reason", |row| {
            row["slices"][0]["stages"][3]["reasons"][0]["reason"] = json!("moonPhase");
        }),
        ("slices[0].stages[1].stage", |row| {
            row["slices"][0]["stages"][1]["stage"] = json!("call");
        }),
        ("slices[0].stages[0].measured", |row| {
            row["slices"][0]["stages"][0]["passed"] = json!(1);
        }),
        ("slices[0].stages[0].reached", |row| {
            row["slices"][0]["stages"][0]["notMeasured"] = json!(1);
        }),
        ("slices[0].stages[0].applicable", |row| {
            row["slices"][0]["stages"][0]["applicable"] = json!(9);
        }),
        ("slices[0].stages[3].latency.minMs", |row| {
            row["slices"][0]["stages"][3]["latency"]["minMs"] = json!(11);
            row["slices"][0]["stages"][3]["latency"]["totalMs"] = json!(11);
        }),
        ("slices[0].stages[3].latency.totalMs", |row| {
            row["slices"][0]["stages"][3]["latency"]["totalMs"] = json!(11);
        }),
        ("slices[0].stages[3].latency.sampleCount", |row| {
            row["slices"][0]["stages"][3]["latency"]["sampleCount"] = json!(3);
            row["slices"][0]["stages"][3]["latency"]["totalMs"] = json!(30);
        }),
        ("setup[0].failedAttempts", |row| {
            row["setup"][0]["failedAttempts"] = json!(2)
        }),
        ("setup[0].serverAttributedFailures", |row| {
            row["setup"][0]["failedAttempts"] = json!(0);
        }),
        ("sliceTruncation[0].dimension", |row| {
            row["sliceTruncation"][0]["dimension"] = json!("overall");
        }),
    ];
    for (path, change) in cases {
        let found = check(change);
        assert!(
            found.iter().any(|violation| violation == path),
            "{path}: {found:?}"
        );
    }
}

#[test]
fn a_phase_occurs_once() {
    let found = check(|row| {
        let again = row["setup"][0].clone();
        row["setup"].as_array_mut().expect("tallies").push(again);
    });
    assert_eq!(found, ["setup"]);
}

#[test]
fn what_is_merely_odd_is_not_refused() {
    let odd: [fn(&mut Value); 7] = [
        |row| row["excludedTrials"]["lifecycle"] = json!(7),
        |row| row["excludedTrialDetail"]["skipped"] = json!(0),
        |row| row["slices"].as_array_mut().expect("slices").reverse(),
        |row| row["sliceTruncation"] = json!([]),
        |row| row["sliceTruncation"][0]["retained"] = json!(9),
        |row| row["createdAt"] = json!(5_000),
        |row| row["sourceStageAnalyzerVersions"] = json!([9, 8, 8]),
    ];
    for change in odd {
        assert_eq!(check(change), [""; 0]);
    }
}
