//! What is read from each wire.

use serde_json::{Value, json};
use strandline_contract::{run::Usage, trace::Part};
use strandline_engine::models::{ModelErrorKind, telemetry::chat_attributes};
use strandline_testkit::model::{Answer, Call, FakeModel, Reply};
use tokio_util::sync::CancellationToken;

use super::{PROVIDERS, ask, assistant, call, client, request, result, results, tool, user};

fn texts(parts: &[Part]) -> Vec<&str> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Id, name, arguments and what was written instead, of each call.
fn calls(parts: &[Part]) -> Vec<(&str, &str, &Value, Option<&str>)> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
                raw_arguments,
                ..
            } => Some((
                tool_call_id.as_str(),
                tool_name.as_str(),
                arguments,
                raw_arguments.as_deref(),
            )),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_text_comes_with_its_usage_model_and_id() {
    let answer = Answer {
        input_tokens: 100,
        cached_tokens: 60,
        output_tokens: 7,
        ..Answer::text("It is shipped.")
    };
    for (provider, id, reason) in [
        ("openai", "chatcmpl-1", "stop"),
        ("anthropic", "msg_1", "end_turn"),
        ("google", "response-1", "STOP"),
    ] {
        let fake = FakeModel::with_replies([answer.clone().into()])
            .await
            .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        assert_eq!(texts(&response.parts), ["It is shipped."]);
        assert_eq!(
            response.usage,
            Usage {
                input_tokens: Some(100),
                output_tokens: Some(7),
                total_tokens: Some(107),
                cached_input_tokens: Some(60),
            },
            "{provider}"
        );
        assert_eq!(response.finish_reason.as_deref(), Some(reason));
        assert_eq!(response.response_id.as_deref(), Some(id));
        assert_eq!(response.served_model.as_deref(), Some("m-1-2026"));
        assert_eq!(response.attempts, 1);
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_order_and_get_the_servers_own_names() {
    for provider in PROVIDERS {
        let mut answer = Answer::calls([
            ("files_read", json!({"path": "/a"})),
            ("files_read", json!({"path": "/a"})),
            ("made_up", json!({})),
        ]);
        answer.texts = vec!["Let me look.".to_owned()];
        let fake = FakeModel::with_replies([answer.into()])
            .await
            .expect("a port");
        let client = client(provider, &fake);
        let tools = [tool("files.read"), tool("ping")];
        let messages = [user("hello")];
        let response = client
            .complete(request(&messages, &tools), &CancellationToken::new())
            .await
            .expect("an answer");
        assert_eq!(texts(&response.parts), ["Let me look."]);
        let calls = calls(&response.parts);
        let names: Vec<&str> = calls.iter().map(|call| call.1).collect();
        assert_eq!(names, ["files.read", "files.read", "made_up"], "{provider}");
        assert_eq!(calls[0].2, &json!({"path": "/a"}));
        assert!(calls[0].0 != calls[1].0 && calls[1].0 != calls[2].0);
        assert_eq!(client.aliases(&tools)["files.read"], "files_read");
        assert_eq!(client.aliases(&tools).len(), 1);
        assert_eq!(response.adaptations[0].kind, "toolNameAliased");
    }
}

#[tokio::test]
async fn a_call_id_that_comes_again_is_replaced() {
    let messages = [
        user("hello"),
        assistant(vec![call("toolu_0", "t", json!({}))]),
        results(vec![result("toolu_0", "t", "one")]),
    ];
    let tools = [tool("t")];
    for provider in PROVIDERS {
        let fake = FakeModel::with_replies([Reply::call("t", &json!({}))])
            .await
            .expect("a port");
        let response = client(provider, &fake)
            .complete(request(&messages, &tools), &CancellationToken::new())
            .await
            .expect("an answer");
        assert_eq!(calls(&response.parts)[0].0, "call00002", "{provider}");
    }
}

#[tokio::test]
async fn a_call_id_of_ones_own_is_kept() {
    let answer = Answer {
        calls: vec![Call {
            id: Some("from-server".to_owned()),
            name: "t".to_owned(),
            arguments: "{}".to_owned(),
        }],
        ..Answer::default()
    };
    for provider in PROVIDERS {
        let fake = FakeModel::with_replies([answer.clone().into()])
            .await
            .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        assert_eq!(calls(&response.parts)[0].0, "from-server");
    }
}

/// Field case F21: bad arguments are the model's, never the provider's.
#[tokio::test]
async fn arguments_that_are_no_object_keep_what_the_model_wrote() {
    for (written, value, raw) in [
        (r#"{"tasks":"[{}]"}"#, json!({"tasks": "[{}]"}), None),
        ("", json!({}), None),
        ("null", json!({}), None),
        ("[]", json!([]), Some("[]")),
        (r#""{}""#, json!("{}"), Some(r#""{}""#)),
        (r#"{"id": 1"#, json!(r#"{"id": 1"#), Some(r#"{"id": 1"#)),
    ] {
        let fake = FakeModel::with_replies([Reply::call_with_text("t", written)])
            .await
            .expect("a port");
        let response = ask(&*client("openai", &fake)).await.expect("an answer");
        let calls = calls(&response.parts);
        assert_eq!((calls[0].2, calls[0].3), (&value, raw), "{written:?}");
    }
}

#[tokio::test]
async fn state_that_a_provider_wants_back_is_kept_with_the_call() {
    let state = async |provider: &str, body: Value| {
        let fake = FakeModel::with_replies([Reply::json(200, body)])
            .await
            .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        match response.parts.into_iter().next() {
            Some(Part::ToolCall { provider_state, .. }) => provider_state,
            other => panic!("no call: {other:?}"),
        }
    };
    let google = json!({"candidates": [{"content": {"parts": [
        {"text": "hidden", "thought": true},
        {"functionCall": {"id": "f1", "name": "t", "args": {}}, "thoughtSignature": "sig"}]}}]});
    assert_eq!(
        state("google", google).await,
        Some(json!({"id": "f1", "thoughtSignature": "sig"}))
    );
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "s"});
    let anthropic =
        json!({"content": [thinking, {"type": "tool_use", "id": "a", "name": "t", "input": {}}]});
    assert_eq!(
        state("anthropic", anthropic).await,
        Some(json!({"thinking": [thinking]}))
    );
    let openai = json!({"choices": [{"message": {"content": null, "reasoning_content": "Hm.", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}, "extra_content": {"x": 1}}]}}]});
    assert_eq!(
        state("openai", openai).await,
        Some(json!({"message": {"reasoning_content": "Hm."}, "call": {"extra_content": {"x": 1}}}))
    );
    let plain = json!({"choices": [{"message": {"tool_calls": [
        {"id": "a", "index": 0, "type": "function", "function": {"name": "t", "arguments": {"a": 1}}}]}}]});
    assert_eq!(state("ollama", plain).await, None);
}

