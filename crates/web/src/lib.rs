//! Pages and an HTTP API over the run store.
//!
//! | question | module |
//! |---|---|
//! | who may read, who may change something? | [`token`], [`hosts`], `guard`, `login` |
//! | what does the API offer? | `api` |
//! | how does it describe itself? | [`openapi`] |
//! | what is said when something cannot be done? | `problem` |
//! | what does a browser see? | `pages` |
//! | how are connections bounded and ended? | [`server`] |

mod api;
pub mod app;
mod document;
mod guard;
pub mod hosts;
mod login;
pub mod openapi;
mod pages;
mod params;
mod problem;
pub mod server;
pub mod token;

use std::time::Duration;

use axum::{
    Router,
    extract::Request,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

pub use self::{
    app::{App, Settings},
    hosts::Hosts,
    server::serve,
    token::Token,
};
use crate::problem::Problem;

/// How long a request may take until its answer begins.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// Returns everything that is served: every answer went through the guard.
pub fn router(app: App) -> Router {
    Router::new()
        .nest(api::ROOT, api::router())
        .route(login::PATH, get(login::page).post(login::submit))
        .merge(pages::router())
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(ANSWER_TIME, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::unavailable(
            &format!("the answer took longer than {} s", ANSWER_TIME.as_secs()),
            10,
        )
        .into_response(),
    }
}
