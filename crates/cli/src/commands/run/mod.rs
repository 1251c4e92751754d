//! `strandline run [SUITE…]`.

mod finish;
mod listen;
mod options;
mod prepare;
mod resume;
mod signals;

use strandline_contract::exit::ExitCode;
use strandline_engine::run::{RunPlan, Stop, event_channel};
use strandline_service::suite_file::worst;
use strandline_store::Store;

pub(super) use options::Arguments;
pub(super) use signals::watch as watch_signals;

use crate::{
    store::worker_threads,
    ui::{CommandError, CommandResult, Ui},
};

/// Runs suites one after the other; nothing is started before all of them are
/// known to be runnable.
pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    worker_threads()?.block_on(run_all(arguments, ui))
}

async fn run_all(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let store = open_store(arguments).await?;
    let plans = match &arguments.resume {
        Some(reference) => vec![resume::plan(reference, arguments, store.as_ref(), ui).await?],
        None => prepare::plans(arguments, ui)?,
    };
    let stop = Stop::new();
    let watching = signals::watch(stop.clone());
    let mut codes = Vec::new();
    for plan in plans {
        if stop.is_cancelled() {
            codes.push(ExitCode::NoDecision);
            break;
        }
        codes.push(run_one(plan, arguments, store.as_ref(), &stop, ui).await?);
    }
    watching.abort();
    if let Some(store) = store {
        store.close().await?;
    }
    Ok(worst(codes))
}

/// A plan with what was stored of it before.
pub(super) struct Prepared {
    pub(super) plan: RunPlan,
    /// The run was stored before and is claimed.
    pub(super) resumed: bool,
}

async fn open_store(arguments: &Arguments) -> Result<Option<Store>, CommandError> {
    if arguments.no_store {
        if arguments.store.is_on_command_line() {
            return Err(
                CommandError::usage("`--no-store` and `--store` contradict each other")
                    .hint("leave one of them out: `--no-store` stores nothing, whatever `STRANDLINE_STORE` says"),
            );
        }
        return Ok(None);
    }
    arguments.store.open().await.map(Some)
}

async fn run_one(
    prepared: Prepared,
    arguments: &Arguments,
    store: Option<&Store>,
    stop: &Stop,
    ui: &mut Ui,
) -> CommandResult {
    let (sender, receiver) = event_channel();
    let resumed = prepared.resumed;
    let engine = tokio::spawn(strandline_engine::run::run(
        prepared.plan,
        sender,
        stop.clone(),
    ));
    let heard = listen::listen(receiver, store, resumed, stop, arguments.quiet, ui).await;
    let end = engine.await.map_err(|error| {
        CommandError::new(
            ExitCode::NoDecision,
            format_args!("the run ended without a result, which is a defect of ours: {error}"),
        )
    })?;
    finish::finish(end, heard, arguments, store, ui).await
}
