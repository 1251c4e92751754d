//! Suspected conditions (`friction.md` §9.3, §9.4).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strandline_contract::{
    judgement::SuspectedConditionVerdict,
    run::ServerFacts,
    words::{ConditionSkipReason, JudgeConfidence, SuspectedCondition, Vocabulary},
};
use strandline_derive::{
    friction::{FrictionInput, ResultEntry, derive_friction_signals},
    judge::condition::{ConditionSample, Flagged, aggregate_condition, eligible_signal},
};

use super::trial;

/// Searches twice, though the first result held ids; then one more call.
fn searched_again() -> FrictionInput {
    let call = |tool: &str, id: &str, arguments: Value| json!({"toolName": tool, "toolCallId": id, "arguments": arguments});
    let result = |raw: Value| ResultEntry {
        raw,
        ..ResultEntry::default()
    };
    FrictionInput::new(
        vec![
            call("search", "a", json!({"q": "open"})),
            call("search", "b", json!({"q": "all open"})),
            call("close", "c", json!({"id": "ISSUE-77"})),
        ],
        BTreeMap::from([
            (
                "a".to_owned(),
                result(json!({"structuredContent": {"data": {"rows": [{"id": "ISSUE-41"}]}}})),
            ),
            (
                "b".to_owned(),
                result(json!({"structuredContent": {"data": {"rows": []}}})),
            ),
            (
                "c".to_owned(),
                result(json!({"structuredContent": {"ok": true}})),
            ),
        ]),
    )
}

fn flagged(input: &FrictionInput) -> Flagged {
    Flagged::of(&derive_friction_signals(input), input).expect("a signal")
}

fn read(answer: &Value) -> ConditionSample {
    let flagged = flagged(&searched_again());
    let prompt = flagged.prompt("t1", &[]);
    flagged
        .read_answer(&prompt, &answer.to_string())
        .expect("usable")
}

fn good() -> Value {
    json!({"condition": "idBuriedInPayload", "confidence": "medium",
        "remediation": "return `data.rows[].id` at the top level of search",
        "evidence": {"callIndex": 0, "toolName": "search", "fieldPath": "data.rows[].id"}})
}

fn with(key: &str, value: Value) -> Value {
    let mut answer = good();
    if value.is_null() {
        answer.as_object_mut().expect("an object").remove(key);
    } else {
        answer[key] = value;
    }
    answer
}

#[test]
fn the_window_ends_at_the_signal_and_holds_no_identifier() {
    let servers = [ServerFacts {
        tools: vec![
            json!({"name": "search", "description": "Searches, for example ISSUE-41."}),
            json!({"name": "close", "description": "Closes."}),
        ],
        ..ServerFacts::default()
    }];
    let input = searched_again();
    let flagged = flagged(&input);
    let prompt = flagged.prompt("t1", &servers);
    let request = &prompt.request;
    assert!(request.contains("| call 0: search"), "{request}");
    assert!(request.contains("<id-1>"), "{request}");
    for absent in ["ISSUE-41", "ISSUE-77", "Closes."] {
        assert!(!request.contains(absent), "{absent} in {request}");
    }
    let provenance = flagged.provenance(&trial(json!({}), json!({})), "openai/judge", 5);
    assert_eq!(provenance.grading_key, "c#0");
    assert_eq!(provenance.information_call_index, 0);
}

#[test]
fn identifier_signals_come_first_and_paging_never() {
    let input = searched_again();
    let friction = derive_friction_signals(&input);
    let signal = eligible_signal(&friction).expect("one");
    assert!(signal.kind().is_identifier(), "{signal:?}");
    let calls = |second: Value| {
        let first = json!({"toolName": "t", "toolCallId": "a", "arguments": {"q": 1}});
        let second = json!({"toolName": "t", "toolCallId": "b", "arguments": second});
        FrictionInput::new(vec![first, second], BTreeMap::new())
    };
    let eligible = |input: &FrictionInput| {
        eligible_signal(&derive_friction_signals(input)).map(|signal| signal.kind().wire())
    };
    assert_eq!(eligible(&calls(json!({"q": 1}))), Some("identicalRetry"));
    assert_eq!(eligible(&calls(json!({"q": 1, "cursor": "x"}))), None);
    assert_eq!(
        eligible(&calls(json!({"q": 2}))),
        None,
        "no error before it"
    );
    let mut failed = calls(json!({"q": 2}));
    let entry = ResultEntry {
        raw: json!({"message": "bad"}),
        is_error: true,
        ..ResultEntry::default()
    };
    failed.results.insert("a".to_owned(), entry);
    assert_eq!(eligible(&failed), Some("changedRetry"));
}

