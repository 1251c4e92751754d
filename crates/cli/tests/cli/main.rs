//! The binary as a user runs it; one module per command.

mod explain;
mod glossary;
