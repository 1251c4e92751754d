//! Attempts, waits and bounds of one request to a provider.

use std::{
    error::Error as _,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use http::{HeaderMap, StatusCode};
use reqwest::{Client, Url};
use serde_json::Value;
use strandline_contract::{
    redact::{REDACTED, redact_text},
    secret::Secret,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    ModelError, ModelErrorKind,
    error::{ErrorBody, Fault},
    retry::{RetryPolicy, retry_after},
};

/// Longest provider's message that is passed on, in characters.
const MAX_MESSAGE: usize = 400;
/// Shortest key that is looked for in what a provider sends: shorter ones are
/// placeholders of local servers, and would mask ordinary words.
const MIN_SECRET: usize = 8;

/// Bounds of every request to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time to connect, name lookup and TLS included.
    pub connect_timeout: Duration,
    /// Time for one attempt, from connecting to the last byte of the answer.
    pub request_timeout: Duration,
    /// Longest answer read, in bytes.
    pub max_body_bytes: usize,
    /// Attempts and the waits between them.
    pub retry: RetryPolicy,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(300),
            max_body_bytes: 16 * 1024 * 1024,
            retry: RetryPolicy::default(),
        }
    }
}

/// One provider's address and key.
pub(super) struct Endpoint {
    pub(super) http: Client,
    pub(super) provider: &'static str,
    pub(super) url: Url,
    /// The key is in here, marked as sensitive.
    pub(super) headers: HeaderMap,
    /// The key, to be masked wherever the provider repeats it.
    pub(super) secret: Option<Secret>,
    pub(super) limits: Limits,
    /// Tells requests apart for the jitter.
    pub(super) requests: AtomicU64,
}

/// An answer that was read, and what it took.
#[derive(Debug)]
pub(super) struct Answered<T> {
    pub(super) answer: T,
    pub(super) attempts: u32,
}

impl Endpoint {
    /// Sends a request until it is answered, refused for good, or the bounds
    /// are used up.
    pub(super) async fn send<T>(
        &self,
        body: Vec<u8>,
        read: impl Fn(&Value) -> Result<T, Fault>,
        cancel: &CancellationToken,
    ) -> Result<Answered<T>, ModelError> {
        let body = bytes::Bytes::from(body);
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut waited = Duration::ZERO;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let attempt = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(self.cancelled(attempts)),
                attempt = self.attempt(body.clone(), &read) => attempt,
            };
            let fault = match attempt {
                Ok(answer) => return Ok(Answered { answer, attempts }),
                Err(fault) => fault,
            };
            let policy = &self.limits.retry;
            let delay = fault
                .retry
                .then(|| policy.delay(attempts, waited, fault.retry_after, request))
                .flatten();
            let Some(delay) = delay else {
                return Err(self.error(fault, attempts));
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(self.cancelled(attempts)),
                () = tokio::time::sleep(delay) => waited += delay,
            }
        }
    }

    /// Makes one attempt, bounded in time.
    async fn attempt<T>(
        &self,
        body: bytes::Bytes,
        read: impl Fn(&Value) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let exchange = async {
            let response = self
                .http
                .post(self.url.clone())
                .headers(self.headers.clone())
                .body(body)
                .send()
                .await
                .map_err(|error| sending_failed(&error))?;
            self.read(response, read).await
        };
        timeout(self.limits.request_timeout, exchange)
            .await
            .unwrap_or_else(|_| {
                Err(Fault::new(
                    ModelErrorKind::TimedOut,
                    format!("no answer within {:?}", self.limits.request_timeout),
                ))
            })
    }

    async fn read<T>(
        &self,
        response: reqwest::Response,
        read: impl Fn(&Value) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let status = response.status();
        let asked_wait = retry_after(response.headers(), SystemTime::now());
        let content_type = content_type(response.headers());
        let body = self.body(response).await;
        if status.is_success() {
            let body = body?;
            let value: Value = serde_json::from_slice(&body)
                .map_err(|error| Fault::unreadable(not_json(&content_type, &body, &error)))?;
            if let Some(error) = ErrorBody::read(&value) {
                let mut fault = Fault::from_body(None, &error);
                fault.message = format!("HTTP {status} with an error: {}", fault.message);
                fault.retry_after = fault.retry_after.or(asked_wait);
                return Err(fault);
            }
            return read(&value);
        }
        // An error's status counts even when its body cannot be read.
        let body = body.unwrap_or_default();
        let error = serde_json::from_slice::<Value>(&body)
            .ok()
            .and_then(|value| ErrorBody::read(&value))
            .unwrap_or_default();
        let mut fault = Fault::from_body(Some(status.as_u16()), &error);
        fault.retry_after = asked_wait.or(fault.retry_after);
        fault.message = describe_status(status, &self.url, &fault, &content_type);
        Err(fault)
    }

    /// Reads a body up to the limit, with the key masked.
    async fn body(&self, mut response: reqwest::Response) -> Result<Vec<u8>, Fault> {
        let most = self.limits.max_body_bytes;
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > most => {
                    return Err(Fault::unreadable(format!(
                        "the answer is longer than {most} bytes"
                    )));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(self.masked(body)),
                Err(error) => {
                    // The connection broke, which the next attempt may not.
                    return Err(Fault {
                        retry: true,
                        ..Fault::unreadable(format!(
                            "the answer broke off after {} bytes: {}",
                            body.len(),
                            causes(&error)
                        ))
                    });
                }
            }
        }
    }

    fn secret(&self) -> Option<&str> {
        self.secret
            .as_ref()
            .map(Secret::expose)
            .filter(|key| key.len() >= MIN_SECRET)
    }

    /// Masks the key wherever the provider repeats it, before anything is read.
    fn masked(&self, body: Vec<u8>) -> Vec<u8> {
        let Some(key) = self.secret() else {
            return body;
        };
        match std::str::from_utf8(&body) {
            Ok(text) if text.contains(key) => text.replace(key, REDACTED).into_bytes(),
            Ok(_) | Err(_) => body,
        }
    }

    /// A request that could not even be written.
    pub(super) fn refused(&self, error: &serde_json::Error) -> ModelError {
        self.error(
            Fault::new(
                ModelErrorKind::RequestRefused,
                format!("the request cannot be written: {error}"),
            ),
            0,
        )
    }

    fn cancelled(&self, attempts: u32) -> ModelError {
        self.error(
            Fault::new(ModelErrorKind::Cancelled, "the trial was cancelled"),
            attempts,
        )
    }

    fn error(&self, fault: Fault, attempts: u32) -> ModelError {
        ModelError {
            provider: self.provider.to_owned(),
            kind: fault.kind,
            message: self.presentable(&fault.message),
            http_status: fault.http_status,
            code: fault.code.map(|code| self.presentable(&code)),
            retry_after: fault.retry_after,
            attempts,
        }
    }

    /// Returns a provider's words in one bounded line without secrets.
    fn presentable(&self, text: &str) -> String {
        let mut line: String = text
            .chars()
            .map(|character| {
                if character.is_control() {
                    ' '
                } else {
                    character
                }
            })
            .take(4 * MAX_MESSAGE)
            .collect();
        // Providers repeat a refused key with its middle starred out: no part
        // of it is passed on.
        if let Some(key) = self.secret() {
            line = line
                .split(' ')
                .map(|word| {
                    if shares_part(word, key) {
                        REDACTED
                    } else {
                        word
                    }
                })
                .collect::<Vec<_>>()
                .join(" ");
        }
        let mut line = redact_text(&line);
        if let Some((end, _)) = line.char_indices().nth(MAX_MESSAGE) {
            line.truncate(end);
            line.push('…');
        }
        line
    }
}

