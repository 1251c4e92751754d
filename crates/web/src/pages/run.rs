//! The page of a run, its funnel, and a run that goes on.

use axum::extract::State;
use http::HeaderMap;
use maud::html;
use schemars::JsonSchema;
use serde::Deserialize;
use strandline_contract::{listing::RunActivity, overview::RunOverview, words::SliceDimension};
use strandline_report::html::{
    Links, funnel,
    run::{FunnelOf, RunPage, run, title},
    text,
};
use strandline_service::roll_ups::{self, Found};
use strandline_store::{Store, StoredRun};

use super::{Shown, frame, links::Web, stop_form};
use crate::{
    api::runs::activity,
    app::App,
    params::{In, Params, word_or_empty},
    problem::Problem,
};

/// Most trials of a run without a stored overview that are counted while a
/// browser waits.
const COUNTED: u64 = 2_000;

/// Shows a run.
pub(crate) async fn read(
    State(app): State<App>,
    In(reference): In<String>,
    headers: HeaderMap,
) -> Shown {
    let stored = app.store().run(&reference).await?;
    let overview = overview(app.store(), &stored).await?;
    let found = roll_ups::read(app.store(), &stored)
        .await
        .map_err(Problem::from)?;
    let page = RunPage {
        run: &stored.record,
        run_reference: &stored.short_id,
        overview: overview.as_ref(),
        funnel: match &found {
            Found::Funnel(funnel) => FunnelOf::Stored(funnel),
            Found::Absent(absence, detail) => FunnelOf::Absent(*absence, detail.as_deref()),
        },
    };
    let ours = app
        .launcher()
        .is_some_and(|launcher| launcher.watch(&stored.record.id).is_some());
    let body = html! {
        (run(&Web, &page))
        @match activity(stored.liveness) {
            RunActivity::Running if ours => (stop_form(&app, &stored.record.id)),
            RunActivity::Killed => p.quiet-text {
                "Nobody runs it any more: " code { "strandline run --resume " (stored.short_id) }
                " runs what is missing."
            },
            RunActivity::Running | RunActivity::Ended => {}
        }
    };
    Ok(frame::shown(&headers, "/runs", &title(&page), &body))
}

/// Returns a run's trials taken together: as stored, or counted while there are
/// few of them.
async fn overview(store: &Store, run: &StoredRun) -> Result<Option<RunOverview>, Problem> {
    if run.stored_trials <= COUNTED {
        return Ok(Some(roll_ups::overview(store, run).await?));
    }
    Ok(store.overview(&run.record.id).await.ok().flatten())
}

/// What a funnel's trials are grouped by.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FunnelQuery {
    #[serde(default, deserialize_with = "word_or_empty")]
    by: Option<SliceDimension>,
}

/// Shows a run's funnel.
pub(crate) async fn funnel(
    State(app): State<App>,
    In(reference): In<String>,
    asked: Result<Params<FunnelQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let by = asked.by.unwrap_or(SliceDimension::Overall);
    let stored = app.store().run(&reference).await?;
    let found = roll_ups::read(app.store(), &stored)
        .await
        .map_err(Problem::from)?;
    let record = &stored.record;
    let body = html! {
        nav.crumbs aria-label="Above this page" {
            a href="/runs" { "Runs" } span { "/" }
            a href=(Web.run(&record.id)) {
                (text::name(&record.suite_name)) " " span.id { (stored.short_id) }
            }
        }
        (funnel::heading(&record.suite_name))
        (funnel::dimensions(&Web, &record.id, Some(by)))
        @match &found {
            Found::Funnel(found) if by == SliceDimension::Overall => {
                (funnel::overall(&Web, found, &|_| None))
            }
            Found::Funnel(found) => (funnel::slices(&Web, found, by)),
            Found::Absent(absence, detail) => (funnel::absent(&Web, *absence, detail.as_deref())),
        }
    };
    let title = format!("Funnel of run {}", stored.short_id);
    Ok(frame::shown(&headers, "/runs", &title, &body))
}
