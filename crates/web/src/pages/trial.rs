//! The page of a trial, and its raw frames.

use axum::extract::State;
use http::HeaderMap;
use maud::html;
use strandline_contract::{judgement::JudgePass, run::TrialRecord};
use strandline_report::{
    html::{
        Links, text,
        trial::{TrialPage, frame_list, title, trial},
    },
    terminal::trial::{FramesKept, TrialInput},
};
use strandline_store::{FrameState, Frames, Store, StoreError, StoredTrace, TrialFilter};

use super::{Shown, frame, links::Web};
use crate::{app::App, params::In, problem::Problem};

/// Shows a trial.
pub(crate) async fn read(
    State(app): State<App>,
    In(reference): In<String>,
    headers: HeaderMap,
) -> Shown {
    let store = app.store();
    let record = store.trial(&reference).await?;
    let run = store.run(&record.run_id).await?;
    // Standard error is among the frames and always told.
    let stored = store.trace(&record.id, Frames::Load).await?;
    let passes: Vec<JudgePass> = store
        .judge_passes(&record.id)
        .await?
        .into_iter()
        .map(|stored| stored.pass)
        .collect();
    let previous = match record.iteration_number.checked_sub(1) {
        Some(before) => neighbour(store, &record, before).await?,
        None => None,
    };
    let next = neighbour(store, &record, record.iteration_number.saturating_add(1)).await?;
    let page = TrialPage {
        input: TrialInput {
            run: &run.record,
            run_reference: &run.short_id,
            trial: &record,
            trace: stored.as_ref().map(|stored| &stored.trace),
            frames: stored.as_ref().map_or(FramesKept::InTrace, kept),
            judge_passes: &passes,
        },
        previous: previous.as_deref(),
        next: next.as_deref(),
    };
    let body = trial(&Web, &page);
    Ok(frame::shown(&headers, "/runs", &title(&page), &body))
}

fn kept(stored: &StoredTrace) -> FramesKept {
    match stored.frame_state {
        FrameState::Loaded | FrameState::NotLoaded => FramesKept::InTrace,
        FrameState::Pruned => FramesKept::Pruned(stored.frame_count),
    }
}

/// Returns the trial of the same case variant with another ordinal.
async fn neighbour(
    store: &Store,
    trial: &TrialRecord,
    iteration: u32,
) -> Result<Option<String>, StoreError> {
    let filter = TrialFilter {
        case_id: Some(trial.case_id.clone()),
        variant: Some(trial.variant.clone()),
        iteration_number: Some(iteration),
        ..TrialFilter::default()
    };
    let page = store.trial_rows(&trial.run_id, &filter, None, 1).await?;
    Ok(page.items.into_iter().next().map(|row| row.id))
}

/// Shows a trial's raw frames.
pub(crate) async fn frames(
    State(app): State<App>,
    In(reference): In<String>,
    headers: HeaderMap,
) -> Shown {
    let record = app.store().trial(&reference).await?;
    let stored = app.store().trace(&record.id, Frames::Load).await?;
    let stored = stored.ok_or_else(|| {
        Problem::not_found(&format!(
            "the trace of trial `{}` was deleted to save space",
            record.id
        ))
    })?;
    let body = html! {
        nav.crumbs aria-label="Above this page" {
            a href=(Web.trial(&record.run_id, &record.id)) {
                (text::name(&record.title)) " · trial " (record.iteration_number.saturating_add(1))
            }
        }
        h1 { "Raw frames" }
        @match kept(&stored) {
            FramesKept::Pruned(count) => p { (count) " frames were deleted to save space." },
            FramesKept::InTrace => (frame_list(&stored.trace.frames, record.started_at)),
        }
    };
    Ok(frame::shown(&headers, "/runs", "Raw frames", &body))
}
