//! The binary as a user runs it; one module per command.

mod ci;
mod compare;
mod conformance;
mod coverage;
mod derive;
mod doctor;
mod examples;
mod explain;
mod funnel;
mod glossary;
mod init;
mod judge;
mod mcp;
mod report;
mod run;
mod runs;
mod schema;
mod secrets;
mod show;
mod stored;
mod suite_files;
mod ui;
