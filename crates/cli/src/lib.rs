//! The strandline command line: one file per command under [`commands`].

pub mod commands;
pub mod demo_server;
pub mod judging;
pub mod probe;
pub mod progress;
pub mod reporting;
pub mod server_name;
pub mod store;
pub mod ui;

use clap::Parser;
use strandline_contract::exit::ExitCode;

use crate::{commands::Command, ui::Ui};

/// Runs eval suites on MCP servers and says where value stopped.
#[derive(Debug, Parser)]
#[command(name = "strandline", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Reads the command line, does the work and returns the exit code.
#[must_use]
pub fn main_impl() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            if error.print().is_err() || !usage {
                return ExitCode::Passed.code().into();
            }
            return ExitCode::Usage.code().into();
        }
    };
    let mut ui = Ui::from_environment();
    match cli.command.run(&mut ui) {
        Ok(code) => code.code().into(),
        Err(error) => {
            ui.error(&error);
            error.exit.code().into()
        }
    }
}
