//! The page of a run, in the order of the story: what was decided, how much
//! was measured, where trials stopped, the evidence, and who looks next.
//!
//! It is made from what is stored once a run, never from its trials: a run of
//! a hundred thousand trials has as short a page as one of ten.

mod cases;
mod groups;
mod servers;
mod verdict;

use std::collections::BTreeMap;

use maud::{Markup, html};
use strandline_contract::{
    analytics::StageAnalytics,
    overview::RunOverview,
    run::{RunRecord, RunStatus},
    words::{FunnelAbsence, MeasurementUnit, Stage},
};

use super::{Links, funnel, term, text};
use crate::{
    friction::benign,
    terminal::{Row, RunInput, View, measured},
};

/// A stored run as its page shows it.
#[derive(Debug, Clone, Copy)]
pub struct RunPage<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The short form of its id.
    pub run_reference: &'a str,
    /// Its trials taken together; absent when nobody counted them.
    pub overview: Option<&'a RunOverview>,
    /// Its funnel, or why there is none.
    pub funnel: FunnelOf<'a>,
}

/// A run's funnel, or why there is none.
#[derive(Debug, Clone, Copy)]
pub enum FunnelOf<'a> {
    /// The funnel.
    Stored(&'a StageAnalytics),
    /// Why there is none, with what is known about it.
    Absent(FunnelAbsence, Option<&'a str>),
}

/// Returns what the page is called.
#[must_use]
pub fn title(page: &RunPage<'_>) -> String {
    let name = crate::escape::line(&page.run.suite_name, text::MAX_NAME);
    format!("{name} · run {}", page.run_reference)
}

/// Returns what the page says.
#[must_use]
pub fn run(links: &dyn Links, page: &RunPage<'_>) -> Markup {
    let traces = BTreeMap::new();
    let input = RunInput {
        run: page.run,
        run_reference: page.run_reference,
        trials: &[],
        traces: &traces,
    };
    let mut view = View::new(&input);
    view.stored = page.overview.map_or(0, |overview| overview.trials);
    let groups = page.overview.map(groups::of).unwrap_or_default();
    let stage_href = |stage: Stage| {
        let found = groups.iter().any(|group| group.stage == Some(stage));
        found.then(|| links.here(&groups::anchor(Some(stage))))
    };
    html! {
        (verdict::band(links, &view))
        @if page.run.status == RunStatus::Running { (live(links, page)) }
        section.measured-line aria-label="How much was measured" {
            dl.facts { (facts(&view)) }
        }
        section #funnel {
            div.heading-row {
                h2 { "Funnel" }
                @if matches!(page.funnel, FunnelOf::Stored(_)) {
                    (funnel::dimensions(links, &page.run.id, None))
                }
            }
            @match page.funnel {
                FunnelOf::Stored(stored) => (funnel::overall(links, stored, &stage_href)),
                FunnelOf::Absent(absence, detail) => (funnel::absent(links, absence, detail)),
            }
        }
        (cases::section(links, &view, page.overview))
        (groups::section(links, page, &view, &groups))
        (friction(links, page))
        (servers::section(page.run))
        (elsewhere(links, page))
    }
}

/// Returns how much was measured, with what is left out and under which model.
fn facts(view: &View<'_>) -> Markup {
    html! {
        @match &view.summary.decision {
            Some(decision) => {
                dt { "measured" }
                dd { (text::facts(&measured::measured(&decision.validity))) }
                @if let Some(excluded) = measured::excluded(decision) {
                    dt { "excluded" }
                    dd { (excluded) }
                }
            }
            None => {
                dt { "recorded" }
                dd { (measured::recorded(view)) }
            }
        }
        @if let Some(models) = measured::models(view) {
            dt { "model" }
            dd { bdi { (models) } }
        }
    }
}

/// Returns the progress of a run that is going on; the script keeps it fresh.
fn live(links: &dyn Links, page: &RunPage<'_>) -> Markup {
    let configured: u64 = page
        .run
        .plan
        .iter()
        .map(|plan| u64::from(plan.configured_trials))
        .sum();
    let stored = page.overview.map_or(0, |overview| overview.trials);
    let unit = MeasurementUnit::Trial.words(configured);
    html! {
        section.live data-live=[links.events(&page.run.id)]
            data-live-trial=(links.trial(&page.run.id, "TRIAL")) aria-label="Progress" {
            progress value=(stored) max=(configured.max(1)) {}
            p data-live-text {
                (stored) " of " (configured) " configured " (unit) " attempted"
            }
            ul.plain-list data-live-trials {}
        }
    }
}

/// Returns in how many trials which friction signal was seen; never a verdict.
fn friction(links: &dyn Links, page: &RunPage<'_>) -> Markup {
    let seen = page
        .overview
        .map_or(&[][..], |overview| overview.friction.as_slice());
    html! {
        @if !seen.is_empty() {
            section #friction {
                h2 { "Friction" }
                ul.plain-list.friction {
                    @for tally in seen {
                        li {
                            (term::term(links, tally.kind)) " in "
                            (tally.trials) " of " (tally.of) " measured "
                            (MeasurementUnit::Trial.words(tally.of))
                            " " span.quiet-text { "(" (benign(tally.kind)) ")" }
                        }
                    }
                }
                p.quiet-text {
                    "A signal says what calls show, never a verdict."
                    @if let Some(href) = links.friction(&page.run.id) {
                        " " a href=(href) { "What was seen at which call" }
                    }
                }
            }
        }
    }
}

/// Returns where the run can be seen otherwise.
fn elsewhere(links: &dyn Links, page: &RunPage<'_>) -> Markup {
    let run = page.run;
    let found: Vec<(&str, String)> = [
        ("Compare with another run", links.compare(&run.id)),
        ("This suite over time", links.trend(&run.suite_id)),
        ("The run as JSON", links.run_json(&run.id)),
    ]
    .into_iter()
    .filter_map(|(label, href)| Some((label, href?)))
    .collect();
    html! {
        footer.elsewhere {
            @if !found.is_empty() {
                ul.plain-list {
                    @for (label, href) in found { li { a href=(href) { (label) } } }
                }
            }
            p.quiet-text {
                "Run " code { (crate::escape::line(&run.id, text::MAX_NAME)) }
                " of " (text::name(&run.suite_path))
                ", by Strandline " (text::name(&run.strandline_version))
            }
        }
    }
}

/// Returns the name of a case variant as the table has it.
fn case_title(row: &Row<'_>) -> Markup {
    html! { bdi { (row.name) } }
}

/// Returns a status in words.
fn status(links: &dyn Links, status: RunStatus) -> Markup {
    html! { (term::term(links, status)) @if status == RunStatus::Running { " now" } }
}

/// A label in lower case starts a sentence on a page.
fn sentence(label: &str) -> String {
    let mut characters = label.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + characters.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_starts_a_sentence() {
        assert_eq!(sentence("stopped at Tool call"), "Stopped at Tool call");
        assert_eq!(sentence(""), "");
    }
}
