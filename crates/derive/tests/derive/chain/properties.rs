//! What holds for every input.

use proptest::prelude::*;
use serde_json::{Value, json};
use strandline_contract::{
    chain_input::ChainInput,
    words::{IterationStatus, Stage, Vocabulary},
};
use strandline_derive::chain::{derive_chain, project_chain, validate_chain};

use super::inputs::input;

fn derive(input: &Value) -> Value {
    let text = input.to_string();
    let input: ChainInput<'_> = serde_json::from_str(&text).expect("the input can be read");
    serde_json::to_value(derive_chain(&input)).expect("a chain is JSON")
}

fn rows(chain: &Value) -> &Vec<Value> {
    chain["stageResults"].as_array().expect("rows")
}

fn states(chain: &Value) -> Vec<&str> {
    let state = |row: &'_ Value| row["state"].as_str().is_some();
    assert!(rows(chain).iter().all(state));
    rows(chain)
        .iter()
        .filter_map(|row| row["state"].as_str())
        .collect()
}

fn list<'v>(row: &'v Value, key: &str) -> &'v [Value] {
    row["evidence"][key].as_array().map_or(&[], Vec::as_slice)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_input_always_gives_the_same_chain(input in input()) {
        prop_assert_eq!(derive(&input), derive(&input));
    }

    #[test]
    fn text_and_stored_value_are_read_alike(input in input()) {
        use serde::Deserialize;
        let read = ChainInput::deserialize(&input).expect("the value can be read");
        let chain = serde_json::to_value(derive_chain(&read)).expect("a chain is JSON");
        prop_assert_eq!(chain, derive(&input));
    }

    #[test]
    fn six_rows_in_stage_order_each_with_a_reason(input in input()) {
        let chain = derive(&input);
        let stages: Vec<&str> = rows(&chain).iter().filter_map(|row| row["stage"].as_str()).collect();
        let expected: Vec<&str> = Stage::ALL.iter().map(|stage| stage.wire()).collect();
        prop_assert_eq!(stages, expected);
        prop_assert!(rows(&chain).iter().all(|row| row["reason"].is_string()));
    }

    #[test]
    fn the_validator_accepts_every_chain_and_the_projection_keeps_it(input in input()) {
        let chain = derive(&input);
        prop_assert_eq!(validate_chain(&chain), Ok(()));
        prop_assert_eq!(Value::Object(project_chain(&chain)), chain);
    }

    #[test]
    fn the_first_failed_stage_is_that_of_the_first_failed_row(input in input()) {
        let chain = derive(&input);
        let failed = rows(&chain).iter().find(|row| row["state"] == "failed");
        prop_assert_eq!(chain.get("firstFailedStage"), failed.map(|row| &row["stage"]));
        if failed.is_some() {
            prop_assert!(chain["failureCategory"].is_string());
        }
    }

    #[test]
    fn nothing_unmeasured_stands_after_a_failure(mut input in input()) {
        input["iteration"]["status"] = json!("completed");
        input["policy"] = Value::Null;
        let chain = derive(&input);
        let states = states(&chain);
        if let Some(first) = states.iter().position(|state| *state == "failed") {
            prop_assert!(!states[first..].contains(&"notMeasured"));
            prop_assert!(!states[..first].contains(&"notReached"));
        } else {
            prop_assert!(!states.contains(&"notReached"));
        }
    }

    #[test]
    fn a_stage_applies_or_not_whatever_the_branch(input in input()) {
        let applies = |status: &str, blocked: bool| -> Vec<bool> {
            let mut input = input.clone();
            input["iteration"]["status"] = json!(status);
            input["policy"] = json!({"blocked": blocked});
            let chain = derive(&input);
            for row in rows(&chain) {
                let not_authored = row["reason"] == "notAuthored";
                assert_eq!(row["state"] == "notApplicable", not_authored);
                assert!(!not_authored || row.get("evidence").is_none());
            }
            states(&chain).iter().map(|state| *state != "notApplicable").collect()
        };
        let expected = applies("completed", false);
        prop_assert!(expected[0] && expected[1]);
        for status in IterationStatus::ALL {
            prop_assert_eq!(&applies(status.wire(), false), &expected);
            prop_assert_eq!(&applies(status.wire(), true), &expected);
        }
    }

    #[test]
    fn advisory_and_errored_rows_decide_nothing(input in input()) {
        let mut without = input.clone();
        if let Some(rows) = without["evidence"]["predicateResults"].as_array_mut() {
            rows.retain(|row| row["predicate"]["role"] != "advisory" && row["status"] != "error");
        }
        prop_assert_eq!(derive(&without), derive(&input));
    }

    #[test]
    fn a_judge_never_speaks_over_a_measured_failure(input in input()) {
        let mut without = input.clone();
        without["evidence"]["judgeEvidence"] = Value::Null;
        let (with, without) = (derive(&input), derive(&without));
        prop_assert_eq!(&rows(&with)[..5], &rows(&without)[..5]);
        let upstream = states(&with)[..5].contains(&"failed");
        if upstream {
            prop_assert_eq!(with, without);
        }
    }

    #[test]
    fn evidence_stays_within_its_caps(input in input()) {
        let chain = derive(&input);
        for row in rows(&chain) {
            prop_assert!(list(row, "spanIds").len() <= 5);
            let reasons = list(row, "predicateReasons");
            prop_assert!(reasons.len() <= 5);
            for reason in reasons {
                let reason = reason.as_str().expect("a text");
                prop_assert!(reason.chars().count() <= 500);
                prop_assert!(!strandline_contract::ecma::is_blank(reason));
            }
            let evidence = row.get("evidence").map(|evidence| evidence.as_object().map(serde_json::Map::len));
            prop_assert_ne!(evidence, Some(Some(0)));
        }
    }

    #[test]
    fn null_is_absent_and_unknown_keys_are_ignored(input in input()) {
        let mut padded = input.clone();
        pad(&mut padded);
        prop_assert_eq!(derive(&padded), derive(&input));
    }

    #[test]
    fn a_failed_provider_takes_back_what_only_it_could_show(mut input in input()) {
        input["evidence"]["stepError"] = json!({"source": "model"});
        let chain = derive(&input);
        for row in rows(&chain) {
            let reason = row["reason"].as_str().expect("a reason");
            prop_assert!(!["noEvidenceCaptured", "traceAbsent", "executorEmitsNoSpans"].contains(&reason));
            let taken_back = ["missingToolCall", "predicateFailed", "judgePartial", "judgeFailed"];
            prop_assert!(!taken_back.contains(&reason));
        }
    }
}

