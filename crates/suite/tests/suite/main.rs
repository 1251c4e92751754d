//! Suite files as a whole; one module per question.

mod binding;
mod preflight;
mod rendered;
mod vectors;
mod written;
