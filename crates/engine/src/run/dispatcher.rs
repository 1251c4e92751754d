//! When each trial runs, and how a run ends.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use strandline_contract::{
    canonical::sha256_canonical,
    event::{RunEvent, TrialsAdded},
    run::{
        ErrorLayer, ExecutionVariant, PlannedCase, RunRecord, RunStatus, ServerFacts, TrialError,
        TrialRecord,
    },
    trace::Trace,
    verdict::{CaseInput, TrialObservation, ValidityPolicy},
    words::TaskResult,
};
use strandline_derive::verdict::derive_decision;
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    judging::Judging,
    plan::{Outstanding, RunPlan, TrialKey},
    record,
    repeats::Repeats,
    servers::{Servers, SetupRefusal},
    trial::{self, Shared},
};
use crate::mcp::{ConnectOptions, now_ms};

/// How many tools' worth of events may wait for a slow listener.
const EVENT_QUEUE: usize = 1_024;

/// Makes the channel that a run reports over.
#[must_use]
pub fn event_channel() -> (mpsc::Sender<RunEvent>, mpsc::Receiver<RunEvent>) {
    mpsc::channel(EVENT_QUEUE)
}

/// Asks a run to finish early: trials in flight are cancelled, no more start,
/// and the run is stored.
pub type Stop = CancellationToken;

/// How a run ended.
#[derive(Debug, Clone)]
pub struct RunEnd {
    /// The run as stored.
    pub record: RunRecord,
    /// Why the servers could not be set up: wire code and findings.
    pub setup_failure: Option<(&'static str, String)>,
    /// The provider rejected our credentials (`CREDENTIALS_REJECTED`).
    pub credentials_rejected: Option<String>,
}

/// Why no further trial is started.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Halt {
    Stopped,
    TimedOut,
    FailFast(String),
    CredentialsRejected(String),
}

/// Runs a plan to its end and reports everything over `events`.
///
/// Problems of a listener never fail a run. The decision follows verdict
/// policy v2 over every configured trial, resumed ones included.
pub async fn run(plan: RunPlan, events: mpsc::Sender<RunEvent>, stop: Stop) -> RunEnd {
    let plan = Arc::new(plan);
    let mut record = opening_record(&plan);
    send(&events, RunEvent::RunStarted(Box::new(record.clone()))).await;
    let execution = &plan.suite.execution;
    let servers = Arc::new(Servers::new(
        plan.servers.clone(),
        ConnectOptions {
            setup_timeout: Duration::from_millis(execution.setup_timeout_ms),
            list_timeout: Duration::from_millis(execution.setup_timeout_ms),
            settle: Duration::from_millis(execution.tool_settle_ms),
            redactor: plan.redactor.clone(),
            cancel: stop.clone(),
            ..ConnectOptions::default()
        },
        execution.session,
        plan.suite.defaults.tool_policy.clone(),
        plan.egress_canary.clone(),
    ));
    let preflight = if plan.servers.is_empty() {
        Ok(Vec::new())
    } else {
        servers.preflight().await
    };
    let mut observed = Observed::from(plan.finished.clone());
    let mut repeats = Repeats::new(&plan);
    let mut end = RunEnd {
        record: record.clone(),
        setup_failure: None,
        credentials_rejected: None,
    };
    match preflight {
        Ok(facts) => {
            record.servers = facts;
            let halt = run_trials(
                &plan,
                &servers,
                &record.servers,
                &events,
                &stop,
                &mut observed,
                &mut repeats,
            )
            .await;
            record.status = match &halt {
                None => RunStatus::Completed,
                Some(Halt::TimedOut) => RunStatus::TimedOut,
                Some(Halt::Stopped | Halt::FailFast(_)) => RunStatus::Cancelled,
                Some(Halt::CredentialsRejected(_)) => RunStatus::Failed,
            };
            record.error = halt.as_ref().map(halt_line);
            if let Some(Halt::CredentialsRejected(message)) = halt {
                end.credentials_rejected = Some(message);
            }
        }
        Err(refusal) => {
            record.servers.clone_from(&refusal.facts);
            if stop.is_cancelled() {
                record.status = RunStatus::Cancelled;
                record.error = Some(halt_line(&Halt::Stopped));
            } else {
                abort_trials(&plan, &refusal, &events, &mut observed).await;
                record.status = RunStatus::Failed;
                record.error = Some(format!("{}: {}", refusal.code, refusal.message));
                end.setup_failure = Some((refusal.code, refusal.message));
            }
        }
    }
    servers.close().await;
    if let Some(error) = &mut record.error {
        plan.redactor.string(error);
    }
    record.ended_at = Some(epoch_ms());
    record.plan = repeats.planned_cases(&plan);
    match decide(&plan, &record.plan, &observed) {
        Ok(decision) => record.decision = Some(decision),
        Err(message) => record.integrity_error = Some(message),
    }
    send(&events, RunEvent::RunFinished(Box::new(record.clone()))).await;
    end.record = record;
    end
}

