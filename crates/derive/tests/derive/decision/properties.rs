//! What must hold of every summary.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};
use strandline_contract::{
    decision::DecisionSummary, verdict::ValidityPolicy, words::SummaryVerdict,
};
use strandline_derive::{
    decision::{derive_decision_summary_from_json, validate_decision_summary},
    verdict::derive_decision,
};

use crate::verdict::decided_runs;

fn words(list: &'static [&'static str]) -> impl Strategy<Value = Value> {
    select(list).prop_map(Value::from)
}

/// Any JSON value, small; what another producer may have stored.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z é]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn rows() -> impl Strategy<Value = Value> {
    let state = words(&[
        "passed",
        "failed",
        "notReached",
        "notMeasured",
        "notApplicable",
        "odd",
    ]);
    let evidence = json!({"spanIds": ["s", "s", ""], "promptIndexes": [0, 1.5, -1],
        "predicateReasons": [""]});
    let row = (
        state,
        prop::option::of(words(&["observed", "toolError", "new"])),
        any::<bool>(),
    );
    vec(row, 5..7).prop_map(move |rows| {
        let names = [
            "connection",
            "discovery",
            "selection",
            "call",
            "response",
            "userValue",
        ];
        rows.into_iter()
            .zip(names)
            .map(|((state, reason, with_evidence), stage)| {
                let mut row = json!({"stage": stage, "state": state});
                if let Some(reason) = reason {
                    row["reason"] = reason;
                }
                if with_evidence {
                    row["evidence"] = evidence.clone();
                }
                row
            })
            .collect()
    })
}

/// Chains that are right more often than chance would have it.
fn chains() -> impl Strategy<Value = Value> {
    (
        prop_oneof![4 => rows(), 1 => anything()],
        prop_oneof![
            4 => prop_oneof![Just(json!(12)), (0..20).prop_map(Value::from)],
            1 => anything(),
        ],
        prop::option::of(prop_oneof![3 => words(&["setup", "evaluator"]), 1 => anything()]),
        0..8_u8,
    )
        .prop_map(|(rows, version, category, omit)| {
            let failed = rows.as_array().and_then(|rows| {
                rows.iter()
                    .find(|row| row["state"] == "failed")
                    .map(|row| row["stage"].clone())
            });
            let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": version});
            if let Some(category) = category {
                chain["failureCategory"] = category;
            }
            if let Some(stage) = failed {
                chain["firstFailedStage"] = stage;
            }
            let object = chain.as_object_mut().expect("an object");
            if omit == 0 {
                object.remove("stageResults");
            }
            if omit == 1 {
                object.insert("stageResultsUnverified".to_owned(), json!(true));
            }
            chain
        })
}

fn iterations() -> impl Strategy<Value = Value> {
    let fields = (
        "[a-z /%é]{0,6}",
        prop::option::of(words(&["passed", "failed", "odd"])),
        chains(),
        prop::collection::btree_map(
            select(vec![
                "caseId",
                "testCaseId",
                "title",
                "error",
                "expectedToolCalls",
                "actualToolCalls",
            ]),
            anything(),
            0..6,
        ),
    );
    vec(fields, 0..6).prop_map(|list| {
        list.into_iter()
            .enumerate()
            .map(|(index, (id, result, mut iteration, extra))| {
                iteration["id"] = json!(format!("{id}{index}"));
                iteration["iterationNumber"] = json!(index);
                iteration["status"] = json!("completed");
                if let Some(result) = result {
                    iteration["result"] = result;
                }
                for (key, value) in extra {
                    iteration[key] = value;
                }
                iteration
            })
            .collect()
    })
}

fn runs() -> impl Strategy<Value = Value> {
    (
        decided_runs(),
        words(&["completed", "failed", "running", "cancelled", "timed_out"]),
        prop::option::of(words(&["passed", "failed", "odd"])),
        prop_oneof![2 => Just(json!(2)), 1 => Just(json!("2")), 1 => Just(Value::Null)],
        prop_oneof![3 => Just(None), 1 => anything().prop_map(Some)],
        anything(),
    )
        .prop_map(|(decided, status, result, version, broken, summary)| {
            let (policy, cases): (ValidityPolicy, _) = decided;
            let decision = derive_decision(&policy, &cases).expect("a decision");
            let decision = serde_json::to_value(decision).expect("a decision is JSON");
            json!({"id": "run", "status": status, "result": result, "summary": summary,
                "verdictPolicyVersion": version, "verdictSummary": broken.unwrap_or(decision)})
        })
}

fn summarize(run: &Value, iterations: &Value) -> DecisionSummary {
    let input = json!({"projectId": "p", "run": run, "iterations": iterations,
        "page": {"complete": true}});
    derive_decision_summary_from_json(&input).expect("a summary")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_validator_accepts_every_summary(run in runs(), iterations in iterations()) {
        let summary = summarize(&run, &iterations);
        let document = serde_json::to_value(&summary).expect("a summary is JSON");
        prop_assert_eq!(validate_decision_summary(&document), Ok(summary.clone()));
        let read: DecisionSummary = serde_json::from_value(document).expect("it reads back");
        prop_assert_eq!(read, summary);
    }

    #[test]
    fn every_non_passing_iteration_is_one_item_in_order(
        run in runs(),
        iterations in iterations(),
    ) {
        let summary = summarize(&run, &iterations);
        let list = iterations.as_array().expect("a list");
        let expected: Vec<&Value> = list
            .iter()
            .filter(|iteration| iteration["result"] != "passed")
            .map(|iteration| &iteration["id"])
            .collect();
        let found: Vec<&String> = summary
            .diagnostics
            .items
            .iter()
            .map(|item| &item.iteration_id)
            .collect();
        prop_assert_eq!(expected, found);
        prop_assert_eq!(summary.diagnostics.scanned_iterations, list.len() as u64);
    }

    /// The verdict comes from the run; diagnostics never change it.
    #[test]
    fn iterations_change_no_verdict(run in runs(), iterations in iterations()) {
        let with = summarize(&run, &iterations);
        let without = summarize(&run, &json!([]));
        prop_assert_eq!(with.verdict, without.verdict);
        prop_assert_eq!(&with.counts, &without.counts);
        prop_assert_eq!(with.decision.is_some(), without.decision.is_some());
        let undecided = with.verdict == SummaryVerdict::NotEstablished;
        prop_assert_eq!(undecided, with.undecided.is_some());
    }

    /// Evidence belongs to the first failed stage of a believable chain.
    #[test]
    fn no_evidence_without_a_verified_first_failed_stage(iterations in iterations()) {
        let run = json!({"id": "run", "status": "completed"});
        for item in summarize(&run, &iterations).diagnostics.items {
            let stage = item.chain.verified().and_then(|chain| chain.first_failed_stage);
            prop_assert_eq!(item.evidence.stage, stage);
            if stage.is_none() {
                prop_assert_eq!(item.evidence.span_ids, None);
                prop_assert_eq!(item.evidence.prompt_indexes, None);
                prop_assert_eq!(item.evidence.reasons, None);
            }
        }
    }
}
