//! Says what an HTTP failure was and at whose side it lies.

use std::{error::Error, io};

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::Value;

use super::HttpLink;
use crate::mcp::{
    PhaseFailure,
    attribution::{Cause, HttpRefusal},
    failure::one_line,
    rpc_error::read_error,
};

/// Bytes of a refusal's body that are read.
pub(super) const REFUSAL_BYTES: usize = 64 * 1024;

/// An answer with a status other than 2xx.
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
}

impl HttpLink {
    /// Says why a request could not be sent or its answer not be read.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> PhaseFailure {
        let (cause, code) = classify(error);
        let failure = PhaseFailure::new(
            cause,
            code,
            format!("could not reach `{}`: {}", self.origin(), innermost(error)),
        );
        self.note_trouble(failure.message.clone());
        failure
    }

    /// Says why the server refused a request; with the JSON-RPC error, when the
    /// body holds one.
    pub(super) fn refused(&self, refusal: &Refusal<'_>) -> (PhaseFailure, Option<Value>) {
        let error = json_rpc_error(refusal.body);
        let readable = error.as_ref().and_then(|error| read_error(error).ok());
        let challenge = refusal.text(WWW_AUTHENTICATE.as_str());
        let cause = Cause::Http(HttpRefusal {
            status: refusal.status,
            bearer_challenge: challenge.is_some_and(|challenge| {
                challenge
                    .get(..6)
                    .is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
            }),
            any_challenge: challenge.is_some(),
            html: refusal.is_html(),
            expects_oauth: self.expects_oauth,
            mcp_code: readable.as_ref().map(|error| error.code),
        });
        let (code, what) = self.describe(refusal, challenge);
        let mut failure = PhaseFailure::new(cause, code, what);
        failure = match readable {
            Some(error) => failure.with_detail(&error.to_string()),
            None => failure.with_detail(&refusal.body_detail()),
        };
        self.note_trouble(failure.message.clone());
        (failure, error)
    }

    fn describe(&self, refusal: &Refusal<'_>, challenge: Option<&str>) -> (&'static str, String) {
        let status = refusal.status;
        match (status, challenge) {
            (401, Some(challenge)) if self.authorized => (
                "http_unauthorized",
                format!("the server rejected our credentials (HTTP 401; {})", reasons(challenge)),
            ),
            (401, Some(challenge)) => (
                "http_unauthorized",
                format!(
                    "the server asks for authorization and none is configured (HTTP 401; {})",
                    reasons(challenge)
                ),
            ),
            (401, None) if self.authorized => (
                "http_unauthorized",
                "the server rejected our credentials and named no way to authorize (HTTP 401 without a `WWW-Authenticate` challenge)".to_owned(),
            ),
            (401, None) => (
                "http_unauthorized",
                "the server asks for authorization and names no way to get it (HTTP 401 without a `WWW-Authenticate` challenge)".to_owned(),
            ),
            (403, Some(challenge)) => (
                "http_forbidden",
                format!("our credentials do not suffice (HTTP 403; {})", reasons(challenge)),
            ),
            (403, None) => ("http_forbidden", "the server forbids it (HTTP 403)".to_owned()),
            (429, _) => (
                "http_rate_limited",
                match refusal.text(RETRY_AFTER.as_str()) {
                    Some(wait) => format!("the server limits our rate (HTTP 429, retry after {wait})"),
                    None => "the server limits our rate (HTTP 429)".to_owned(),
                },
            ),
            (300..=399, _) => (
                "http_redirect",
                format!(
                    "the server redirects to {} (HTTP {status}); only redirects within one origin that keep the request are followed",
                    self.redirect_target(refusal)
                ),
            ),
            (500.., _) => ("http_server_error", format!("the server failed (HTTP {status})")),
            _ => ("http_status", format!("the server refused the request (HTTP {status})")),
        }
    }

    /// Shows the origin only: the rest of a redirect may hold a secret.
    fn redirect_target(&self, refusal: &Refusal<'_>) -> String {
        refusal
            .text(LOCATION.as_str())
            .and_then(|location| self.url.join(location).ok())
            .map_or_else(
                || "nowhere".to_owned(),
                |target| format!("`{}`", target.origin().ascii_serialization()),
            )
    }

    /// Says that an answer is of no type that MCP knows.
    pub(super) fn foreign(&self, content_type: &str, body: &[u8]) -> PhaseFailure {
        let kind = if content_type.is_empty() {
            "without a content type".to_owned()
        } else {
            format!("of type `{}`", one_line(content_type, 60))
        };
        let failure = PhaseFailure::new(
            Cause::Other,
            "unexpected_content_type",
            format!(
                "`{}` answered with something {kind}, which is no MCP answer",
                self.origin()
            ),
        )
        .with_detail(&body_text(body));
        self.note_trouble(failure.message.clone());
        failure
    }
}

