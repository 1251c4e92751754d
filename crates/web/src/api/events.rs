//! A run as it happens: server-sent events.
//!
//! Trials are read from the store, so a run that another process is writing is
//! followed like one of ours; of ours it is also told what runs right now. Every `trial` event carries the point in the
//! store after which the next one comes: a client that reconnects with
//! `Last-Event-ID` misses nothing.
//!
//! | event | document | when |
//! |---|---|---|
//! | `progress` | [`Progress`] | at once, and whenever a number changed |
//! | `trial` | [`TrialListItem`] | a trial was stored |
//! | `end` | [`End`] | nobody runs the run any more; the last event |

use std::{convert::Infallible, fmt::Write, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    response::IntoResponse,
};
use futures::{Stream, stream};
use http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    listing::{RunActivity, RunListItem, TrialListItem},
    words::Vocabulary,
};
use strandline_service::launch::{Phase, RunProgress, Waiting};
use strandline_store::{Liveness, Store, StoreError, TrialTally};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::Instant,
};

use super::{Answered, runs, trials};
use crate::{
    app::App,
    params::{In, Params},
    problem::Problem,
};

/// How often the store is asked.
const EVERY: Duration = Duration::from_millis(500);
/// How long it is silent at least, however much happens.
const AT_LEAST: Duration = Duration::from_millis(150);
/// After how long a silent connection gets a comment, so that it stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Trials that are told at a time.
const AT_ONCE: u32 = 200;
/// How soon a client comes back, in ms.
const RETRY: u32 = 2_000;

/// Where to begin.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// The id of the last event that is known; 0 tells every stored trial.
    /// Without it only trials that are stored from now on are told.
    after: Option<i64>,
}

/// How far a run is; counts are of trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    /// The run.
    run_id: String,
    /// Whether somebody is running it.
    activity: RunActivity,
    /// Trials that the plan has.
    configured: u64,
    /// Trials that are stored and were attempted.
    attempted: u64,
    /// Of these, trials whose checks all hold.
    passed: u64,
    /// Trials whose checks do not all hold.
    failed: u64,
    /// Trials without a result.
    not_graded: u64,
    /// Trials that run right now; absent for a run of another process.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Vec<RunningNow>>,
}

/// A trial that runs right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningNow {
    /// The case's id in the suite.
    case_id: String,
    /// The case's title.
    title: String,
    /// Ordinal among the case variant's trials, from 0.
    iteration_number: u32,
    /// The words for what it is at: the stage that its work belongs to.
    stage: &'static str,
    /// Whom it waits for; absent for our own work.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<Waiting>,
    /// How long it has been running, ms.
    elapsed_ms: u64,
}

/// How a run ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct End {
    /// The run.
    run_id: String,
    /// What a listing says about it; absent when it could not be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunListItem>,
    /// Why it could not be set up, or not be stored whole.
    problems: Vec<String>,
}

/// The document of an event, after the event's name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) enum RunEvent {
    /// `progress`: how far the run is.
    Progress(Progress),
    /// `trial`: a trial was stored.
    Trial(Box<TrialListItem>),
    /// `end`: nobody runs the run any more.
    End(Box<End>),
}

