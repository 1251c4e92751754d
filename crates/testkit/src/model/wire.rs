//! The three wire shapes, as a server writes them.

use serde_json::{Value, json};

use super::{
    Recorded,
    reply::{Answer, Call, WireError},
};

/// A wire shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `…/chat/completions`
    OpenAi,
    /// `…/messages`
    Anthropic,
    /// `…/models/{model}:generateContent`
    Google,
}

impl Wire {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/chat/completions") {
            Some(Self::OpenAi)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with(":generateContent") {
            Some(Self::Google)
        } else {
            None
        }
    }

    pub(super) fn model(self, request: &Recorded) -> String {
        let named = match self {
            Self::OpenAi | Self::Anthropic => request.body.get("model").and_then(Value::as_str),
            Self::Google => request
                .path
                .rsplit('/')
                .next()
                .and_then(|last| last.strip_suffix(":generateContent")),
        };
        named.unwrap_or("unknown").to_owned()
    }

    pub(super) fn ends_in_tool_result(self, body: &Value) -> bool {
        let last = |list: &str| body.get(list).and_then(Value::as_array)?.last();
        match self {
            Self::OpenAi => {
                last("messages").is_some_and(|message| message.get("role") == Some(&json!("tool")))
            }
            Self::Anthropic => last("messages")
                .and_then(|message| message.get("content")?.as_array())
                .is_some_and(|blocks| {
                    blocks
                        .iter()
                        .any(|block| block.get("type") == Some(&json!("tool_result")))
                }),
            Self::Google => last("contents")
                .and_then(|content| content.get("parts")?.as_array())
                .is_some_and(|parts| {
                    parts
                        .iter()
                        .any(|part| part.get("functionResponse").is_some())
                }),
        }
    }

    pub(super) fn first_tool(self, body: &Value) -> Option<&str> {
        let pointer = match self {
            Self::OpenAi => "/tools/0/function/name",
            Self::Anthropic => "/tools/0/name",
            Self::Google => "/tools/0/functionDeclarations/0/name",
        };
        body.pointer(pointer)?.as_str()
    }

    pub(super) fn answer(self, model: &str, answer: &Answer) -> Value {
        match self {
            Self::OpenAi => openai(model, answer),
            Self::Anthropic => anthropic(model, answer),
            Self::Google => google(model, answer),
        }
    }

    pub(super) fn withheld(self, model: &str) -> Value {
        let finish_reason = match self {
            Self::OpenAi => "content_filter",
            Self::Anthropic => "refusal",
            Self::Google => "SAFETY",
        };
        let answer = Answer {
            finish_reason: Some(finish_reason.to_owned()),
            ..Answer::default()
        };
        self.answer(model, &answer)
    }

    pub(super) fn error(self, status: u16, error: &WireError) -> Value {
        let WireError { code, message } = error;
        match self {
            Self::OpenAi => json!({"error": {"message": message, "type": code, "code": code}}),
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": code, "message": message}})
            }
            Self::Google => {
                json!({"error": {"code": status, "status": code, "message": message}})
            }
        }
    }
}

/// Arguments as JSON, or as a JSON text when they are none.
fn as_json(call: &Call) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments))
}

fn id(call: &Call, index: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("toolu_{index}"))
}

fn openai(model: &str, answer: &Answer) -> Value {
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            json!({"id": id(call, index), "type": "function",
                "function": {"name": call.name, "arguments": call.arguments}})
        })
        .collect();
    let usual = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let text = (!answer.texts.is_empty()).then(|| answer.texts.join(""));
    let mut message = json!({"role": "assistant", "content": text, "refusal": answer.refusal});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": format!("{model}-2026"),
        "choices": [{
            "index": 0,
            "message": message,
            "finish_reason": answer.finish_reason.as_deref().unwrap_or(usual),
        }],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
        },
    })
}

fn anthropic(model: &str, answer: &Answer) -> Value {
    let texts = answer
        .texts
        .iter()
        .chain(&answer.refusal)
        .map(|text| json!({"type": "text", "text": text}));
    let calls = answer.calls.iter().enumerate().map(|(index, call)| {
        json!({"type": "tool_use", "id": id(call, index), "name": call.name, "input": as_json(call)})
    });
    let usual = if answer.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": format!("{model}-2026"),
        "content": texts.chain(calls).collect::<Vec<_>>(),
        "stop_reason": answer.finish_reason.as_deref().unwrap_or(usual),
        "usage": {
            "input_tokens": answer.input_tokens.saturating_sub(answer.cached_tokens),
            "cache_read_input_tokens": answer.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": answer.output_tokens,
        },
    })
}

fn google(model: &str, answer: &Answer) -> Value {
    let texts = answer
        .texts
        .iter()
        .chain(&answer.refusal)
        .map(|text| json!({"text": text}));
    let calls = answer.calls.iter().map(|call| {
        let mut function = json!({"name": call.name, "args": as_json(call)});
        if let Some(id) = &call.id {
            function["id"] = json!(id);
        }
        json!({"functionCall": function, "thoughtSignature": "c2lnbmF0dXJl"})
    });
    json!({
        "responseId": "response-1",
        "modelVersion": format!("{model}-2026"),
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": texts.chain(calls).collect::<Vec<_>>()},
            "finishReason": answer.finish_reason.as_deref().unwrap_or("STOP"),
        }],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens + answer.output_tokens,
            "cachedContentTokenCount": answer.cached_tokens,
        },
    })
}
