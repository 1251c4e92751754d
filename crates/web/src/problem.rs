//! Errors as problem details (RFC 9457): what happened, why, and what to do.

use axum::{
    extract::rejection::{PathRejection, QueryRejection},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use strandline_report::escape;
use strandline_store::StoreError;

/// Longest text of a problem, in characters.
const MAX_TEXT: usize = 2_000;

/// Media type of problem details.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    /// Which kind of problem: `urn:strandline:problem:` and a word.
    #[serde(rename = "type")]
    kind: String,
    /// The kind in a few words.
    title: &'static str,
    /// The status of the answer.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// What happened, where and why; without secrets.
    detail: String,
    /// What to do next, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
    /// Seconds after which to ask again.
    #[serde(skip)]
    retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, word: &str, title: &'static str, detail: &str) -> Self {
        Self {
            kind: format!("urn:strandline:problem:{word}"),
            title,
            status: status.as_u16(),
            detail: escape::block(detail, MAX_TEXT),
            hints: Vec::new(),
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(detail: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "bad-request",
            "the request cannot be carried out as written",
            detail,
        )
    }

    pub(crate) fn not_found(detail: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "nothing has that name",
            detail,
        )
    }

    pub(crate) fn conflict(detail: &str) -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "conflict",
            "the present state does not allow it",
            detail,
        )
    }

    pub(crate) fn forbidden(detail: &str) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "this caller may not do that",
            detail,
        )
    }

    pub(crate) fn unauthorized(detail: &str) -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "token-needed",
            "the token is missing or wrong",
            detail,
        )
        .hint("send it as `authorization: Bearer TOKEN` or `x-strandline-token: TOKEN`")
    }

    pub(crate) fn too_many(detail: &str, retry_after: u32) -> Self {
        let problem = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too-many",
            "too much at once",
            detail,
        );
        Self {
            retry_after: Some(retry_after),
            ..problem
        }
    }

    pub(crate) fn unavailable(detail: &str, retry_after: u32) -> Self {
        let problem = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "it cannot be answered now",
            detail,
        );
        Self {
            retry_after: Some(retry_after),
            ..problem
        }
    }

    pub(crate) fn internal(detail: &str) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "it could not be answered",
            detail,
        )
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: &str) -> Self {
        let hint = escape::line(hint, MAX_TEXT);
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) const fn title(&self) -> &'static str {
        self.title
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Adds the headers that belong to a problem, whatever its body.
    pub(crate) fn head(&self, response: &mut Response) {
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"strandline\""),
            );
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, PROBLEM_JSON)];
        let mut response = (kind, body).into_response();
        self.head(&mut response);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        let problem = match &error {
            StoreError::NotFound { .. } | StoreError::Missing { .. } => Self::not_found(&detail),
            StoreError::Ambiguous { .. } | StoreError::BadCursor { .. } => {
                Self::bad_request(&detail)
            }
            StoreError::RunIsLive { .. } | StoreError::NotWritable { .. } => {
                Self::conflict(&detail)
            }
            StoreError::Busy { .. } | StoreError::DiskFull { .. } => Self::unavailable(&detail, 5),
            StoreError::UnreadableDocument { .. } => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "unreadable",
                "a stored document cannot be read",
                &detail,
            ),
            _ => Self::internal(&detail),
        };
        match error.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request(&rejection.body_text())
            .hint("`/api/v1/openapi.json` says which parameters there are")
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_request(&rejection.body_text())
    }
}
