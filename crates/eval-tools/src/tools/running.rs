//! Runs: started, waited for, stopped.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    listing::RunActivity,
    sequential::SequentialSettings,
    words::{RunStatus, Vocabulary},
};
use strandline_report::{escape, words::counted};
use strandline_service::{
    launch::{Ended, Phase, RunProgress, RunningTrial},
    planning,
    request::RunRequest,
};
use strandline_store::{Liveness, StoreError};
use tokio::time::Instant;

use super::runs::activity;
use crate::{
    asking::ensure_trusted,
    confine,
    desk::Desk,
    failure::Failure,
    tool::{Answer, Call, Effect, EvalTool, Halt},
    trust::candidate,
};

/// Longest wait, and the usual one, seconds.
const WAIT: (u64, u64) = (50, 600);
/// How often a run of another process is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Shortest time between two notifications.
const QUIET: Duration = Duration::from_millis(250);
/// Running trials that are told.
const RUNNING: usize = 20;
/// Longest name in a text.
const NAME: usize = 80;

/// Starts a run.
pub(crate) struct RunSuite;

/// What to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunSuiteInput {
    /// The suite file, relative to the project's root.
    path: String,
    /// Ids of the cases to run; all enabled cases unless given.
    #[serde(default)]
    cases: Vec<String>,
    /// Models instead of each case's own, `provider/model`; several run every case under each.
    #[serde(default)]
    models: Vec<String>,
    /// Trials per case instead of the suite's own number.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    iterations: Option<u32>,
    /// Trials at once instead of the suite's own number.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    concurrency: Option<u32>,
    /// Seed for models that take one.
    #[serde(default)]
    seed: Option<u64>,
    /// Start no further trial once one has failed.
    #[serde(default)]
    fail_fast: bool,
    /// Repeat each case until its trials decide it, within the usual bounds.
    #[serde(default)]
    until_decided: bool,
    /// Ask no LLM judge; what is due to be judged stays due.
    #[serde(default)]
    no_judge: bool,
}

/// A run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunSuiteOutput {
    /// The run's id, for `wait_run`, `stop_run` and, once its servers are connected, every other tool.
    run_id: String,
    /// The suite file.
    path: String,
    /// The suite's name.
    suite_name: String,
    /// Trials that are configured.
    configured_trials: u64,
    /// Names of the servers that it runs on.
    servers: Vec<String>,
    /// What to know about the run, one line each.
    notices: Vec<String>,
}

impl EvalTool for RunSuite {
    type Input = RunSuiteInput;
    type Output = RunSuiteOutput;
    const NAME: &'static str = "run_suite";
    const TITLE: &'static str = "Run a suite";
    const DESCRIPTION: &'static str = "Starts a run of a suite on its real servers and returns the run id at once; the \
        run goes on in the background and is stored. Then call `wait_run` until it ended. Use `cases` while you work on \
        one case, the whole suite before you conclude anything. Models cost money, and tools of the servers under test \
        do what they do: it may change things outside. The user is asked before a server is started or reached for the \
        first time; if that is refused, do not work around it.";
    const EFFECT: Effect = Effect::Runs;