#[tokio::test]
async fn a_refusal_is_the_models_answer() {
    for provider in PROVIDERS {
        let fake = FakeModel::with_replies([Reply::refusal("I will not.")])
            .await
            .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        assert_eq!(texts(&response.parts), ["I will not."], "{provider}");
        if provider == "openai" {
            assert_eq!(response.finish_reason.as_deref(), Some("refusal"));
        }
    }
}

#[tokio::test]
async fn content_in_blocks_is_read_as_text() {
    let body = json!({"choices": [{"message": {"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Shipped."}]}, "finish_reason": "stop"}]});
    let fake = FakeModel::with_replies([Reply::json(200, body)])
        .await
        .expect("a port");
    let response = ask(&*client("mistral", &fake)).await.expect("an answer");
    assert_eq!(texts(&response.parts), ["Shipped."]);
}

#[tokio::test]
async fn a_call_that_google_could_not_read_is_the_models_doing() {
    let body = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x"}]});
    let fake = FakeModel::with_replies([Reply::json(200, body)])
        .await
        .expect("a port");
    let response = ask(&*client("google", &fake)).await.expect("an answer");
    assert!(response.parts.is_empty());
    assert_eq!(
        response.finish_reason.as_deref(),
        Some("MALFORMED_FUNCTION_CALL")
    );
}

#[tokio::test]
async fn spans_carry_the_conventions_attributes() {
    let fake = FakeModel::with_replies([
        Reply::error(429, "rate_limit_error", "slow down"),
        Reply::text("Hi."),
        Reply::error(401, "authentication_error", "who is this"),
    ])
    .await
    .expect("a port");
    let client = client("google", &fake);
    let messages = [user("hello")];
    let mut request = request(&messages, &[]);
    request.temperature = Some(0.5);
    let answered = client.complete(request, &CancellationToken::new()).await;
    insta::assert_json_snapshot!(chat_attributes(&*client, &request, &answered), @r#"
    {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.request.model": "m-1",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.finish_reasons": [
        "STOP"
      ],
      "gen_ai.response.id": "response-1",
      "gen_ai.response.model": "m-1-2026",
      "gen_ai.usage.cache_read.input_tokens": 0,
      "gen_ai.usage.input_tokens": 20,
      "gen_ai.usage.output_tokens": 5,
      "http.request.resend_count": 1
    }
    "#);
    let failed = client.complete(request, &CancellationToken::new()).await;
    assert_eq!(
        failed.as_ref().map_err(|error| error.kind).err(),
        Some(ModelErrorKind::CredentialsRejected)
    );
    insta::assert_json_snapshot!(chat_attributes(&*client, &request, &failed), @r#"
    {
      "error.type": "credentials_rejected",
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.request.model": "m-1",
      "gen_ai.request.temperature": 0.5,
      "http.response.status_code": 401
    }
    "#);
}
