//! The engine against servers and models that go wrong, and against real ones.

mod calls;
mod discovery;
mod handshake;
mod http;
mod hygiene;
mod models;
mod real;
mod run;
mod support;
