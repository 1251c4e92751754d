//! What must hold of every friction document.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};
use strandline_contract::friction::{FrictionSignals, MAX_FRICTION_SIGNALS};
use strandline_derive::friction::{derive_friction_signals_from_json, validate_friction_signals};

/// The identifier that must never leave the derivation.
const SECRET: &str = "SECRET-4711";

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(SECRET)),
        Just(json!("word")),
        (0..5_u32).prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(select(vec!["id", "page", "q", "ref_id"]), inner, 0..3)
                .prop_map(|map| json!(map)),
        ]
    })
}

/// Calls with results that are kept, timed, or lost.
fn inputs() -> impl Strategy<Value = Value> {
    let call = (select(vec!["a", "a", "b", ""]), prop::option::of(values()));
    let times = prop::option::of((0..50_u32, 0..20_u32));
    let result = prop::option::weighted(0.9, (values(), times, any::<bool>()));
    vec((call, result), 0..12).prop_map(|trial| {
        let mut calls = Vec::new();
        let mut results = Map::new();
        for (index, ((name, arguments), result)) in trial.into_iter().enumerate() {
            let mut call = json!({"toolName": name, "toolCallId": index.to_string()});
            if let Some(arguments) = arguments {
                call["arguments"] = arguments;
            }
            calls.push(call);
            if let Some((payload, times, is_error)) = result {
                let mut entry = json!({"raw": {"structuredContent": payload}});
                if let Some((start, length)) = times {
                    entry["startedAtMs"] = json!(start);
                    entry["settledAtMs"] = json!(start + length);
                }
                if is_error && index % 4 == 0 {
                    entry["isError"] = json!(true);
                }
                results.insert(index.to_string(), entry);
            }
        }
        json!({"toolsCalled": calls, "resultsByToolCallId": results})
    })
}

fn derive(input: &Value) -> FrictionSignals {
    derive_friction_signals_from_json(&input.to_string()).expect("an input")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_validator_accepts_every_document(input in inputs()) {
        let document = derive(&input);
        let stored = json!(document);
        prop_assert_eq!(validate_friction_signals(&stored), Ok(document.clone()));
        let read: FrictionSignals = serde_json::from_value(stored).expect("it reads back");
        prop_assert_eq!(read, document);
    }

    #[test]
    fn identifier_values_never_leave(input in inputs()) {
        let text = serde_json::to_string(&derive(&input)).expect("JSON");
        prop_assert!(!text.contains(SECRET), "{text}");
    }

    #[test]
    fn counts_are_taken_before_any_cap(input in inputs()) {
        let document = derive(&input);
        let calls = input["toolsCalled"].as_array().expect("calls").len() as u64;
        prop_assert_eq!(document.call_count, calls);
        prop_assert!(document.timed_call_count <= document.result_available_count);
        prop_assert!(document.signals.len() <= MAX_FRICTION_SIGNALS);
    }

    /// Renaming the call ids consistently changes nothing but the ids.
    #[test]
    fn results_are_found_by_id_only(input in inputs()) {
        let renamed: Value = serde_json::from_str(
            &input.to_string().replace("\"toolCallId\":\"", "\"toolCallId\":\"call-"),
        ).expect("JSON");
        let results: Map<String, Value> = input["resultsByToolCallId"]
            .as_object()
            .expect("results")
            .iter()
            .map(|(id, entry)| (format!("call-{id}"), entry.clone()))
            .collect();
        let renamed = json!({"toolsCalled": renamed["toolsCalled"], "resultsByToolCallId": results});
        let plain = |document: FrictionSignals| {
            serde_json::to_string(&document).expect("JSON").replace("call-", "")
        };
        prop_assert_eq!(plain(derive(&renamed)), plain(derive(&input)));
    }
}
