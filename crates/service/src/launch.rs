//! Runs in the background: started, watched and stopped by callers that do not
//! wait for them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use schemars::JsonSchema;
use serde::Serialize;
use strandline_contract::{
    event::{RunEvent, TrialRef, WaitingFor},
    run::{ExecutionVariant, RunRecord, TrialRecord},
    words::{RunStatus, Stage, TaskResult, Verdict, Vocabulary},
};
use strandline_engine::run::{RunEnd, RunPlan, Stop, event_channel};
use strandline_store::Store;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::{Failure, recording::Recorder};

/// Runs at once.
const MAX_RUNS: usize = 4;
/// Ended runs whose end is remembered.
const MAX_ENDED: usize = 50;

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunProgress {
    /// The run.
    pub run_id: String,
    /// The suite's name.
    pub suite_name: String,
    /// What it is at.
    pub phase: Phase,
    /// Trials that are configured.
    pub configured: u64,
    /// Trials that ended, of any kind.
    pub ended: u64,
    /// Of these, trials that passed.
    pub passed: u64,
    /// Of these, trials that failed.
    pub failed: u64,
    /// Of these, trials that could not be graded.
    pub not_graded: u64,
    /// Trials that are running, in order of their start.
    pub running: Vec<RunningTrial>,
    /// How it ended; absent until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Ended>,
}

/// What a run in the background is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It was asked for and is not stored yet.
    Starting,
    /// Trials run.
    Running,
    /// It ended and is stored.
    Ended,
}

/// A trial that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningTrial {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The model it runs under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
    /// The stage that its work belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Whom it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Waiting>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
}

/// Whom a running trial waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Waiting {
    /// The server under test.
    Server,
    /// The model provider.
    Model,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Its lifecycle.
    pub status: RunStatus,
    /// What was decided; absent when there is no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why the servers could not be set up, or the provider refused us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_failure: Option<String>,
    /// Why it could not be stored whole; empty when it could.
    pub store_problems: Vec<String>,
}

/// Starts runs and keeps track of them. Clones share what they know.
#[derive(Debug, Clone)]
pub struct Launcher {
    store: Store,
    runs: Arc<Mutex<BTreeMap<String, Background>>>,
}

#[derive(Debug)]
struct Background {
    stop: Stop,
    progress: watch::Receiver<Arc<RunProgress>>,
    work: Option<JoinHandle<()>>,
}