    async fn call(
        desk: &Desk,
        input: Self::Input,
        call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let suite = confine::suite_file(desk.root(), &input.path)?;
        in_range("iterations", input.iterations)?;
        in_range("concurrency", input.concurrency)?;
        let request = RunRequest {
            cases: input.cases,
            models: input.models,
            iterations: input.iterations,
            concurrency: input.concurrency,
            seed: input.seed,
            fail_fast: input.fail_fast,
            until_decided: input.until_decided.then(SequentialSettings::default),
            no_judge: input.no_judge,
            ..RunRequest::default()
        };
        let mut progress = Notifier::of(call);
        progress.say(0, None, "checking the suite").await;
        let file = desk.suite(&suite)?;
        let planned = planning::plan(&file, &request, desk.root())?;
        let (plan, mut notices) = (planned.plan, planned.notices);
        let candidates = plan
            .servers
            .iter()
            .map(|binding| candidate(binding, desk.root()))
            .collect();
        let not_remembered = ensure_trusted(desk, candidates, call).await?;
        notices.extend(not_remembered);
        let suite_name = plan.suite.suite.name.clone();
        let servers: Vec<String> = plan
            .servers
            .iter()
            .map(|server| server.name.clone())
            .collect();
        let launcher = desk.launcher().await?;
        let run_id = launcher.start(plan)?;
        let configured_trials = launcher.progress(&run_id).map_or(0, |now| now.configured);
        progress.say(1, None, "started").await;
        Ok(Answer {
            text: format!(
                "Run {run_id} of “{}” was started: {} on {}. Call `wait_run` with this id.",
                escape::line(&suite_name, NAME),
                counted(configured_trials, "trial", "trials"),
                super::find::listed(servers.iter().cloned())
            ),
            content: RunSuiteOutput {
                run_id,
                path: suite.shown,
                suite_name,
                configured_trials,
                servers,
                notices,
            },
        })
    }
}

fn in_range(name: &str, number: Option<u32>) -> Result<(), Failure> {
    match number {
        Some(number) if !(1..=100).contains(&number) => Err(Failure::new(format!(
            "`{name}` is {number}, and must be 1 to 100"
        ))),
        _ => Ok(()),
    }
}

/// Waits for a run.
pub(crate) struct WaitRun;

/// For which run, and how long.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WaitRunInput {
    /// The run's id, the beginning of it, or `last`.
    run: String,
    /// How long to wait at most, 50 seconds unless given; 0 only looks.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600))]
    timeout_seconds: Option<u64>,
}

/// How far a run is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitRunOutput {
    /// The run.
    run_id: String,
    /// It has ended: `get_run` has its decision. Otherwise call `wait_run` again.
    ended: bool,
    /// Whether somebody is running it; `killed` means that it will not go on by itself.
    activity: RunActivity,
    /// Trials that are configured.
    configured_trials: u64,
    /// Trials that ended, of any kind.
    ended_trials: u64,
    /// Of these, trials that passed; known for runs that were started here.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed_trials: Option<u64>,
    /// Of these, trials that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_trials: Option<u64>,
    /// Of these, trials that could not be graded: no failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_graded_trials: Option<u64>,
    /// Trials that are running, the first 20.
    running: Vec<RunningTrial>,
    /// How it ended; for runs that were started here.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Ended>,
}

impl EvalTool for WaitRun {
    type Input = WaitRunInput;
    type Output = WaitRunOutput;
    const NAME: &'static str = "wait_run";
    const TITLE: &'static str = "Wait for a run";
    const DESCRIPTION: &'static str = "Waits, for at most `timeoutSeconds`, until a run has ended, with progress \
        notifications on the way, and returns how far it is. Use it after `run_suite`, again and again until `ended` is \
        true; then `get_run`. Counts on the way are no verdict.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let seconds = input.timeout_seconds.unwrap_or(WAIT.0).min(WAIT.1);
        let until = Instant::now() + Duration::from_secs(seconds);
        let output = match named(desk, &input.run).await? {
            Named::Here(id) => wait_here(desk, &id, until, call).await?,
            Named::Stored(id) => wait_elsewhere(desk, &id, until, call).await?,
        };
        Ok(Answer {
            text: told(&output),
            content: output,
        })
    }
}

/// A run by where it is known.
enum Named {
    /// It was started here.
    Here(String),
    /// It is stored, and another process ran it.
    Stored(String),
}

