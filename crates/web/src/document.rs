//! Answers with a strong ETag: the digest of what would be sent.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{problem::Problem, token::hex};

/// Bytes of the digest that an ETag carries.
const TAG_BYTES: usize = 16;

/// Answers with a JSON document, or with 304 when the caller has it.
pub(crate) fn json<T: Serialize>(headers: &HeaderMap, document: &T) -> Result<Response, Problem> {
    json_with(headers, StatusCode::OK, document)
}

/// Answers with a JSON document under another status.
pub(crate) fn json_with<T: Serialize>(
    headers: &HeaderMap,
    status: StatusCode,
    document: &T,
) -> Result<Response, Problem> {
    let body = serde_json::to_vec(document)
        .map_err(|error| Problem::internal(&format!("the answer has no JSON form: {error}")))?;
    Ok(tagged(headers, status, "application/json", body))
}

/// Answers with a body of any type, or with 304 when the caller has it.
pub(crate) fn tagged(
    headers: &HeaderMap,
    status: StatusCode,
    kind: &'static str,
    body: Vec<u8>,
) -> Response {
    let digest = Sha256::digest(&body);
    let tag = format!("\"{}\"", hex(digest.get(..TAG_BYTES).unwrap_or_default()));
    let caching = HeaderValue::from_static("private, no-cache");
    let mut response = if status == StatusCode::OK && has(headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (status, [(header::CONTENT_TYPE, kind)], body).into_response()
    };
    let head = response.headers_mut();
    head.insert(header::CACHE_CONTROL, caching);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        head.insert(header::ETAG, tag);
    }
    response
}

/// Tells whether `If-None-Match` names the tag (RFC 9110 §13.1.2: weak
/// comparison).
fn has(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(given: &str) -> StatusCode {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(given).expect("a header value");
        headers.insert(header::IF_NONE_MATCH, value);
        tagged(&headers, StatusCode::OK, "text/plain", b"abc".to_vec()).status()
    }

    #[test]
    fn what_the_caller_has_is_not_sent_again() {
        let fresh = tagged(
            &HeaderMap::new(),
            StatusCode::OK,
            "text/plain",
            b"abc".to_vec(),
        );
        let tag = fresh.headers()[header::ETAG].to_str().expect("ASCII");
        assert_eq!(tag, "\"ba7816bf8f01cfea414140de5dae2223\"");
        assert_eq!(asked(tag), StatusCode::NOT_MODIFIED);
        assert_eq!(asked(&format!("\"x\", W/{tag}")), StatusCode::NOT_MODIFIED);
        assert_eq!(asked("*"), StatusCode::NOT_MODIFIED);
        assert_eq!(asked("\"x\""), StatusCode::OK);
    }
}
