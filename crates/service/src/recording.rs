//! A run as it is heard of: stored while it runs, and of its trials kept what a
//! report needs.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use strandline_contract::{
    event::RunEvent,
    run::{ExecutionVariant, RunRecord, TrialRecord},
    trace::Trace,
    words::TaskResult,
};
use strandline_store::{Store, TrialFilter};
use tokio::task::JoinSet;

use crate::{Failure, roll_ups};

/// Traces of trials that did not pass that are kept for the report.
const MAX_TRACES: usize = 200;
/// Trials that are being stored at once; their transactions are one.
const MAX_SAVING: usize = 64;

/// What a funnel reads of a trial's chain input.
const KEPT_EVIDENCE: [&str; 3] = ["setupSignals", "judgeEvidence", "metadataAttribution"];

/// What was heard of a run.
#[derive(Debug, Default)]
pub struct Heard {
    /// The run.
    pub run_id: Option<String>,
    /// Trials that ended, in order of their end.
    pub trials: Vec<TrialRecord>,
    /// Traces of trials that did not pass, by trial id.
    pub traces: BTreeMap<String, Trace>,
    /// Why something could not be stored; the run went on.
    pub store_problems: Vec<String>,
}

/// Stores a run while it runs.
///
/// A trial that cannot be stored is noted, never a failed run.
#[derive(Debug)]
pub struct Recorder {
    store: Option<Store>,
    resumed: bool,
    saving: JoinSet<Saved>,
    heard: Heard,
}

impl Recorder {
    /// Makes the recorder of a run; `resumed` says that the run was stored
    /// before and is claimed. Without a store trials are only kept.
    #[must_use]
    pub fn new(store: Option<Store>, resumed: bool) -> Self {
        Self {
            store,
            resumed,
            saving: JoinSet::new(),
            heard: Heard::default(),
        }
    }

    /// Takes one event. Trials are stored in the background, up to a bound at
    /// which this waits; after the run's last event everything is stored.
    pub async fn take(&mut self, event: RunEvent) {
        while let Some(saved) = self.saving.try_join_next() {
            self.heard.note(saved);
        }
        match event {
            RunEvent::RunStarted(run) => {
                self.heard.run_id = Some(run.id.clone());
                if let Some(store) = self.store.as_ref().filter(|_| !self.resumed)
                    && let Err(error) = store.start_run(&run).await
                {
                    self.heard.problem(error.to_string());
                }
            }
            RunEvent::TrialStarted(_) | RunEvent::TrialActivity(..) => {}
            RunEvent::TrialsAdded(added) => {
                if let (Some(store), Some(run)) = (&self.store, &self.heard.run_id) {
                    let variant = added.variant.as_ref();
                    let stored =
                        store.extend_plan(run, &added.case_id, variant, added.configured_trials);
                    if let Err(error) = stored.await {
                        self.heard.problem(error.to_string());
                    }
                }
            }
            RunEvent::TrialFinished(finished) => self.save(finished).await,
            RunEvent::TrialJudged(judged) => {
                // The trial itself may still be on its way to the store.
                self.saved().await;
                let (trial, pass) = *judged;
                if let Some(store) = &self.store
                    && let Err(error) = store.save_judgement(&trial, &pass, None).await
                {
                    self.heard.problem(error.to_string());
                }
                self.heard.replace(trial);
            }
            RunEvent::RunFinished(run) => {
                self.saved().await;
                if let Some(store) = &self.store {
                    self.heard.end(store, &run, self.resumed).await;
                }
            }
        }
    }

    /// Returns what was heard, once everything handed in is stored.
    pub async fn finish(mut self) -> Heard {
        self.saved().await;
        self.heard
    }

    async fn save(&mut self, finished: Box<(TrialRecord, Trace)>) {
        let Some(store) = self.store.clone() else {
            self.heard.keep(*finished);
            return;
        };
        while self.saving.len() >= MAX_SAVING {
            if let Some(saved) = self.saving.join_next().await {
                self.heard.note(saved);
            }
        }
        self.saving.spawn(async move {
            let problem = store.save_trial(&finished.0, &finished.1).await.err();
            (finished, problem.map(|problem| problem.to_string()))
        });
    }

    async fn saved(&mut self) {
        while let Some(saved) = self.saving.join_next().await {
            self.heard.note(saved);
        }
    }
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

    /// Stores the run's end, and its roll-ups with it.
    ///
    /// They count what is stored: the trials that were heard of, unless
    /// some were stored before or could not be stored.
    async fn end(&mut self, store: &Store, run: &RunRecord, resumed: bool) {
        let counted = if resumed || !self.store_problems.is_empty() {
            roll_ups::count_stored(store, run, None).await
        } else {
            sort_by_plan(&mut self.trials, run);
            Ok(roll_ups::count(run, &self.trials))
        };
        let stored = match &counted {
            Ok(counted) => {
                store
                    .finish_run_with_roll_ups(run, &counted.funnel, &counted.overview)
                    .await
            }
            // The run ends nevertheless; it then has none.
            Err(_) => store.finish_run(run).await,
        };
        let problems = [counted.err(), stored.err()];
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

/// Puts trials into plan order, then by iteration.
pub fn sort_by_plan(trials: &mut [TrialRecord], run: &RunRecord) {
    let places: BTreeMap<(&str, Option<&ExecutionVariant>), usize> = run
        .plan
        .iter()
        .enumerate()
        .map(|(place, planned)| ((planned.case_id.as_str(), planned.variant.as_ref()), place))
        .collect();
    trials.sort_by_key(|trial| {
        let key = (trial.case_id.as_str(), trial.variant.as_ref());
        (
            places.get(&key).copied().unwrap_or(usize::MAX),
            trial.iteration_number,
        )
    });
}

/// Reads every stored trial of a run.
pub async fn stored_trials(store: &Store, run_id: &str) -> Result<Vec<TrialRecord>, Failure> {
    let mut trials = Vec::new();
    let mut cursor = None;
    loop {
        let page = store
            .trials(run_id, &TrialFilter::default(), cursor.as_deref(), 500)
            .await?;
        trials.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(trials);
        }
    }
}
