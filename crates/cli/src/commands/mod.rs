//! One file per command: its arguments and its function.

use clap::Subcommand;

use crate::ui::{CommandResult, Ui};

mod explain;
mod glossary;

/// The commands of `strandline`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a word of the vocabulary means.
    Explain(explain::Arguments),
    /// Print every word of every vocabulary.
    Glossary(glossary::Arguments),
}

impl Command {
    /// Runs the command.
    pub fn run(self, ui: &mut Ui) -> CommandResult {
        match self {
            Self::Explain(arguments) => explain::run(&arguments, ui),
            Self::Glossary(arguments) => glossary::run(&arguments, ui),
        }
    }
}
