//! Suite files as a whole; one module per question.

mod vectors;
