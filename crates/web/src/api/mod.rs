//! The HTTP API under `/api/v1`: one table of operations, which routes
//! requests and describes itself.
//!
//! | question | module |
//! |---|---|
//! | which runs are there, what did one decide? | `runs` |
//! | what happened in one trial? | `trials`, `traces` |
//! | how far did trials get, how do runs compare? | `derived` |
//! | which suites are there, how is a run started and stopped? | `suites` |
//! | what does a word mean? | `terms` |
//! | what happens right now? | `events` |

pub(crate) mod derived;
pub(crate) mod events;
pub(crate) mod runs;
pub(crate) mod suites;
pub(crate) mod terms;
pub(crate) mod traces;
pub(crate) mod trials;

mod table;

use axum::{
    Router,
    http::HeaderMap,
    response::{IntoResponse, Response},
};

pub(crate) use self::table::ENDPOINTS;
use crate::{app::App, document, openapi, problem::Problem};

/// What an operation returns.
pub(crate) type Answered = Result<Response, Problem>;

/// Where the API lies.
pub(crate) const ROOT: &str = "/api/v1";

/// Returns the API's routes.
pub(crate) fn router() -> Router<App> {
    let mut router = Router::new();
    for endpoint in ENDPOINTS {
        router = router.route(endpoint.path, (endpoint.handler)());
    }
    let description = axum::routing::get(description);
    router
        .route("/openapi.json", description)
        .fallback(nothing)
        .method_not_allowed_fallback(other_method)
}

async fn description(headers: HeaderMap) -> Response {
    let text = openapi::text().into_bytes();
    document::tagged(
        &headers,
        http::StatusCode::OK,
        "application/vnd.oai.openapi+json;version=3.1",
        text,
    )
}

async fn nothing() -> Response {
    Problem::not_found("the API has no such operation")
        .hint("`/api/v1/openapi.json` lists the operations")
        .into_response()
}

async fn other_method() -> Response {
    Problem::new(
        http::StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "the operation has another method",
        "what lies at this address is not reached by this method",
    )
    .hint("`/api/v1/openapi.json` lists the operations")
    .into_response()
}
