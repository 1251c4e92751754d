//! The worked example of the specification, to the digest.

use serde_json::{Value, json};
use strandline_contract::{canonical::canonical_json, words::Stage};
use strandline_derive::analytics::{
    latency_mean_ms, measured_pass_rate, measurement_coverage_rate, reach_rate,
    validate_stage_analytics,
};

use super::{funnel, run, set, time, trial};

fn trials() -> Vec<Value> {
    let under = |trial: &mut Value, provider: &str, model: Option<&str>| {
        trial["provider"] = json!(provider);
        if let Some(model) = model {
            trial["model"] = json!(model);
        }
    };
    let host = |trial: &mut Value| {
        trial["hostKey"] = json!("h1");
        trial["hostName"] = json!("Local");
        trial["executionEngine"] = json!("emulated");
    };
    let mut w1 = trial("w1");
    w1["intent"] = json!(" refunds ");
    under(&mut w1, "p1", Some("m1"));
    host(&mut w1);
    for stage in [Stage::Connection, Stage::Selection, Stage::Call] {
        set(&mut w1, stage, "passed", Some("observed"), "reached");
    }
    time(&mut w1, Stage::Selection, 240.0);
    time(&mut w1, Stage::Call, 100.0);

    let mut w2 = trial("w2");
    w2["status"] = json!("failed");
    w2["intent"] = json!("refunds");
    w2["failureCategory"] = json!("arguments");
    under(&mut w2, "p1", Some("m1"));
    host(&mut w2);
    set(
        &mut w2,
        Stage::Call,
        "failed",
        Some("argumentMismatch"),
        "reached",
    );
    for stage in [Stage::Response, Stage::UserValue] {
        set(
            &mut w2,
            stage,
            "notReached",
            Some("earlierStageFailed"),
            "notReached",
        );
    }
    time(&mut w2, Stage::Call, 60.0);

    let mut w3 = trial("w3");
    under(&mut w3, "p2", Some("m1"));
    set(
        &mut w3,
        Stage::Discovery,
        "notMeasured",
        Some("noEvidenceCaptured"),
        "unknown",
    );
    set(
        &mut w3,
        Stage::UserValue,
        "notMeasured",
        Some("judgePending"),
        "reached",
    );

    let mut w4 = trial("w4");
    w4["intent"] = json!("");
    under(&mut w4, "p2", None);
    set(
        &mut w4,
        Stage::UserValue,
        "notApplicable",
        Some("notAuthored"),
        "notApplicable",
    );

    let w5 = json!({
        "trialKey": "w5", "status": "timed_out", "intent": "refunds", "provider": "p1",
        "model": "m1", "hostKey": "h2",
    });
    vec![w1, w2, w3, w4, w5]
}

fn signals() -> Vec<Value> {
    let listed = |key: &str| json!({"phase": "discovery", "outcome": "ok", "durationMs": 35, "trialKey": key});
    vec![
        listed("w1"),
        listed("w2"),
        listed("w5"),
        json!({
            "phase": "connection", "outcome": "failed", "attribution": "theirs",
            "egressVerified": true, "durationMs": 1200, "trialKey": "w5",
        }),
        json!({"phase": "connection", "outcome": "ok", "durationMs": 90, "trialKey": "w1"}),
    ]
}

#[test]
fn the_row_is_the_specified_one_to_the_digest() {
    let row = json!(funnel(&trials(), &signals()));
    let text = canonical_json(&row);
    assert_eq!(text.len(), 11_372);
    assert_eq!(
        strandline_contract::canonical::sha256_hex(text.as_bytes()),
        "73df9a6bcc5c2b4a8d33f1c8973cf1c8cfa176ebf47d26422695c516c7081222"
    );
    assert_eq!(
        validate_stage_analytics(&row).map(|read| json!(read)),
        Ok(row)
    );
}

#[test]
fn rates_carry_numerator_denominator_and_exclusions() {
    let row = funnel(&trials(), &signals());
    let overall = row.overall().expect("a slice of all trials");
    let told = |stage: Stage| {
        let tally = &overall.stages[stage as usize];
        let rate = |rate: strandline_derive::analytics::StageRate| {
            let exclusions: Vec<_> = rate
                .exclusions()
                .iter()
                .map(|(class, count)| format!(" {class} {count}"))
                .collect();
            format!(
                "{}/{}{}",
                rate.numerator(),
                rate.denominator(),
                exclusions.concat()
            )
        };
        (
            rate(measurement_coverage_rate(tally)),
            rate(measured_pass_rate(tally)),
            rate(reach_rate(tally)),
            latency_mean_ms(tally.latency.as_ref()),
        )
    };
    let words = |texts: [&str; 3], mean: Option<f64>| {
        let [coverage, pass, reach] = texts.map(str::to_owned);
        (coverage, pass, reach, mean)
    };
    assert_eq!(
        told(Stage::Discovery),
        words(["3/3 reachUnknown 1"; 3], None)
    );
    assert_eq!(told(Stage::Call), words(["4/4", "3/4", "4/4"], Some(80.0)));
    assert_eq!(told(Stage::Response), words(["3/3", "3/3", "3/4"], None));
    assert_eq!(
        told(Stage::UserValue),
        words(
            [
                "1/2 notApplicable 1 notMeasured 1",
                "1/1 notApplicable 1 notMeasured 1",
                "2/3 notApplicable 1 notMeasured 1",
            ],
            None
        )
    );
}

#[test]
fn no_trials_give_a_valid_row_with_one_slice() {
    let row = funnel(&[], &[]);
    assert_eq!(row.slices.len(), 1);
    assert_eq!((row.included_trials, row.total_trials), (0, 0));
    assert!(row.excluded_trials.is_empty() && row.setup.is_empty());
    assert_eq!(
        row.stage_analyzer_version,
        run()["readerStageAnalyzerVersion"]
    );
    assert!(validate_stage_analytics(&json!(row)).is_ok());
}
