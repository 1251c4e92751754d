//! `strandline trend SUITE`.

use strandline_contract::exit::ExitCode;
use strandline_derive::compare::suite_trend;
use strandline_report::{escape, terminal::trend::trend_report};
use strandline_store::RunFilter;

use super::{
    compare::{analytics, side},
    runs::when,
};
use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline trend`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Id or name of the suite.
    #[arg(value_name = "SUITE")]
    suite: String,
    /// How many of the newest runs to show.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Print JSON (`strandline schema suite-trend`).
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        let filter = RunFilter {
            suite: Some(arguments.suite.clone()),
            status: None,
        };
        let page = store.runs(&filter, None, arguments.limit).await?;
        if page.items.is_empty() {
            return Err(CommandError::usage(format_args!(
                "no run of suite `{}` is stored",
                escape::line(&arguments.suite, 80)
            ))
            .hint("`strandline runs` lists the stored runs with their suites"));
        }
        let mut runs = Vec::new();
        for head in page.items.iter().rev() {
            let run = store.run(&head.record.id).await?;
            let analytics = analytics(&store, &run).await?;
            runs.push((run, analytics));
        }
        let sides: Vec<_> = runs
            .iter()
            .map(|(run, analytics)| side(run, analytics.as_ref()))
            .collect();
        let trend = suite_trend(&arguments.suite, &sides, page.complete);
        if arguments.json {
            ui.json(&trend)?;
        } else {
            ui.out(trend_report(&trend, when, &ui.style));
        }
        Ok(ExitCode::Passed)
    })
}
