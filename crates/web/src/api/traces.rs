//! Traces: whole, or a slice of one part.

use axum::extract::State;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::trace::{Frame, Message, Span};
use strandline_store::{FrameState, Frames, Store, StoredTrace};

use super::Answered;
use crate::{
    app::App,
    document,
    params::{In, MOST_LIMIT, Params, page},
    problem::Problem,
};

/// Most bytes of one slice; it ends before the item that would pass them.
const MAX_SLICE: usize = 1024 * 1024;

/// How much of a trace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceQuery {
    /// Give the raw frames too.
    #[serde(default)]
    frames: bool,
}

/// Reads a trial's trace.
pub(crate) async fn read(
    State(app): State<App>,
    In(trial): In<String>,
    Params(query): Params<TraceQuery>,
    headers: HeaderMap,
) -> Answered {
    let trial = app.store().resolve_trial(&trial).await?;
    let frames = if query.frames {
        Frames::Load
    } else {
        Frames::Skip
    };
    let stored = stored(app.store(), &trial, frames).await?;
    document::json(&headers, &stored.trace)
}

/// Reads a trace at the address that a decision summary names
/// (`decision-summary.md` §7).
pub(crate) async fn read_by_path(
    State(app): State<App>,
    In((project, run, trial)): In<(String, String, String)>,
    Params(query): Params<TraceQuery>,
    headers: HeaderMap,
) -> Answered {
    let record = app.store().trial(&trial).await?;
    let local = project == strandline_contract::run::LOCAL_PROJECT;
    if !local || record.run_id != run || record.id != trial {
        return Err(Problem::not_found(&format!(
            "project `{project}` has no trial `{trial}` in a run `{run}`"
        )));
    }
    read(State(app), In(record.id), Params(query), headers).await
}

async fn stored(store: &Store, trial_id: &str, frames: Frames) -> Result<StoredTrace, Problem> {
    store.trace(trial_id, frames).await?.ok_or_else(|| {
        Problem::not_found(&format!(
            "the trace of trial `{trial_id}` was deleted to save space"
        ))
        .hint("the trial's record and chain are still there")
    })
}

/// A part of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TracePart {
    /// The conversation.
    Messages,
    /// Timed units of work.
    #[default]
    Spans,
    /// Raw frames on the wire.
    Frames,
}

/// Which slice of a trace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SliceQuery {
    /// Which part; `spans` unless given.
    #[serde(default)]
    part: TracePart,
    /// The first item, from 0.
    #[serde(default)]
    from: u64,
    /// Most items; 50 unless given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Only the spans with these ids, separated by commas.
    span_ids: Option<String>,
}

/// A slice of one part of a trace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TraceSlice {
    /// The trial.
    trial_id: String,
    /// Which part.
    part: TracePart,
    /// Ordinal of the first item in the part, or in what was asked for of it.
    from: u64,
    /// Items that the part has, or that were asked for and found.
    total: u64,
    /// The slice holds all of them.
    complete: bool,
    /// Where the next slice begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_from: Option<u64>,
    /// The items, where the part is `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Message>>,
    /// The items, where the part is `spans`.
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<Vec<Span>>,
    /// The items, where the part is `frames`.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<Frame>>,
    /// Frames that were not kept because the trial's budget was used up.
    frames_dropped: u64,
    /// Frames were stored and later deleted to save space.
    frames_pruned: bool,
}

/// Reads a slice of a trial's trace.
pub(crate) async fn slice(
    State(app): State<App>,
    In(trial): In<String>,
    Params(query): Params<SliceQuery>,
    headers: HeaderMap,
) -> Answered {
    let limit = page(None, query.limit)?.limit.min(MOST_LIMIT) as usize;
    let trial_id = app.store().resolve_trial(&trial).await?;
    let frames = match query.part {
        TracePart::Frames => Frames::Load,
        TracePart::Messages | TracePart::Spans => Frames::Skip,
    };
    let mut stored = stored(app.store(), &trial_id, frames).await?;
    if let Some(ids) = &query.span_ids {
        let ids: Vec<&str> = ids.split(',').collect();
        stored
            .trace
            .spans
            .retain(|span| ids.contains(&span.id.as_str()));
    }
    let mut view = TraceSlice {
        trial_id,
        part: query.part,
        from: query.from,
        total: 0,
        complete: false,
        next_from: None,
        messages: None,
        spans: None,
        frames: None,
        frames_dropped: stored.trace.frames_dropped,
        frames_pruned: stored.frame_state == FrameState::Pruned,
    };
    match query.part {
        TracePart::Messages => view.messages = Some(view.cut(stored.trace.messages, limit)),
        TracePart::Spans => view.spans = Some(view.cut(stored.trace.spans, limit)),
        TracePart::Frames => view.frames = Some(view.cut(stored.trace.frames, limit)),
    }
    document::json(&headers, &view)
}

impl TraceSlice {
    /// Takes the items of the slice, at least one where any is left.
    fn cut<T: Serialize>(&mut self, items: Vec<T>, limit: usize) -> Vec<T> {
        let total = items.len();
        let start = usize::try_from(self.from).map_or(total, |from| from.min(total));
        let mut bytes = 0;
        let mut taken = Vec::new();
        for item in items.into_iter().skip(start).take(limit) {
            bytes += serde_json::to_vec(&item).map_or(0, |json| json.len());
            if !taken.is_empty() && bytes > MAX_SLICE {
                break;
            }
            taken.push(item);
        }
        let end = start + taken.len();
        self.total = total as u64;
        self.complete = start == 0 && end == total;
        self.next_from = (end < total).then_some(end as u64);
        taken
    }
}
