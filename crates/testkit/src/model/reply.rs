//! What a playbook may answer.

use std::time::Duration;

use serde_json::{Value, json};

/// One reply, the same for every wire shape.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) act: Act,
    pub(super) delay: Duration,
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Answer(Answer),
    /// A success whose content the provider withheld.
    Withheld,
    /// An error in the shape of the wire, or a body of one's own.
    Error {
        status: u16,
        body: Result<Value, WireError>,
    },
    Raw {
        status: u16,
        content_type: String,
        body: String,
    },
    CutOff,
    Silent,
    HangUp,
}

/// An error as every wire can say it.
#[derive(Debug, Clone)]
pub(super) struct WireError {
    pub(super) code: String,
    pub(super) message: String,
}

/// A successful answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Texts, in order, before the calls.
    pub texts: Vec<String>,
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    /// Why the model stopped; absent means the wire's usual word.
    pub finish_reason: Option<String>,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from a cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// The model's refusal to answer, where the wire has a place for it.
    pub refusal: Option<String>,
}

/// One tool call of an answer.
#[derive(Debug, Clone)]
pub struct Call {
    /// The call's id; absent means one made of its place.
    pub id: Option<String>,
    /// The tool's name as the provider writes it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, or not.
    pub arguments: String,
}

impl Answer {
    /// Returns an answer of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            texts: vec![text.into()],
            input_tokens: 20,
            output_tokens: 5,
            ..Self::default()
        }
    }

    /// Returns an answer of tool calls.
    #[must_use]
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self {
            calls: calls
                .into_iter()
                .map(|(name, arguments)| Call {
                    id: None,
                    name: name.to_owned(),
                    arguments: arguments.to_string(),
                })
                .collect(),
            input_tokens: 20,
            output_tokens: 5,
            ..Self::default()
        }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::new(Act::Answer(answer))
    }
}

impl Reply {
    fn new(act: Act) -> Self {
        Self {
            act,
            delay: Duration::ZERO,
            headers: Vec::new(),
        }
    }

    /// Returns an answer of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Answer::text(text).into()
    }

    /// Returns an answer of one tool call.
    #[must_use]
    pub fn call(tool: &str, arguments: &Value) -> Self {
        Answer::calls([(tool, arguments.clone())]).into()
    }

    /// Returns an answer of one call whose arguments are this very text.
    #[must_use]
    pub fn call_with_text(tool: &str, arguments: &str) -> Self {
        Answer {
            calls: vec![Call {
                id: None,
                name: tool.to_owned(),
                arguments: arguments.to_owned(),
            }],
            ..Answer::default()
        }
        .into()
    }

    /// Returns a successful answer that says and asks for nothing.
    #[must_use]
    pub fn empty() -> Self {
        Answer::default().into()
    }

    /// Returns a successful answer whose content the provider withheld.
    #[must_use]
    pub fn withheld() -> Self {
        Self::new(Act::Withheld)
    }

    /// Returns the model's own refusal.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Answer {
            refusal: Some(text.into()),
            ..Answer::default()
        }
        .into()
    }

    /// Returns an error with a code and a message, in the shape of the wire.
    #[must_use]
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::new(Act::Error {
            status,
            body: Err(WireError {
                code: code.to_owned(),
                message: message.to_owned(),
            }),
        })
    }

    /// Returns any status with any JSON body.
    #[must_use]
    pub fn json(status: u16, body: Value) -> Self {
        Self::new(Act::Error {
            status,
            body: Ok(body),
        })
    }

    /// Returns a success that holds an error.
    #[must_use]
    pub fn error_in_success(code: &str) -> Self {
        Self::json(
            200,
            json!({"error": {"code": code, "message": "something went wrong"}}),
        )
    }

    /// Returns an HTML page, as a gateway or a wrong address sends it.
    #[must_use]
    pub fn html(status: u16) -> Self {
        Self::raw(
            status,
            "text/html; charset=utf-8",
            "<!doctype html><h1>Bad gateway</h1>",
        )
    }

    /// Returns any body at all.
    #[must_use]
    pub fn raw(status: u16, content_type: &str, body: impl Into<String>) -> Self {
        Self::new(Act::Raw {
            status,
            content_type: content_type.to_owned(),
            body: body.into(),
        })
    }

    /// Returns half an answer, after which the connection closes.
    #[must_use]
    pub fn cut_off() -> Self {
        Self::new(Act::CutOff)
    }

    /// Returns nothing, for ever.
    #[must_use]
    pub fn silence() -> Self {
        Self::new(Act::Silent)
    }

    /// Returns nothing and closes the connection.
    #[must_use]
    pub fn hang_up() -> Self {
        Self::new(Act::HangUp)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Asks the client to wait, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: &str) -> Self {
        self.header("retry-after", seconds)
    }

    /// Lets the reply take its time.
    #[must_use]
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}
