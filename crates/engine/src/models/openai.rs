//! OpenAI's chat completions, and whoever copies them.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue, header};
use reqwest::Url;
use serde::Serialize;
use serde_json::{Map, Value, json};
use strandline_contract::{run::Usage, secret::Secret};

use super::{
    ModelErrorKind,
    arguments::{Arguments, as_object},
    client::{Answer, AnswerPart, Outgoing},
    conversation::{Call, Outcome, Said, Turn},
    error::{ErrorBody, Fault},
};

/// Keys of a message that reasoning models want back with its calls.
const MESSAGE_STATE: &[&str] = &["reasoning_content", "reasoning_details"];
/// Keys of a call that we read ourselves; all others are kept as state.
const CALL_KEYS: &[&str] = &["id", "type", "function", "index"];

pub(super) fn url(base: &Url) -> Url {
    super::factory::joined(base, "chat/completions")
}

pub(super) fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose()))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
        #[serde(flatten)]
        state: BTreeMap<&'a str, &'a Value>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
    #[serde(flatten)]
    state: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    /// JSON as text.
    arguments: String,
}

/// Writes a request.
pub(super) fn body(outgoing: &Outgoing<'_>) -> serde_json::Result<Vec<u8>> {
    let conversation = outgoing.conversation;
    let mut messages: Vec<Message<'_>> = conversation
        .system
        .iter()
        .map(|content| Message::System { content })
        .collect();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => messages.push(Message::User {
                content: Content::Text(texts.join("\n\n")),
            }),
            Turn::Assistant(said) => messages.push(assistant(said, outgoing)),
            Turn::Results(outcomes) => push_results(&mut messages, outcomes),
        }
    }
    let (seed, random_seed) = match outgoing.provider.name {
        "mistral" => (None, outgoing.seed),
        _ => (outgoing.seed, None),
    };
    let body = Body {
        model: outgoing.model,
        messages,
        tools: outgoing
            .tools
            .iter()
            .map(|tool| Tool {
                r#type: "function",
                function: Function {
                    name: outgoing.names.alias(tool.name),
                    description: tool.description,
                    parameters: &tool.schema,
                },
            })
            .collect(),
        temperature: outgoing.temperature,
        seed,
        random_seed,
    };
    serde_json::to_vec(&body)
}

fn assistant<'a>(said: &[Said<'a>], outgoing: &'a Outgoing<'_>) -> Message<'a> {
    let mut texts: Vec<&str> = Vec::new();
    let mut tool_calls = Vec::new();
    let mut state = BTreeMap::new();
    for said in said {
        match said {
            Said::Text(text) => texts.push(text),
            Said::Call(call) => {
                let kept = call.state.and_then(|state| state.get("message"));
                if let Some(Value::Object(kept)) = kept {
                    state.extend(kept.iter().map(|(key, value)| (key.as_str(), value)));
                }
                tool_calls.push(tool_call(call, outgoing));
            }
        }
    }
    // `null` beside calls; an answer without words is an empty text.
    let content = (!texts.is_empty() || tool_calls.is_empty()).then(|| texts.join("\n\n"));
    Message::Assistant {
        content,
        tool_calls,
        state,
    }
}

fn tool_call<'a>(call: &Call<'a>, outgoing: &'a Outgoing<'_>) -> ToolCall<'a> {
    ToolCall {
        id: call.id,
        r#type: "function",
        function: CalledFunction {
            name: outgoing.names.alias(call.name),
            arguments: as_object(call.arguments, call.raw_arguments).to_string(),
        },
        state: call
            .state
            .and_then(|state| state.get("call"))
            .and_then(Value::as_object),
    }
}

/// Pushes every result of a turn, then their images: an image between two
/// results would break the group (field case F24).
fn push_results<'a>(messages: &mut Vec<Message<'a>>, outcomes: &[Outcome<'a>]) {
    let mut blocks = Vec::new();
    for outcome in outcomes {
        messages.push(Message::Tool {
            tool_call_id: outcome.call.id,
            content: outcome.text,
        });
        blocks.extend(outcome.images.iter().map(|image| Block::ImageUrl {
            image_url: ImageUrl {
                url: format!("data:{};base64,{}", image.mime_type, image.data),
            },
        }));
    }
    if !blocks.is_empty() {
        blocks.insert(
            0,
            Block::Text {
                text: "Images of the tool results above, in order:",
            },
        );
        messages.push(Message::User {
            content: Content::Blocks(blocks),
        });
    }
}

