//! Suite files as a whole; one module per question.

mod binding;
mod preflight;
mod rendered;
mod schema;
mod short;
mod vectors;
mod warned;
mod written;
