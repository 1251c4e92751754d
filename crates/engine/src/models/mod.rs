//! Model providers behind one trait.
//!
//! | module | holds |
//! |---|---|
//! | [`factory`](ModelFactory) | from a provider and a model to a client: keys, base URLs |
//! | [`client`](HttpModel) | one request and its answer, whatever the wire |
//! | `openai`, `anthropic`, `google` | the three wire shapes: body out, answer in |
//! | [`scripted`](ScriptedModel) | the model whose turns the suite writes |
//! | `conversation` | messages with every call answered once, in order |
//! | `names` | aliases of tool names that a provider refuses |
//! | `schema` | rewrites that change no meaning |
//! | `arguments` | what a model wrote as arguments (F21, F22) |
//! | [`result_text()`] | what the model is given of a tool result |
//! | `error` | failures by status and code, never by prose |
//! | `retry`, `http` | attempts, waits and bounds |
//! | [`telemetry`] | span attributes of a model request |

use std::collections::BTreeMap;

use serde_json::Value;
use strandline_contract::{
    run::Usage,
    trace::{Adaptation, Message, Part},
};
use tokio_util::sync::CancellationToken;

mod anthropic;
mod arguments;
mod client;
mod conversation;
mod error;
mod factory;
mod google;
mod http;
mod names;
mod openai;
mod result_text;
mod retry;
mod schema;
mod scripted;
pub mod telemetry;

pub use client::HttpModel;
pub use error::{ModelError, ModelErrorKind};
pub use factory::{ModelFactory, ModelSettings, ModelSetupError};
pub use http::Limits;
pub use result_text::{DEFAULT_RESULT_CHARACTERS, ResultText, result_text};
pub use retry::RetryPolicy;
pub use scripted::ScriptedModel;

/// A model that answers one request at a time.
#[async_trait::async_trait]
pub trait ModelClient: Send + Sync {
    /// Returns the provider's name (`openai`, `anthropic`, `google`, `scripted`, …).
    fn provider(&self) -> &str;

    /// Returns the model's name without the provider.
    fn model(&self) -> &str;

    /// Asks the model for its next message.
    ///
    /// Retries inside are bounded and only on transport faults, 429 and 5xx;
    /// every attempt is counted in the answer or in the error.
    async fn complete(
        &self,
        request: ModelRequest<'_>,
        cancel: &CancellationToken,
    ) -> Result<ModelResponse, ModelError>;

    /// Returns the names under which tools are offered, where they differ:
    /// own name → alias.
    fn aliases(&self, tools: &[ToolDefinition]) -> BTreeMap<String, String> {
        let _ = tools;
        BTreeMap::new()
    }
}

/// One request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// System prompt.
    pub system: Option<&'a str>,
    /// The conversation so far, with the server's own tool names.
    pub messages: &'a [Message],
    /// Tools on offer, with the server's own names.
    pub tools: &'a [ToolDefinition],
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Seed, where the provider takes one.
    pub seed: Option<u64>,
    /// The trial's ordinal, for a scripted model.
    pub iteration_number: u32,
    /// Times that the model was asked before in this conversation, whether it
    /// answered or failed; a scripted model takes its next turn by it. (The
    /// messages do not tell: pinned calls add assistant messages of ours.)
    pub asked: u32,
}

/// A tool as offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The server's own name.
    pub name: String,
    /// Description as the server gave it.
    pub description: Option<String>,
    /// Input schema as the server gave it.
    pub input_schema: Value,
}

/// A model's next message.
#[derive(Debug, Clone)]
pub struct ModelResponse {
    /// Text and tool calls in order, with the server's own tool names.
    ///
    /// Empty only when the model's own doing left nothing, as a call that the
    /// provider could not read; an empty answer is an error otherwise.
    pub parts: Vec<Part>,
    /// Why the model stopped, in the provider's own word.
    pub finish_reason: Option<String>,
    /// Tokens used by this request.
    pub usage: Usage,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
    /// What we renamed or rewrote to please the provider, in this request:
    /// the whole conversation is sent again each time, so that the same
    /// adaptation comes again and is kept once by the caller.
    pub adaptations: Vec<Adaptation>,
    /// Requests made, retries included.
    pub attempts: u32,
}