/// Adds to every object an unknown key, and `null` under every optional key
/// that is absent.
pub(super) fn pad(value: &mut Value) {
    const OPTIONAL: &[&str] = &[
        "policy",
        "isNegativeTest",
        "expectsToolCall",
        "expectsWidgetRender",
        "assertionCount",
        "hasUserAsk",
        "toolExpectation",
        "spans",
        "traceLacksSpanChannel",
        "traceAbsent",
        "prompts",
        "predicateResults",
        "toolErrors",
        "stepError",
        "renderObservations",
        "toolSignals",
        "setupSignals",
        "evaluatorErrored",
        "judgeEvidence",
        "metadataAttribution",
        "id",
        "category",
        "mcpErrorCode",
        "promptIndex",
        "expectedToolCalls",
        "missing",
        "unexpected",
        "argumentMismatches",
        "passed",
        "reason",
        "predicate",
        "type",
        "role",
        "kind",
        "source",
        "toolsTotalBefore",
        "connection",
        "discovery",
        "attribution",
        "egressVerified",
        "spanIds",
        "durationMs",
        "reasons",
        "pendingKind",
        "verdict",
        "attributed",
    ];
    match value {
        Value::Object(members) => {
            for member in members.values_mut() {
                pad(member);
            }
            for key in OPTIONAL {
                members.entry(*key).or_insert(Value::Null);
            }
            members.insert("unknown".to_owned(), json!([{"deep": null}]));
        }
        Value::Array(items) => items.iter_mut().for_each(pad),
        _ => {}
    }
}
