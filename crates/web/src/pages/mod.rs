//! What a browser sees.

use axum::{
    Router,
    response::{Html, IntoResponse, Response},
};
use maud::{DOCTYPE, Markup, html};

use crate::{app::App, login, problem::Problem};

/// Returns the pages' routes.
pub(crate) fn router() -> Router<App> {
    Router::new()
}

/// Returns a page about a problem.
pub(crate) fn problem(problem: &Problem) -> Response {
    let main = html! {
        h1 { (problem.title()) }
        p { (problem.detail()) }
        @for hint in problem.hints() { p { (hint) } }
    };
    let mut response = plain(problem.title(), &main);
    problem.head(&mut response);
    response
}

/// Returns the page that asks for the token.
pub(crate) fn login(next: &str, wrong: Option<&str>) -> Response {
    let main = html! {
        h1 { "Token" }
        @if let Some(wrong) = wrong { p role="alert" { (wrong) } }
        form method="post" action=(login::PATH) {
            input type="hidden" name="next" value=(next);
            label { "The token that `strandline ui` was started with "
                input type="password" name=(login::FIELD) autocomplete="off" required; }
            button { "Continue" }
        }
    };
    plain("Token", &main)
}

fn plain(title: &str, main: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } }
            body { main { (main) } }
        }
    };
    Html(page.into_string()).into_response()
}
