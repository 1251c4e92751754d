//! `strandline schema [NAME]`.

use strandline_contract::{exit::ExitCode, schemas};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline schema`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The document; without it, every document is listed.
    name: Option<String>,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let Some(name) = &arguments.name else {
        let width = schemas::DOCUMENTS
            .iter()
            .map(|document| document.name.len())
            .max()
            .unwrap_or_default();
        for document in schemas::DOCUMENTS {
            ui.out(format_args!("{:width$}  {}", document.name, document.about));
        }
        return Ok(ExitCode::Passed);
    };
    let document = schemas::find(name).ok_or_else(|| {
        CommandError::usage(format_args!("no document is called `{name}`"))
            .hint("`strandline schema` lists every document")
    })?;
    ui.out(document.text());
    Ok(ExitCode::Passed)
}