/// Reads an answer.
pub(super) fn read(value: &Value) -> Result<Answer, Fault> {
    let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else {
        return Err(Fault::unreadable("the answer has no `choices`"));
    };
    if let Some(error) = ErrorBody::read(choice) {
        return Err(Fault::from_body(None, &error));
    }
    let mut finish_reason = text(choice, "finish_reason");
    if finish_reason.as_deref() == Some("content_filter") {
        return Err(Fault {
            code: finish_reason,
            ..Fault::new(
                ModelErrorKind::ContentFiltered,
                "the provider withheld the answer (finish reason `content_filter`)",
            )
        });
    }
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return Err(Fault::unreadable("the answer has no `message`"));
    };
    let mut parts = Vec::new();
    push_content(&mut parts, message.get("content"));
    // A refusal is the model's own answer, told apart by its finish reason.
    if let Some(refusal) = text(message, "refusal").filter(|refusal| !refusal.is_empty()) {
        parts.push(AnswerPart::Text(refusal));
        finish_reason = Some("refusal".to_owned());
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        parts.push(read_call(call, (index == 0).then_some(message)));
    }
    Ok(Answer {
        parts,
        finish_reason,
        empty_is_meant: false,
        usage: value.get("usage").map(usage).unwrap_or_default(),
        served_model: text(value, "model"),
        response_id: text(value, "id"),
    })
}

/// Reads content: text, or blocks of which the text ones count.
fn push_content(parts: &mut Vec<AnswerPart>, content: Option<&Value>) {
    let mut push = |text: &str| {
        if !text.is_empty() {
            parts.push(AnswerPart::Text(text.to_owned()));
        }
    };
    match content {
        Some(Value::String(text)) => push(text),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                if block.get("type").and_then(Value::as_str) == Some("text") {
                    push(
                        block
                            .get("text")
                            .and_then(Value::as_str)
                            .unwrap_or_default(),
                    );
                }
            }
        }
        _ => {}
    }
}

/// Reads a call; the first one of a message carries the message's state.
fn read_call(call: &Value, message: Option<&Value>) -> AnswerPart {
    let function = call.get("function").unwrap_or(&Value::Null);
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => Arguments::from_text(text),
        // Some servers send JSON where the wire says text.
        Some(value) => Arguments {
            tolerated: Some("arguments were JSON where the wire has text"),
            ..Arguments::from_value(Some(value))
        },
        None => Arguments::from_value(None),
    };
    let call_state: Map<String, Value> = call
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !CALL_KEYS.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let message_state: Map<String, Value> = MESSAGE_STATE
        .iter()
        .filter_map(|key| {
            let value = message?.get(*key).filter(|value| !value.is_null())?;
            Some(((*key).to_owned(), value.clone()))
        })
        .collect();
    let state = (!call_state.is_empty() || !message_state.is_empty())
        .then(|| json!({"call": call_state, "message": message_state}));
    AnswerPart::Call {
        id: text(call, "id"),
        name: text(function, "name").unwrap_or_default(),
        arguments,
        state,
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Usage {
        input_tokens: count("/prompt_tokens"),
        output_tokens: count("/completion_tokens"),
        total_tokens: count("/total_tokens"),
        cached_input_tokens: count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens")),
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::conversation::Image;

    #[test]
    fn images_come_after_every_result_of_their_turn() {
        let arguments = json!({});
        let outcome = |id, images| Outcome {
            call: Call {
                id,
                name: "t",
                arguments: &arguments,
                raw_arguments: None,
                state: None,
            },
            text: "seen",
            is_error: false,
            images,
        };
        let image = Image {
            mime_type: "image/png",
            data: "aGVsbG8=",
        };
        let mut messages = Vec::new();
        push_results(
            &mut messages,
            &[outcome("a", vec![image]), outcome("b", vec![])],
        );
        let written = json!(messages);
        assert_eq!(written[0]["tool_call_id"], "a");
        assert_eq!(written[1]["tool_call_id"], "b");
        assert_eq!(
            written[2]["content"][1]["image_url"]["url"],
            "data:image/png;base64,aGVsbG8="
        );
        assert_eq!(written.as_array().map(Vec::len), Some(3));
    }
}
