//! `strandline report RUN --format FORMAT`.

use std::path::PathBuf;

use futures::TryStreamExt;
use strandline_contract::{exit::ExitCode, run::TrialRecord};
use strandline_report::{formats::markdown::COMMENT_LIMIT, terminal::RunInput};
use strandline_store::TrialFilter;

use super::show::quoted;
use crate::{
    reporting::{self, Format},
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
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        let run = store.run(&arguments.run).await?;
        let everything = TrialFilter::default();
        let trials: Vec<TrialRecord> = store
            .trial_stream(&run.record.id, &everything)
            .try_collect()
            .await?;
        let traces = quoted(&store, &trials).await?;
        let input = RunInput {
            run: &run.record,
            run_reference: &run.short_id,
            trials: &trials,
            traces: &traces,
        };
        let text = reporting::render(arguments.format, &input, arguments.limit)?;
        match &arguments.output {
            Some(path) => reporting::write(path, &text)?,
            None => ui.out(text),
        }
        Ok(ExitCode::Passed)
    })
}
