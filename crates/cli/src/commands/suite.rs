//! `strandline suite expand FILE`.

use std::path::PathBuf;

use clap::Subcommand;
use strandline_contract::exit::ExitCode;
use strandline_service::suite_file::{counted, read_text};
use strandline_suite::{LoadOptions, expand_json, expand_yaml};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline suite`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the dialect-2 file that a short suite file stands for.
    Expand(Expand),
}

#[derive(Debug, clap::Args)]
struct Expand {
    /// A suite file, or `-` for standard input; one that is not short is printed in its own dialect.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    match &arguments.command {
        Command::Expand(arguments) => expand(arguments, ui),
    }
}

fn expand(arguments: &Expand, ui: &mut Ui) -> CommandResult {
    let file = read_text(&arguments.file)?;
    let loaded = file.load(LoadOptions::authored()).map_err(|failure| {
        CommandError::usage(format_args!(
            "`{}` is not a valid suite file: {}\n\n{}",
            file.name,
            counted(failure.findings.len(), "finding"),
            file.findings(&failure, ui.look())
        ))
    })?;
    let text = if arguments.json {
        expand_json(&loaded.authored)
    } else {
        expand_yaml(&loaded.authored)
    };
    ui.out(text.trim_end());
    Ok(ExitCode::Passed)
}
