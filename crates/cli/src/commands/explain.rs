//! `strandline explain TERM`.

use strandline_contract::{
    exit::ExitCode,
    words::{Entry, FailureCategory, Stage, StageReason, StageState, Vocabulary},
};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline explain`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A wire word or a label.
    term: String,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let all: Vec<Entry> = Stage::ALL
        .iter()
        .map(|word| word.entry())
        .chain(StageState::ALL.iter().map(|word| word.entry()))
        .chain(StageReason::ALL.iter().map(|word| word.entry()))
        .chain(FailureCategory::ALL.iter().map(|word| word.entry()))
        .collect();
    let found: Vec<&Entry> = all
        .iter()
        .filter(|entry| entry.wire == arguments.term)
        .collect();
    if found.is_empty() {
        return Err(CommandError::usage(format_args!(
            "no such term: `{}`",
            arguments.term
        )));
    }
    for entry in found {
        ui.out(format_args!(
            "{} ({}): {}. {}",
            entry.wire, entry.vocabulary, entry.label, entry.meaning
        ));
    }
    Ok(ExitCode::Passed)
}
