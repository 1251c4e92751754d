//! The table of case variants: how far their trials got, how many passed, how
//! sure that is and how many were needed.

use maud::{Markup, html};
use strandline_contract::{
    overview::{CaseOverview, RunOverview, StageCounts},
    verdict::PassRateInterval,
    words::{MeasurementUnit, RunStatus, SummaryVerdict, Verdict},
};
use strandline_derive::verdict::pass_rate_interval;

use super::case_title;
use crate::{
    glyphs,
    html::{
        Links, mark,
        strip::{self, Cell, Cells},
    },
    style::Style,
    terminal::{Row, View, cases},
    words::percent,
};

/// Rows shown at most; more are counted instead.
const MAX_ROWS: usize = 2_000;
/// From this number of rows on a filter stands above the table.
const WORTH_FILTERING: usize = 8;

/// Where the rows of the table are.
const TABLE: &str = "cases";

pub(super) fn section(
    links: &dyn Links,
    view: &View<'_>,
    overview: Option<&RunOverview>,
) -> Markup {
    let rows = &view.rows;
    html! {
        section {
            h2 { "Case variants" }
            @if rows.len() >= WORTH_FILTERING { (filter(rows.len())) }
            div.scroll {
                table.cases #(TABLE) {
                    thead {
                        tr {
                            th scope="col" { "case" }
                            (strip::headings())
                            th.number scope="col" title="passed of gradeable trials" { "passed" }
                            th scope="col" title="95 % Wilson interval of the pass rate; the tick is the threshold" {
                                "95 % interval"
                            }
                            th.number scope="col" title="how many of the gradeable trials must pass" { "needs" }
                        }
                    }
                    tbody {
                        @for (index, row) in rows.iter().enumerate().take(MAX_ROWS) {
                            (case(links, view, row, overview.and_then(|all| all.cases.get(index))))
                        }
                    }
                }
            }
            @if rows.len() > MAX_ROWS {
                p.quiet-text {
                    (rows.len() - MAX_ROWS) " more case variants are in the run as JSON"
                }
            }
            (mark::legend())
            p.quiet-text.small {
                "A mark is the least favourable state among a case's trials; a number beside it \
                 says in how many of them, no number: in all."
            }
        }
    }
}

/// Returns the form that filters the rows; the script shows it.
fn filter(rows: usize) -> Markup {
    let unit = MeasurementUnit::CaseVariant.words(rows as u64);
    html! {
        form.filter data-filter=(TABLE) data-unit=(unit) hidden {
            label {
                span.aloud { "Filter by text" }
                input type="search" name="text" placeholder="filter cases" autocomplete="off";
            }
            label {
                span.aloud { "Filter by verdict" }
                select name="verdict" {
                    option value="" { "every verdict" }
                    @for verdict in ["failed", "inconclusive", "passed", "none"] {
                        option value=(verdict) { (verdict) }
                    }
                }
            }
            output aria-live="polite" {}
        }
    }
}

fn case(
    links: &dyn Links,
    view: &View<'_>,
    row: &Row<'_>,
    counted: Option<&CaseOverview>,
) -> Markup {
    let plan = row.plan;
    let href = links.case(&view.input.run.id, &plan.case_id, plan.variant.as_ref());
    let (word, shown) = match row.decided.as_ref().map(|decided| decided.verdict) {
        Some(verdict) => (verdict_word(verdict), glyphs::case_verdict(verdict)),
        None => ("none", glyphs::verdict(SummaryVerdict::NotEstablished)),
    };
    html! {
        tr data-row data-verdict=(word) {
            th.title scope="row" {
                (mark::mark(shown)) span.aloud { (word) ": " }
                @match href {
                    Some(href) => a.plain href=(href) { (case_title(row)) },
                    None => (case_title(row)),
                }
            }
            @match counted {
                Some(counted) if counted.trials > 0 => (strip::columns(&cells(counted))),
                Some(_) => td.quiet-text colspan="6" { "no trial recorded" },
                None => td.quiet-text colspan="6" { (uncounted(view)) },
            }
            td.number { (cases::share(row)) }
            td.interval {
                @if let Some((interval, rate)) = interval(row) {
                    (drawn(interval, rate, plan.pass_threshold))
                    span.aloud { "95 % interval " }
                    small { (cases::interval(row, &Style::plain(100)).unwrap_or_default()) }
                }
            }
            td.number { (cases::needs(row)) }
        }
    }
}

/// Returns why nothing is known about how far trials got.
fn uncounted(view: &View<'_>) -> &'static str {
    match view.input.run.status {
        RunStatus::Running => "counted when the run ends",
        _ => "never counted",
    }
}

const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// Returns the cells of a case variant's strip.
pub(crate) fn cells(counted: &CaseOverview) -> Cells {
    let mut cells = [None; 6];
    for (cell, counts) in cells.iter_mut().zip(&counted.strip) {
        *cell = rolled_up(counts);
    }
    cells
}

fn rolled_up(counts: &StageCounts) -> Option<Cell> {
    counts.least_favourable().map(|state| Cell {
        state,
        trials: counts.of(state),
        of: counts.total(),
    })
}

/// Returns the interval of the pass rate with the rate itself.
fn interval(row: &Row<'_>) -> Option<(PassRateInterval, f64)> {
    let counts = row.decided.as_ref()?;
    let interval = pass_rate_interval(counts.eligible_trials, counts.passed_trials).ok()??;
    Some((interval, counts.pass_rate.value()?))
}

/// Returns an interval from 0 to 100 % with the rate and the threshold.
fn drawn(interval: PassRateInterval, rate: f64, threshold: f64) -> Markup {
    let at = |fraction: f64| format!("{:.1}", 4.0 + fraction.clamp(0.0, 1.0) * 72.0);
    html! {
        svg.interval-drawing viewBox="0 0 80 14" aria-hidden="true" {
            title { "threshold " (percent(threshold)) }
            line.axis x1="4" x2="76" y1="7" y2="7" {}
            line.range x1=(at(interval.lower)) x2=(at(interval.upper)) y1="7" y2="7" {}
            line.threshold x1=(at(threshold)) x2=(at(threshold)) y1="1.5" y2="12.5" {}
            circle.rate cx=(at(rate)) cy="7" r="3" {}
        }
    }
}