impl Refusal<'_> {
    fn text(&self, header: &str) -> Option<&str> {
        self.headers.get(header)?.to_str().ok()
    }

    fn is_html(&self) -> bool {
        self.text(CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.to_ascii_lowercase().contains("html"))
            || self.body.trim_ascii_start().starts_with(b"<")
    }

    fn body_detail(&self) -> String {
        body_text(self.body)
    }
}

/// Quotes the beginning of a body.
fn body_text(body: &[u8]) -> String {
    let text = one_line(
        &String::from_utf8_lossy(&body[..body.len().min(1_000)]),
        120,
    );
    if text.is_empty() {
        String::new()
    } else {
        format!("body begins: {text}")
    }
}

/// Returns the `error` member of a JSON-RPC error answer.
fn json_rpc_error(body: &[u8]) -> Option<Value> {
    match serde_json::from_slice(body).ok()? {
        Value::Object(mut members) if members.contains_key("jsonrpc") => members.remove("error"),
        _ => None,
    }
}

/// Reads what a challenge says by its parameters.
fn reasons(challenge: &str) -> String {
    let told: Vec<String> = ["error", "error_description", "scope", "resource_metadata"]
        .into_iter()
        .filter_map(|name| {
            Some(format!(
                "{name}: {}",
                one_line(parameter(challenge, name)?, 120)
            ))
        })
        .collect();
    if told.is_empty() {
        format!("challenge `{}`", one_line(challenge, 60))
    } else {
        told.join(", ")
    }
}

/// Returns a parameter of a challenge, quoted or bare.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = challenge
        .match_indices(name)
        .map(|(at, _)| {
            (
                challenge[..at].chars().next_back(),
                &challenge[at + name.len()..],
            )
        })
        .find(|(before, rest)| {
            matches!(before, None | Some(' ' | ',' | '\t')) && rest.starts_with('=')
        })?;
    let value = &rest[1..];
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([',', ' ']).next(),
    }
}

/// Names a failure below HTTP.
fn classify(error: &reqwest::Error) -> (Cause, &'static str) {
    if error.is_timeout() {
        return (Cause::Timeout, "timed_out");
    }
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = source {
        // hyper's connectors have no public types for what is told by its text.
        let text = current.to_string();
        if text.starts_with("tls handshake") {
            return (Cause::Tls, "tls_failed");
        }
        if let Some(found) = current.downcast_ref::<io::Error>().and_then(classify_io) {
            return found;
        }
        if text.starts_with("dns error") || text.starts_with("failed to lookup address") {
            return (Cause::DnsFailure, "dns_failed");
        }
        if text.starts_with("tunnel error") || text.starts_with("unsuccessful tunnel") {
            return (Cause::EgressBlocked, "egress_blocked");
        }
        source = current.source();
    }
    (Cause::Other, "connection_failed")
}

fn classify_io(error: &io::Error) -> Option<(Cause, &'static str)> {
    Some(match error.kind() {
        io::ErrorKind::ConnectionRefused => (Cause::ConnectionRefused, "connection_refused"),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => (Cause::ConnectionReset, "connection_reset"),
        io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::PermissionDenied => (Cause::EgressBlocked, "egress_blocked"),
        io::ErrorKind::TimedOut => (Cause::Timeout, "timed_out"),
        // rustls hands its errors over as invalid data.
        io::ErrorKind::InvalidData => (Cause::Tls, "tls_failed"),
        _ => return None,
    })
}

/// Returns the text of the deepest cause.
fn innermost(error: &reqwest::Error) -> String {
    let mut current: &dyn Error = error;
    while let Some(source) = current.source() {
        current = source;
    }
    one_line(&current.to_string(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_by_parameter() {
        let challenge = r#"Bearer realm="x", error="invalid_token", error_description="audience is not us", resource_metadata="https://a.test/m""#;
        assert_eq!(parameter(challenge, "error"), Some("invalid_token"));
        assert_eq!(parameter(challenge, "scope"), None);
        assert_eq!(
            reasons(challenge),
            "error: invalid_token, error_description: audience is not us, resource_metadata: https://a.test/m"
        );
        assert_eq!(
            parameter("Bearer error=invalid_token, scope=a", "error"),
            Some("invalid_token")
        );
        assert_eq!(
            reasons("Basic realm=\"x\""),
            "challenge `Basic realm=\"x\"`"
        );
    }

    #[test]
    fn only_a_json_rpc_body_is_a_json_rpc_error() {
        let error = json_rpc_error(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}"#);
        assert_eq!(error, Some(serde_json::json!({"code": -32001})));
        assert_eq!(json_rpc_error(br#"{"error":"invalid_token"}"#), None);
        assert_eq!(json_rpc_error(b"<html>"), None);
    }
}
