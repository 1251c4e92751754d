//! The scripted model in a conversation.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strandline_contract::{
    script::Script,
    trace::{Message, Part},
};
use strandline_engine::models::{ModelClient, ModelErrorKind, ModelRequest, ScriptedModel};
use tokio_util::sync::CancellationToken;

use super::{assistant, call, request, result, results, user};

fn model(script: &Value) -> ScriptedModel {
    ScriptedModel::new("demo", "c_lookup", Script::parse(script).expect("a script"))
}

async fn answer(
    model: &ScriptedModel,
    messages: &[Message],
    asked: u32,
) -> Result<Vec<Part>, (ModelErrorKind, String)> {
    let request = ModelRequest {
        asked,
        ..request(messages, &[])
    };
    model
        .complete(request, &CancellationToken::new())
        .await
        .map(|response| response.parts)
        .map_err(|error| (error.kind, error.message))
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn turns_are_given_in_order_with_references_to_earlier_results() {
    let model = model(&json!([
        {"say": "Let me look.", "call": [
            {"tool": "find", "arguments": {"name": "a"}},
            {"tool": "find"},
        ], "usage": {"inputTokens": 9}},
        {"call": [{"tool": "get", "arguments": {"id": "{{1/json/items/0/id}}", "note": "as {{last/content/0/text}}"}}]},
        {"say": "It is {{3/content/0/text}}."},
    ]));
    let mut messages = vec![user("Where is it?")];
    let first = answer(&model, &messages, 0).await.expect("an answer");
    assert_eq!(
        first,
        [
            text("Let me look."),
            call("call00001", "find", json!({"name": "a"})),
            call("call00002", "find", json!({})),
        ]
    );
    messages.push(assistant(first));
    // The results arrive in another order than the calls.
    messages.push(results(vec![
        result("call00002", "find", "second"),
        result("call00001", "find", r#"{"items":[{"id":7}]}"#),
    ]));
    let second = answer(&model, &messages, 1).await.expect("an answer");
    assert_eq!(
        second,
        [call(
            "call00003",
            "get",
            json!({"id": 7, "note": "as second"})
        )]
    );
    messages.push(assistant(second));
    messages.push(results(vec![result("call00003", "get", "shipped")]));
    assert_eq!(
        answer(&model, &messages, 2).await,
        Ok(vec![text("It is shipped.")])
    );
}

#[tokio::test]
async fn a_script_that_ends_too_early_says_what_to_add() {
    let model = model(&json!([{"say": "Hi."}]));
    let (kind, message) = answer(&model, &[user("hello")], 1)
        .await
        .expect_err("an error");
    assert_eq!(kind, ModelErrorKind::Script);
    insta::assert_snapshot!(message, @"the script of case `c_lookup` has 1 turn for trial 1 and the conversation needs another; add a turn with the answer (`- say: …`)");
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_names_case_and_turn() {
    let model = model(&json!([{"say": "{{last/content/0/text}}"}]));
    let (kind, message) = answer(&model, &[user("hello")], 0)
        .await
        .expect_err("an error");
    assert_eq!(kind, ModelErrorKind::Script);
    insta::assert_snapshot!(message, @"turn 1 of the script of case `c_lookup`: `{{last/content/0/text}}` leads nowhere: the conversation has 0 calls so far");
}

#[tokio::test]
async fn a_written_failure_is_the_providers_failure() {
    for (fail, kind) in [
        (json!({"status": 429}), ModelErrorKind::RateLimited),
        (json!({"status": 529}), ModelErrorKind::Overloaded),
        (json!({"status": 401}), ModelErrorKind::CredentialsRejected),
        (
            json!({"status": 429, "code": "insufficient_quota"}),
            ModelErrorKind::QuotaExhausted,
        ),
        (json!({"code": "timed_out"}), ModelErrorKind::TimedOut),
        (
            json!({"code": "content_filter"}),
            ModelErrorKind::ContentFiltered,
        ),
        (json!({"code": "cancelled"}), ModelErrorKind::Unreadable),
    ] {
        let model = model(&json!([{ "fail": fail }]));
        let (found, _) = answer(&model, &[user("hello")], 0)
            .await
            .expect_err("an error");
        assert_eq!(found, kind, "{fail}");
    }
}

#[tokio::test]
async fn arguments_written_as_text_are_read_as_a_models() {
    let model = model(
        &json!([{"call": [{"tool": "t", "arguments": "{\"a\": "}, {"tool": "t", "arguments": "{\"a\": 1}"}]}]),
    );
    let parts = answer(&model, &[user("hello")], 0)
        .await
        .expect("an answer");
    let [Part::ToolCall { raw_arguments, .. }, second] = parts.as_slice() else {
        panic!("two calls: {parts:?}");
    };
    assert_eq!(raw_arguments.as_deref(), Some("{\"a\": "));
    assert_eq!(second, &call("call00002", "t", json!({"a": 1})));
}

#[tokio::test]
async fn a_delay_is_waited_for_and_ends_with_the_trial() {
    let model =
        model(&json!([{"say": "late", "delayMs": 60}, {"say": "never", "delayMs": 60_000}]));
    let start = Instant::now();
    answer(&model, &[user("hello")], 0)
        .await
        .expect("an answer");
    assert!(start.elapsed() >= Duration::from_millis(60));
    let cancel = CancellationToken::new();
    let messages = [user("hello")];
    let request = ModelRequest {
        asked: 1,
        ..request(&messages, &[])
    };
    let (outcome, ()) = tokio::join!(model.complete(request, &cancel), async { cancel.cancel() });
    assert_eq!(
        outcome.map_err(|error| error.kind).err(),
        Some(ModelErrorKind::Cancelled)
    );
}

#[tokio::test]
async fn a_failed_turn_is_used_up() {
    let model = model(&json!([{"fail": {"status": 503}}, {"say": "Back."}]));
    let messages = [user("hello")];
    let (kind, _) = answer(&model, &messages, 0).await.expect_err("an error");
    assert_eq!(kind, ModelErrorKind::ServerFault);
    assert_eq!(answer(&model, &messages, 1).await, Ok(vec![text("Back.")]));
}
