//! `strandline surface BASE COMPARED`.

use strandline_contract::{comparison::SurfaceComparison, exit::ExitCode};
use strandline_derive::compare::surface_changes;
use strandline_report::terminal::compare::surface_report;

use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandResult, Ui},
};

/// Arguments of `strandline surface`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The run to compare against: its id, the beginning of it, or `last`.
    #[arg(value_name = "BASE")]
    base: String,
    /// The run that is compared.
    #[arg(value_name = "COMPARED")]
    compared: String,
    /// Print JSON (`strandline schema surface-comparison`).
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        let base = store.run(&arguments.base).await?;
        let compared = store.run(&arguments.compared).await?;
        let comparison = SurfaceComparison {
            servers: surface_changes(&base.record.servers, &compared.record.servers),
            base_run_id: base.record.id,
            compared_run_id: compared.record.id,
        };
        if arguments.json {
            ui.json(&comparison)?;
        } else {
            ui.out(surface_report(&comparison.servers, &ui.style));
        }
        Ok(ExitCode::Passed)
    })
}
