//! One request to a provider and its answer, whatever the wire.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicU64,
};

use reqwest::Url;
use serde_json::Value;
use strandline_contract::{
    providers::{Provider, WireShape},
    run::Usage,
    secret::Secret,
    trace::{Adaptation, Part},
};
use strandline_derive::surface::providers::{ToolLimits, lint_tool, tool_limits};
use tokio_util::sync::CancellationToken;

use super::{
    Limits, ModelClient, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ToolDefinition,
    anthropic, arguments::Arguments, conversation::Conversation, error::Fault, google,
    http::Endpoint, names::Names, openai, schema,
};

/// A model behind an HTTP endpoint.
pub struct HttpModel {
    endpoint: Endpoint,
    provider: &'static Provider,
    model: String,
    tool_limits: ToolLimits,
}

/// What the three wire shapes read from an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) parts: Vec<AnswerPart>,
    pub(super) finish_reason: Option<String>,
    /// Nothing is said, and that is the model's own doing.
    pub(super) empty_is_meant: bool,
    pub(super) usage: Usage,
    pub(super) served_model: Option<String>,
    pub(super) response_id: Option<String>,
}

/// A part of an answer, with the provider's names and ids.
#[derive(Debug)]
pub(super) enum AnswerPart {
    Text(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: Arguments,
        state: Option<Value>,
    },
}

/// A request with everything that the wire shapes need to write it.
pub(super) struct Outgoing<'a> {
    pub(super) model: &'a str,
    pub(super) provider: &'static Provider,
    pub(super) conversation: &'a Conversation<'a>,
    pub(super) tools: &'a [OfferedTool<'a>],
    pub(super) names: &'a Names,
    pub(super) temperature: Option<f64>,
    pub(super) seed: Option<u64>,
}

/// A tool as it goes out.
pub(super) struct OfferedTool<'a> {
    pub(super) name: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) schema: std::borrow::Cow<'a, Value>,
}

impl HttpModel {
    pub(super) fn new(
        http: reqwest::Client,
        provider: &'static Provider,
        model: &str,
        base_url: &Url,
        key: Option<Secret>,
        limits: Limits,
    ) -> Result<Self, http::header::InvalidHeaderValue> {
        let (url, headers) = match provider.shape {
            WireShape::Anthropic => (anthropic::url(base_url), anthropic::headers(key.as_ref())?),
            WireShape::Google => (google::url(base_url, model), google::headers(key.as_ref())?),
            WireShape::OpenAi | WireShape::Scripted => {
                (openai::url(base_url), openai::headers(key.as_ref())?)
            }
        };
        Ok(Self {
            endpoint: Endpoint {
                http,
                provider: provider.name,
                url,
                headers,
                secret: key,
                limits,
                requests: AtomicU64::new(0),
            },
            provider,
            model: model.to_owned(),
            tool_limits: tool_limits(provider),
        })
    }

    /// Returns whether images of results are sent as images.
    ///
    /// Behind OpenAI's shape only OpenAI's own address surely takes them: a
    /// model without sight refuses the whole request.
    fn sends_images(&self) -> bool {
        match self.provider.shape {
            WireShape::Anthropic | WireShape::Google => true,
            WireShape::OpenAi => self.endpoint.url.host_str() == Some("api.openai.com"),
            WireShape::Scripted => false,
        }
    }

    /// Returns the tools to offer; the first of two with one name counts.
    fn offered<'a>(
        &self,
        tools: &'a [ToolDefinition],
        adaptations: &mut Vec<Adaptation>,
    ) -> Vec<OfferedTool<'a>> {
        let mut seen = BTreeSet::new();
        let mut offered = Vec::with_capacity(tools.len());
        for tool in tools {
            if !seen.insert(tool.name.as_str()) {
                adaptations.push(Adaptation {
                    kind: "duplicateToolDropped".to_owned(),
                    subject: tool.name.clone(),
                    detail: "a second tool of this name was not offered".to_owned(),
                });
                continue;
            }
            let (schema, rewritten) =
                schema::sendable(&self.tool_limits, &tool.name, &tool.input_schema);
            adaptations.extend(rewritten);
            offered.push(OfferedTool {
                name: &tool.name,
                description: tool.description.as_deref(),
                schema,
            });
        }
        offered
    }

    fn names<'a>(
        &self,
        tools: &'a [ToolDefinition],
        called: impl Iterator<Item = &'a str> + Clone,
    ) -> Names {
        let offered = tools.iter().map(|tool| tool.name.as_str());
        Names::new(&self.tool_limits, offered.chain(called))
    }

    /// Adds what is known beforehand to an error that it explains.
    fn explain(&self, mut error: ModelError, request: &ModelRequest<'_>) -> ModelError {
        let why = match error.kind {
            ModelErrorKind::ContextTooLong => largest_result(request),
            ModelErrorKind::RequestRefused if error.http_status == Some(400) => {
                self.refused_tools(request.tools)
            }
            ModelErrorKind::CredentialsRejected
            | ModelErrorKind::QuotaExhausted
            | ModelErrorKind::RateLimited
            | ModelErrorKind::Overloaded
            | ModelErrorKind::ServerFault
            | ModelErrorKind::RequestRefused
            | ModelErrorKind::ContentFiltered
            | ModelErrorKind::TimedOut
            | ModelErrorKind::Transport
            | ModelErrorKind::Unreadable
            | ModelErrorKind::Cancelled
            | ModelErrorKind::Script => None,
        };
        if let Some(why) = why {
            error.message.push_str("; ");
            error.message.push_str(&why);
        }
        error
    }

    /// Names tools that the provider is known to refuse (field case F14).
    fn refused_tools(&self, tools: &[ToolDefinition]) -> Option<String> {
        let mut known: Vec<String> = tools
            .iter()
            .flat_map(|tool| {
                lint_tool(self.provider, &tool.name, &tool.input_schema)
                    .into_iter()
                    // Names are aliased, and a lost constraint is no refusal.
                    .filter(|(code, _)| !matches!(*code, "providerToolName" | "providerKeyword"))
                    .map(|(_, message)| format!("tool `{}`: {message}", tool.name))
            })
            .take(3)
            .collect();
        if let Some(most) = self.tool_limits.tools.filter(|most| tools.len() > *most) {
            known.insert(
                0,
                format!("{} tools were offered, {most} are taken", tools.len()),
            );
        }
        (!known.is_empty()).then(|| known.join("; "))
    }
}

