//! Suite files as a whole; one module per question.

#![expect(clippy::disallowed_methods, reason = "tests read conformance files")]

mod binding;
mod preflight;
mod rendered;
mod schema;
mod short;
mod vectors;
mod warned;
mod written;
