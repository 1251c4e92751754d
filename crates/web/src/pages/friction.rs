//! What the calls of a run's trials show about avoidable work, a page of trials
//! at a time; never a verdict.

use axum::extract::State;
use http::HeaderMap;
use maud::{Markup, html};
use strandline_contract::words::MeasurementUnit;
use strandline_report::{
    friction::{benign, document_lines},
    html::{Links, term, text},
};

use super::{
    Shown, frame,
    links::{Web, query},
};
use crate::{
    api::derived::{FrictionPage, FrictionQuery, TrialFriction, friction_page},
    app::App,
    params::{In, Params},
    problem::Problem,
};

/// Shows the friction of a page of a run's trials.
pub(crate) async fn read(
    State(app): State<App>,
    In(run): In<String>,
    asked: Result<Params<FrictionQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let head = app.store().run_head(&run).await?;
    let run_id = head.record.id.clone();
    let page = friction_page(app.store(), run_id, &asked).await?;
    let body = html! {
        nav.crumbs aria-label="Above this page" {
            a href="/runs" { "Runs" } span { "/" }
            a href=(Web.run(&head.record.id)) {
                (text::name(&head.record.suite_name)) " " span.id { (head.short_id) }
            }
        }
        h1 { "Friction" }
        p { "What the calls of " (examined(&page)) " show about avoidable work. It is never a \
             verdict, and each signal has a benign reading." }
        (rates(&page))
        @if page.trials.is_empty() { p { "None of these trials shows a signal." } }
        @for trial in &page.trials { (signals(&page.run_id, trial)) }
        @if let Some(cursor) = &page.next_cursor {
            p { a rel="next" href={ (Web.run(&page.run_id)) "/friction" (onward(&asked, cursor)) } {
                "further trials"
            } }
        }
    };
    let title = format!("Friction of run {}", head.short_id);
    Ok(frame::shown(&headers, "/runs", &title, &body))
}

fn onward(asked: &FrictionQuery, cursor: &str) -> String {
    let case = asked.case().map(|case| ("case", case));
    query(case.into_iter().chain([("cursor", cursor)]))
}

fn examined(page: &FrictionPage) -> String {
    let unit = MeasurementUnit::Trial.words(page.scanned_trials);
    let all = if page.complete { "all " } else { "" };
    format!("{all}{} {unit}", page.scanned_trials)
}

fn rates(page: &FrictionPage) -> Markup {
    html! {
        @match &page.rates {
            None => p { "Friction was measured in none of them, which is not the absence of signals." },
            Some(rates) => table #friction {
                thead { tr {
                    th scope="col" { "signal" }
                    th scope="col" { "seen in" }
                    th scope="col" { "benign reading" }
                } }
                tbody { @for (kind, rate) in rates {
                    tr {
                        td { (term(&Web, *kind)) }
                        td { @match rate.denominator() {
                            0 => "not measured",
                            of => { (rate.numerator()) " of " (of) " measured "
                                (MeasurementUnit::Trial.words(of)) },
                        } }
                        td { (benign(*kind)) }
                    }
                } }
            }
        }
        @if page.withheld_trials > 0 {
            p.quiet-text { "withheld, because they did not pass their check: signals of "
                (page.withheld_trials) " " (MeasurementUnit::Trial.words(page.withheld_trials)) }
        }
        @if page.unrecorded_trials > 0 {
            p.quiet-text { "without recorded signals: " (page.unrecorded_trials) " "
                (MeasurementUnit::Trial.words(page.unrecorded_trials)) }
        }
    }
}

fn signals(run_id: &str, trial: &TrialFriction) -> Markup {
    html! {
        section data-row {
            h2 { a href=(Web.trial(run_id, &trial.trial_id)) {
                (text::name(&trial.title)) " · trial " (trial.iteration_number.saturating_add(1))
            } }
            ul { @for line in document_lines(&trial.friction) { li { (line) } } }
        }
    }
}
