//! Every rule of the friction validator refuses what breaks it (`friction.md` §7).

use serde_json::{Map, Value, json};
use strandline_derive::friction::{
    StoredFriction, project_friction_signals, validate_friction_signals,
};

use super::derive;

/// A document with one signal of every kind.
fn stored() -> Value {
    let call = |name: &str, id: usize, arguments: Value| json!({"toolName": name, "toolCallId": id.to_string(), "arguments": arguments});
    let calls = json!([
        call("s", 0, json!({"q": 1})),
        call("s", 1, json!({"q": 2})),
        call("g", 2, json!({"t": 1})),
        call("g", 3, json!({"t": 1})),
        call("g", 4, json!({"t": 1, "page": 2})),
    ]);
    let mut results: Map<String, Value> = (1..5)
        .map(|id: usize| (id.to_string(), json!({"raw": null})))
        .collect();
    results.insert(
        "0".to_owned(),
        json!({"raw": {"structuredContent": {"id": "ISSUE-41"}}}),
    );
    let document = json!(derive(&calls, &Value::Object(results)));
    let kinds: Vec<_> = document["signals"]
        .as_array()
        .expect("signals")
        .iter()
        .map(|signal| signal["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        [
            "searchRepeatedAfterIdentifier",
            "changedRetry",
            "identicalRetry",
            "identifierSurfacedUnused",
            "paginationContinuation"
        ]
    );
    document
}

#[test]
fn every_rule_names_the_place_it_refuses() {
    type Change = fn(&mut Value);
    let expected: Vec<(&str, Change)> = vec![
        ("x", |v| v["x"] = json!(1)),
        ("version", |v| v["version"] = json!(2)),
        ("state", |v| v["state"] = json!("unknown")),
        ("notMeasuredReason", |v| {
            v["notMeasuredReason"] = json!("truncated")
        }),
        ("notMeasuredReason", |v| v["state"] = json!("notMeasured")),
        ("signals", |v| v["state"] = json!("notMeasured")),
        ("resultAvailableCount", |v| {
            v["resultAvailableCount"] = json!(6)
        }),
        ("timedCallCount", |v| v["timedCallCount"] = json!(6)),
        ("identifierSignals.reason", |v| {
            v["identifierSignals"]["reason"] = json!("truncated")
        }),
        (
            "signals[0]",
            |v| {
                v["identifierSignals"] =
                    json!({"state": "notMeasured", "reason": "orderingUnknown"})
            },
        ),
        ("signals[4]", |v| v["callCount"] = json!(4)),
        ("signals[0]", |v| {
            v["signals"][0]["informationCallIndex"] = json!(1)
        }),
        ("signals[1]", |v| {
            v["signals"][1]["priorCallIndex"] = json!(1)
        }),
        ("signals[0]", |v| {
            v["signals"][0]["repeatCallIndexes"] = json!([2])
        }),
        ("signals[1]", |v| {
            v["signals"]
                .as_array_mut()
                .expect("signals")
                .rotate_right(1)
        }),
        ("signals", |v| {
            v["signals"] = json!(vec![v["signals"][1].clone(); 25])
        }),
        ("signals[0].kind", |v| {
            v["signals"][0]["kind"] = json!("other")
        }),
        ("signals[0].toolName", |v| {
            v["signals"][0]["toolName"] = json!("")
        }),
        ("signals[0].toolCallId", |v| {
            v["signals"][0]["toolCallId"] = json!(null)
        }),
        ("signals[0].repeatCallIndexes", |v| {
            v["signals"][0]["repeatCallIndexes"] = json!([])
        }),
        ("signals[0].identifierCount", |v| {
            v["signals"][0]["identifierCount"] = json!(0)
        }),
        ("signals[0].identifierKeyPaths", |v| {
            v["signals"][0]["identifierKeyPaths"] = json!(vec!["a"; 9])
        }),
        ("signals[0].identifierKeyPaths[0]", |v| {
            v["signals"][0]["identifierKeyPaths"] = json!([""])
        }),
        ("signals[1].afterError", |v| {
            v["signals"][1]["afterError"] = json!(0)
        }),
        ("signals[3].laterCallCount", |v| {
            v["signals"][3]["laterCallCount"] = json!(1)
        }),
        ("signals[4].afterError", |v| {
            v["signals"][4]["afterError"] = json!(false)
        }),
        ("signals[4].paginationKeys[0]", |v| {
            v["signals"][4]["paginationKeys"] = json!(["size"])
        }),
    ];
    for (path, change) in expected {
        let mut document = stored();
        assert!(validate_friction_signals(&document).is_ok());
        change(&mut document);
        let violations = validate_friction_signals(&document).expect_err(path);
        let paths: Vec<_> = violations.iter().map(|violation| &violation.path).collect();
        assert!(
            paths.iter().any(|found| *found == path),
            "{path}: {paths:?}"
        );
    }
}

#[test]
fn what_the_rules_do_not_tie_is_accepted() {
    let mut document = stored();
    document["signals"][0]["repeatCallIndexes"] = json!([1, 0, 1]);
    document["signals"][0]["identifierKeyPaths"] = json!([]);
    assert!(validate_friction_signals(&document).is_ok());
    let mut empty = json!(derive(&json!([]), &json!({})));
    empty["identifierSignals"]["reason"] = json!("truncated");
    assert!(validate_friction_signals(&empty).is_ok());
}

#[test]
fn metadata_tells_absent_from_unverified() {
    let metadata = |value: Option<Value>| {
        let mut metadata = Map::new();
        if let Some(value) = value {
            metadata.insert("frictionSignals".to_owned(), value);
        }
        project_friction_signals(&metadata)
    };
    assert_eq!(metadata(None), StoredFriction::Absent);
    assert_eq!(metadata(Some(json!(null))), StoredFriction::Unverified);
    assert!(matches!(
        metadata(Some(stored())),
        StoredFriction::Verified(_)
    ));
}
