//! Listens to a run: stores it, shows its progress, keeps what the report needs.

use std::collections::BTreeMap;

use strandline_contract::{event::RunEvent, run::TrialRecord, trace::Trace, words::TaskResult};
use strandline_engine::run::Stop;
use strandline_report::style::Style;
use strandline_store::Store;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    progress::{Mode, Progress},
    ui::Ui,
};

/// Traces of trials that did not pass that are kept for the report.
const MAX_TRACES: usize = 200;
/// Trials that are being stored at once; their transactions are one.
const MAX_SAVING: usize = 64;

/// What was heard of a run.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Trials that ended, in order of their end.
    pub(super) trials: Vec<TrialRecord>,
    /// Traces of trials that did not pass, by trial id.
    pub(super) traces: BTreeMap<String, Trace>,
    /// Why something could not be stored; the run went on.
    pub(super) store_problems: Vec<String>,
}

/// Listens until the run ends.
///
/// A trial that cannot be stored is a warning, never a failed run.
pub(super) async fn listen(
    mut events: mpsc::Receiver<RunEvent>,
    store: Option<&Store>,
    resumed: bool,
    stop: &Stop,
    quiet: bool,
    ui: &mut Ui,
) -> Heard {
    let style = Style {
        width: ui.style.width,
        ..ui.style
    };
    let mut progress = Progress::new(Mode::from_environment(quiet), style);
    let mut heard = Heard::default();
    let mut saving: JoinSet<Result<(), String>> = JoinSet::new();
    let mut told_to_stop = false;
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(saved) = saving.join_next() => {
                note(&mut heard, saved);
                continue;
            }
            () = stop.cancelled(), if !told_to_stop => {
                told_to_stop = true;
                let line = "stopping: trials in flight are cancelled and the run is stored; again to abort";
                if let Some(line) = progress.notice(line.to_owned()) {
                    ui.talk(line);
                }
                continue;
            }
        };
        let Some(event) = event else {
            break;
        };
        if let Some(line) = progress.on_event(&event) {
            ui.talk(line);
        }
        match event {
            RunEvent::RunStarted(run) => {
                if let Some(store) = store.filter(|_| !resumed)
                    && let Err(error) = store.start_run(&run).await
                {
                    heard.store_problems.push(error.to_string());
                }
            }
            RunEvent::TrialStarted(_) | RunEvent::TrialActivity(..) => {}
            RunEvent::TrialFinished(finished) => {
                let (trial, trace) = *finished;
                heard.trials.push(trial.clone());
                let passed = trial.result == Some(TaskResult::Passed);
                if !passed && heard.traces.len() < MAX_TRACES {
                    heard.traces.insert(trial.id.clone(), trace.clone());
                }
                if let Some(store) = store.cloned() {
                    while saving.len() >= MAX_SAVING {
                        if let Some(saved) = saving.join_next().await {
                            note(&mut heard, saved);
                        }
                    }
                    saving.spawn(async move {
                        store
                            .save_trial(&trial, &trace)
                            .await
                            .map_err(|error| error.to_string())
                    });
                }
            }
            RunEvent::RunFinished(run) => {
                while let Some(saved) = saving.join_next().await {
                    note(&mut heard, saved);
                }
                if let Some(store) = store
                    && let Err(error) = store.finish_run(&run).await
                {
                    heard.store_problems.push(error.to_string());
                }
            }
        }
    }
    progress.close();
    heard
}

fn note(heard: &mut Heard, saved: Result<Result<(), String>, tokio::task::JoinError>) {
    let problem = match saved {
        Ok(Ok(())) => return,
        Ok(Err(problem)) => problem,
        Err(error) => error.to_string(),
    };
    if !heard.store_problems.contains(&problem) {
        heard.store_problems.push(problem);
    }
}
