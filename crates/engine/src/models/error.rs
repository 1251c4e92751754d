//! Failures of a provider, told apart by status and code (field case F32).

use std::time::Duration;

use serde_json::Value;

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

/// A provider's failure before it is known which request it ended.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    pub(super) http_status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) retry_after: Option<Duration>,
    /// Another attempt may succeed.
    pub(super) retry: bool,
}

impl Fault {
    pub(super) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            http_status: None,
            code: None,
            retry_after: None,
            retry: kind.is_passing(),
        }
    }

    /// An answer that cannot be read, though the request went through.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(ModelErrorKind::Unreadable, message)
    }

    /// What a provider says in an error body.
    pub(super) fn from_body(status: Option<u16>, body: &ErrorBody) -> Self {
        let status = status.or(body.status);
        let kind = kind_of(status, &body.codes);
        Self {
            http_status: status,
            code: body.codes.first().cloned(),
            retry_after: body.retry_after,
            ..Self::new(kind, body.message.clone().unwrap_or_default())
        }
    }
}

impl ModelErrorKind {
    /// Returns whether the same request may succeed a little later.
    const fn is_passing(self) -> bool {
        match self {
            Self::RateLimited | Self::Overloaded | Self::ServerFault | Self::Transport => true,
            Self::CredentialsRejected
            | Self::QuotaExhausted
            | Self::RequestRefused
            | Self::ContextTooLong
            | Self::ContentFiltered
            | Self::TimedOut
            | Self::Unreadable
            | Self::Cancelled
            | Self::Script => false,
        }
    }

    /// Every kind, for looking one up by its word.
    const ALL: [Self; 13] = [
        Self::CredentialsRejected,
        Self::QuotaExhausted,
        Self::RateLimited,
        Self::Overloaded,
        Self::ServerFault,
        Self::RequestRefused,
        Self::ContextTooLong,
        Self::ContentFiltered,
        Self::TimedOut,
        Self::Transport,
        Self::Unreadable,
        Self::Cancelled,
        Self::Script,
    ];

