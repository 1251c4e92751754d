//! `strandline report RUN --format FORMAT`.

use std::path::PathBuf;

use strandline_contract::exit::ExitCode;
use strandline_report::{formats::markdown::COMMENT_LIMIT, html::file::TRACE_BUDGET};

use crate::{
    reporting::{self, Format, Limits, Target, source::Source},
    store::{StoreArguments, block_on},
    ui::{CommandResult, Ui},
};

/// Arguments of `strandline report`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Id of a run, or its beginning, or `last` for the last run.
    run: String,
    /// The report's form.
    #[arg(long, value_enum)]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Longest Markdown, in bytes; what does not fit is counted.
    #[arg(long, value_name = "BYTES", default_value_t = COMMENT_LIMIT)]
    limit: usize,
    /// Timelines in an HTML file, in packed bytes; those of trials that did not
    /// pass come first, and a trial without one says so.
    #[arg(long, value_name = "BYTES", default_value_t = TRACE_BUDGET)]
    trace_budget: usize,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, _ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        let run = store.run(&arguments.run).await?;
        let source = Source::stored(&store, &run, None).await?;
        let limits = Limits {
            markdown: arguments.limit,
            traces: arguments.trace_budget,
        };
        let target = match &arguments.output {
            Some(path) => Target::File(path),
            None => Target::Stdout,
        };
        reporting::write(arguments.format, &source, &limits, &target).await?;
        Ok(ExitCode::Passed)
    })
}
