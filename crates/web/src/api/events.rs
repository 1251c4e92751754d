//! A run as it happens: server-sent events.
//!
//! Everything is read from the store, so a run that another process is writing
//! is followed like one of ours. Every `trial` event carries the point in the
//! store after which the next one comes: a client that reconnects with
//! `Last-Event-ID` misses nothing.
//!
//! | event | document | when |
//! |---|---|---|
//! | `progress` | [`Progress`] | at once, and whenever a number changed |
//! | `trial` | [`TrialListItem`] | a trial was stored |
//! | `end` | [`RunListItem`] | nobody runs the run any more; the last event |

use std::{convert::Infallible, fmt::Write, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    response::IntoResponse,
};
use futures::{Stream, stream};
use http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::listing::{RunActivity, RunListItem, TrialListItem};
use strandline_store::{Store, TrialTally};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use super::{Answered, runs, trials};
use crate::{
    app::App,
    params::{In, Params},
    problem::Problem,
};

/// How often the store is asked.
const EVERY: Duration = Duration::from_millis(500);
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
    End(Box<RunListItem>),
}

/// Follows a run.
pub(crate) async fn follow(
    State(app): State<App>,
    In(run): In<String>,
    Params(query): Params<EventsQuery>,
    headers: HeaderMap,
) -> Answered {
    let run_id = app.store().resolve_run(&run).await?;
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
                    Following::Goes => tokio::select! {
                        () = tokio::time::sleep(EVERY) => {}
                        () = follower.stopping.cancelled() => return None,
                    },
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

    async fn tell(&mut self) -> Result<String, Problem> {
        let store = self.app.store();
        // The head first: what is stored before the end is seen after it.
        let head = store.run_head(&self.run_id).await?;
        let item = runs::item(&head);
        let mut text = String::new();
        let stored = store.trials_after(&self.run_id, self.last, AT_ONCE).await?;
        let full = stored.trials.len() == AT_ONCE as usize;
        let fresh = !stored.trials.is_empty();
        for (row, at) in stored.trials {
            text.push_str(&event("trial", Some(at), &trials::item(row)));
            self.last = at;
        }
        let ended = item.activity != RunActivity::Running;
        let moved = self.told.as_ref().is_none_or(|told| {
            told.configured != item.configured_trials || told.activity != item.activity
        });
        if fresh || moved {
            let progress = progress(store, &item).await?;
            if self.told.as_ref() != Some(&progress) {
                text.push_str(&event("progress", None, &progress));
                self.told = Some(progress);
            }
        }
        if ended && !full {
            text.push_str(&event("end", None, &item));
            self.state = Following::Ended;
        }
        Ok(text)
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
    })
}

/// Writes one event. JSON on one line has no line break of its own.
fn event<T: Serialize>(name: &str, id: Option<i64>, document: &T) -> String {
    let data = serde_json::to_string(document).unwrap_or_else(|_| "null".to_owned());
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("event: {name}\n{id}data: {data}\n\n")
}