/// Follows a run.
pub(crate) async fn follow(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<EventsQuery>,
    headers: HeaderMap,
) -> Answered {
    let ours = app.launcher().and_then(|launcher| launcher.watch(&run));
    let run_id = match &ours {
        // It may not be in the store yet.
        Some(_) => run,
        None => app.store().resolve_run(&run).await?,
    };
    let ours = ours.or_else(|| app.launcher()?.watch(&run_id));
    // A killed run is `running` for ever: a browser that is told of nothing does
    // not come back, and its page shows the same.
    let unowned = match &ours {
        Some(_) => false,
        None => matches!(
            app.store().run_head(&run_id).await?.liveness,
            Liveness::Dead { .. }
        ),
    };
    if unowned {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let place = app.followers().try_acquire_owned().map_err(|_| {
        Problem::too_many("too many pages follow runs at once", 10)
            .hint("close some of them, or poll the run")
    })?;
    let after = match headers.get("last-event-id") {
        Some(last) => Some(
            last.to_str()
                .ok()
                .and_then(|last| last.parse().ok())
                .ok_or_else(|| Problem::bad_request("`Last-Event-ID` is no id of these events"))?,
        ),
        None => query.after,
    };
    let last = match after {
        Some(after) => after,
        None => app.store().last_stored(&run_id).await?,
    };
    let follower = Follower {
        stopping: app.stopping().clone(),
        app,
        run_id,
        ours,
        last,
        told: None,
        spoken: Instant::now(),
        state: Following::Begins,
        _place: place,
    };
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((kind, Body::from_stream(follower.events())).into_response())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Following {
    Begins,
    Goes,
    Ended,
}

struct Follower {
    app: App,
    stopping: tokio_util::sync::CancellationToken,
    run_id: String,
    /// How far a run is that was started here.
    ours: Option<watch::Receiver<Arc<RunProgress>>>,
    last: i64,
    told: Option<Progress>,
    spoken: Instant,
    state: Following,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    fn events(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        stream::unfold(self, |mut follower| async move {
            loop {
                match follower.state {
                    Following::Ended => return None,
                    Following::Begins => {}
                    Following::Goes => {
                        let stopping = follower.stopping.clone();
                        tokio::select! {
                            () = follower.moved() => {}
                            () = stopping.cancelled() => return None,
                        }
                    }
                }
                let text = follower.next().await;
                if !text.is_empty() {
                    follower.spoken = Instant::now();
                    return Some((Ok(Bytes::from(text)), follower));
                }
            }
        })
    }

    /// Returns what there is to say now, perhaps nothing.
    async fn next(&mut self) -> String {
        let mut text = String::new();
        if self.state == Following::Begins {
            self.state = Following::Goes;
            let _ = write!(text, "retry: {RETRY}\n\n");
        }
        // A store that cannot be read now may be read later; the client also
        // comes back by itself.
        match self.tell().await {
            Ok(told) => text.push_str(&told),
            Err(problem) => {
                self.state = Following::Ended;
                let why = problem.detail().replace('\n', " ");
                let _ = write!(text, ": {why}\n\n");
            }
        }
        if text.is_empty() && self.spoken.elapsed() >= KEEP_ALIVE {
            text.push_str(": still here\n\n");
        }
        text
    }

    /// Waits until there may be something new.
    async fn moved(&mut self) {
        let Some(ours) = &mut self.ours else {
            return tokio::time::sleep(EVERY).await;
        };
        tokio::time::sleep(AT_LEAST).await;
        let changed = tokio::time::timeout(EVERY, ours.changed()).await;
        if matches!(changed, Ok(Err(_))) {
            // Nobody tells us any more.
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn tell(&mut self) -> Result<String, Problem> {
        // What is known before the store is read: what is stored before an end
        // is told before it.
        let ours = self
            .ours
            .as_mut()
            .map(|ours| Arc::clone(&ours.borrow_and_update()));
        let over = ours.as_ref().map(|ours| ours.phase == Phase::Ended);
        let store = self.app.store();
        let item = match store.run_head(&self.run_id).await {
            Ok(head) => Some(runs::item(&head)),
            Err(StoreError::NotFound { .. }) if ours.is_some() => None,
            Err(error) => return Err(error.into()),
        };
        let mut text = String::new();
        let stored = store.trials_after(&self.run_id, self.last, AT_ONCE).await?;
        let full = stored.trials.len() == AT_ONCE as usize;
        let fresh = !stored.trials.is_empty();
        for (row, at) in stored.trials {
            text.push_str(&event("trial", Some(at), &trials::item(row)));
            self.last = at;
        }
        let progress = match (&ours, &item) {
            (Some(ours), _) if over == Some(false) => Some(Progress::of(ours)),
            (_, Some(item)) if fresh || self.is_news(item) => Some(progress(store, item).await?),
            _ => None,
        };
        if let Some(progress) = progress.filter(|now| self.told.as_ref() != Some(now)) {
            text.push_str(&event("progress", None, &progress));
            self.told = Some(progress);
        }
        let ended = over.unwrap_or_else(|| {
            item.as_ref()
                .is_none_or(|item| item.activity != RunActivity::Running)
        });
        if ended && !full {
            let problems = ours.iter().flat_map(|ours| problems(ours)).collect();
            let end = End {
                run_id: self.run_id.clone(),
                run: item,
                problems,
            };
            text.push_str(&event("end", None, &end));
            self.state = Following::Ended;
        }
        Ok(text)
    }

    /// Tells whether a run moved without a trial being stored.
    fn is_news(&self, item: &RunListItem) -> bool {
        self.told.as_ref().is_none_or(|told| {
            told.configured != item.configured_trials || told.activity != item.activity
        })
    }
}

/// Returns why a run could not be set up, or not be stored whole.
fn problems(ours: &RunProgress) -> Vec<String> {
    let Some(end) = &ours.end else {
        return Vec::new();
    };
    let setup = end.setup_failure.iter();
    setup.chain(&end.store_problems).cloned().collect()
}

impl Progress {
    /// Returns how far a run is that was started here.
    fn of(ours: &RunProgress) -> Self {
        let now = jiff::Timestamp::now().as_millisecond();
        let running = ours.running.iter().map(|trial| RunningNow {
            case_id: trial.case_id.clone(),
            title: trial.title.clone(),
            iteration_number: trial.iteration_number,
            stage: trial.stage.map_or("starting", Vocabulary::label),
            waiting_for: trial.waiting_for,
            elapsed_ms: now.saturating_sub(trial.started_at).unsigned_abs(),
        });
        Self {
            run_id: ours.run_id.clone(),
            activity: match ours.phase {
                Phase::Starting | Phase::Running => RunActivity::Running,
                Phase::Ended => RunActivity::Ended,
            },
            configured: ours.configured,
            attempted: ours.ended,
            passed: ours.passed,
            failed: ours.failed,
            not_graded: ours.not_graded,
            running: Some(running.collect()),
        }
    }
}

/// Counts how far a run is.
pub(crate) async fn progress(store: &Store, item: &RunListItem) -> Result<Progress, Problem> {
    let TrialTally {
        attempted,
        passed,
        failed,
        not_graded,
        ..
    } = store.tally(&item.run_id).await?;
    Ok(Progress {
        run_id: item.run_id.clone(),
        activity: item.activity,
        configured: item.configured_trials,
        attempted,
        passed,
        failed,
        not_graded,
        running: None,
    })
}

/// Writes one event. JSON on one line has no line break of its own.
fn event<T: Serialize>(name: &str, id: Option<i64>, document: &T) -> String {
    let data = serde_json::to_string(document).unwrap_or_else(|_| "null".to_owned());
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("event: {name}\n{id}data: {data}\n\n")
}
