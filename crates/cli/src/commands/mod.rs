//! One file per command: its arguments and its function.

use clap::Subcommand;

use crate::ui::{CommandResult, Ui};

mod compare;
mod coverage;
mod demo_server;
mod derive;
mod doctor;
mod explain;
mod fmt;
mod funnel;
mod glossary;
mod init;
mod judge;
mod mcp;
mod report;
mod run;
mod runs;
mod schema;
mod show;
mod suite;
mod surface;
mod trend;
mod ui;
mod validate;

/// The commands of `strandline`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare two stored runs: may they be compared, what changed, how surely.
    Compare(compare::Arguments),
    /// Say what a suite, or a run of it, leaves unproved.
    Coverage(coverage::Arguments),
    /// Serve a small order desk with planted defects over stdio, to try things on.
    DemoServer(demo_server::Arguments),
    /// Derive documents from inputs, one JSON object per line.
    Derive(derive::Arguments),
    /// Check servers, tools and keys one by one, and say what to do.
    Doctor(doctor::Arguments),
    /// Say what a word of the vocabulary means.
    Explain(explain::Arguments),
    /// Rewrite suite files in the usual order and layout.
    Fmt(fmt::Arguments),
    /// Show how many trials of a run got how far.
    Funnel(funnel::Arguments),
    /// Print every word of every vocabulary.
    Glossary(glossary::Arguments),
    /// Write a starter suite for a server, or the example suite.
    Init(init::Arguments),
    /// Ask LLM judges about the trials of a stored run.
    Judge(Box<judge::Arguments>),
    /// Serve eval tools for coding agents over MCP.
    Mcp(mcp::Arguments),
    /// Write a stored run's report for CI: JUnit, Markdown, GitHub annotations.
    Report(report::Arguments),
    /// Run suites against real servers and say where value stopped.
    Run(Box<run::Arguments>),
    /// List stored runs; delete or prune them.
    Runs(runs::Arguments),
    /// Print the JSON Schema of a public document.
    Schema(schema::Arguments),
    /// Show a run's decision, or a trial with its evidence and trace.
    Show(show::Arguments),
    /// Look into suite files.
    Suite(suite::Arguments),
    /// Show what changed in the servers' tools between two stored runs.
    Surface(surface::Arguments),
    /// Show the stored runs of a suite one after the other, breaks marked.
    Trend(trend::Arguments),
    /// Serve pages and an HTTP API over the stored runs.
    Ui(ui::Arguments),
    /// Check suite files and say everything that is wrong with them.
    Validate(validate::Arguments),
}

impl Command {
    /// Runs the command.
    pub fn run(self, ui: &mut Ui) -> CommandResult {
        match self {
            Self::Compare(arguments) => compare::run(&arguments, ui),
            Self::Coverage(arguments) => coverage::run(&arguments, ui),
            Self::DemoServer(arguments) => demo_server::run(&arguments, ui),
            Self::Derive(arguments) => derive::run(arguments, ui),
            Self::Doctor(arguments) => doctor::run(&arguments, ui),
            Self::Explain(arguments) => explain::run(&arguments, ui),
            Self::Fmt(arguments) => fmt::run(&arguments, ui),
            Self::Funnel(arguments) => funnel::run(&arguments, ui),
            Self::Glossary(arguments) => glossary::run(&arguments, ui),
            Self::Init(arguments) => init::run(&arguments, ui),
            Self::Judge(arguments) => judge::run(&arguments, ui),
            Self::Mcp(arguments) => mcp::run(&arguments, ui),
            Self::Report(arguments) => report::run(&arguments, ui),
            Self::Run(arguments) => run::run(&arguments, ui),
            Self::Runs(arguments) => runs::run(&arguments, ui),
            Self::Schema(arguments) => schema::run(&arguments, ui),
            Self::Show(arguments) => show::run(&arguments, ui),
            Self::Suite(arguments) => suite::run(&arguments, ui),
            Self::Surface(arguments) => surface::run(&arguments, ui),
            Self::Trend(arguments) => trend::run(&arguments, ui),
            Self::Ui(arguments) => ui::run(&arguments, ui),
            Self::Validate(arguments) => validate::run(&arguments, ui),
        }
    }
}
