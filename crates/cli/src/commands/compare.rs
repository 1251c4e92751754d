//! `strandline compare BASE COMPARED`.

use strandline_contract::{
    analytics::StageAnalytics, comparison::RunComparison, exit::ExitCode, words::GateOutcome,
};
use strandline_derive::compare::{Apart, Side, compare_runs, gates::Gate};
use strandline_report::terminal::compare::comparison_report;
use strandline_service::{
    roll_ups::{self, Found},
    suite_file::worst,
};
use strandline_store::{Store, StoredRun};

use crate::{
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline compare`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The run to compare against: its id, the beginning of it, or `last`.
    #[arg(value_name = "BASE")]
    base: String,
    /// The run that is compared.
    #[arg(value_name = "COMPARED")]
    compared: String,
    /// Show runs that do not compare, each on its own.
    #[arg(long)]
    side_by_side: bool,
    /// What must hold: `no-regression`, or `min-pass-rate=FRACTION` of the
    /// compared run; exit code 1 where it does not, 5 where it cannot be told.
    #[arg(long = "gate", value_name = "GATE")]
    gates: Vec<Gate>,
    /// Print JSON (`strandline schema run-comparison`).
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
        if base.record.id == compared.record.id {
            return Err(CommandError::usage(format_args!(
                "`{}` and `{}` name the same run {}",
                arguments.base, arguments.compared, base.short_id
            ))
            .hint("`strandline runs` lists the stored runs"));
        }
        let (left, right) = (
            analytics(&store, &base).await?,
            analytics(&store, &compared).await?,
        );
        let apart = if arguments.side_by_side {
            Apart::SideBySide
        } else {
            Apart::Refused
        };
        let comparison = compare_runs(
            side(&base, left.as_ref()),
            side(&compared, right.as_ref()),
            apart,
            &arguments.gates,
        );
        if arguments.json {
            ui.json(&comparison)?;
        } else {
            ui.out(comparison_report(&comparison, &ui.style));
        }
        Ok(exit(&comparison, apart))
    })
}

/// Returns how the process ends: the worst gate, and 5 where a comparison was
/// asked for and there is none.
fn exit(comparison: &RunComparison, apart: Apart) -> ExitCode {
    let refused = !comparison.parity.is_comparable() && apart == Apart::Refused;
    let gates = comparison.gates.iter().map(|gate| match gate.outcome {
        GateOutcome::Held => ExitCode::Passed,
        GateOutcome::NotHeld => ExitCode::Failed,
        GateOutcome::NotEstablished => ExitCode::NoDecision,
    });
    let refusal = refused.then_some(ExitCode::NoDecision);
    worst(gates.chain(refusal))
}

/// Returns a stored run as it is compared.
pub(super) fn side<'a>(run: &'a StoredRun, analytics: Option<&'a StageAnalytics>) -> Side<'a> {
    Side {
        run: &run.record,
        short_id: &run.short_id,
        analytics,
    }
}

/// Reads a run's stage analytics; none where there are none to be believed.
pub(super) async fn analytics(
    store: &Store,
    run: &StoredRun,
) -> Result<Option<StageAnalytics>, CommandError> {
    Ok(match roll_ups::read(store, run).await? {
        Found::Funnel(funnel) => Some(*funnel),
        Found::Absent(..) => None,
    })
}
