//! The six-stage chain (`chain.md`).

mod chat;
mod inputs;
mod judge;
mod properties;
mod second_pass;
mod stored;
mod vectors;
