//! Model providers behind one trait.

use std::time::Duration;

use serde_json::Value;
use strandline_contract::{
    run::Usage,
    trace::{Adaptation, Message, Part},
};
use tokio_util::sync::CancellationToken;

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
    pub parts: Vec<Part>,
    /// Why the model stopped, in the provider's own word.
    pub finish_reason: Option<String>,
    /// Tokens used by this request.
    pub usage: Usage,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
    /// What we renamed or rewrote to please the provider.
    pub adaptations: Vec<Adaptation>,
    /// Requests made, retries included.
    pub attempts: u32,
}

/// Why no message came back; always the provider's or our side's fault.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{provider} {kind}: {message}")]
pub struct ModelError {
    /// The provider asked.
    pub provider: String,
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// What happened, in one line, without secrets.
    pub message: String,
    /// HTTP status, when there was one.
    pub http_status: Option<u16>,
    /// The provider's own error code or type.
    pub code: Option<String>,
    /// What the provider asked us to wait.
    pub retry_after: Option<Duration>,
    /// Requests made, retries included.
    pub attempts: u32,
}

/// Kinds of provider failure, told apart by code, never by prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// 401 or 403.
    CredentialsRejected,
    /// 402, or an insufficient-quota code.
    QuotaExhausted,
    /// 429.
    RateLimited,
    /// 529, or an overloaded code.
    Overloaded,
    /// Other 5xx.
    ServerFault,
    /// Other 4xx: the request as we sent it was refused.
    RequestRefused,
    /// The conversation does not fit the model's context.
    ContextTooLong,
    /// The provider withheld the answer.
    ContentFiltered,
    /// No answer in time.
    TimedOut,
    /// Connection refused, reset, DNS, TLS.
    Transport,
    /// An answer that cannot be read, an empty one, or a truncated stream.
    Unreadable,
    /// We gave up because the trial was cancelled.
    Cancelled,
    /// A scripted model has no turn left or a reference that leads nowhere.
    Script,
}

impl ModelErrorKind {
    /// Returns the stable word stored as the trial's error code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::CredentialsRejected => "credentials_rejected",
            Self::QuotaExhausted => "quota_exhausted",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ServerFault => "server_fault",
            Self::RequestRefused => "request_refused",
            Self::ContextTooLong => "context_too_long",
            Self::ContentFiltered => "content_filtered",
            Self::TimedOut => "timed_out",
            Self::Transport => "transport",
            Self::Unreadable => "unreadable",
            Self::Cancelled => "cancelled",
            Self::Script => "script",
        }
    }
}

impl std::fmt::Display for ModelErrorKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.code())
    }
}
