//! The engine against servers and models that go wrong, and against real ones.

mod calls;
mod discovery;
mod handshake;
mod http;
mod models;
mod run;
mod support;