#[test]
fn a_window_without_evidence_is_skipped() {
    let mut input = searched_again();
    assert_eq!(flagged(&input).skip_reason(), None);
    for id in ["a", "b", "c"] {
        let entry = ResultEntry {
            raw: json!({"content": [{"type": "image", "data": "AA"}]}),
            ..ResultEntry::default()
        };
        input.results.insert(id.to_owned(), entry);
    }
    input.tools_called[1]["arguments"] = json!({"q": "open"});
    assert_eq!(
        flagged(&input).skip_reason(),
        Some(ConditionSkipReason::NoEvidence)
    );
    input.results.remove("b");
    assert_eq!(
        flagged(&input).skip_reason(),
        Some(ConditionSkipReason::TraceIncomplete)
    );
}

#[test]
fn a_named_condition_keeps_its_evidence_and_remediation() {
    let sample = read(&good());
    assert_eq!(sample.condition, SuspectedCondition::IdBuriedInPayload);
    assert_eq!(sample.notes, [""; 0]);
    assert!(sample.remediation.is_some() && sample.evidence.is_some());
}

#[test]
fn everything_that_may_not_be_said_is_demoted_to_unclear() {
    let long = format!("search {}", "x".repeat(300));
    for (answer, note) in [
        (with("condition", json!("tooSlow")), "no such condition"),
        (with("confidence", json!("low")), "confidence is low"),
        (with("remediation", Value::Null), "no remediation"),
        (with("remediation", json!("  ")), "no remediation"),
        (with("remediation", json!(long)), "too long"),
        (
            with("remediation", json!("return ids at the top level")),
            "names nothing of the server",
        ),
        (
            with("remediation", json!("research the rows")),
            "names nothing of the server",
        ),
        (
            with("remediation", json!("tell the model to use search")),
            "names nothing of the server",
        ),
        (
            with(
                "remediation",
                json!("change the system prompt about search"),
            ),
            "names nothing of the server",
        ),
        (
            with("evidence", json!({"callIndex": 2, "toolName": "close"})),
            "not a call of the window",
        ),
        (
            with("evidence", json!({"callIndex": 0, "toolName": "close"})),
            "not a call of the window",
        ),
        (
            with("remediation", json!("let search say ISSUE-41 at the top")),
            "identifier value",
        ),
        (
            with(
                "evidence",
                json!({"callIndex": 0, "toolName": "search", "fieldPath": "rows.ISSUE-41"}),
            ),
            "identifier value",
        ),
    ] {
        let sample = read(&answer);
        assert_eq!(sample.condition, SuspectedCondition::Unclear, "{answer}");
        assert_eq!((&sample.remediation, &sample.evidence), (&None, &None));
        assert!(sample.notes[0].contains(note), "{:?}: {note}", sample.notes);
    }
    // `prompt` as a part of another word is no prompt.
    let promptly = with(
        "remediation",
        json!("let search answer promptly with data.rows[].id"),
    );
    assert_eq!(
        read(&promptly).condition,
        SuspectedCondition::IdBuriedInPayload
    );
}

#[test]
fn a_clear_response_is_stored_without_a_remediation() {
    let clear = read(&with("condition", json!("responseWasClear")));
    assert_eq!(clear.condition, SuspectedCondition::ResponseWasClear);
    assert_eq!(clear.remediation, None);
    assert!(clear.evidence.is_some());
    let unclear = read(&with("condition", json!("unclear")));
    assert_eq!((unclear.remediation, unclear.evidence), (None, None));
}

#[test]
fn an_answer_of_another_shape_is_an_error() {
    let flagged = flagged(&searched_again());
    let prompt = flagged.prompt("t1", &[]);
    for answer in [
        json!({"confidence": "high"}),
        json!({"condition": "unclear"}),
        json!({"condition": "unclear", "confidence": "certain"}),
        with("evidence", json!({"toolName": "search"})),
        with(
            "evidence",
            json!({"callIndex": 0, "toolName": "search", "fieldPath": "x".repeat(121)}),
        ),
    ] {
        assert!(
            flagged.read_answer(&prompt, &answer.to_string()).is_err(),
            "{answer}"
        );
    }
}

#[test]
fn a_condition_needs_more_than_half_of_the_samples() {
    let flagged = flagged(&searched_again());
    let provenance = || flagged.provenance(&trial(json!({}), json!({})), "openai/judge", 5);
    let said = |samples: &[ConditionSample]| aggregate_condition(3, samples, provenance());
    let named = read(&good());
    let sure = read(&with("confidence", json!("high")));
    let other = read(&with("condition", json!("missingQueryEcho")));
    let SuspectedConditionVerdict::Scored {
        condition,
        confidence,
        ..
    } = said(&[sure, other.clone(), named.clone()])
    else {
        panic!("scored");
    };
    assert_eq!(condition, SuspectedCondition::IdBuriedInPayload);
    assert_eq!(confidence, JudgeConfidence::Medium, "the least of them");
    let SuspectedConditionVerdict::Scored {
        condition,
        remediation,
        ..
    } = said(&[named.clone(), other])
    else {
        panic!("scored");
    };
    assert_eq!(
        (condition, remediation),
        (SuspectedCondition::Unclear, None)
    );
    assert!(matches!(
        said(&[named]),
        SuspectedConditionVerdict::Error { .. }
    ));
}