/// Names the result that takes most room (field case F29).
fn largest_result(request: &ModelRequest<'_>) -> Option<String> {
    request
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult {
                tool_name,
                model_text,
                ..
            } => Some((model_text.len(), tool_name)),
            Part::Text { .. } | Part::ToolCall { .. } => None,
        })
        .max_by_key(|(length, _)| *length)
        .map(|(length, tool_name)| {
            format!("the largest tool result is one of `{tool_name}` with {length} bytes")
        })
}

#[async_trait::async_trait]
impl ModelClient for HttpModel {
    fn provider(&self) -> &str {
        self.provider.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(
        &self,
        request: ModelRequest<'_>,
        cancel: &CancellationToken,
    ) -> Result<ModelResponse, ModelError> {
        let conversation = Conversation::new(&request, self.sends_images());
        let names = self.names(request.tools, conversation.called_names());
        let mut adaptations = conversation.adaptations.clone();
        adaptations.extend(names.adaptations(self.provider.name));
        let tools = self.offered(request.tools, &mut adaptations);
        if request.seed.is_some() && self.provider.shape == WireShape::Anthropic {
            adaptations.push(Adaptation {
                kind: "seedNotSent".to_owned(),
                subject: self.model.clone(),
                detail: format!("{} takes no seed", self.provider.name),
            });
        }
        let outgoing = Outgoing {
            model: &self.model,
            provider: self.provider,
            conversation: &conversation,
            tools: &tools,
            names: &names,
            temperature: request.temperature,
            seed: request.seed,
        };
        let (body, read): (_, fn(&Value) -> Result<Answer, Fault>) = match self.provider.shape {
            WireShape::Anthropic => (anthropic::body(&outgoing), anthropic::read),
            WireShape::Google => (google::body(&outgoing), google::read),
            WireShape::OpenAi | WireShape::Scripted => (openai::body(&outgoing), openai::read),
        };
        let body = body.map_err(|error| self.endpoint.refused(&error))?;
        let answered = self
            .endpoint
            .send(body, |value| read(value).and_then(with_content), cancel)
            .await
            .map_err(|error| self.explain(error, &request))?;

        let answer = answered.answer;
        let mut ids: BTreeSet<String> = conversation.call_ids().map(str::to_owned).collect();
        let mut parts = Vec::with_capacity(answer.parts.len());
        for part in answer.parts {
            parts.push(match part {
                AnswerPart::Text(text) => Part::Text { text },
                AnswerPart::Call {
                    id,
                    name,
                    arguments,
                    state,
                } => {
                    let tool_name = names.own(&name).to_owned();
                    adaptations.extend(arguments.tolerated.map(|detail| Adaptation {
                        kind: "argumentsTolerated".to_owned(),
                        subject: tool_name.clone(),
                        detail: detail.to_owned(),
                    }));
                    Part::ToolCall {
                        tool_call_id: unique_id(id, &mut ids),
                        tool_name,
                        arguments: arguments.value,
                        raw_arguments: arguments.raw,
                        provider_state: state,
                    }
                }
            });
        }
        Ok(ModelResponse {
            parts,
            finish_reason: answer.finish_reason.map(bounded),
            usage: answer.usage,
            served_model: answer.served_model.map(bounded),
            response_id: answer.response_id.map(bounded),
            adaptations,
            attempts: answered.attempts,
        })
    }

    fn aliases(&self, tools: &[ToolDefinition]) -> BTreeMap<String, String> {
        self.names(tools, std::iter::empty()).into_aliases()
    }
}

/// Refuses an answer that says and asks for nothing (field case F32).
fn with_content(answer: Answer) -> Result<Answer, Fault> {
    if !answer.parts.is_empty() || answer.empty_is_meant {
        return Ok(answer);
    }
    let reason = match &answer.finish_reason {
        Some(reason) => format!("finish reason `{reason}`"),
        None => "no finish reason".to_owned(),
    };
    Err(Fault::unreadable(format!(
        "the answer has no content ({reason})"
    )))
}

/// Cuts a provider's word that should be short.
fn bounded(mut word: String) -> String {
    if let Some((end, _)) = word.char_indices().nth(200) {
        word.truncate(end);
    }
    word
}

/// Keeps the provider's id of a call while nothing else carries it.
///
/// Some providers give none or number every answer's calls from the start.
/// A made-up id fits every provider: nine letters and digits.
fn unique_id(id: Option<String>, used: &mut BTreeSet<String>) -> String {
    if let Some(id) = id.filter(|id| !id.is_empty() && !used.contains(id)) {
        used.insert(id.clone());
        return id;
    }
    let mut number = used.len() + 1;
    loop {
        let id = format!("call{number:05}");
        if used.insert(id.clone()) {
            return id;
        }
        number += 1;
    }
}
