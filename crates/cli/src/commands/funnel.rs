//! `strandline funnel RUN`.

use clap::ValueEnum;
use serde_json::json;
use strandline_contract::{
    exit::ExitCode,
    words::{SliceDimension, Vocabulary},
};
use strandline_report::terminal::funnel::{FunnelInput, absence_report, funnel_report};
use strandline_service::roll_ups::{self, Found};

use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandResult, Ui},
};

/// Arguments of `strandline funnel`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A funnel is counted over trials and written with a run's end. A run without \
        one is unmeasured, never zero; the exit code is then 5."
)]
pub struct Arguments {
    /// Id of a run, or its beginning, or `last` for the last run.
    #[arg(value_name = "RUN")]
    reference: String,
    /// One funnel per intent, model or host instead of one of all trials.
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,
    /// Print the stored document as JSON (`strandline schema stage-analytics`),
    /// or why there is none.
    #[arg(long, conflicts_with = "by")]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// What a funnel's trials are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The case's intent.
    Intent,
    /// The model that the trial ran under.
    Model,
    /// The host.
    Host,
}

impl By {
    const fn dimension(self) -> SliceDimension {
        match self {
            Self::Intent => SliceDimension::Intent,
            Self::Model => SliceDimension::Model,
            Self::Host => SliceDimension::Host,
        }
    }
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        let run = store.run(&arguments.reference).await?;
        match roll_ups::read(&store, &run).await? {
            Found::Funnel(funnel) => {
                if arguments.json {
                    ui.json(&funnel)?;
                    return Ok(ExitCode::Passed);
                }
                let input = FunnelInput {
                    funnel: &funnel,
                    suite_name: &run.record.suite_name,
                    run_reference: &run.short_id,
                    scripted: run.record.scripted,
                };
                let by = arguments.by.map_or(SliceDimension::Overall, By::dimension);
                ui.out(funnel_report(&input, by, &ui.style));
                Ok(ExitCode::Passed)
            }
            Found::Absent(absence, detail) => {
                if arguments.json {
                    let mut document = json!({
                        "runId": run.record.id,
                        "absence": absence,
                        "message": absence.entry().meaning,
                    });
                    if let Some(detail) = detail {
                        document["detail"] = detail.into();
                    }
                    ui.json(&document)?;
                } else {
                    let detail = detail.as_deref();
                    ui.out(absence_report(absence, detail, &run.short_id, &ui.style));
                }
                Ok(ExitCode::NoDecision)
            }
        }
    })
}
