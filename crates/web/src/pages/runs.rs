//! The list of runs.

use axum::{extract::State, response::Response};
use http::HeaderMap;
use maud::{Markup, html};
use strandline_contract::{
    decision::SummaryCounts,
    listing::{RunActivity, RunList, RunListItem},
    words::{MeasurementUnit, SummaryVerdict},
};
use strandline_report::{
    glyphs,
    html::{Links, mark, term, text},
    words::duration,
};

use super::{
    frame, instant,
    links::{Web, query},
};
use crate::{
    api::runs::{RunsQuery, run_list},
    app::App,
    pages::Shown,
    params::Params,
    problem::Problem,
};

/// Shows a page of runs.
pub(crate) async fn list(
    State(app): State<App>,
    asked: Result<Params<RunsQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let list = run_list(app.store(), &asked.filter(), asked.slice()?).await?;
    let body = html! {
        h1 { "Runs" }
        (which(&asked))
        @if list.runs.is_empty() { (nothing(&asked)) } @else { (table(&list)) }
        (onward(&asked, &list))
    };
    Ok(frame::shown(&headers, "/runs", "Runs", &body))
}

fn which(asked: &RunsQuery) -> Markup {
    html! {
        @if let Some(suite) = &asked.suite {
            p { "of suite " (text::name(suite)) " · " a href="/runs" { "all runs" } }
        }
    }
}

fn nothing(asked: &RunsQuery) -> Markup {
    html! {
        @if asked.suite.is_some() || asked.status.is_some() {
            p { "No stored run is like that." }
        } @else {
            p { "No run is stored yet. " a href="/suites" { "The suites of this project" }
                " can be run from here, or with " code { "strandline run SUITE" } "." }
        }
    }
}

fn table(list: &RunList) -> Markup {
    html! {
        table #runs {
            thead { tr {
                th scope="col" { "run" }
                th scope="col" { "started" }
                th scope="col" { "suite" }
                th scope="col" { "verdict" }
                th scope="col" { "passed" }
                th scope="col" { "took" }
            } }
            tbody { @for run in &list.runs { (row(run)) } }
        }
    }
}

fn row(run: &RunListItem) -> Markup {
    let verdict_word = strandline_contract::words::Vocabulary::wire(run.verdict);
    html! {
        tr data-row data-verdict=(verdict_word) {
            td { a href=(Web.run(&run.run_id)) { (text::name(&run.short_id)) } }
            td { (instant(run.started_at)) }
            td {
                @match Web.trend(&run.suite_id) {
                    Some(trend) => a href=(trend) { (text::name(&run.suite_name)) },
                    None => (text::name(&run.suite_name)),
                }
            }
            td { (mark::badge(glyphs::verdict(run.verdict), term(&Web, run.verdict)))
                @for note in notes(run) { br; small { (note) } } }
            td { @if let Some(counts) = &run.counts { (passed(counts)) } }
            td { @if let Some(ended) = run.ended_at {
                (duration(ended.saturating_sub(run.started_at)))
            } }
        }
    }
}

/// Returns passed of all, with the unit.
fn passed(counts: &SummaryCounts) -> String {
    match counts {
        SummaryCounts::CaseVariant { total, passed, .. } => {
            let unit = MeasurementUnit::CaseVariant.words(*total);
            format!("{passed} of {total} {unit}")
        }
        SummaryCounts::Trial {
            total: Some(total),
            passed: Some(passed),
            ..
        } => {
            let unit = MeasurementUnit::Trial.words(*total);
            format!("{passed} of {total} {unit}")
        }
        SummaryCounts::Trial { .. } => String::new(),
    }
}

/// Returns what the row alone would leave unsaid.
fn notes(run: &RunListItem) -> Vec<String> {
    let unit = MeasurementUnit::Trial.words(run.configured_trials);
    let stored = format!(
        "{} of {} {unit} stored",
        run.stored_trials, run.configured_trials
    );
    let mut notes = Vec::new();
    match run.activity {
        RunActivity::Running => notes.push(format!("still running, {stored}")),
        RunActivity::Killed => notes.push(format!("killed, {stored}")),
        RunActivity::Ended if run.verdict == SummaryVerdict::NotEstablished => notes.push(stored),
        RunActivity::Ended => {}
    }
    if run.scripted {
        notes.push("scripted: says nothing about a model".to_owned());
    }
    notes
}

fn onward(asked: &RunsQuery, list: &RunList) -> Markup {
    html! {
        @if let Some(cursor) = &list.next_cursor {
            @let suite = asked.suite.as_deref().map(|suite| ("suite", suite));
            p { a rel="next" href={ "/runs" (query(suite.into_iter().chain([("cursor", cursor.as_str())]))) } {
                "older runs"
            } }
        }
    }
}

/// Leads from the root to the runs.
pub(crate) async fn root() -> Response {
    axum::response::IntoResponse::into_response(axum::response::Redirect::to("/runs"))
}
