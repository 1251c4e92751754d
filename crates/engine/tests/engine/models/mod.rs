//! Model clients against the fake endpoint.

mod answers;
mod failures;
mod requests;
mod scripted;
mod setup;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use strandline_contract::trace::{Message, Part, Role};
use strandline_engine::models::{
    Limits, ModelClient, ModelError, ModelFactory, ModelRequest, ModelResponse, ModelSettings,
    RetryPolicy, ToolDefinition,
};
use strandline_testkit::model::FakeModel;
use tokio_util::sync::CancellationToken;

/// The key of every test; no error may ever hold it.
const KEY: &str = "sk-test-0123456789abcdef";

/// The three wire shapes by a provider of each.
const PROVIDERS: [&str; 3] = ["openai", "anthropic", "google"];

/// Waits so short that tests do not feel them.
fn quick() -> Limits {
    Limits {
        request_timeout: Duration::from_secs(5),
        retry: RetryPolicy {
            first_delay: Duration::from_millis(2),
            total_wait: Duration::from_secs(2),
            ..RetryPolicy::default()
        },
        ..Limits::default()
    }
}

fn client_with(provider: &str, fake: &FakeModel, limits: Limits) -> Arc<dyn ModelClient> {
    ModelFactory::new(ModelSettings {
        base_url: Some(fake.origin()),
        limits,
    })
    .client(provider, "m-1", &|_| Some(KEY.to_owned()))
    .expect("a client")
}

fn client(provider: &str, fake: &FakeModel) -> Arc<dyn ModelClient> {
    client_with(provider, fake, quick())
}

/// Asks with one user message and no tools.
async fn ask(client: &dyn ModelClient) -> Result<ModelResponse, ModelError> {
    let messages = [user("Where is order 17?")];
    client
        .complete(request(&messages, &[]), &CancellationToken::new())
        .await
}

fn request<'a>(messages: &'a [Message], tools: &'a [ToolDefinition]) -> ModelRequest<'a> {
    ModelRequest {
        system: None,
        messages,
        tools,
        temperature: None,
        seed: None,
        iteration_number: 0,
        asked: 0,
    }
}

fn user(text: &str) -> Message {
    Message {
        role: Role::User,
        prompt_index: 0,
        parts: vec![Part::Text {
            text: text.to_owned(),
        }],
    }
}

fn assistant(parts: Vec<Part>) -> Message {
    Message {
        role: Role::Assistant,
        prompt_index: 0,
        parts,
    }
}

fn results(parts: Vec<Part>) -> Message {
    Message {
        role: Role::Tool,
        prompt_index: 0,
        parts,
    }
}

fn call(id: &str, tool: &str, arguments: Value) -> Part {
    Part::ToolCall {
        tool_call_id: id.to_owned(),
        tool_name: tool.to_owned(),
        arguments,
        raw_arguments: None,
        provider_state: None,
    }
}

fn result(id: &str, tool: &str, text: &str) -> Part {
    Part::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: tool.to_owned(),
        result: Some(json!({"content": [{"type": "text", "text": text}]})),
        model_text: text.to_owned(),
        is_error: false,
        policy_block: false,
        error: None,
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: Some(format!("Does {name}.")),
        input_schema: json!({"type": "object", "properties": {"id": {"type": "integer"}}}),
    }
}
