//! The six-stage chain (`chain.md`).

mod chat;
mod inputs;
mod judge;
mod properties;
mod quick;
mod second_pass;
mod stored;
mod vectors;
