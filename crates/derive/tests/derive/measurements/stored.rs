//! Stored measurements: the table of `measurements.md` §5, and §5.1.

use serde::Deserialize;
use serde_json::{Value, json};
use strandline_contract::{
    measurements::{MeasurementsInput, StageMeasurements},
    words::{Stage, StageState},
};
use strandline_derive::measurements::{
    DisagreementCode, derive_measurements, disagreements, validate_measurements,
};
use strandline_testkit::vectors::workspace_root;

/// A valid value with a latency on `call`.
fn stored() -> Value {
    let row = |stage: &str| json!({"stage": stage, "reach": "reached"});
    let mut call = row("call");
    call["latency"] = latency();
    json!({
        "schemaVersion": 1,
        "stageAnalyzerVersion": 12,
        "rows": [
            row("connection"), row("discovery"), row("selection"), call, row("response"),
            row("userValue"),
        ],
    })
}

fn latency() -> Value {
    json!({"unit": "ms", "basis": "evidence_span_union", "value": 5})
}

fn check(change: fn(&mut Value)) -> Result<(), Vec<String>> {
    let mut stored = stored();
    change(&mut stored);
    validate_measurements(&stored).map_err(|found| found.iter().map(ToString::to_string).collect())
}

#[test]
fn some_changes_leave_measurements_valid() {
    let valid: [fn(&mut Value); 5] = [
        |_| (),
        |stored| stored["stageAnalyzerVersion"] = json!(99),
        |stored| {
            stored["rows"][2]["latency"] = latency();
            stored["rows"][4]["latency"] = latency();
        },
        |stored| {
            stored["rows"][3]
                .as_object_mut()
                .expect("a row")
                .remove("latency");
        },
        |stored| stored["rows"][3]["latency"]["value"] = json!(0),
    ];
    for change in valid {
        assert_eq!(check(change), Ok(()));
    }
}

#[test]
fn other_changes_do_not() {
    let invalid: [fn(&mut Value); 16] = [
        |stored| stored["schemaVersion"] = json!(2),
        |stored| stored["stageAnalyzerVersion"] = json!(0),
        |stored| stored["stageAnalyzerVersion"] = json!(1.5),
        |stored| {
            stored["rows"].as_array_mut().expect("rows").pop();
        },
        |stored| stored["rows"].as_array_mut().expect("rows").swap(0, 1),
        |stored| stored["extra"] = json!(1),
        |stored| stored["rows"][0]["extra"] = json!(1),
        |stored| stored["rows"][3]["latency"]["extra"] = json!(1),
        |stored| stored["rows"][0]["latency"] = latency(),
        |stored| stored["rows"][3]["reach"] = json!("unknown"),
        |stored| stored["rows"][3]["latency"] = Value::Null,
        |stored| stored["rows"][3]["latency"]["value"] = json!(-1),
        |stored| stored["rows"][3]["latency"]["basis"] = json!("setup_phase_wall"),
        |stored| stored["rows"][3]["latency"]["unit"] = json!("s"),
        |stored| stored["rows"][3]["reach"] = json!("passed"),
        |stored| *stored = json!([]),
    ];
    for change in invalid {
        assert!(check(change).is_err());
    }
}

#[test]
fn placement_is_told_for_every_row_once_the_shape_holds() {
    let found = check(|stored| {
        stored["rows"][0]["latency"] = latency();
        stored["rows"][3]["reach"] = json!("unknown");
    });
    assert_eq!(
        found.expect_err("two violations"),
        [
            "`rows[0]`: `connection` carries no latency",
            "`rows[3]`: latency only stands where the stage was reached",
        ]
    );
}

/// The examples say of each derived value whether it is valid, and how often it
/// disagrees with the rows it was derived from.
#[test]
fn examples_are_valid_and_agree_as_they_say() {
    let file = workspace_root().join("conformance/measurements.jsonl");
    let text = std::fs::read_to_string(file).expect("the examples are there");
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line");
        let input = MeasurementsInput::deserialize(&line["input"]).expect("an input");
        let derived = derive_measurements(&input);
        let stored = serde_json::to_value(&derived).expect("JSON");
        assert_eq!(
            validate_measurements(&stored).is_ok(),
            line["valid"] == true,
            "{}",
            line["id"]
        );
        let found = disagree(&derived, &input);
        assert_eq!(line["disagreements"], found.len(), "{}", line["id"]);
    }
}

fn disagree(derived: &StageMeasurements, input: &MeasurementsInput<'_>) -> Vec<DisagreementCode> {
    let measured: Vec<_> = derived
        .rows
        .iter()
        .map(|row| (row.stage, row.reach))
        .collect();
    let chained: Vec<_> = input
        .stage_results
        .iter()
        .map(|row| (row.stage, row.state))
        .collect();
    let version = derived.stage_analyzer_version;
    disagreements(&measured, version, &chained, version)
        .iter()
        .map(|found| found.code)
        .collect()
}

#[test]
fn each_disagreement_is_named_with_its_place() {
    use DisagreementCode as Code;
    let measured: Vec<_> = stored()["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let row = strandline_contract::measurements::StageMeasurement::deserialize(row);
            let row = row.expect("a row");
            (row.stage, row.reach)
        })
        .collect();
    let chained = [
        (Stage::Connection, StageState::Passed),
        (Stage::Discovery, StageState::NotMeasured),
        (Stage::Selection, StageState::NotReached),
        (Stage::Response, StageState::Passed),
        (Stage::Response, StageState::Failed),
    ];
    let found = disagreements(&measured, 12, &chained, 11);
    let codes: Vec<_> = found
        .iter()
        .map(|found| (found.code, found.index))
        .collect();
    assert_eq!(
        codes,
        [
            (Code::AnalyzerVersionMismatch, None),
            (Code::ReachInconsistent, Some(2)),
            (Code::RowOutOfOrder, Some(3)),
            (Code::RowMissing, Some(5)),
        ]
    );
}
