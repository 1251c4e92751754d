//! Stored judge records (`chain.md` §14.4).

use serde::Deserialize;
use serde_json::{Value, json};
use strandline_contract::judge_record::{AttributionRecord, JudgeRecord};
use strandline_derive::chain::{judge_evidence, metadata_attribution};

fn evidence(record: &Value) -> Value {
    let record = JudgeRecord::deserialize(record).expect("a record");
    serde_json::to_value(judge_evidence(Some(&record))).expect("evidence is JSON")
}

fn only_reason(record: &Value) -> String {
    let evidence = evidence(record);
    assert_eq!(evidence["reasons"].as_array().map(Vec::len), Some(1));
    evidence["reasons"][0].as_str().expect("a text").to_owned()
}

#[test]
fn a_record_says_what_its_status_or_verdict_says() {
    assert_eq!(judge_evidence(None), None);
    assert_eq!(
        evidence(&json!({"status": "error", "verdict": "pass", "error": "timeout"})),
        json!({"status": "error", "reasons": ["timeout"]})
    );
    assert_eq!(
        evidence(&json!({"status": "skipped", "reason": "off"})),
        json!({"status": "skipped"})
    );
    assert_eq!(
        evidence(&json!({"verdict": "partial", "reasons": ["half", " "], "reason": "why"})),
        json!({"status": "scored", "verdict": "partial", "reasons": ["half", "why"]})
    );
    for unanswered in [
        json!({}),
        json!({"status": "scored"}),
        json!({"verdict": "?"}),
    ] {
        assert_eq!(
            evidence(&unanswered),
            json!({"status": "pending", "pendingKind": "scheduled"})
        );
    }
}

#[test]
fn a_score_is_worded_where_the_judge_says_nothing() {
    let record = json!({"verdict": "fail", "score": 0.25, "threshold": 0.8, "partialFloor": 0.5});
    assert_eq!(
        only_reason(&record),
        "LLM judge scored 0.25 against a 0.8 threshold and a 0.5 partial floor"
    );
    let passed = json!({"verdict": "pass", "score": 1, "threshold": 0.8, "partialFloor": 0.5});
    assert_eq!(
        only_reason(&passed),
        "LLM judge scored 1 against a 0.8 threshold"
    );
    assert_eq!(
        only_reason(&json!({"verdict": "pass", "score": 0.5})),
        "LLM judge scored 0.5"
    );
    assert!(
        evidence(&json!({"verdict": "pass"}))
            .get("reasons")
            .is_none()
    );
}

#[test]
fn numbers_are_told_apart_or_marked() {
    let near = json!({"verdict": "pass", "score": 0.8004, "threshold": 0.8});
    assert_eq!(
        only_reason(&near),
        "LLM judge scored 0.8004 against a 0.8 threshold"
    );
    let equal = json!({"verdict": "pass", "score": 0.8, "threshold": 0.8});
    assert_eq!(
        only_reason(&equal),
        "LLM judge scored 0.8 against a 0.8 threshold"
    );
    let closest =
        json!({"verdict": "fail", "score": 0.79999999, "threshold": 0.8, "partialFloor": 0.5});
    assert_eq!(
        only_reason(&closest),
        "LLM judge scored ≈0.8 against a ≈0.8 threshold and a 0.5 partial floor"
    );
}

#[test]
fn attribution_is_taken_as_it_stands_or_is_due() {
    let attribution = |record: &Value| {
        let record = AttributionRecord::deserialize(record).expect("a record");
        serde_json::to_value(metadata_attribution(Some(&record))).expect("JSON")
    };
    assert_eq!(metadata_attribution(None), None);
    for status in ["error", "skipped", "not_applicable"] {
        let record = json!({"status": status, "attributed": true, "reasons": ["x"]});
        assert_eq!(attribution(&record), json!({"status": status}));
    }
    assert_eq!(
        attribution(&json!({"status": "scored", "reasons": ["", "x"]})),
        json!({"status": "scored", "attributed": false, "reasons": ["x"]})
    );
    assert_eq!(
        attribution(&json!({"attributed": true})),
        json!({"status": "pending", "pendingKind": "scheduled"})
    );
}
