//! Listens to a run: stores it, shows its progress, keeps what the report needs.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use strandline_contract::{
    event::RunEvent,
    run::{RunRecord, TrialRecord},
    trace::Trace,
    words::TaskResult,
};
use strandline_engine::run::Stop;
use strandline_report::style::Style;
use strandline_store::Store;
use tokio::{sync::mpsc, task::JoinSet};

use super::finish::sort_by_plan;
use crate::{
    funnel,
    progress::{Mode, Progress},
    ui::Ui,
};

/// Traces of trials that did not pass that are kept for the report.
const MAX_TRACES: usize = 200;
/// Trials that are being stored at once; their transactions are one.
const MAX_SAVING: usize = 64;

/// What a funnel reads of a trial's chain input.
const KEPT_EVIDENCE: [&str; 3] = ["setupSignals", "judgeEvidence", "metadataAttribution"];

/// What was heard of a run.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The run.
    pub(super) run_id: Option<String>,
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
    let mut saving: JoinSet<Saved> = JoinSet::new();
    let mut told_to_stop = false;
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(saved) = saving.join_next() => {
                heard.note(saved);
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
                heard.run_id = Some(run.id.clone());
                if let Some(store) = store.filter(|_| !resumed)
                    && let Err(error) = store.start_run(&run).await
                {
                    heard.store_problems.push(error.to_string());
                }
            }
            RunEvent::TrialStarted(_) | RunEvent::TrialActivity(..) => {}
            RunEvent::TrialsAdded(added) => {
                if let (Some(store), Some(run)) = (store, &heard.run_id) {
                    let variant = added.variant.as_ref();
                    let stored =
                        store.extend_plan(run, &added.case_id, variant, added.configured_trials);
                    if let Err(error) = stored.await {
                        heard.store_problems.push(error.to_string());
                    }
                }
            }
            RunEvent::TrialFinished(finished) => {
                let Some(store) = store.cloned() else {
                    heard.keep(*finished);
                    continue;
                };
                while saving.len() >= MAX_SAVING {
                    if let Some(saved) = saving.join_next().await {
                        heard.note(saved);
                    }
                }
                saving.spawn(async move {
                    let problem = store.save_trial(&finished.0, &finished.1).await.err();
                    (finished, problem.map(|problem| problem.to_string()))
                });
            }
            RunEvent::TrialJudged(judged) => {
                // The trial itself may still be on its way to the store.
                while let Some(saved) = saving.join_next().await {
                    heard.note(saved);
                }
                let (trial, pass) = *judged;
                if let Some(store) = store
                    && let Err(error) = store.save_judgement(&trial, &pass, None).await
                {
                    heard.problem(error.to_string());
                }
                heard.replace(trial);
            }
            RunEvent::RunFinished(run) => {
                while let Some(saved) = saving.join_next().await {
                    heard.note(saved);
                }
                if let Some(store) = store {
                    heard.end(store, &run, resumed).await;
                }
            }
        }
    }
    progress.close();
    heard
}

/// A trial that was handed to the store, and why it could not be stored.
type Saved = (Box<(TrialRecord, Trace)>, Option<String>);

impl Heard {
    /// Keeps of a trial what the report, the summary and the funnel read: all of
    /// one that did not pass, with its trace while there is room; of one that
    /// passed its outcome, chain, measurements and setup signals.
    fn keep(&mut self, (mut trial, trace): (TrialRecord, Trace)) {
        if trial.result == Some(TaskResult::Passed) {
            keep_outcome(&mut trial);
        } else if self.traces.len() < MAX_TRACES {
            self.traces.insert(trial.id.clone(), trace);
        }
        self.trials.push(trial);
    }

    /// Puts a judged trial into the place of what it was before.
    fn replace(&mut self, mut trial: TrialRecord) {
        if trial.result == Some(TaskResult::Passed) {
            self.traces.remove(&trial.id);
            keep_outcome(&mut trial);
        }
        if let Some(place) = self.trials.iter_mut().rfind(|kept| kept.id == trial.id) {
            *place = trial;
        }
    }

    /// Notes, once, why something could not be stored.
    fn problem(&mut self, problem: String) {
        if !self.store_problems.contains(&problem) {
            self.store_problems.push(problem);
        }
    }

    /// Stores the run's end, and its funnel with it.
    ///
    /// The funnel counts what is stored: the trials that were heard of, unless
    /// some were stored before or could not be stored.
    async fn end(&mut self, store: &Store, run: &RunRecord, resumed: bool) {
        let funnel = if resumed || !self.store_problems.is_empty() {
            funnel::count_stored(store, run, None).await
        } else {
            sort_by_plan(&mut self.trials, run);
            Ok(funnel::count(run, &self.trials))
        };
        let stored = match &funnel {
            Ok(funnel) => store.finish_run_with_funnel(run, funnel).await,
            // The run ends nevertheless; it then has no funnel.
            Err(_) => store.finish_run(run).await,
        };
        let problems = [funnel.err(), stored.err()];
        self.store_problems.extend(
            problems
                .into_iter()
                .flatten()
                .map(|error| error.to_string()),
        );
    }

    fn note(&mut self, saved: Result<Saved, tokio::task::JoinError>) {
        let problem = match saved {
            Ok((finished, problem)) => {
                self.keep(*finished);
                problem
            }
            Err(error) => Some(error.to_string()),
        };
        self.store_problems
            .extend(problem.filter(|problem| !self.store_problems.contains(problem)));
    }
}

/// Drops of a trial that passed what neither report, summary nor funnel reads.
fn keep_outcome(trial: &mut TrialRecord) {
    let mut evidence = Map::new();
    for key in KEPT_EVIDENCE {
        let value = trial.chain_input.pointer_mut(&format!("/evidence/{key}"));
        if let Some(value) = value {
            evidence.insert(key.to_owned(), value.take());
        }
    }
    trial.chain_input = json!({ "evidence": evidence });
    trial.expected_tool_calls = Vec::new();
    trial.actual_tool_calls = Vec::new();
    trial.prompts = Vec::new();
    trial.predicate_results = Vec::new();
}
