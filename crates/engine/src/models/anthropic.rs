//! Anthropic's messages.

use http::{HeaderMap, HeaderValue, header};
use reqwest::Url;
use serde::Serialize;
use serde_json::{Map, Value, json};
use strandline_contract::{run::Usage, secret::Secret};

use super::{
    ModelErrorKind,
    arguments::{Arguments, as_object},
    client::{Answer, AnswerPart, Outgoing},
    conversation::{Outcome, Said, Turn},
    error::Fault,
};

/// The revision of the API that is spoken.
const VERSION: &str = "2023-06-01";
/// Most tokens of one answer; the API demands a number.
const MAX_TOKENS: u32 = 8_192;

pub(super) fn url(base: &Url) -> Url {
    super::factory::joined(base, "messages")
}

pub(super) fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(key.expose())?;
        value.set_sensitive(true);
        headers.insert("x-api-key", value);
    }
    Ok(headers)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: std::borrow::Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A block of the model's thinking, sent back as it came.
    #[serde(untagged)]
    Kept(&'a Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "base64")]
struct Source<'a> {
    media_type: &'a str,
    data: &'a str,
}

/// Writes a request.
pub(super) fn body(outgoing: &Outgoing<'_>) -> serde_json::Result<Vec<u8>> {
    let conversation = outgoing.conversation;
    let mut messages: Vec<Message<'_>> = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => {
                let blocks = texts.iter().map(|text| Block::Text { text });
                push(&mut messages, "user", blocks.collect());
            }
            Turn::Assistant(said) => {
                let mut blocks = Vec::new();
                for said in said {
                    push_said(&mut blocks, *said, outgoing);
                }
                push(&mut messages, "assistant", blocks);
            }
            // All results of one turn in one message, results first.
            Turn::Results(outcomes) => {
                push(&mut messages, "user", outcomes.iter().map(result).collect());
            }
        }
    }
    let body = Body {
        model: outgoing.model,
        max_tokens: MAX_TOKENS,
        system: (!conversation.system.is_empty()).then(|| conversation.system.join("\n\n")),
        messages,
        tools: outgoing
            .tools
            .iter()
            .map(|tool| Tool {
                name: outgoing.names.alias(tool.name),
                description: tool.description,
                input_schema: &tool.schema,
            })
            .collect(),
        temperature: outgoing.temperature,
    };
    serde_json::to_vec(&body)
}

/// Appends blocks, joining messages of one role; blank texts are refused by
/// the API and left out.
fn push<'a>(messages: &mut Vec<Message<'a>>, role: &'static str, mut content: Vec<Block<'a>>) {
    content.retain(|block| !matches!(block, Block::Text { text } if text.trim().is_empty()));
    if content.is_empty() {
        return;
    }
    match messages.last_mut() {
        Some(last) if last.role == role => last.content.append(&mut content),
        _ => messages.push(Message { role, content }),
    }
}

fn push_said<'a>(blocks: &mut Vec<Block<'a>>, said: Said<'a>, outgoing: &'a Outgoing<'_>) {
    match said {
        Said::Text(text) => blocks.push(Block::Text { text }),
        Said::Call(call) => {
            let thinking = call.state.and_then(|state| state.get("thinking"));
            if let Some(Value::Array(thinking)) = thinking {
                // Thinking comes before everything else of its message.
                let kept = thinking.iter().map(Block::Kept);
                blocks.splice(0..0, kept);
            }
            blocks.push(Block::ToolUse {
                id: call.id,
                name: outgoing.names.alias(call.name),
                input: as_object(call.arguments, call.raw_arguments),
            });
        }
    }
}

fn result<'a>(outcome: &Outcome<'a>) -> Block<'a> {
    let mut content = Vec::new();
    if !outcome.text.trim().is_empty() {
        content.push(Block::Text { text: outcome.text });
    }
    content.extend(outcome.images.iter().map(|image| Block::Image {
        source: Source {
            media_type: image.mime_type,
            data: image.data,
        },
    }));
    Block::ToolResult {
        tool_use_id: outcome.call.id,
        content,
        is_error: outcome.is_error,
    }
}

/// Reads an answer.
pub(super) fn read(value: &Value) -> Result<Answer, Fault> {
    let Some(blocks) = value.get("content").and_then(Value::as_array) else {
        return Err(Fault::unreadable("the answer has no `content`"));
    };
    let finish_reason = text(value, "stop_reason");
    let mut parts = Vec::new();
    let mut thinking = Vec::new();
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                if let Some(text) = text(block, "text").filter(|text| !text.is_empty()) {
                    parts.push(AnswerPart::Text(text));
                }
            }
            Some("tool_use") => parts.push(AnswerPart::Call {
                id: text(block, "id"),
                name: text(block, "name").unwrap_or_default(),
                arguments: Arguments::from_value(block.get("input")),
                state: (!thinking.is_empty())
                    .then(|| json!({"thinking": std::mem::take(&mut thinking)})),
            }),
            Some("thinking" | "redacted_thinking") => thinking.push(block.clone()),
            _ => {}
        }
    }
    if parts.is_empty() {
        // The provider stops an answer that its filter objects to; what the
        // model itself declines is text.
        match finish_reason.as_deref() {
            Some("refusal") => {
                return Err(Fault {
                    code: finish_reason,
                    ..Fault::new(
                        ModelErrorKind::ContentFiltered,
                        "the provider withheld the answer (stop reason `refusal`)",
                    )
                });
            }
            Some("model_context_window_exceeded") => {
                return Err(Fault {
                    code: finish_reason,
                    ..Fault::new(
                        ModelErrorKind::ContextTooLong,
                        "the conversation fills the model's context",
                    )
                });
            }
            _ => {}
        }
    }
    Ok(Answer {
        parts,
        finish_reason,
        empty_is_meant: false,
        usage: value
            .get("usage")
            .and_then(Value::as_object)
            .map(usage)
            .unwrap_or_default(),
        served_model: text(value, "model"),
        response_id: text(value, "id"),
    })
}

/// Reads token counts; the API counts cached input apart.
fn usage(usage: &Map<String, Value>) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let cached = count("cache_read_input_tokens");
    let written = count("cache_creation_input_tokens");
    let input_tokens = count("input_tokens").map(|fresh| {
        fresh
            .saturating_add(cached.unwrap_or(0))
            .saturating_add(written.unwrap_or(0))
    });
    let output_tokens = count("output_tokens");
    Usage {
        input_tokens,
        output_tokens,
        total_tokens: input_tokens
            .zip(output_tokens)
            .map(|(input, output)| input.saturating_add(output)),
        cached_input_tokens: cached,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}
