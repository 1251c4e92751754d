//! One file per command: its arguments and its function.

use clap::Subcommand;

use crate::ui::{CommandResult, Ui};

mod explain;

/// The commands of `strandline`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a word of the vocabulary means.
    Explain(explain::Arguments),
}

impl Command {
    /// Runs the command.
    pub fn run(self, ui: &mut Ui) -> CommandResult {
        match self {
            Self::Explain(arguments) => explain::run(&arguments, ui),
        }
    }
}
