//! The runs of a suite one after the other: the table first, and a drawing of
//! the same points with their intervals; a break in parity is a gap in both.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use strandline_contract::{
    comparison::{SuiteTrend, TrendPoint},
    words::Vocabulary,
};

use super::{Links, data, mark, term::term, text};
use crate::{
    escape,
    formats::PLAIN,
    glyphs,
    terminal::{
        compare::blockers,
        trend::{NOTE, passed},
    },
    words::{counted, utc},
};

/// The script that draws the series, after [`UPLOT_SCRIPT`].
pub const TREND_SCRIPT: &str = include_str!("../../assets/trend.js");
/// The charts' library, as it is published.
pub const UPLOT_SCRIPT: &str = include_str!("../../assets/vendor/uplot/uPlot.iife.min.js");
/// The charts' stylesheet, as it is published.
pub const UPLOT_STYLESHEET: &str = include_str!("../../assets/vendor/uplot/uPlot.min.css");

/// A series as its page shows it.
#[derive(Debug, Clone, Copy)]
pub struct TrendPage<'a> {
    /// The series, oldest run first.
    pub trend: &'a SuiteTrend,
}

/// Returns what the page is called.
#[must_use]
pub fn title(page: &TrendPage<'_>) -> String {
    format!(
        "{} over time",
        escape::line(name(page.trend), text::MAX_NAME)
    )
}

fn name(trend: &SuiteTrend) -> &str {
    let last = trend.points.last();
    last.map_or(&trend.suite, |point| &point.run.suite_name)
}

/// Returns what the page says.
#[must_use]
pub fn trend(links: &dyn Links, page: &TrendPage<'_>) -> Markup {
    let trend = page.trend;
    let count = counted(trend.points.len() as u64, "run", "runs");
    let more = if trend.complete {
        ""
    } else {
        ", older ones left out"
    };
    html! {
        h1 { (text::name(name(trend))) " over time" }
        p.quiet-text { (count) ", oldest first" (more) "; " (NOTE) "." }
        @if trend.points.is_empty() {
            p.absent { "No run of this suite is stored." }
        } @else {
            (drawing(links, trend))
            (table(links, trend))
        }
    }
}

/// Returns what precedes a point: why it does not compare with the one before.
fn breaks(points: &[TrendPoint]) -> impl Iterator<Item = (&TrendPoint, Vec<String>)> {
    points.iter().enumerate().map(|(place, point)| {
        let before = place.checked_sub(1).and_then(|place| points.get(place));
        let reasons = match (before, &point.parity) {
            (Some(before), Some(parity)) => blockers(parity, [&before.run, &point.run]),
            _ => Vec::new(),
        };
        (point, reasons)
    })
}

fn table(links: &dyn Links, trend: &SuiteTrend) -> Markup {
    html! {
        div.scroll {
            table #runs-of-suite .trend {
                thead {
                    tr {
                        th scope="col" { "run" }
                        th scope="col" { "when" }
                        th scope="col" { "verdict" }
                        th.number scope="col" { "trials passed" }
                    }
                }
                tbody {
                    @for (point, reasons) in breaks(&trend.points) {
                        @if !reasons.is_empty() {
                            tr.break { td colspan="4" { "break: " (reasons.join("; ")) } }
                        }
                        (row(links, point))
                    }
                }
            }
        }
    }
}

fn row(links: &dyn Links, point: &TrendPoint) -> Markup {
    let run = &point.run;
    let when = utc(run.started_at);
    html! {
        tr data-row data-verdict=(run.verdict.wire()) {
            th.title scope="row" {
                a href=(links.run(&run.run_id)) { span.id { (text::name(&run.short_id)) } }
                @if run.scripted { " " small { "scripted" } }
            }
            td { time datetime=(when.iso) { (when.text) } }
            td { (mark::badge(glyphs::verdict(run.verdict), term(links, run.verdict))) }
            td.number { (passed(point, &PLAIN)) }
        }
    }
}

/// What the script draws: one entry a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Drawn {
    run: String,
    href: String,
    when: String,
    verdict: &'static str,
    passed: String,
    /// Passed of gradeable trials, 0 to 1; absent when nothing was measured.
    rate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// It does not compare with the run before.
    breaks: bool,
}

fn drawing(links: &dyn Links, trend: &SuiteTrend) -> Markup {
    let drawn: Vec<Drawn> = breaks(&trend.points)
        .map(|(point, reasons)| {
            let run = &point.run;
            let trials = run.trials.filter(|trials| trials.eligible_trials > 0);
            let interval = trials.and_then(|trials| trials.pass_rate_interval);
            Drawn {
                run: escape::line(&run.short_id, text::MAX_NAME),
                href: links.run(&run.run_id),
                when: utc(run.started_at).text,
                verdict: run.verdict.label(),
                passed: passed(point, &PLAIN),
                rate: trials
                    .map(|trials| trials.passed_trials as f64 / trials.eligible_trials as f64),
                lower: interval.map(|interval| interval.lower),
                upper: interval.map(|interval| interval.upper),
                breaks: !reasons.is_empty(),
            }
        })
        .collect();
    let data = serde_json::to_string(&drawn).unwrap_or_else(|_| "[]".to_owned());
    html! {
        // The table below says the same.
        figure.trend-drawing data-trend aria-hidden="true" hidden {
            script type="application/json" { (PreEscaped(data::escaped(&data))) }
            figcaption.quiet-text {
                "Trials passed of gradeable ones, with 95 % intervals; a gap is a break."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn vendored_files_are_those_of_the_named_version() {
        let version = include_str!("../../assets/vendor/uplot/VERSION");
        let licence = include_str!("../../assets/vendor/uplot/LICENSE");
        for (name, text) in [
            ("uPlot.iife.min.js", UPLOT_SCRIPT),
            ("uPlot.min.css", UPLOT_STYLESHEET),
            ("LICENSE", licence),
        ] {
            let digest: String = Sha256::digest(text)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert!(version.contains(&format!("{digest}  {name}")), "{name}");
        }
        assert!(UPLOT_SCRIPT.contains("v1.6.32") && version.contains("version: 1.6.32"));
    }
}