/// Returns whether a word holds a piece of a key long enough to matter.
fn shares_part(word: &str, key: &str) -> bool {
    let key = key.as_bytes();
    let piece = MIN_SECRET.min(key.len());
    key.windows(piece).any(|piece| {
        word.as_bytes()
            .windows(piece.len())
            .any(|part| part == piece)
    })
}

/// Tells apart what kept a request from being answered at all.
fn sending_failed(error: &reqwest::Error) -> Fault {
    if error.is_builder() {
        return Fault::new(
            ModelErrorKind::RequestRefused,
            format!("the request could not be built: {}", causes(error)),
        );
    }
    let what = if error.is_connect() {
        "no connection"
    } else {
        "the connection was lost before the answer"
    };
    Fault::new(
        ModelErrorKind::Transport,
        format!("{what}: {}", causes(error)),
    )
}

/// Returns the innermost cause of an error, which says what happened.
fn causes(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    // `reqwest` itself names the URL, the causes do not.
    if error.source().is_none() {
        return "unknown cause".to_owned();
    }
    cause.to_string()
}

fn content_type(headers: &HeaderMap) -> String {
    headers
        .get(http::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or("no content type")
        .trim()
        .to_ascii_lowercase()
}

fn not_json(content_type: &str, body: &[u8], error: &serde_json::Error) -> String {
    if body.is_empty() {
        return "the answer is empty".to_owned();
    }
    if content_type == "text/html" {
        return "the answer is an HTML page; is the base URL right?".to_owned();
    }
    format!("the answer ({content_type}) is no JSON: {error}")
}

/// Says what a status means, with the provider's words behind it.
fn describe_status(status: StatusCode, url: &Url, fault: &Fault, content_type: &str) -> String {
    let said = match (&fault.code, fault.message.as_str()) {
        (Some(code), "") => code.clone(),
        (Some(code), message) => format!("{code}: {message}"),
        (None, "") if content_type == "text/html" => "an HTML page".to_owned(),
        (None, "") => "no error body".to_owned(),
        (None, message) => message.to_owned(),
    };
    let wait = fault
        .retry_after
        .map(|wait| format!("; asks to wait {wait:?}"))
        .unwrap_or_default();
    let host = url.host_str().unwrap_or("the provider");
    format!("HTTP {} from {host}: {said}{wait}", status.as_u16())
}
