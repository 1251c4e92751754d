//! The six stages of one slice in columns, with what is left out of each.

use strandline_contract::{
    analytics::{SliceRow, StageTally},
    rate::Counts,
    words::{ExclusionClass, StageReason, Vocabulary},
};
use strandline_derive::analytics::{
    StageRate, latency_mean_ms, measured_pass_rate, measurement_coverage_rate, reach_rate,
};

use crate::{
    layout::{hanging, left, right, width},
    style::{Ink, Style},
    words::{duration, percent},
};

/// Columns of a stage's name.
const STAGE: usize = 12;
/// Columns of a bar, where there is room for one.
const BAR: usize = 20;
/// From this width on there is room for bars.
pub(super) const WITH_BAR: usize = 92;
/// Reasons of one stage shown; the rest is counted.
const MAX_REASONS: usize = 4;

/// The six stages of one slice in columns.
pub(super) struct Table<'a> {
    style: &'a Style,
    rows: Vec<[String; 4]>,
    tallies: &'a [StageTally],
    widths: [usize; 4],
}

const HEADINGS: [&str; 4] = ["reached", "measured", "passed", "mean"];

impl<'a> Table<'a> {
    pub(super) fn new(row: &'a SliceRow, style: &'a Style) -> Self {
        let rows: Vec<[String; 4]> = row.stages.iter().map(cells).collect();
        let widths = std::array::from_fn(|column| {
            rows.iter()
                .map(|row| width(&row[column]))
                .max()
                .unwrap_or(0)
                .max(width(HEADINGS[column]))
        });
        Self {
            style,
            rows,
            tallies: &row.stages,
            widths,
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let style = self.style;
        let bar = self.bar_columns();
        let heading = self.line(
            &left("stage", STAGE),
            &" ".repeat(bar),
            &HEADINGS.map(str::to_owned),
        );
        let mut lines = vec![style.paint(Ink::Quiet, heading.trim_end())];
        for (tally, cells) in self.tallies.iter().zip(&self.rows) {
            let line = self.line(
                &left(tally.stage.label(), STAGE),
                &self.bar(tally, bar),
                cells,
            );
            lines.push(line.trim_end().to_owned());
            for note in notes(tally) {
                let note = hanging("", &note, 0, STAGE + 3, style.columns());
                lines.extend(note.into_iter().map(|line| style.paint(Ink::Quiet, line)));
            }
        }
        lines
    }

    fn line(&self, stage: &str, bar: &str, cells: &[String; 4]) -> String {
        let mut line = format!(" {stage}");
        if !bar.is_empty() {
            line.push_str("  ");
            line.push_str(bar);
        }
        for (cell, columns) in cells.iter().zip(self.widths) {
            line.push_str("  ");
            line.push_str(&left(cell, columns));
        }
        line
    }

    fn bar_columns(&self) -> usize {
        if self.style.columns() >= WITH_BAR {
            BAR
        } else {
            0
        }
    }

    /// Returns a bar over the trials of which it is known whether they reached
    /// the stage: passed, failed, undecided, and never there.
    fn bar(&self, tally: &StageTally, columns: usize) -> String {
        let style = self.style;
        let decided = tally.reached.saturating_add(tally.not_reached);
        if columns == 0 || decided == 0 {
            return " ".repeat(columns);
        }
        let share = |count: u64| cells_of(count, decided, columns);
        let reached = share(tally.reached);
        let measured = share(tally.measured).min(reached);
        let passed = share(tally.passed).min(measured);
        let part = |ink: Ink, unicode, ascii, cells: usize| match cells {
            0 => String::new(),
            cells => style.paint(ink, style.mark(unicode, ascii).repeat(cells)),
        };
        [
            part(Ink::Good, "█", "#", passed),
            part(Ink::Bad, "▓", "x", measured - passed),
            part(Ink::Unsure, "▒", ":", reached - measured),
            part(Ink::Faint, "·", ".", columns - reached),
        ]
        .concat()
    }
}

/// Returns how many of `columns` stand for `count` of `all`: rounded, but never
/// none for some and never all for not all.
fn cells_of(count: u64, all: u64, columns: usize) -> usize {
    if all == 0 || count == 0 {
        return 0;
    }
    if count >= all {
        return columns;
    }
    let cells = (count as f64 / all as f64 * columns as f64).round() as usize;
    cells.clamp(1, columns.saturating_sub(1))
}

/// Returns a stage's figures.
fn cells(tally: &StageTally) -> [String; 4] {
    [
        rate(&reach_rate(tally)),
        rate(&measurement_coverage_rate(tally)),
        rate(&measured_pass_rate(tally)),
        latency_mean_ms(tally.latency.as_ref()).map_or_else(String::new, milliseconds),
    ]
}

fn rate(rate: &StageRate) -> String {
    match rate.value() {
        None => "not measured".to_owned(),
        Some(value) => format!(
            "{}/{}  {}",
            rate.numerator(),
            rate.denominator(),
            right(&percent(value), 6)
        ),
    }
}

pub(crate) fn milliseconds(mean: f64) -> String {
    if mean < 10.0 {
        return format!("{mean:.1} ms");
    }
    duration(mean.round() as i64)
}

/// Returns what is left out of a stage's rates, and the reasons of its rows
/// that are neither plain passes nor told by position.
fn notes(tally: &StageTally) -> Vec<String> {
    let notes = [left_out(tally), because(tally)];
    notes.into_iter().flatten().collect()
}

/// Returns what is left out of a stage's rates.
pub(crate) fn left_out(tally: &StageTally) -> Option<String> {
    let left_out: Vec<String> = listed(&tally.excluded)
        .map(|(class, count)| format!("{} {count}", class.label()))
        .collect();
    (!left_out.is_empty()).then(|| format!("left out: {}", left_out.join("; ")))
}

/// Returns the reasons of a stage's rows, the most frequent first.
pub(crate) fn because(tally: &StageTally) -> Option<String> {
    let mut reasons: Vec<_> = tally
        .reasons
        .iter()
        .filter(|entry| is_telling(entry.reason))
        .collect();
    reasons.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    let mut told: Vec<String> = reasons
        .iter()
        .take(MAX_REASONS)
        .map(|entry| format!("{} {}", entry.reason.label(), entry.count))
        .collect();
    if reasons.len() > MAX_REASONS {
        told.push(format!("{} more reasons", reasons.len() - MAX_REASONS));
    }
    (!told.is_empty()).then(|| format!("because: {}", told.join("; ")))
}

/// Returns whether a reason says more than the counts beside it do.
const fn is_telling(reason: StageReason) -> bool {
    !matches!(
        reason,
        StageReason::Observed
            | StageReason::ImpliedByLaterEvidence
            | StageReason::JudgeObserved
            | StageReason::EarlierStageFailed
            | StageReason::NotAuthored
    )
}

/// Returns counts in vocabulary order, zeros left out.
pub(crate) fn listed(
    counts: &Counts<ExclusionClass>,
) -> impl Iterator<Item = (ExclusionClass, u64)> {
    counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(class, count)| (*class, *count))
}