/// Finds a run: among those that were started here, also before they are
/// stored, and in the store.
async fn named(desk: &Desk, reference: &str) -> Result<Named, Halt> {
    let started = desk.started();
    let here: Vec<String> = started
        .map(|launcher| launcher.all())
        .unwrap_or_default()
        .iter()
        .map(|run| run.run_id.clone())
        .collect();
    let known = |id: &str| here.iter().any(|known| known == id);
    let stored = match desk.store().await {
        Ok(store) => store.resolve_run(reference).await,
        Err(error) => Err(error),
    };
    let newest = here.last();
    match stored {
        // A run that is still connecting its servers is newer than any stored one.
        Ok(id) if reference == "last" => Ok(match newest {
            Some(newest) if *newest >= id => Named::Here(newest.clone()),
            _ if known(&id) => Named::Here(id),
            _ => Named::Stored(id),
        }),
        Ok(id) if known(&id) => Ok(Named::Here(id)),
        Ok(id) => Ok(Named::Stored(id)),
        Err(error @ (StoreError::NotFound { .. } | StoreError::Missing { .. })) => {
            let mut matching = here.iter().filter(|id| id.starts_with(reference));
            match (matching.next(), matching.next()) {
                (Some(id), None) => Ok(Named::Here(id.clone())),
                _ if reference == "last" && newest.is_some() => {
                    Ok(Named::Here(newest.cloned().unwrap_or_default()))
                }
                _ => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

async fn wait_here(
    desk: &Desk,
    id: &str,
    until: Instant,
    call: &Call,
) -> Result<WaitRunOutput, Halt> {
    let watched = desk.started().and_then(|launcher| launcher.watch(id));
    let Some(mut watched) = watched else {
        return wait_elsewhere(desk, id, until, call).await;
    };
    let mut notifier = Notifier::of(call);
    loop {
        let now = Arc::clone(&watched.borrow_and_update());
        notifier.tell(&now).await;
        if now.phase == Phase::Ended || Instant::now() >= until {
            return Ok(here(&now));
        }
        tokio::select! {
            changed = watched.changed() => {
                if changed.is_err() {
                    return Ok(here(&watched.borrow()));
                }
                tokio::time::sleep(QUIET).await;
            }
            () = tokio::time::sleep_until(until) => {}
            () = call.context.ct.cancelled() => {
                return Err(Failure::new("the wait was called off; the run goes on").into());
            }
        }
    }
}

fn here(now: &RunProgress) -> WaitRunOutput {
    let ended = now.phase == Phase::Ended;
    WaitRunOutput {
        run_id: now.run_id.clone(),
        ended,
        activity: if ended {
            RunActivity::Ended
        } else {
            RunActivity::Running
        },
        configured_trials: now.configured,
        ended_trials: now.ended,
        passed_trials: Some(now.passed),
        failed_trials: Some(now.failed),
        not_graded_trials: Some(now.not_graded),
        running: now.running.iter().take(RUNNING).cloned().collect(),
        end: now.end.clone(),
    }
}

/// Looks at a stored run again and again.
async fn wait_elsewhere(
    desk: &Desk,
    id: &str,
    until: Instant,
    call: &Call,
) -> Result<WaitRunOutput, Halt> {
    let store = desk.store().await?;
    let mut notifier = Notifier::of(call);
    loop {
        let head = store.run_head(id).await?;
        let trials = counted(head.configured_trials, "trial", "trials");
        notifier
            .say(
                head.stored_trials,
                Some(head.configured_trials),
                &format!("{} of {trials} stored", head.stored_trials),
            )
            .await;
        let running = matches!(head.liveness, Liveness::Live { .. });
        if !running || Instant::now() >= until {
            return Ok(WaitRunOutput {
                run_id: head.record.id.clone(),
                ended: head.liveness == Liveness::Ended,
                activity: activity(head.liveness),
                configured_trials: head.configured_trials,
                ended_trials: head.stored_trials,
                passed_trials: None,
                failed_trials: None,
                not_graded_trials: None,
                running: Vec::new(),
                end: None,
            });
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = call.context.ct.cancelled() => {
                return Err(Failure::new("the wait was called off; the run goes on").into());
            }
        }
    }
}

fn told(run: &WaitRunOutput) -> String {
    let trials = counted(run.configured_trials, "trial", "trials");
    let counts = match (run.passed_trials, run.failed_trials, run.not_graded_trials) {
        (Some(passed), Some(failed), Some(not_graded)) => {
            format!(" ({passed} passed, {failed} failed, {not_graded} not graded)")
        }
        _ => String::new(),
    };
    let mut text = format!(
        "Run {}: {} of {trials} ended{counts}.",
        run.run_id, run.ended_trials
    );
    let mut say = |sentence: &str| {
        text.push(' ');
        text.push_str(sentence);
    };
    match run.activity {
        RunActivity::Ended => say("It has ended: `get_run` has its decision."),
        RunActivity::Running => say("It is still running: call `wait_run` again."),
        RunActivity::Killed => say(
            "Its process is gone and it will not go on by itself: `strandline run --resume` finishes it.",
        ),
    }
    if let Some(end) = &run.end {
        if end.status != RunStatus::Completed {
            say(&format!("How it ended: {}.", end.status.label()));
        }
        if let Some(failure) = &end.setup_failure {
            say(&format!("Set-up: {}", escape::line(failure, 500)));
        }
        for problem in end.store_problems.iter().take(3) {
            say(&format!("Not stored whole: {}", escape::line(problem, 300)));
        }
    }
    text
}

/// Stops a run.
pub(crate) struct StopRun;

/// Which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StopRunInput {
    /// The run's id, the beginning of it, or `last`.
    run: String,
}

/// What became of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StopRunOutput {
    /// The run.
    run_id: String,
    /// It is being stopped now; false when it had already ended.
    stopping: bool,
}

impl EvalTool for StopRun {
    type Input = StopRunInput;
    type Output = StopRunOutput;
    const NAME: &'static str = "stop_run";
    const TITLE: &'static str = "Stop a run";
    const DESCRIPTION: &'static str = "Stops a run that `run_suite` started: trials in flight are cancelled, and the run \
        is stored as far as it came. Use it when a run costs more than it will tell. A stopped run has no verdict about \
        the server. Stopping a run that has ended does nothing.";
    const EFFECT: Effect = Effect::Stops;

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let (run_id, stopping) = match named(desk, &input.run).await? {
            Named::Here(id) => {
                let stopping = desk.started().is_some_and(|launcher| launcher.stop(&id));
                (id, stopping)
            }
            Named::Stored(id) => {
                let head = desk.store().await?.run_head(&id).await?;
                if let Liveness::Live { pid } = head.liveness {
                    return Err(Failure::new(format!(
                        "run `{}` is run by another process, {pid}, and can only be stopped there",
                        head.short_id
                    ))
                    .hint("ask the user to stop that process; the run is then stored as far as it came")
                    .into());
                }
                (id, false)
            }
        };
        let text = if stopping {
            format!("Run {run_id} is being stopped. `wait_run` says when it is stored.")
        } else {
            format!("Run {run_id} is not running: there was nothing to stop.")
        };
        Ok(Answer {
            text,
            content: StopRunOutput { run_id, stopping },
        })
    }
}

/// Tells a client how far a call is, where it asked for that.
struct Notifier<'a> {
    call: &'a Call,
    last: Option<u64>,
}

impl<'a> Notifier<'a> {
    const fn of(call: &'a Call) -> Self {
        Self { call, last: None }
    }

    async fn tell(&mut self, now: &RunProgress) {
        let trials = counted(now.configured, "trial", "trials");
        let message = match now.phase {
            Phase::Starting => "connecting the servers".to_owned(),
            Phase::Running | Phase::Ended => format!(
                "{} of {trials} ended: {} passed, {} failed, {} not graded",
                now.ended, now.passed, now.failed, now.not_graded
            ),
        };
        self.say(now.ended, Some(now.configured), &message).await;
    }

    /// Sends a notification when there is something new: progress only grows.
    async fn say(&mut self, done: u64, total: Option<u64>, message: &str) {
        if self.last.is_some_and(|last| done <= last) {
            return;
        }
        self.last = Some(done);
        self.call.notify(done, total, message).await;
    }
}
