//! The runs of a suite one after the other.

use axum::extract::State;
use http::HeaderMap;
use maud::html;
use strandline_report::html::trend::{TrendPage, title, trend};

use super::{
    Shown, frame,
    links::{Web, query},
};
use crate::{
    api::derived::{TrendQuery, trend_of},
    app::App,
    params::{In, Params},
    problem::Problem,
};

/// Shows a suite's runs over time.
pub(crate) async fn read(
    State(app): State<App>,
    In(suite): In<String>,
    asked: Result<Params<TrendQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let found = trend_of(app.store(), &suite, asked.limit()?).await?;
    let page = TrendPage { trend: &found };
    let body = html! {
        (trend(&Web, &page))
        p { a href={ "/runs" (query([("suite", suite.as_str())])) } { "the runs as a list" } }
    };
    Ok(frame::drawn(&headers, "/runs", &title(&page), &body))
}
