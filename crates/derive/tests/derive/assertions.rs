//! Assertion rules on transcripts.

use serde_json::{Value, json};
use strandline_contract::{
    transcript::{ToolCall, Transcript},
    words::RowStatus,
};
use strandline_derive::assertions::{AssertionsInput, derive_assertions};
use strandline_testkit::vectors;

/// Derives the rows of one input; the wording of reasons is ours, so the
/// vectors leave them out.
fn rows_without_reasons(input: &str) -> Result<Value, String> {
    let input: AssertionsInput = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let mut output =
        serde_json::to_value(derive_assertions(&input)).map_err(|error| error.to_string())?;
    for row in output["rows"].as_array_mut().into_iter().flatten() {
        let reason = row.as_object_mut().and_then(|row| row.remove("reason"));
        assert!(
            reason.is_some_and(|reason| reason.as_str().is_some_and(|text| !text.is_empty())),
            "a row without a reason: {row}"
        );
    }
    Ok(output)
}

#[test]
fn rows_are_as_the_vectors_say() {
    vectors::check("assertions", rows_without_reasons);
}

/// Derives one rule on one transcript: passed, and whether it is an error.
fn outcome(transcript: &Transcript, rule: Value) -> (bool, bool) {
    let output = derive_assertions(&AssertionsInput {
        transcript: transcript.clone(),
        rules: vec![rule],
    });
    let row = &output.rows[0];
    (row.passed, row.status == Some(RowStatus::Error))
}

const PASS: (bool, bool) = (true, false);
const FAIL: (bool, bool) = (false, false);
const ERROR: (bool, bool) = (false, true);

#[test]
fn texts_are_searched_up_to_their_limits() {
    let saying = |text: String| Transcript {
        final_assistant_message: Some(text),
        ..Transcript::default()
    };
    // A ship is two code units.
    let full = saying(format!("{}🚢", "a".repeat(99_998)));
    let over = saying(format!("{}🚢", "a".repeat(99_999)));
    let search = || json!({"type": "responseMatches", "pattern": "a🚢$"});
    assert_eq!(outcome(&full, search()), PASS);
    assert_eq!(outcome(&over, search()), FAIL);
    let contains = json!({"type": "responseContains", "needle": "A🚢"});
    assert_eq!(outcome(&over, contains), PASS);

    let close = |reference: String, distance: f64| json!({"type": "responseCloseTo", "reference": reference, "maxDistance": distance});
    assert_eq!(outcome(&full, close("a".repeat(99_998), 0.1)), PASS);
    assert_eq!(outcome(&over, close("a".repeat(99_999), 0.1)), ERROR);
    // 99,999 characters against 40 make fewer than 4,000,000 cells.
    assert_eq!(outcome(&full, close("b".repeat(40), 1.0)), PASS);
    assert_eq!(outcome(&full, close("b".repeat(41), 1.0)), ERROR);
}

#[test]
fn subjects_are_searched_up_to_their_limit() {
    let calling = |length: usize| Transcript {
        tool_calls: vec![ToolCall {
            tool_name: "a".to_owned(),
            arguments: json!({ "t": "x".repeat(length) }),
            tool_call_id: None,
        }],
        ..Transcript::default()
    };
    let rule = |min: u64, max: u64| json!({"type": "toolInputMatches", "toolName": "a", "patterns": ["secret"], "min": min, "max": max});
    // Eight code units are quotes, braces and the key.
    assert_eq!(outcome(&calling(99_992), rule(0, 0)), PASS);
    assert_eq!(outcome(&calling(99_993), rule(0, 0)), ERROR);
    assert_eq!(outcome(&calling(99_993), rule(2, 2)), FAIL);
}
