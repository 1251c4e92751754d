//! What goes out on each wire.

use serde_json::{Value, json};
use strandline_contract::trace::{Message, Part};
use strandline_engine::models::{ModelRequest, ToolDefinition};
use strandline_testkit::model::{FakeModel, Reply};
use tokio_util::sync::CancellationToken;

use super::{PROVIDERS, assistant, call, client, request, result, results, tool, user};

/// Sends one request and returns its body and the kinds of its adaptations.
async fn sent(provider: &str, request: ModelRequest<'_>) -> (Value, Vec<String>) {
    let fake = FakeModel::with_replies([Reply::text("Done.")])
        .await
        .expect("a port");
    let response = client(provider, &fake)
        .complete(request, &CancellationToken::new())
        .await
        .expect("an answer");
    let adaptations = response
        .adaptations
        .into_iter()
        .map(|adaptation| format!("{} {}", adaptation.kind, adaptation.subject))
        .collect();
    (fake.requests().remove(0).body, adaptations)
}

/// A conversation with everything that wires differ in: parallel calls to one
/// tool, an image between two results, an error, arguments that are no JSON,
/// names that no provider takes, state that a provider wants back.
fn conversation() -> Vec<Message> {
    let image = Part::ToolResult {
        tool_call_id: "a".to_owned(),
        tool_name: "files.read".to_owned(),
        result: Some(
            json!({"content": [{"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}]}),
        ),
        model_text: "[image: image/png, 5 bytes]".to_owned(),
        is_error: false,
        policy_block: false,
        error: None,
    };
    let refused = Part::ToolResult {
        tool_call_id: "c".to_owned(),
        tool_name: "get_order".to_owned(),
        result: None,
        model_text: "The arguments are no JSON object.".to_owned(),
        is_error: true,
        policy_block: false,
        error: Some("invalid arguments".to_owned()),
    };
    let with_state = |part: Part, state: Value| match part {
        Part::ToolCall {
            tool_call_id,
            tool_name,
            arguments,
            raw_arguments,
            ..
        } => Part::ToolCall {
            tool_call_id,
            tool_name,
            arguments,
            raw_arguments,
            provider_state: Some(state),
        },
        other => other,
    };
    let state = json!({
        "thoughtSignature": "c2lnbmF0dXJl", "id": "server-1",
        "thinking": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
        "message": {"reasoning_content": "Hm."},
        "call": {"extra_content": {"google": {"thought_signature": "x"}}},
    });
    vec![
        user("Where is order 17?"),
        assistant(vec![
            Part::Text {
                text: "Let me look.".to_owned(),
            },
            with_state(call("a", "files.read", json!({"path": "/a"})), state),
            call("b", "files.read", json!({"path": "/a"})),
            Part::ToolCall {
                tool_call_id: "c".to_owned(),
                tool_name: "get_order".to_owned(),
                arguments: json!("{\"id\": 1"),
                raw_arguments: Some("{\"id\": 1".to_owned()),
                provider_state: None,
            },
        ]),
        // Results arrive in the order in which they ended.
        results(vec![refused]),
        results(vec![result("b", "files.read", "text of b"), image]),
        user("And order 18?"),
        user("Please."),
    ]
}

fn tools() -> Vec<ToolDefinition> {
    vec![
        tool("get_order"),
        ToolDefinition {
            name: "files.read".to_owned(),
            description: None,
            input_schema: json!({"type": "object", "$defs": {"p": {"const": 1}}, "x-vendor": true,
                "properties": {"path": {"anyOf": [{"$ref": "#/$defs/p"}, {"type": "string"}]}}}),
        },
        ToolDefinition {
            name: "ping".to_owned(),
            description: None,
            input_schema: json!({"type": "object"}),
        },
    ]
}

async fn golden(provider: &str) -> Value {
    let messages = conversation();
    let tools = tools();
    let request = ModelRequest {
        system: Some("Be brief."),
        temperature: Some(0.5),
        seed: Some(7),
        ..request(&messages, &tools)
    };
    let (body, adaptations) = sent(provider, request).await;
    json!({"adaptations": adaptations, "body": body})
}

#[tokio::test]
async fn openai_request() {
    insta::assert_json_snapshot!(golden("openai").await);
}

#[tokio::test]
async fn anthropic_request() {
    insta::assert_json_snapshot!(golden("anthropic").await);
}

#[tokio::test]
async fn google_request() {
    insta::assert_json_snapshot!(golden("google").await);
}

#[tokio::test]
async fn an_endpoint_that_is_not_openais_own_is_told_of_images_in_words() {
    let messages = conversation();
    for provider in ["mistral", "openai"] {
        let (body, adaptations) = sent(provider, request(&messages, &tools())).await;
        assert!(!body.to_string().contains("image_url"));
        assert!(body.to_string().contains("[image: image/png, 5 bytes]"));
        assert!(adaptations.contains(&"imageDescribed files.read".to_owned()));
    }
}

#[tokio::test]
async fn mistral_spells_the_seed_its_own_way() {
    let messages = [user("hello")];
    let request = ModelRequest {
        seed: Some(7),
        ..request(&messages, &[])
    };
    let (body, _) = sent("mistral", request).await;
    assert_eq!(
        (&body["random_seed"], &body["seed"]),
        (&json!(7), &Value::Null)
    );
}

#[tokio::test]
async fn a_request_without_tools_or_settings_holds_nothing_else() {
    let messages = [user("hello")];
    for (provider, keys) in [
        ("openai", vec!["messages", "model"]),
        ("anthropic", vec!["max_tokens", "messages", "model"]),
        ("google", vec!["contents"]),
    ] {
        let (body, adaptations) = sent(provider, request(&messages, &[])).await;
        let body = body.as_object().expect("an object");
        assert_eq!(body.keys().collect::<Vec<_>>(), keys, "{provider}");
        assert!(adaptations.is_empty());
    }
}

#[tokio::test]
async fn a_call_without_a_recorded_result_is_answered_all_the_same() {
    let messages = [
        user("hello"),
        assistant(vec![call("a", "t", json!({})), call("b", "t", json!({}))]),
        results(vec![result("b", "t", "text of b")]),
    ];
    let tools = [tool("t")];
    for provider in PROVIDERS {
        let (body, adaptations) = sent(provider, request(&messages, &tools)).await;
        let text = body.to_string();
        let missing = text.find("not carried out").expect("an answer to a");
        assert!(missing < text.find("text of b").expect("an answer to b"));
        assert_eq!(adaptations, ["toolResultMissing t"], "{provider}");
    }
}

#[tokio::test]
async fn an_answer_without_words_does_not_spoil_the_next_request() {
    let messages = [
        user("hello"),
        assistant(vec![]),
        user("again"),
        assistant(vec![Part::Text {
            text: " ".to_owned(),
        }]),
        user("and again"),
    ];
    let (body, _) = sent("anthropic", request(&messages, &[])).await;
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "hello"},
            {"type": "text", "text": "again"},
            {"type": "text", "text": "and again"},
        ]}])
    );
    let (body, _) = sent("openai", request(&messages, &[])).await;
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": ""})
    );
}

