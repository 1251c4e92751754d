//! Where the chain broke, over a page (`decision-summary.md` §10).

use serde_json::{Value, json};
use strandline_contract::{
    decision::{BreakPlace, ChainBreak, DecisionSummary},
    words::{FailureCategory, Stage, StageReason},
};
use strandline_derive::decision::derive_chain_break;

use super::{iteration, stages, summarize};

fn broke(result: &str, chains: Vec<Value>) -> Option<ChainBreak> {
    let iterations: Vec<Value> = chains.iter().map(iteration).collect();
    let summary = summarize(
        json!({"id": "r", "status": "completed", "result": result}),
        json!(iterations),
    );
    let summary: DecisionSummary = serde_json::from_value(summary).expect("a summary");
    derive_chain_break(&summary)
}

fn failed_at(stage: &str, reason: Option<&str>) -> Value {
    let mut rows = stages(&[(stage, "failed")]);
    if let Some(reason) = reason {
        let row = rows.iter_mut().find(|row| row["stage"] == stage);
        row.expect("a row")["reason"] = json!(reason);
    }
    json!({"stageResults": rows, "stageAnalyzerVersion": 12, "firstFailedStage": stage})
}

#[test]
fn the_earliest_stage_is_named_not_the_most_frequent() {
    let found = broke(
        "failed",
        vec![
            failed_at("response", Some("toolError")),
            failed_at("response", Some("toolError")),
            failed_at("selection", None),
            failed_at("selection", Some("missingToolCall")),
            json!({}),
        ],
    );
    assert_eq!(
        found,
        Some(ChainBreak {
            place: BreakPlace::Stage {
                stage: Stage::Selection,
                reason: Some(StageReason::MissingToolCall),
                trials: 2,
                distinct_stages: 2,
            },
            readable: 4,
            unreadable: 1,
            complete: true,
        })
    );
}

#[test]
fn without_a_broken_stage_only_categories_are_listed() {
    let mut setup = json!({"stageResults": stages(&[]), "stageAnalyzerVersion": 12});
    setup["failureCategory"] = json!("setup");
    let mut evaluator = setup.clone();
    evaluator["failureCategory"] = json!("evaluator");
    let found = broke("failed", vec![evaluator, setup.clone(), setup]).expect("a line");
    assert_eq!(
        found.place,
        BreakPlace::Categories {
            categories: vec![FailureCategory::Setup, FailureCategory::Evaluator],
            trials: 3,
        }
    );
}

#[test]
fn nothing_is_said_where_nothing_can_be() {
    let unreadable = broke("failed", vec![json!({}), json!({"stageResults": null})]);
    let unreadable = unreadable.expect("a line");
    assert_eq!(unreadable.place, BreakPlace::NothingReadable);
    assert_eq!((unreadable.readable, unreadable.unreadable), (0, 2));

    let clean = json!({"stageResults": stages(&[]), "stageAnalyzerVersion": 12});
    assert_eq!(broke("failed", vec![clean]), None);
    assert_eq!(broke("failed", vec![]), None);
    assert_eq!(broke("passed", vec![failed_at("call", None)]), None);
}
