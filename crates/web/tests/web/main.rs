//! The server as browsers and programs meet it; one module per promise.

mod api;
mod guard;
mod openapi;
mod pages;
#[path = "../../../store/tests/store/sample.rs"]
mod sample;
mod site;
mod starting;
mod stream;
