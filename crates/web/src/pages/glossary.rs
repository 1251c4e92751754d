//! The glossary.

use axum::response::Response;
use http::HeaderMap;
use strandline_report::html::glossary::glossary;

use super::frame;

/// Shows what every word means.
pub(crate) async fn read(headers: HeaderMap) -> Response {
    frame::shown(&headers, "/glossary", "Glossary", &glossary())
}
