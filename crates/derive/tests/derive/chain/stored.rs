//! Stored chains: the table of `chain.md` §11.3.

use serde_json::{Value, json};
use strandline_contract::chain_input::ChainInput;
use strandline_derive::chain::{derive_chain, project_chain, validate_chain};

/// A derivation whose selection failed.
fn stored() -> Value {
    let input = json!({
        "authored": {"mode": "model_driven"},
        "evidence": {"prompts": [{"promptIndex": 0, "missing": [{}]}]},
        "iteration": {"status": "completed"},
    })
    .to_string();
    let input: ChainInput<'_> = serde_json::from_str(&input).expect("an input");
    serde_json::to_value(derive_chain(&input)).expect("a chain is JSON")
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut stored = stored();
    change(&mut stored);
    stored
}

fn without(stored: &mut Value, key: &str) {
    stored.as_object_mut().expect("an object").remove(key);
}

fn project(metadata: &Value) -> Value {
    Value::Object(project_chain(metadata))
}

#[test]
fn a_valid_chain_is_shown_whole_without_unknown_keys() {
    assert_eq!(project(&stored()), stored());
    let padded = changed(|stored| {
        stored["note"] = json!(1);
        stored["stageResults"][2]["note"] = json!(1);
        stored["stageResults"][2]["evidence"]["note"] = json!(1);
    });
    assert_eq!(project(&padded), stored());
    assert_eq!(validate_chain(&padded), Ok(()));
}

#[test]
fn without_a_chain_there_is_nothing_to_show() {
    assert_eq!(
        project(&changed(|stored| without(stored, "stageResults"))),
        json!({})
    );
    assert_eq!(project(&json!("x")), json!({}));
    assert_eq!(project(&json!([])), json!({}));
}

#[test]
fn some_changes_leave_a_chain_valid() {
    let valid: Vec<fn(&mut Value)> = vec![
        |stored| without(stored, "failureCategory"),
        |stored| stored["failureCategory"] = json!("setup"),
        |stored| without(&mut stored["stageResults"][2], "reason"),
        |stored| stored["stageResults"][0]["evidence"] = json!({}),
        |stored| stored["stageResults"][2]["evidence"]["promptIndexes"] = json!([0.5]),
        |stored| stored["stageAnalyzerVersion"] = json!(0),
        |stored| stored["stageAnalyzerVersion"] = json!(99),
        |stored| stored["stageAnalyzerVersion"] = json!(12.0),
        |stored| stored["stageResults"][0]["reason"] = json!("judgeFailed"),
    ];
    for change in valid {
        let stored = changed(change);
        assert_eq!(project(&stored), stored);
    }
}

#[test]
fn an_invalid_chain_is_withheld_with_its_version() {
    let invalid: Vec<fn(&mut Value)> = vec![
        |stored| stored["stageResults"] = Value::Null,
        |stored| {
            stored["stageResults"].as_array_mut().expect("rows").pop();
        },
        |stored| {
            stored["stageResults"]
                .as_array_mut()
                .expect("rows")
                .swap(0, 1)
        },
        |stored| without(stored, "firstFailedStage"),
        |stored| stored["firstFailedStage"] = json!("call"),
        |stored| stored["firstFailedStage"] = Value::Null,
        |stored| stored["failureCategory"] = json!("x"),
        |stored| stored["failureCategory"] = Value::Null,
        |stored| stored["stageResults"][2]["reason"] = json!("x"),
        |stored| stored["stageResults"][2]["evidence"] = Value::Null,
        |stored| stored["stageResults"][2]["evidence"]["spanIds"] = json!([1]),
        |stored| stored["stageResults"][2]["state"] = json!("ok"),
    ];
    for change in invalid {
        let stored = changed(change);
        assert!(validate_chain(&stored).is_err(), "{stored}");
        assert_eq!(
            project(&stored),
            json!({"stageResultsUnverified": true, "stageAnalyzerVersion": 12}),
            "{stored}"
        );
    }
}

#[test]
fn a_version_that_is_none_is_withheld_too() {
    let versions: Vec<fn(&mut Value)> = vec![
        |stored| stored["stageAnalyzerVersion"] = json!(-1),
        |stored| stored["stageAnalyzerVersion"] = json!(1.5),
        |stored| without(stored, "stageAnalyzerVersion"),
    ];
    for change in versions {
        assert_eq!(
            project(&changed(change)),
            json!({"stageResultsUnverified": true})
        );
    }
}

#[test]
fn every_violation_is_told_with_its_path() {
    let stored = changed(|stored| {
        stored["stageResults"][1]["state"] = json!("x");
        stored["stageAnalyzerVersion"] = json!("12");
    });
    let paths: Vec<String> = validate_chain(&stored)
        .expect_err("two violations")
        .into_iter()
        .map(|violation| violation.path)
        .collect();
    assert_eq!(paths, ["stageResults[1].state", "stageAnalyzerVersion"]);
}
