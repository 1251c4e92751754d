//! The runs of a suite one after the other, breaks in parity marked.

use strandline_contract::{
    comparison::{Parity, SuiteTrend, TrendPoint},
    words::Vocabulary,
};

use super::{MAX_NAME, compare};
use crate::{
    escape, glyphs,
    layout::{hanging, left, width},
    style::{Ink, Style},
    words::counted,
};

/// Columns of the axis from 0 to 100 %.
const AXIS: usize = 41;
/// Columns without which there is no axis.
const ROOM: usize = 96;

/// How a series is read.
pub(crate) const NOTE: &str = "each run on its own; nothing is added up over runs, and runs on \
    two sides of a break do not compare";

/// Returns the series, oldest run first, without a trailing line break; `when`
/// writes a time, ms since the Unix epoch, for the reader's clock.
#[must_use]
pub fn trend_report(trend: &SuiteTrend, when: impl Fn(i64) -> String, style: &Style) -> String {
    let columns = style.columns();
    let count = counted(trend.points.len() as u64, "run", "runs");
    let more = if trend.complete {
        ""
    } else {
        ", older ones left out"
    };
    let name = trend
        .points
        .last()
        .map_or(&trend.suite, |point| &point.run.suite_name);
    let mut lines = vec![format!(
        " {}      {} {} {count}, oldest first{more}",
        style.paint(Ink::Strong, "TREND"),
        escape::line(name, MAX_NAME),
        style.dot()
    )];
    lines.extend(hanging("", NOTE, 0, 11, columns));
    lines.push(String::new());
    let cells: Vec<[String; 4]> = trend
        .points
        .iter()
        .map(|point| cells(point, &when, style))
        .collect();
    let headings = ["run", "when", "verdict", "trials passed"];
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let cells = cells.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or(0).max(width(headings[column]))
    });
    let line = |cells: [&str; 4]| {
        let cells: [String; 4] = std::array::from_fn(|column| left(cells[column], widths[column]));
        cells.join("  ")
    };
    let axis = columns >= ROOM;
    let scale = if axis {
        format!("  {}{}", left("0 %", AXIS - 5), "100 %")
    } else {
        String::new()
    };
    let heading = format!("   {}{scale}", line(headings));
    lines.push(style.paint(Ink::Quiet, heading.trim_end()));
    let mut before: Option<&TrendPoint> = None;
    for (point, row) in trend.points.iter().zip(&cells) {
        if let (Some(before), Some(parity)) = (before, &point.parity) {
            lines.extend(gap(before, point, parity, style));
        }
        let mark = glyphs::verdict(point.run.verdict).paint(style);
        let cells = line(std::array::from_fn(|column| row[column].as_str()));
        let drawn = if axis {
            format!("  {}", drawn(point, style))
        } else {
            String::new()
        };
        lines.push(format!(" {mark} {}", format!("{cells}{drawn}").trim_end()));
        before = Some(point);
    }
    lines.join("\n")
}

/// Returns the line of a break; none where two runs compare.
fn gap(before: &TrendPoint, point: &TrendPoint, parity: &Parity, style: &Style) -> Vec<String> {
    let reasons = compare::blockers(parity, [&before.run, &point.run]);
    if reasons.is_empty() {
        return Vec::new();
    }
    let text = format!("break: {}", reasons.join("; "));
    hanging(style.mark("┄┄", "--"), &text, 3, 6, style.columns())
        .into_iter()
        .map(|line| style.paint(Ink::Unsure, line))
        .collect()
}

fn cells(point: &TrendPoint, when: &impl Fn(i64) -> String, style: &Style) -> [String; 4] {
    let run = &point.run;
    [
        escape::line(&run.short_id, MAX_NAME),
        when(run.started_at),
        run.verdict.label().to_owned(),
        passed(point, style),
    ]
}

/// Returns "4 of 5 [38–96 %]", or why there is no rate.
pub(crate) fn passed(point: &TrendPoint, style: &Style) -> String {
    match &point.run.trials {
        Some(trials) => match compare::interval(trials, style) {
            Some(interval) => format!(
                "{} of {} [{interval}]",
                trials.passed_trials, trials.eligible_trials
            ),
            None => "not measured".to_owned(),
        },
        None => "no decision".to_owned(),
    }
}

/// Draws rate and interval on an axis from 0 to 100 %.
fn drawn(point: &TrendPoint, style: &Style) -> String {
    let Some(trials) = &point.run.trials else {
        return String::new();
    };
    let Some(interval) = trials.pass_rate_interval else {
        return String::new();
    };
    let place = |fraction: f64| {
        let column = (fraction * (AXIS - 1) as f64).round() as usize;
        column.min(AXIS - 1)
    };
    let (lower, upper) = (place(interval.lower), place(interval.upper));
    let rate = place(trials.passed_trials as f64 / trials.eligible_trials as f64);
    let line: String = (0..AXIS)
        .map(|column| match column {
            _ if column == rate => style.mark("●", "o"),
            _ if column == lower => style.mark("├", "|"),
            _ if column == upper => style.mark("┤", "|"),
            _ if (lower..upper).contains(&column) => style.mark("─", "-"),
            _ => " ",
        })
        .collect();
    line.trim_end().to_owned()
}