fn opening_record(plan: &RunPlan) -> RunRecord {
    let resolved_suite = serde_json::to_value(plan.suite.as_ref()).unwrap_or(Value::Null);
    RunRecord {
        id: plan.run_id.clone(),
        status: RunStatus::Running,
        suite_id: plan.suite.suite.id.clone(),
        suite_name: plan.suite.suite.name.clone(),
        suite_path: plan.suite_path.clone(),
        source_hash: plan.source_hash.clone(),
        resolved_hash: sha256_canonical(&resolved_suite),
        resolved_suite,
        plan: plan.planned_cases(),
        settings: plan.settings.clone(),
        servers: Vec::new(),
        started_at: plan.first_started_at.unwrap_or_else(epoch_ms),
        ended_at: None,
        decision: None,
        integrity_error: None,
        error: None,
        scripted: plan.is_scripted(),
        strandline_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Runs every outstanding trial, in authored order, as many at once as the plan
/// allows, and those that are added until decided after them. Returns why it
/// ended early, if it did.
async fn run_trials(
    plan: &Arc<RunPlan>,
    servers: &Arc<Servers>,
    servers_facts: &[ServerFacts],
    events: &mpsc::Sender<RunEvent>,
    stop: &Stop,
    observed: &mut Observed,
    repeats: &mut Repeats,
) -> Option<Halt> {
    let token = stop.child_token();
    let shared = Arc::new(Shared {
        plan: Arc::clone(plan),
        servers: Arc::clone(servers),
        events: events.clone(),
        stop: token.clone(),
        server_permits: Arc::new(Semaphore::new(plan.server_concurrency.max(1))),
    });
    let deadline = tokio::time::Instant::now() + plan.run_budget();
    let mut waiting: VecDeque<Outstanding> = plan.outstanding().into();
    let mut running = JoinSet::new();
    let mut judging = Judging::new(plan, servers_facts, stop.child_token());
    let mut halt: Option<Halt> = None;
    let mut stopped = false;
    // Case variants that may need more trials; a resumed run starts with all.
    let mut unassessed: BTreeSet<usize> = match plan.until_decided {
        Some(_) => (0..plan.case_variants.len()).collect(),
        None => BTreeSet::new(),
    };
    loop {
        // A judge may still change what a trial shows.
        if halt.is_none() && !stopped && judging.is_idle() {
            for case_variant in std::mem::take(&mut unassessed) {
                waiting.extend(added(plan, case_variant, observed, repeats, events).await);
            }
        }
        while halt.is_none() && running.len() < plan.concurrency.max(1) && !judging.is_behind() {
            let Some(next) = waiting.pop_front() else {
                break;
            };
            let shared = Arc::clone(&shared);
            running.spawn(async move { trial::run(&shared, next).await });
        }
        judging.fill();
        let outstanding = !running.is_empty() || (halt.is_none() && !waiting.is_empty());
        if !outstanding && judging.is_idle() {
            return halt.filter(|halt| !waiting.is_empty() || !is_fail_fast(halt));
        }
        tokio::select! {
            biased;
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                // Trials that all ended stay what they are: only judging stops.
                if halt.is_none() && outstanding {
                    halt = Some(Halt::Stopped);
                }
            }
            () = tokio::time::sleep_until(deadline), if halt.is_none() && outstanding => {
                token.cancel();
                halt = Some(Halt::TimedOut);
            }
            Some(ended) = running.join_next(), if !running.is_empty() => match ended {
                Ok(finished) => {
                    if halt.is_none() {
                        halt = halt_after(plan, &finished.0);
                    }
                    observed.add(&finished.0);
                    unassessed.extend(repeats.assess(plan, &finished.0));
                    judging.offer(&finished);
                    send(events, RunEvent::TrialFinished(Box::new(finished))).await;
                }
                // A panic in a trial is ours; its configured trial stays unattempted.
                Err(error) => tracing::error!(%error, "a trial ended without a record"),
            },
            judged = judging.next(), if !judging.is_idle() => {
                let Some(judged) = judged else {
                    continue;
                };
                if halt.is_none() {
                    halt = halt_after(plan, &judged.trial);
                }
                observed.add(&judged.trial);
                send(events, RunEvent::TrialJudged(Box::new((judged.trial, judged.pass)))).await;
            }
        }
    }
}

/// Adds trials to a case variant that its trials so far do not decide.
async fn added(
    plan: &RunPlan,
    case_variant: usize,
    observed: &Observed,
    repeats: &mut Repeats,
    events: &mpsc::Sender<RunEvent>,
) -> Vec<Outstanding> {
    let Some(planned) = plan.case_variants.get(case_variant) else {
        return Vec::new();
    };
    let trials = observed.of(&planned.case.id, planned.variant.as_ref());
    let more = repeats.more(case_variant, &trials);
    if !more.is_empty() {
        let event = TrialsAdded {
            case_id: planned.case.id.clone(),
            variant: planned.variant.clone(),
            configured_trials: repeats.configured(case_variant),
        };
        // Before any of them ends: whoever stores trials must know their places.
        send(events, RunEvent::TrialsAdded(event)).await;
    }
    more
}

const fn is_fail_fast(halt: &Halt) -> bool {
    matches!(halt, Halt::FailFast(_))
}

/// Says whether a finished trial ends the run.
fn halt_after(plan: &RunPlan, trial: &TrialRecord) -> Option<Halt> {
    if let Some(error) = &trial.error
        && error.layer == ErrorLayer::Model
        && error.code == "credentials_rejected"
    {
        return Some(Halt::CredentialsRejected(error.message.clone()));
    }
    (plan.fail_fast && trial.result == Some(TaskResult::Failed))
        .then(|| Halt::FailFast(trial.title.clone()))
}

fn halt_line(halt: &Halt) -> String {
    match halt {
        Halt::Stopped => "CANCELLED: the run was stopped by its user".to_owned(),
        Halt::TimedOut => "the run used up its time (`execution.runTimeoutMs`)".to_owned(),
        Halt::FailFast(title) => {
            format!("stopped after the first failed trial (`--fail-fast`): {title}")
        }
        Halt::CredentialsRejected(message) => format!("CREDENTIALS_REJECTED: {message}"),
    }
}

/// Records every outstanding trial as never begun: no server was ready, so no
/// model was asked.
async fn abort_trials(
    plan: &Arc<RunPlan>,
    refusal: &SetupRefusal,
    events: &mpsc::Sender<RunEvent>,
    observed: &mut Observed,
) {
    for outstanding in plan.outstanding() {
        let finished = record::never_begun(plan, outstanding, refusal);
        observed.add(&finished.0);
        send(events, RunEvent::TrialFinished(Box::new(finished))).await;
    }
}

/// What every case variant's trials contribute to the decision.
///
/// A trial that is judged later takes the place of what it was before.
#[derive(Debug, Default)]
struct Observed(BTreeMap<(String, Option<ExecutionVariant>), BTreeMap<u32, TrialObservation>>);

impl Observed {
    fn add(&mut self, trial: &TrialRecord) {
        self.0
            .entry((trial.case_id.clone(), trial.variant.clone()))
            .or_default()
            .insert(trial.iteration_number, trial.into());
    }

    /// Returns what is known of a case variant's trials, by ordinal.
    fn of(&self, case_id: &str, variant: Option<&ExecutionVariant>) -> Vec<TrialObservation> {
        let trials = self.0.get(&(case_id.to_owned(), variant.cloned()));
        let trials = trials.into_iter().flat_map(BTreeMap::values);
        trials.cloned().collect()
    }
}

impl From<Vec<(TrialKey, TrialObservation)>> for Observed {
    fn from(finished: Vec<(TrialKey, TrialObservation)>) -> Self {
        let mut observed = Self::default();
        for (key, observation) in finished {
            observed
                .0
                .entry((key.case_id, key.variant))
                .or_default()
                .insert(key.iteration_number, observation);
        }
        observed
    }
}

/// Takes the decision of verdict policy v2 over every configured trial.
fn decide(
    plan: &RunPlan,
    planned_cases: &[PlannedCase],
    observed: &Observed,
) -> Result<Value, String> {
    let cases: Vec<CaseInput> = planned_cases
        .iter()
        .map(|planned| CaseInput {
            trials: observed.of(&planned.case_id, planned.variant.as_ref()),
            case_id: planned.case_id.clone(),
            execution_variant: planned.variant.clone(),
            configured_trials: u64::from(planned.configured_trials),
            effective_pass_threshold: planned.pass_threshold,
        })
        .collect();
    let policy = ValidityPolicy::from(&plan.suite.defaults.validity);
    let decision = derive_decision(&policy, &cases).map_err(|refusal| refusal.to_string())?;
    serde_json::to_value(decision).map_err(|error| error.to_string())
}

/// Makes an error of ours for a trial.
pub(super) fn harness_error(code: &str, message: impl Into<String>) -> TrialError {
    TrialError {
        layer: ErrorLayer::Harness,
        code: code.to_owned(),
        message: message.into(),
        http_status: None,
    }
}

async fn send(events: &mpsc::Sender<RunEvent>, event: RunEvent) {
    // A listener that went away is not the run's problem.
    let _ = events.send(event).await;
}

/// Returns the time in whole milliseconds since the Unix epoch.
#[expect(
    clippy::cast_possible_truncation,
    reason = "milliseconds since the epoch fit in 64 bits"
)]
pub(super) fn epoch_ms() -> i64 {
    now_ms() as i64
}

/// A trial's record and trace.
pub(super) type Finished = (TrialRecord, Trace);
