//! Google's `generateContent`.

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

/// Finish reasons with which the provider withholds an answer.
const FILTERED: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
];
/// Finish reasons of a model that wrote a call nobody can read.
const SPOILED_CALL: &[&str] = &[
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
];

pub(super) fn url(base: &Url, model: &str) -> Url {
    let model = model.strip_prefix("models/").unwrap_or(model);
    super::factory::joined(base, &format!("models/{model}:generateContent"))
}

pub(super) fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(key.expose())?;
        value.set_sensitive(true);
        headers.insert("x-goog-api-key", value);
    }
    Ok(headers)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Text {
        text: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a Value>,
    },
    #[serde(rename_all = "camelCase")]
    Response {
        function_response: FunctionResponse<'a>,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        inline_data: InlineData<'a>,
    },
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    name: &'a str,
    args: std::borrow::Cow<'a, Value>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    name: &'a str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

/// Writes a request.
pub(super) fn body(outgoing: &Outgoing<'_>) -> serde_json::Result<Vec<u8>> {
    let conversation = outgoing.conversation;
    let mut contents: Vec<Content<'_>> = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => {
                let parts = texts.iter().map(|text| Part::Text { text });
                push(&mut contents, "user", parts.collect());
            }
            Turn::Assistant(said) => {
                let parts = said.iter().map(|said| part(*said, outgoing));
                push(&mut contents, "model", parts.collect());
            }
            Turn::Results(outcomes) => {
                // Responses first: their number is compared with the calls.
                let responses = outcomes.iter().map(|outcome| response(outcome, outgoing));
                let images = outcomes.iter().flat_map(images);
                push(&mut contents, "user", responses.chain(images).collect());
            }
        }
    }
    let declarations: Vec<Declaration<'_>> = outgoing
        .tools
        .iter()
        .map(|tool| Declaration {
            name: outgoing.names.alias(tool.name),
            description: tool.description,
            parameters_json_schema: &tool.schema,
        })
        .collect();
    let config = GenerationConfig {
        temperature: outgoing.temperature,
        // The field is a signed 32-bit number.
        seed: outgoing.seed.map(|seed| seed & 0x7fff_ffff),
    };
    let body = Body {
        system_instruction: (!conversation.system.is_empty()).then(|| Content {
            role: "",
            parts: conversation
                .system
                .iter()
                .map(|text| Part::Text { text })
                .collect(),
        }),
        contents,
        tools: if declarations.is_empty() {
            Vec::new()
        } else {
            vec![Tools {
                function_declarations: declarations,
            }]
        },
        generation_config: (config.temperature.is_some() || config.seed.is_some())
            .then_some(config),
    };
    serde_json::to_vec(&body)
}

/// Appends parts, joining contents of one role; empty texts are left out.
fn push<'a>(contents: &mut Vec<Content<'a>>, role: &'static str, mut parts: Vec<Part<'a>>) {
    parts.retain(|part| !matches!(part, Part::Text { text: "" }));
    if parts.is_empty() {
        return;
    }
    match contents.last_mut() {
        Some(last) if last.role == role => last.parts.append(&mut parts),
        _ => contents.push(Content { role, parts }),
    }
}

fn part<'a>(said: Said<'a>, outgoing: &'a Outgoing<'_>) -> Part<'a> {
    match said {
        Said::Text(text) => Part::Text { text },
        Said::Call(call) => Part::Call {
            function_call: FunctionCall {
                id: call.state.and_then(|state| state.get("id")),
                name: outgoing.names.alias(call.name),
                args: as_object(call.arguments, call.raw_arguments),
            },
            thought_signature: call.state.and_then(|state| state.get("thoughtSignature")),
        },
    }
}

fn response<'a>(outcome: &Outcome<'a>, outgoing: &'a Outgoing<'_>) -> Part<'a> {
    Part::Response {
        function_response: FunctionResponse {
            id: outcome.call.state.and_then(|state| state.get("id")),
            name: outgoing.names.alias(outcome.call.name),
            response: if outcome.is_error {
                Response::Error(outcome.text)
            } else {
                Response::Output(outcome.text)
            },
        },
    }
}

fn images<'a>(outcome: &Outcome<'a>) -> impl Iterator<Item = Part<'a>> {
    outcome.images.iter().map(|image| Part::Image {
        inline_data: InlineData {
            mime_type: image.mime_type,
            data: image.data,
        },
    })
}

/// Reads an answer.
pub(super) fn read(value: &Value) -> Result<Answer, Fault> {
    let blocked = value
        .pointer("/promptFeedback/blockReason")
        .and_then(Value::as_str);
    if let Some(reason) = blocked {
        return Err(withheld(reason));
    }
    let Some(candidate) = value.get("candidates").and_then(|all| all.get(0)) else {
        return Err(Fault::unreadable("the answer has no `candidates`"));
    };
    let finish_reason = text(candidate, "finishReason");
    if let Some(reason) = finish_reason
        .as_deref()
        .filter(|reason| FILTERED.contains(reason))
    {
        return Err(withheld(reason));
    }
    let spoiled = finish_reason
        .as_deref()
        .is_some_and(|reason| SPOILED_CALL.contains(&reason));
    let parts = candidate
        .pointer("/content/parts")
        .and_then(Value::as_array);
    Ok(Answer {
        parts: parts.into_iter().flatten().filter_map(read_part).collect(),
        finish_reason,
        empty_is_meant: spoiled,
        usage: value.get("usageMetadata").map(usage).unwrap_or_default(),
        served_model: text(value, "modelVersion"),
        response_id: text(value, "responseId"),
    })
}

fn withheld(reason: &str) -> Fault {
    Fault {
        code: Some(reason.to_owned()),
        ..Fault::new(
            ModelErrorKind::ContentFiltered,
            format!("the provider withheld the answer (`{reason}`)"),
        )
    }
}

fn read_part(part: &Value) -> Option<AnswerPart> {
    if let Some(call) = part.get("functionCall") {
        let mut state = Map::new();
        for (from, key) in [(call, "id"), (part, "thoughtSignature")] {
            if let Some(value) = from.get(key).filter(|value| !value.is_null()) {
                state.insert(key.to_owned(), value.clone());
            }
        }
        return Some(AnswerPart::Call {
            id: text(call, "id"),
            name: text(call, "name").unwrap_or_default(),
            arguments: Arguments::from_value(call.get("args")),
            state: (!state.is_empty()).then(|| json!(state)),
        });
    }
    let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    text(part, "text")
        .filter(|text| !thought && !text.is_empty())
        .map(AnswerPart::Text)
}

/// Reads token counts; thinking counts as output, as it is paid.
fn usage(usage: &Value) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let thoughts = count("thoughtsTokenCount");
    Usage {
        input_tokens: count("promptTokenCount"),
        output_tokens: count("candidatesTokenCount")
            .or(thoughts.map(|_| 0))
            .map(|output| output.saturating_add(thoughts.unwrap_or(0))),
        total_tokens: count("totalTokenCount"),
        cached_input_tokens: count("cachedContentTokenCount"),
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}
