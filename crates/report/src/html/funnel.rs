//! The funnel of a run: a graphic of six stages and the table that it draws.
//!
//! Per stage the height stands for the trials that reached it out of those of
//! which it is known. What was reached and not measured is hatched: it is
//! never drawn as a pass. A funnel says where trials stopped, never why.

use maud::{Markup, html};
use strandline_contract::{
    analytics::{SliceRow, StageAnalytics, StageTally},
    words::{FunnelAbsence, SliceDimension, Stage, StageState, Vocabulary},
};
use strandline_derive::analytics::{
    StageRate, latency_mean_ms, measured_pass_rate, measurement_coverage_rate, reach_rate,
};

use super::{Links, mark, term, text};
use crate::{
    style::Ink,
    terminal::funnel::{
        HOW_TO_READ, absence_says, counted_and_left_out, dropped_slices, nothing_to_group,
        setup_says, slice_counts,
        table::{because, left_out, listed, milliseconds},
        title,
    },
    words::percent,
};

/// Where the failing trials of a stage are shown, if they are.
pub type StageLinks<'a> = &'a dyn Fn(Stage) -> Option<String>;

/// Returns the funnel of all trials with its table.
#[must_use]
pub fn overall(links: &dyn Links, funnel: &StageAnalytics, stages: StageLinks<'_>) -> Markup {
    html! {
        @for row in funnel.slices_of(SliceDimension::Overall) {
            (graphic(links, row, stages))
            details.figures {
                summary { "All figures" }
                (table(links, row))
                p.quiet-text { (HOW_TO_READ) }
            }
        }
        ul.notes {
            @for says in counted_and_left_out(funnel) { li { (says) } }
            @for says in setup_says(&funnel.setup) { li { "setup · " (says) } }
        }
    }
}

/// Returns one funnel per slice of a dimension.
#[must_use]
pub fn slices(links: &dyn Links, funnel: &StageAnalytics, by: SliceDimension) -> Markup {
    let rows: Vec<&SliceRow> = funnel.slices_of(by).collect();
    html! {
        @if rows.is_empty() { p { (nothing_to_group(by)) } }
        @for row in rows {
            section.slice {
                @if let Some(title) = title(&row.slice) { h2 { bdi { (title) } } }
                p.quiet-text { (slice_counts(row)) }
                (graphic(links, row, &|_| None))
                details.figures {
                    summary { "All figures" }
                    (table(links, row))
                }
            }
        }
        @if let Some(dropped) = dropped_slices(funnel, by) { p.quiet-text { (dropped) } }
        p.quiet-text { (HOW_TO_READ) }
    }
}

/// Returns why there is no funnel; never a funnel of zeros.
#[must_use]
pub fn absent(links: &dyn Links, absence: FunnelAbsence, detail: Option<&str>) -> Markup {
    html! {
        div.absent {
            p { "No funnel: " (term::term(links, absence)) "." }
            @for says in absence_says(absence, detail) { p.quiet-text { bdi { (says) } } }
        }
    }
}

/// Width of a stage and of the way to the next one, in units of the drawing.
const STAGE: u64 = 100;
const BAR: u64 = 72;
/// Height of the drawing: a stage that every trial reached.
const HEIGHT: f64 = 100.0;
/// The least height of a part that is not empty.
const LEAST: f64 = 2.5;

/// Returns the graphic with the figures below it.
#[must_use]
pub fn graphic(links: &dyn Links, row: &SliceRow, stages: StageLinks<'_>) -> Markup {
    html! {
        div.funnel {
            (drawing(row))
            ol.funnel-stages {
                @for tally in &row.stages { li { (figures(links, tally, stages)) } }
            }
            ul.legend.funnel-legend {
                li { span.swatch.is-passed {} "passed" }
                li { span.swatch.is-failed {} "failed" }
                li { span.swatch.is-unmeasured {} "reached, not measured" }
                li { span.swatch.is-unreached {} "not reached" }
            }
        }
    }
}

/// A stage as it is drawn.
#[derive(Clone, Copy)]
struct Column {
    /// Of the trials of which it is known, the fraction that reached the stage;
    /// absent when it is known of none.
    reach: Option<f64>,
    passed: f64,
    failed: f64,
    unmeasured: f64,
}

