//! What a browser sees: the pages of `strandline_report::html` over the store.

mod assets;
mod compare;
mod frame;
mod friction;
mod glossary;
pub(crate) mod links;
mod run;
mod runs;
mod suites;
mod trend;
mod trial;
mod trials;

use axum::{
    Router,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::StatusCode;
use maud::{Markup, html};
use strandline_store::StoreError;

use crate::{app::App, login, problem::Problem};

/// Returns the pages' routes.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(runs::root))
        .route("/runs", get(runs::list))
        .route("/runs/{run}", get(run::read))
        .route("/runs/{run}/trials", get(trials::list))
        .route("/runs/{run}/funnel", get(run::funnel))
        .route("/runs/{run}/friction", get(friction::read))
        .route("/runs/{run}/stop", post(suites::stop))
        .route("/trials/{trial}", get(trial::read))
        .route("/trials/{trial}/frames", get(trial::frames))
        .route("/compare", get(compare::read))
        .route("/glossary", get(glossary::read))
        .route("/suites", get(suites::list))
        .route("/suites/{suite}/trend", get(trend::read))
        .route("/suites/file", get(suites::file))
        .route("/suites/run", post(suites::run))
        .route("/assets/{hash}/{name}", get(assets::read))
        .fallback(nothing)
}

/// What a page's handler returns: a problem becomes a page of its own.
pub(crate) type Shown = Result<Response, ProblemPage>;

/// A problem that a browser sees.
pub(crate) struct ProblemPage(Problem);

impl IntoResponse for ProblemPage {
    fn into_response(self) -> Response {
        problem(&self.0)
    }
}

impl From<Problem> for ProblemPage {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<StoreError> for ProblemPage {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

/// Returns a time, ms since the Unix epoch, for the clock of this machine.
pub(crate) fn local(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map_or_else(
        |_| "an impossible time".to_owned(),
        |time| {
            let local = time.to_zoned_datetime(jiff::tz::TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M").to_string()
        },
    )
}

/// Returns a time, ms since the Unix epoch, as an element.
pub(crate) fn instant(milliseconds: i64) -> Markup {
    let exact = jiff::Timestamp::from_millisecond(milliseconds).ok();
    let exact = exact.map(|time| time.to_string());
    html! { time datetime=[exact] { (local(milliseconds)) } }
}

async fn nothing() -> Response {
    problem(&Problem::not_found("there is no such page").hint("the navigation leads to all pages"))
}

/// Returns a page about a problem.
pub(crate) fn problem(problem: &Problem) -> Response {
    let body = html! {
        h1 { (problem.title()) }
        (problem_notice(problem))
    };
    let mut response = frame::passing(problem.status(), problem.title(), &body);
    problem.head(&mut response);
    response
}

/// Returns the page that asks for the token.
pub(crate) fn login(next: &str, wrong: Option<&str>) -> Response {
    let body = html! {
        h1 { "Token" }
        @if let Some(wrong) = wrong { p role="alert" { (wrong) } }
        form method="post" action=(login::PATH) {
            input type="hidden" name="next" value=(next);
            p {
                label for="token" { "The token that the server printed or was started with" }
                br;
                input #token type="password" name=(login::FIELD) autocomplete="off" required;
            }
            button type="submit" { "Continue" }
        }
    };
    frame::passing(StatusCode::OK, "Token", &body)
}

/// Returns what a problem says, for a part of a page.
pub(crate) fn problem_notice(problem: &Problem) -> Markup {
    html! {
        pre.foreign { (problem.detail()) }
        @for hint in problem.hints() { p.hint { (hint) } }
    }
}

/// Returns the field that lets a form change something: a page elsewhere cannot
/// know it.
pub(crate) fn token_field(app: &App) -> Markup {
    html! { input type="hidden" name=(login::FIELD) value=(app.token().expose()); }
}

/// Returns the form that stops a run.
pub(crate) fn stop_form(app: &App, run_id: &str) -> Markup {
    html! {
        form.stop method="post" action={ "/runs/" (links::segment(run_id)) "/stop" } {
            (token_field(app))
            button type="submit" { "Stop the run" }
            " " small { "trials in flight are cancelled, and it is stored as far as it came" }
        }
    }
}
