//! Measurements beside a stored chain (`measurements.md` §6).

use serde_json::{Map, Value, json};
use strandline_contract::measurements::TimedSpan;
use strandline_derive::measurements::attach_measurements;

fn attach(metadata: Value) -> Map<String, Value> {
    let Value::Object(metadata) = metadata else {
        panic!("metadata is an object");
    };
    let span = TimedSpan {
        id: Some("a".into()),
        started_at: Some(1.0),
        ended_at: Some(5.0),
        ..TimedSpan::default()
    };
    attach_measurements(&metadata, &[span])
}

fn metadata(version: Value) -> Value {
    json!({
        "stageResults": [{"stage": "call", "state": "passed", "evidence": {"spanIds": ["a"]}}],
        "stageAnalyzerVersion": version,
        "stageMeasurements": "stale",
    })
}

#[test]
fn measurements_replace_what_was_there() {
    let attached = attach(metadata(json!(11)));
    let measurements = &attached["stageMeasurements"];
    assert_eq!(measurements["stageAnalyzerVersion"], 11);
    assert_eq!(measurements["rows"][3]["latency"]["value"], 4);
    assert_eq!(attached["stageAnalyzerVersion"], 11);
}

#[test]
fn a_version_that_is_none_becomes_the_current_one() {
    for version in [json!(0), json!(1.5), json!("11"), Value::Null] {
        let attached = attach(metadata(version));
        assert_eq!(attached["stageMeasurements"]["stageAnalyzerVersion"], 12);
    }
}

#[test]
fn without_rows_metadata_is_unchanged() {
    for rows in [json!([]), json!("x"), Value::Null, json!([{"stage": "x"}])] {
        let metadata = json!({"stageResults": rows, "stageMeasurements": "kept"});
        assert_eq!(Value::Object(attach(metadata.clone())), metadata);
    }
}