impl Launcher {
    /// Makes a launcher whose runs are stored in `store`, which must be open
    /// for writing.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            runs: Arc::default(),
        }
    }

    /// Starts a run and returns its id at once. It is in the store from its
    /// phase [`Phase::Running`] on.
    ///
    /// # Errors
    ///
    /// When as many runs as may run at once already do.
    pub fn start(&self, plan: RunPlan) -> Result<String, Failure> {
        let mut runs = self.runs();
        let running = runs
            .values()
            .filter(|run| run.progress.borrow().phase != Phase::Ended)
            .count();
        if running >= MAX_RUNS {
            return Err(Failure::usage(format_args!(
                "{running} runs are running, and no more than {MAX_RUNS} may at once"
            ))
            .hint("wait for one of them to end, or stop it"));
        }
        forget_oldest(&mut runs);
        let id = plan.run_id.clone();
        let stop = Stop::new();
        let (sender, progress) = watch::channel(Arc::new(RunProgress {
            run_id: id.clone(),
            suite_name: plan.suite.suite.name.clone(),
            phase: Phase::Starting,
            configured: plan
                .case_variants
                .iter()
                .map(|variant| u64::from(variant.trials))
                .sum(),
            ended: 0,
            passed: 0,
            failed: 0,
            not_graded: 0,
            running: Vec::new(),
            end: None,
        }));
        let work = tokio::spawn(run(plan, self.store.clone(), stop.clone(), sender));
        let work = Some(work);
        runs.insert(
            id.clone(),
            Background {
                stop,
                progress,
                work,
            },
        );
        Ok(id)
    }

    /// Returns how far a run is, now and whenever that changes; `None` for a
    /// run that was not started here.
    #[must_use]
    pub fn watch(&self, run_id: &str) -> Option<watch::Receiver<Arc<RunProgress>>> {
        Some(self.runs().get(run_id)?.progress.clone())
    }

    /// Returns how far a run is; `None` for a run that was not started here.
    #[must_use]
    pub fn progress(&self, run_id: &str) -> Option<Arc<RunProgress>> {
        Some(Arc::clone(&self.runs().get(run_id)?.progress.borrow()))
    }

    /// Returns how far every run is that was started here and is remembered.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RunProgress>> {
        let runs = self.runs();
        runs.values()
            .map(|run| Arc::clone(&run.progress.borrow()))
            .collect()
    }

    /// Stops a run: trials in flight are cancelled, and it is stored as far as
    /// it came. Returns whether there was one to stop.
    #[must_use]
    pub fn stop(&self, run_id: &str) -> bool {
        let runs = self.runs();
        let running = runs
            .get(run_id)
            .filter(|run| run.progress.borrow().phase != Phase::Ended);
        if let Some(run) = running {
            run.stop.cancel();
        }
        running.is_some()
    }

    /// Stops every run and waits until all are stored.
    pub async fn stop_all(&self) {
        let works: Vec<JoinHandle<()>> = {
            let mut runs = self.runs();
            runs.values_mut()
                .filter_map(|run| {
                    run.stop.cancel();
                    run.work.take()
                })
                .collect()
        };
        for work in works {
            // A run that panicked has nothing more to store.
            let _ = work.await;
        }
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Background>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the ends that were remembered longest; ids are in order of time.
fn forget_oldest(runs: &mut BTreeMap<String, Background>) {
    let ended: Vec<String> = runs
        .iter()
        .filter(|(_, run)| run.progress.borrow().phase == Phase::Ended)
        .map(|(id, _)| id.clone())
        .collect();
    let too_many = ended.len().saturating_sub(MAX_ENDED - 1);
    for id in ended.iter().take(too_many) {
        runs.remove(id);
    }
}

async fn run(plan: RunPlan, store: Store, stop: Stop, progress: watch::Sender<Arc<RunProgress>>) {
    let (sender, events) = event_channel();
    let engine = tokio::spawn(strandline_engine::run::run(plan, sender, stop));
    let problems = listen(events, store, &progress).await;
    let end = match engine.await {
        Ok(end) => ended(&end, problems),
        Err(error) => Ended {
            status: RunStatus::Failed,
            verdict: None,
            setup_failure: Some(format!(
                "the run ended without a result, which is a defect of ours: {error}"
            )),
            store_problems: problems,
        },
    };
    progress.send_modify(|now| {
        let now = Arc::make_mut(now);
        now.phase = Phase::Ended;
        now.running.clear();
        now.end = Some(end);
    });
}

/// Stores a run while it runs and tells how far it is; returns why it could
/// not be stored whole.
async fn listen(
    mut events: mpsc::Receiver<RunEvent>,
    store: Store,
    progress: &watch::Sender<Arc<RunProgress>>,
) -> Vec<String> {
    let mut recorder = Recorder::new(Some(store), false);
    let mut configured = Configured::default();
    while let Some(event) = events.recv().await {
        let told = Told::of(&event, &mut configured);
        // Stored first: who is told of a run or a trial can read it.
        recorder.take(event).await;
        if let Some(told) = told {
            progress.send_modify(|now| told.apply(Arc::make_mut(now)));
        }
    }
    recorder.finish().await.store_problems
}

/// What an event changes about how far a run is.
enum Told {
    /// The plan is made, or grew: so many trials are configured.
    Configured(u64),
    Trial(Arc<TrialRef>),
    Activity(Arc<TrialRef>, Stage, Option<Waiting>),
    Finished(String, Option<ExecutionVariant>, u32, Option<TaskResult>),
}

impl Told {
    fn of(event: &RunEvent, configured: &mut Configured) -> Option<Self> {
        Some(match event {
            RunEvent::RunStarted(run) => {
                for planned in &run.plan {
                    configured.set(
                        &planned.case_id,
                        &planned.variant,
                        planned.configured_trials,
                    );
                }
                Self::Configured(configured.total())
            }
            RunEvent::TrialStarted(trial) => Self::Trial(Arc::clone(trial)),
            RunEvent::TrialActivity(trial, activity) => Self::Activity(
                Arc::clone(trial),
                activity.stage,
                match activity.waiting_for {
                    WaitingFor::Server => Some(Waiting::Server),
                    WaitingFor::Model => Some(Waiting::Model),
                    WaitingFor::Nobody => None,
                },
            ),
            RunEvent::TrialsAdded(added) => {
                configured.set(&added.case_id, &added.variant, added.configured_trials);
                Self::Configured(configured.total())
            }
            RunEvent::TrialFinished(finished) => Self::finished(&finished.0),
            RunEvent::TrialJudged(_) | RunEvent::RunFinished(_) => return None,
        })
    }

    fn finished(trial: &TrialRecord) -> Self {
        Self::Finished(
            trial.case_id.clone(),
            trial.variant.clone(),
            trial.iteration_number,
            trial.result.filter(|_| !trial.evaluator_error),
        )
    }

    fn apply(self, now: &mut RunProgress) {
        match self {
            Self::Configured(trials) => {
                now.phase = Phase::Running;
                now.configured = trials;
            }
            Self::Trial(trial) => now.running.push(RunningTrial {
                case_id: trial.case_id.clone(),
                title: trial.title.clone(),
                variant: trial.variant.clone(),
                iteration_number: trial.iteration_number,
                stage: None,
                waiting_for: None,
                started_at: epoch_ms(),
            }),
            Self::Activity(trial, stage, waiting_for) => {
                let running = now.running.iter_mut().find(|running| {
                    running.is(
                        &trial.case_id,
                        trial.variant.as_ref(),
                        trial.iteration_number,
                    )
                });
                if let Some(running) = running {
                    running.stage = Some(stage);
                    running.waiting_for = waiting_for;
                }
            }
            Self::Finished(case_id, variant, iteration_number, result) => {
                now.running
                    .retain(|running| !running.is(&case_id, variant.as_ref(), iteration_number));
                now.ended += 1;
                match result {
                    Some(TaskResult::Passed) => now.passed += 1,
                    Some(TaskResult::Failed) => now.failed += 1,
                    None => now.not_graded += 1,
                }
            }
        }
    }
}

/// How many trials each case variant has.
#[derive(Debug, Default)]
struct Configured(BTreeMap<(String, Option<ExecutionVariant>), u32>);

impl Configured {
    fn set(&mut self, case_id: &str, variant: &Option<ExecutionVariant>, trials: u32) {
        self.0.insert((case_id.to_owned(), variant.clone()), trials);
    }

    fn total(&self) -> u64 {
        self.0.values().copied().map(u64::from).sum()
    }
}

impl RunningTrial {
    fn is(&self, case_id: &str, variant: Option<&ExecutionVariant>, iteration: u32) -> bool {
        self.iteration_number == iteration
            && self.case_id == case_id
            && self.variant.as_ref() == variant
    }
}

fn ended(end: &RunEnd, store_problems: Vec<String>) -> Ended {
    let setup = end
        .setup_failure
        .as_ref()
        .map(|(code, message)| format!("{code}: {message}"));
    Ended {
        status: end.record.status,
        verdict: verdict(&end.record),
        setup_failure: setup.or_else(|| end.credentials_rejected.clone()),
        store_problems,
    }
}

fn verdict(run: &RunRecord) -> Option<Verdict> {
    let decision = run.decision.as_ref()?;
    Verdict::from_wire(decision.get("verdict")?.as_str()?)
}

fn epoch_ms() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