impl Column {
    fn of(tally: &StageTally) -> Self {
        let reached = tally.reached;
        let share = |count: u64| match reached {
            0 => 0.0,
            reached => count as f64 / reached as f64,
        };
        Self {
            reach: reach_rate(tally).value(),
            passed: share(tally.passed),
            failed: share(tally.failed),
            unmeasured: share(reached.saturating_sub(tally.measured)),
        }
    }

    fn height(self) -> f64 {
        match self.reach {
            None => 0.0,
            Some(reach) if reach > 0.0 => (reach * HEIGHT).max(LEAST),
            Some(_) => 0.0,
        }
    }

    fn top(self) -> f64 {
        (HEIGHT - self.height()) / 2.0
    }

    /// Returns the parts from the top: class, start and height. A part that is
    /// not empty is never drawn as nothing.
    fn parts(self) -> Vec<(&'static str, f64, f64)> {
        let whole = self.height();
        let shares = [
            ("is-passed", self.passed),
            ("is-failed", self.failed),
            ("is-unmeasured", self.unmeasured),
        ];
        let least = (LEAST / whole.max(LEAST)).min(0.2);
        let widened = shares.map(|(class, share)| {
            let share = if share > 0.0 { share.max(least) } else { 0.0 };
            (class, share)
        });
        let sum: f64 = widened.iter().map(|(_, share)| share).sum();
        let mut at = self.top();
        let mut parts = Vec::new();
        for (class, share) in widened {
            if share > 0.0 {
                let height = share / sum * whole;
                parts.push((class, at, height));
                at += height;
            }
        }
        parts
    }
}

fn drawing(row: &SliceRow) -> Markup {
    let columns: Vec<Column> = row.stages.iter().map(Column::of).collect();
    let width = STAGE * columns.len() as u64;
    html! {
        svg.funnel-drawing viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none"
            aria-hidden="true" {
            @for (index, pair) in (0_u64..).zip(columns.windows(2)) {
                @if pair[0].height() > 0.0 && pair[1].height() > 0.0 {
                    path.flow d=(flow(index, pair[0], pair[1])) {}
                }
            }
            @for (index, column) in (0_u64..).zip(&columns) {
                rect.is-unreached.unknown[column.reach.is_none()] x=(left(index)) y="0.5"
                    width=(BAR) height=(HEIGHT - 1.0) rx="2" {}
                @for (class, top, height) in column.parts() {
                    rect.(class) x=(left(index)) y=(short(top)) width=(BAR)
                        height=(short(height)) {}
                    @if class == "is-unmeasured" {
                        rect.hatched x=(left(index)) y=(short(top)) width=(BAR)
                            height=(short(height)) fill="url(#hatch)" {}
                    }
                }
            }
        }
    }
}

const fn left(index: u64) -> u64 {
    index * STAGE + (STAGE - BAR) / 2
}

/// Returns the outline of what leads from a stage to the next one.
fn flow(index: u64, from: Column, to: Column) -> String {
    let (start, end) = (left(index) + BAR, left(index + 1));
    let low = |column: Column| short(column.top() + column.height());
    format!(
        "M{start} {}L{end} {}L{end} {}L{start} {}Z",
        short(from.top()),
        short(to.top()),
        low(to),
        low(from)
    )
}

/// Returns a coordinate with at most two decimals.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns what stands below a stage of the drawing.
fn figures(links: &dyn Links, tally: &StageTally, stages: StageLinks<'_>) -> Markup {
    let passed = measured_pass_rate(tally);
    let coverage = measurement_coverage_rate(tally);
    let failing = stages(tally.stage).filter(|_| tally.failed > 0);
    html! {
        div.stage-name { (term::term(links, tally.stage)) }
        div.stage-rate {
            @match passed.value() {
                None => span.ink-unsure {
                    (mark::state(absent_state(tally))) " "
                    @if tally.applicable == 0 { "not applicable" } @else { "not measured" }
                },
                Some(_) => {
                    strong { (passed.numerator()) "/" (passed.denominator()) } " passed"
                }
            }
        }
        @if tally.applicable > 0 {
            div.stage-note.is-short[coverage.numerator() < coverage.denominator()] {
                @match coverage.value() {
                    None => "none reached it",
                    Some(_) => {
                        (coverage.numerator()) "/" (coverage.denominator()) " measured"
                    }
                }
            }
        }
        @if let Some(href) = failing {
            div.stage-note { a.failed-here href=(href) { (tally.failed) " failed here" } }
        }
        @for (class, count) in listed(&tally.excluded) {
            div.stage-note { (count) " left out: " (term::term(links, class)) }
        }
    }
}