#[tokio::test]
async fn a_second_tool_of_one_name_is_not_offered() {
    let messages = [user("hello")];
    let tools = [tool("t"), tool("t"), tool("u")];
    for provider in PROVIDERS {
        let (body, adaptations) = sent(provider, request(&messages, &tools)).await;
        let declarations = body
            .pointer("/tools/0/functionDeclarations")
            .unwrap_or(&body["tools"]);
        assert_eq!(declarations.as_array().map(Vec::len), Some(2), "{provider}");
        assert_eq!(adaptations, ["duplicateToolDropped t"]);
    }
}

#[tokio::test]
async fn each_wire_carries_the_key_in_its_own_header() {
    for (provider, path, header, value) in [
        (
            "openai",
            "/v1/chat/completions",
            "authorization",
            format!("Bearer {}", super::KEY),
        ),
        (
            "anthropic",
            "/v1/messages",
            "x-api-key",
            super::KEY.to_owned(),
        ),
        (
            "google",
            "/v1beta/models/m-1:generateContent",
            "x-goog-api-key",
            super::KEY.to_owned(),
        ),
    ] {
        let fake = FakeModel::with_replies([Reply::text("Hi.")])
            .await
            .expect("a port");
        super::ask(&*client(provider, &fake))
            .await
            .expect("an answer");
        let request = fake.requests().remove(0);
        assert_eq!(request.path, path);
        assert_eq!(request.headers.get(header), Some(&value));
        assert_eq!(
            request.headers.get("content-type").map(String::as_str),
            Some("application/json")
        );
    }
}