    /// Returns the kind with that word.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Codes that say more than the status they come with.
const TELLING_CODES: &[(&str, ModelErrorKind)] = &[
    ("insufficient_quota", ModelErrorKind::QuotaExhausted),
    ("insufficient_balance", ModelErrorKind::QuotaExhausted),
    ("insufficient_credits", ModelErrorKind::QuotaExhausted),
    ("billing_error", ModelErrorKind::QuotaExhausted),
    ("billing_hard_limit_reached", ModelErrorKind::QuotaExhausted),
    ("billing_not_active", ModelErrorKind::QuotaExhausted),
    ("BILLING_DISABLED", ModelErrorKind::QuotaExhausted),
    ("context_length_exceeded", ModelErrorKind::ContextTooLong),
    ("exceed_context_size_error", ModelErrorKind::ContextTooLong),
    (
        "model_context_window_exceeded",
        ModelErrorKind::ContextTooLong,
    ),
    ("string_above_max_length", ModelErrorKind::ContextTooLong),
    ("request_too_large", ModelErrorKind::ContextTooLong),
    ("content_filter", ModelErrorKind::ContentFiltered),
    ("content_policy_violation", ModelErrorKind::ContentFiltered),
    ("invalid_api_key", ModelErrorKind::CredentialsRejected),
    ("API_KEY_INVALID", ModelErrorKind::CredentialsRejected),
];

/// Codes that only count where no HTTP error status says it already.
const PLAIN_CODES: &[(&str, ModelErrorKind)] = &[
    ("authentication_error", ModelErrorKind::CredentialsRejected),
    ("permission_error", ModelErrorKind::CredentialsRejected),
    ("UNAUTHENTICATED", ModelErrorKind::CredentialsRejected),
    ("PERMISSION_DENIED", ModelErrorKind::CredentialsRejected),
    ("rate_limit_error", ModelErrorKind::RateLimited),
    ("rate_limit_exceeded", ModelErrorKind::RateLimited),
    ("RESOURCE_EXHAUSTED", ModelErrorKind::RateLimited),
    ("server_error", ModelErrorKind::ServerFault),
    ("api_error", ModelErrorKind::ServerFault),
    ("internal_server_error", ModelErrorKind::ServerFault),
    ("INTERNAL", ModelErrorKind::ServerFault),
    ("timeout_error", ModelErrorKind::TimedOut),
    ("DEADLINE_EXCEEDED", ModelErrorKind::TimedOut),
    ("invalid_request_error", ModelErrorKind::RequestRefused),
    ("not_found_error", ModelErrorKind::RequestRefused),
    ("INVALID_ARGUMENT", ModelErrorKind::RequestRefused),
    ("NOT_FOUND", ModelErrorKind::RequestRefused),
];

/// Codes of a provider without room, whatever 5xx they come with.
const OVERLOADED_CODES: &[&str] = &[
    "overloaded",
    "overloaded_error",
    "server_overloaded",
    "engine_overloaded",
    "engine_overloaded_error",
    "slow_down",
    "UNAVAILABLE",
];

/// Tells what kind of failure a status and the codes in the body mean.
///
/// First match wins: a telling code, the status, a plain code.
pub(super) fn kind_of(status: Option<u16>, codes: &[String]) -> ModelErrorKind {
    let listed = |table: &[(&str, ModelErrorKind)]| {
        codes
            .iter()
            .find_map(|code| table.iter().find(|(word, _)| word == code))
            .map(|(_, kind)| *kind)
    };
    if let Some(kind) = listed(TELLING_CODES) {
        return kind;
    }
    let overloaded = codes
        .iter()
        .any(|code| OVERLOADED_CODES.contains(&code.as_str()));
    match status {
        Some(401 | 403) => ModelErrorKind::CredentialsRejected,
        Some(402) => ModelErrorKind::QuotaExhausted,
        Some(408) => ModelErrorKind::TimedOut,
        Some(413) => ModelErrorKind::ContextTooLong,
        Some(429) => ModelErrorKind::RateLimited,
        Some(529) => ModelErrorKind::Overloaded,
        Some(500..) if overloaded => ModelErrorKind::Overloaded,
        Some(500..) => ModelErrorKind::ServerFault,
        Some(300..) => ModelErrorKind::RequestRefused,
        // An error in the body of a success.
        Some(_) | None if overloaded => ModelErrorKind::Overloaded,
        Some(_) | None => listed(PLAIN_CODES).unwrap_or(ModelErrorKind::Unreadable),
    }
}

/// What an error body says, in any of the shapes that providers use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ErrorBody {
    /// Codes and types, the most telling first.
    pub(super) codes: Vec<String>,
    /// An HTTP status inside the body.
    pub(super) status: Option<u16>,
    /// The provider's prose: shown, never read.
    pub(super) message: Option<String>,
    /// A wait that the body asks for.
    pub(super) retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Reads an error body; `None` when the value carries no error.
    ///
    /// | seen at | shape |
    /// |---|---|
    /// | OpenAI, OpenRouter, Anthropic, Google | `{error: {…}}` |
    /// | Google through OpenAI's shape | `[{error: {…}}]` |
    /// | Ollama, xAI | `{error: "…", code?}` |
    /// | Mistral, vLLM | `{object: "error", message, type, code}` |
    pub(super) fn read(value: &Value) -> Option<Self> {
        let value = value.get(0).unwrap_or(value);
        match value.get("error") {
            Some(error @ Value::Object(_)) => Some(Self::from_object(error)),
            Some(Value::String(message)) => Some(Self {
                message: Some(message.clone()),
                ..Self::from_object(value)
            }),
            _ if value.get("object").and_then(Value::as_str) == Some("error") => {
                Some(Self::from_object(value))
            }
            _ => None,
        }
    }