const fn absent_state(tally: &StageTally) -> StageState {
    if tally.applicable == 0 {
        StageState::NotApplicable
    } else {
        StageState::NotMeasured
    }
}

/// Returns the table that the graphic draws.
#[must_use]
pub fn table(links: &dyn Links, row: &SliceRow) -> Markup {
    html! {
        div.scroll {
            table.funnel-table {
                thead {
                    tr {
                        th scope="col" { "stage" }
                        th.number scope="col" { "reached" }
                        th.number scope="col" { "measured" }
                        th.number scope="col" { "passed" }
                        th.number scope="col" { "mean" }
                        th scope="col" { "left out, and reasons" }
                    }
                }
                tbody {
                    @for tally in &row.stages {
                        tr {
                            th scope="row" { (term::term(links, tally.stage)) }
                            (rate(&reach_rate(tally)))
                            (rate(&measurement_coverage_rate(tally)))
                            (rate(&measured_pass_rate(tally)))
                            td.number {
                                @if let Some(mean) = latency_mean_ms(tally.latency.as_ref()) {
                                    (milliseconds(mean))
                                }
                            }
                            td.note-cell {
                                @for note in [left_out(tally), because(tally)].iter().flatten() {
                                    div { (note) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rate(rate: &StageRate) -> Markup {
    html! {
        td.number {
            @match rate.value() {
                None => span.(mark::ink_class(Ink::Quiet)) { "not measured" },
                Some(value) => {
                    (rate.numerator()) "/" (rate.denominator())
                    " " span.quiet-text { (percent(value)) }
                }
            }
        }
    }
}

/// Returns the links from a run's funnel to its slices.
#[must_use]
pub fn dimensions(links: &dyn Links, run_id: &str, current: Option<SliceDimension>) -> Markup {
    let found: Vec<(SliceDimension, String)> = SliceDimension::ALL
        .iter()
        .filter_map(|by| Some((*by, links.funnel(run_id, *by)?)))
        .collect();
    html! {
        @if !found.is_empty() {
            ul.tabs {
                @for (by, href) in found {
                    li {
                        a href=(href) aria-current=[(Some(by) == current).then_some("true")] {
                            (by.label())
                        }
                    }
                }
            }
        }
    }
}

/// Returns a foreign name for a heading of a funnel's page.
#[must_use]
pub fn heading(suite_name: &str) -> Markup {
    html! { h1 { "Funnel of " (text::name(suite_name)) } }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(counts: [u64; 5]) -> StageTally {
        let [passed, failed, not_measured, not_reached, unknown] = counts;
        StageTally {
            stage: Stage::Call,
            applicable: counts.iter().sum(),
            reached: passed + failed + not_measured,
            not_reached,
            reach_unknown: unknown,
            measured: passed + failed,
            passed,
            failed,
            not_measured,
            not_applicable: 0,
            excluded: std::collections::BTreeMap::new(),
            reasons: Vec::new(),
            latency: None,
        }
    }

    proptest! {
        #[test]
        fn a_stage_is_drawn_as_what_is_known_of_it(counts in prop::array::uniform5(0_u64..3_000)) {
            let [passed, failed, not_measured, not_reached, _] = counts;
            let column = Column::of(&tally(counts));
            let reached = passed + failed + not_measured;
            let decided = reached + not_reached;
            prop_assert_eq!(column.reach.is_none(), decided == 0);
            let expected = match decided {
                0 => 0.0,
                decided => reached as f64 / decided as f64 * HEIGHT,
            };
            prop_assert!((column.height() - expected).abs() <= LEAST);

            let parts = column.parts();
            let drawn = |class: &str| parts.iter().any(|(part, ..)| *part == class);
            prop_assert_eq!(drawn("is-passed"), passed > 0);
            prop_assert_eq!(drawn("is-failed"), failed > 0);
            prop_assert_eq!(drawn("is-unmeasured"), not_measured > 0);
            let sum: f64 = parts.iter().map(|(.., height)| height).sum();
            prop_assert!((sum - column.height()).abs() < 1e-9);
            for (_, top, height) in parts {
                prop_assert!(height > 0.1 && top >= 0.0 && top + height <= HEIGHT + 1e-9);
            }
        }
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(short(0.0), "0");
        assert_eq!(short(12.5), "12.5");
        assert_eq!(short(100.0 / 3.0), "33.33");
    }
}
