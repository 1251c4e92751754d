//! Queries and bodies, read strictly: an unknown member is an error, and every
//! error is a problem with its reason.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
};
use http::{StatusCode, header, request::Parts};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IntoDeserializer, value::StringDeserializer},
};
use strandline_contract::words::Vocabulary;

use crate::problem::Problem;

/// Longest body of a request, in bytes.
pub(crate) const MAX_BODY: usize = 64 * 1024;
/// Items of a page unless the caller says otherwise (`decision-summary.md` §2).
pub(crate) const USUAL_LIMIT: u32 = 50;
/// Most items of a page.
pub(crate) const MOST_LIMIT: u32 = 200;

/// A query.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(query) = Query::<T>::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// What varies in a path.
pub(crate) struct In<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for In<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(path) = Path::<T>::from_request_parts(parts, state).await?;
        Ok(Self(path))
    }
}

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let is_json = kind
            .and_then(|kind| kind.to_str().ok())
            .and_then(|kind| kind.split(';').next())
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        if !is_json {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not-json",
                "the body has another type",
                "the body of this request is `application/json`",
            ));
        }
        let body = body(request.into_body()).await?;
        serde_json::from_slice(&body)
            .map(Self)
            .map_err(|error| Problem::bad_request(&format!("the body cannot be read: {error}")))
    }
}

/// Reads a body within its bound.
pub(crate) async fn body(body: Body) -> Result<Bytes, Problem> {
    to_bytes(body, MAX_BODY).await.map_err(|_| {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-long",
            "the body is too long",
            &format!("the body did not arrive whole within {MAX_BODY} bytes"),
        )
    })
}

/// Where a page begins and how long it may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub(crate) cursor: Option<&'a str>,
    pub(crate) limit: u32,
}

/// Checks what a caller says about a page.
pub(crate) fn page(cursor: Option<&str>, limit: Option<u32>) -> Result<Slice<'_>, Problem> {
    let limit = limit.unwrap_or(USUAL_LIMIT);
    if !(1..=MOST_LIMIT).contains(&limit) {
        return Err(Problem::bad_request(&format!(
            "`limit` is a whole number from 1 to {MOST_LIMIT}, not {limit}"
        )));
    }
    Ok(Slice { cursor, limit })
}

/// Reads a word of a vocabulary; an empty one, which a form sends where nothing
/// is chosen, is none.
pub(crate) fn word_or_empty<'de, D, V>(deserializer: D) -> Result<Option<V>, D::Error>
where
    D: Deserializer<'de>,
    V: Vocabulary + DeserializeOwned,
{
    let word = String::deserialize(deserializer)?;
    if word.is_empty() {
        return Ok(None);
    }
    let word: StringDeserializer<D::Error> = word.into_deserializer();
    V::deserialize(word).map(Some)
}
