//! `strandline mcp`.

use std::{path::PathBuf, sync::Arc};

use strandline_contract::exit::ExitCode;
use strandline_eval_tools::{Desk, serve_stdio};

use crate::{
    store::StoreArguments,
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline mcp`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The project's root; suites outside of it are refused [default: this
    /// directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, _ui: &mut Ui) -> CommandResult {
    let root = arguments
        .project
        .clone()
        .unwrap_or_else(|| PathBuf::from("."));
    let root = root.canonicalize().map_err(|error| {
        CommandError::usage(format_args!(
            "cannot use `{}` as the project's root: {error}",
            root.display()
        ))
    })?;
    let desk = Arc::new(Desk::new(root, arguments.store.path()?));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(
                ExitCode::Setup,
                format_args!("cannot start the asynchronous runtime: {error}"),
            )
        })?;
    runtime
        .block_on(serve_stdio(desk))
        .map_err(|error| CommandError::new(ExitCode::Setup, format_args!("no session: {error}")))?;
    Ok(ExitCode::Passed)
}