    fn from_object(error: &Value) -> Self {
        let text = |key: &str| {
            error
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let details = error.get("details").and_then(Value::as_array);
        let detail = |key: &str| {
            details
                .into_iter()
                .flatten()
                .find_map(|detail| detail.get(key)?.as_str())
        };
        Self {
            codes: [
                detail("reason").map(str::to_owned),
                text("code"),
                text("type"),
                text("status"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            status: error
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| u16::try_from(code).ok())
                .filter(|code| (400..=599).contains(code)),
            message: text("message"),
            retry_after: detail("retryDelay")
                .and_then(|delay| delay.strip_suffix('s')?.parse::<f64>().ok())
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(status: Option<u16>, body: &Value) -> ModelErrorKind {
        Fault::from_body(status, &ErrorBody::read(body).unwrap_or_default()).kind
    }

    #[test]
    fn the_word_quota_in_prose_means_nothing() {
        let body = json!({"error": {"message": "You exceeded your current quota", "code": "rate_limit_exceeded"}});
        assert_eq!(kind(Some(429), &body), ModelErrorKind::RateLimited);
    }

    #[test]
    fn an_insufficient_quota_code_is_no_rate_limit() {
        let body = json!({"error": {"message": "slow down", "type": "insufficient_quota", "code": "insufficient_quota"}});
        assert_eq!(kind(Some(429), &body), ModelErrorKind::QuotaExhausted);
        assert!(!Fault::from_body(Some(429), &ErrorBody::read(&body).expect("an error")).retry);
    }

    #[test]
    fn statuses_without_a_readable_body_decide_alone() {
        let expected = [
            (302, ModelErrorKind::RequestRefused),
            (400, ModelErrorKind::RequestRefused),
            (401, ModelErrorKind::CredentialsRejected),
            (402, ModelErrorKind::QuotaExhausted),
            (403, ModelErrorKind::CredentialsRejected),
            (404, ModelErrorKind::RequestRefused),
            (408, ModelErrorKind::TimedOut),
            (413, ModelErrorKind::ContextTooLong),
            (429, ModelErrorKind::RateLimited),
            (500, ModelErrorKind::ServerFault),
            (503, ModelErrorKind::ServerFault),
            (529, ModelErrorKind::Overloaded),
        ];
        for (status, wanted) in expected {
            assert_eq!(kind(Some(status), &json!("<html>")), wanted, "{status}");
        }
    }

    #[test]
    fn every_error_shape_is_read() {
        let cases = [
            (
                Some(400),
                json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "m"}}),
                ModelErrorKind::ContextTooLong,
            ),
            (
                Some(400),
                json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "m", "details": [
                {"@type": "x"}, {"reason": "API_KEY_INVALID"}]}}),
                ModelErrorKind::CredentialsRejected,
            ),
            (
                Some(503),
                json!([{"error": {"code": 503, "status": "UNAVAILABLE"}}]),
                ModelErrorKind::Overloaded,
            ),
            (
                Some(400),
                json!({"object": "error", "type": "invalid_request_error", "code": "3051"}),
                ModelErrorKind::RequestRefused,
            ),
            (
                None,
                json!({"error": {"code": 429, "message": "m"}}),
                ModelErrorKind::RateLimited,
            ),
            (
                None,
                json!({"type": "error", "error": {"type": "overloaded_error"}}),
                ModelErrorKind::Overloaded,
            ),
            (
                None,
                json!({"error": "model runner stopped"}),
                ModelErrorKind::Unreadable,
            ),
            (
                None,
                json!({"error": "m", "code": "rate_limit_exceeded"}),
                ModelErrorKind::RateLimited,
            ),
        ];
        for (status, body, wanted) in cases {
            assert_eq!(kind(status, &body), wanted, "{body}");
        }
        assert_eq!(
            ErrorBody::read(&json!({"error": null, "choices": []})),
            None
        );
    }

    #[test]
    fn a_delay_in_the_body_is_a_retry_after() {
        let body = ErrorBody::read(
            &json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "17.5s"}]}}),
        );
        assert_eq!(
            body.and_then(|body| body.retry_after),
            Some(Duration::from_millis(17_500))
        );
    }

    #[test]
    fn every_word_leads_back_to_its_kind() {
        for kind in ModelErrorKind::ALL {
            assert_eq!(ModelErrorKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(ModelErrorKind::from_code("quota"), None);
    }
}
