//! Suite files as a whole; one module per question.

mod binding;
mod preflight;
mod rendered;
mod short;
mod vectors;
mod written;
