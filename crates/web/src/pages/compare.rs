//! Two runs beside each other, and the choice of them.

use axum::extract::State;
use http::HeaderMap;
use maud::{Markup, html};
use serde::Deserialize;
use strandline_contract::listing::RunListItem;
use strandline_report::html::{
    compare::{ComparePage, compare, title},
    run::FunnelOf,
    text,
};
use strandline_service::roll_ups::Found;
use strandline_store::RunFilter;

use super::{Shown, frame, local};
use crate::{
    api::{
        derived::{CompareQuery, compared},
        runs::run_list,
    },
    app::App,
    params::{MOST_LIMIT, Params, Slice},
    problem::Problem,
};

/// Which runs; none where the reader has yet to choose.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Asked {
    #[serde(default)]
    base: String,
    #[serde(default)]
    compared: String,
    #[serde(default)]
    side_by_side: bool,
}

/// Shows two runs beside each other.
pub(crate) async fn read(
    State(app): State<App>,
    asked: Result<Params<Asked>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    if asked.base.is_empty() || asked.compared.is_empty() {
        return choose(&app, &asked, &headers).await;
    }
    let query = CompareQuery {
        base: asked.base,
        compared: asked.compared,
        side_by_side: asked.side_by_side,
        gate: None,
    };
    let found = compared(app.store(), &query).await?;
    let page = ComparePage {
        comparison: &found.comparison,
        base: funnel(&found.base),
        compared: funnel(&found.compared),
    };
    let body = html! {
        nav.crumbs aria-label="Above this page" {
            a href="/compare" { "Compare other runs" }
        }
        (compare(&super::links::Web, &page))
    };
    Ok(frame::shown(&headers, "/compare", &title(&page), &body))
}

fn funnel(found: &Found) -> FunnelOf<'_> {
    match found {
        Found::Funnel(funnel) => FunnelOf::Stored(funnel),
        Found::Absent(absence, detail) => FunnelOf::Absent(*absence, detail.as_deref()),
    }
}

/// Shows the form in which two runs are chosen.
async fn choose(app: &App, asked: &Asked, headers: &HeaderMap) -> Shown {
    let newest = Slice {
        cursor: None,
        limit: MOST_LIMIT,
    };
    let list = run_list(app.store(), &RunFilter::default(), newest).await?;
    let body = html! {
        h1 { "Compare two runs" }
        @if list.runs.len() < 2 {
            p { "It takes two stored runs." }
        } @else {
            form method="get" action="/compare" {
                p { (choice("base", "the run to compare against", &list.runs, &asked.base)) }
                p { (choice("compared", "the run that is compared", &list.runs, &asked.compared)) }
                p { label {
                    input type="checkbox" name="sideBySide" value="true" checked[asked.side_by_side];
                    " show them side by side even where they may not be compared"
                } }
                button type="submit" { "Compare" }
            }
            @if !list.complete {
                p.quiet-text { "The newest " (list.runs.len()) " runs; an older one can be named in the address." }
            }
        }
    };
    Ok(frame::shown(headers, "/compare", "Compare", &body))
}

fn choice(name: &str, what: &str, runs: &[RunListItem], chosen: &str) -> Markup {
    html! {
        label {
            (what) " "
            select name=(name) required {
                option value="" { "choose a run" }
                @for run in runs {
                    option value=(run.run_id) selected[run.run_id == chosen] {
                        (strandline_report::escape::line(&run.suite_name, text::MAX_NAME))
                        " · " (run.short_id) " · " (local(run.started_at))
                    }
                }
            }
        }
    }
}
