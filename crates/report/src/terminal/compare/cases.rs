//! The case variants of two runs: compared, or each run's on its own.

use strandline_contract::{
    comparison::{CaseComparison, CaseOutcome, ComparedRun, RunCase, RunComparison},
    words::{CaseChange, RegressionVerdict, SummaryVerdict, Vocabulary},
};

use super::{HANG, interval, signed};
use crate::{
    glyphs,
    layout::{cut, hanging, left, width},
    style::{Ink, Style},
    terminal::deciding::case_name,
    words::counted,
};

/// Rows shown at most; unchanged ones are counted instead.
const MAX_ROWS: usize = 40;
/// Columns that a title may take.
const TITLE: usize = 32;
/// Case names listed for one change.
const NAMES: usize = 5;

/// Returns the table of compared case variants and the lists below it.
pub(super) fn compared(comparison: &RunComparison, style: &Style) -> Vec<String> {
    let Some(rows) = comparison.cases.as_deref().filter(|rows| !rows.is_empty()) else {
        return Vec::new();
    };
    let shown = shown(rows);
    let cells: Vec<[String; 4]> = shown.iter().map(|row| cells(row, rows, style)).collect();
    let mut lines = table(
        ["case", "base", "compared", "difference in points"],
        &cells,
        |index| {
            let now = shown.get(index).and_then(|row| row.compared.as_ref());
            now.map_or(SummaryVerdict::NotEstablished, |made| made.verdict.into())
        },
        style,
    );
    let hidden = (rows.len() - shown.len()) as u64;
    if hidden > 0 {
        lines.push(format!(
            " {} {} still passing without a change shown",
            style.mark("…", "..."),
            counted(hidden, "more case variant", "more case variants")
        ));
    }
    lines.push(String::new());
    lines.extend(lists(rows, style));
    lines
}

/// Returns one run's case variants on their own.
pub(super) fn apart(run: &ComparedRun, name: &str, style: &Style) -> Vec<String> {
    let Some(rows) = run.cases.as_deref() else {
        return Vec::new();
    };
    if rows.is_empty() {
        let text = format!("run {} decided nothing of any case", run.short_id);
        return hanging(name, &text, 1, HANG, style.columns());
    }
    let several = |row: &RunCase| {
        rows.iter()
            .filter(|other| other.case_id == row.case_id)
            .count()
            > 1
    };
    let cells: Vec<[String; 4]> = rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| {
            let variant = row.execution_variant.as_ref().filter(|_| several(row));
            [
                case_name(&row.title, variant),
                side(Some(&row.outcome), style),
                String::new(),
                String::new(),
            ]
        })
        .collect();
    let mut lines = table(
        [&format!("{name} run {}", run.short_id), "passed", "", ""],
        &cells,
        |index| {
            rows.get(index)
                .map_or(SummaryVerdict::NotEstablished, |row| {
                    row.outcome.verdict.into()
                })
        },
        style,
    );
    if rows.len() > MAX_ROWS {
        let rest = counted(
            (rows.len() - MAX_ROWS) as u64,
            "more case variant",
            "more case variants",
        );
        lines.push(format!(" {} {rest}", style.mark("…", "...")));
    }
    lines
}

fn table(
    headings: [&str; 4],
    rows: &[[String; 4]],
    verdict: impl Fn(usize) -> SummaryVerdict,
    style: &Style,
) -> Vec<String> {
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or(0).max(width(headings[column]))
    };
    let mut columns: [usize; 4] = std::array::from_fn(widest);
    let others: usize = columns[1..].iter().sum::<usize>() + 3 + 2 * 3;
    let free = style.columns().saturating_sub(others);
    columns[0] = columns[0].min(TITLE.max(free)).min(free.max(12));
    let line = |cells: [&str; 4]| {
        let cells: [String; 4] = std::array::from_fn(|column| {
            let cell = cut(cells[column], columns[column], style.mark("…", "..."));
            left(&cell, columns[column])
        });
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![style.paint(Ink::Quiet, format!("   {}", line(headings)))];
    for (index, row) in rows.iter().enumerate() {
        let mark = glyphs::verdict(verdict(index)).paint(style);
        let cells = line(std::array::from_fn(|column| row[column].as_str()));
        lines.push(format!(" {mark} {cells}"));
    }
    lines
}

/// Returns the rows to print: telling ones first among equals in order.
fn shown(rows: &[CaseComparison]) -> Vec<&CaseComparison> {
    if rows.len() <= MAX_ROWS {
        return rows.iter().collect();
    }
    let quiet = |row: &CaseComparison| {
        row.change == CaseChange::StillPassing
            && row
                .rates
                .as_ref()
                .is_some_and(|rates| rates.verdict != RegressionVerdict::Regression)
    };
    let telling = rows.iter().filter(|row| !quiet(row)).count();
    let mut room = MAX_ROWS.saturating_sub(telling);
    rows.iter()
        .filter(|row| {
            if !quiet(row) {
                return true;
            }
            let fits = room > 0;
            room = room.saturating_sub(1);
            fits
        })
        .collect()
}

/// Returns title, base, compared and difference of a case variant.
pub(crate) fn cells(row: &CaseComparison, rows: &[CaseComparison], style: &Style) -> [String; 4] {
    let difference = match (&row.rates, row.change) {
        (Some(rates), _) => {
            let numbers = rates.difference.map_or(String::new(), |difference| {
                format!(
                    "{} [{} to {}]",
                    signed(difference.delta, style),
                    signed(difference.lower, style),
                    signed(difference.upper, style)
                )
            });
            match rates.verdict {
                RegressionVerdict::NoRegression => numbers,
                verdict => format!("{numbers} {}", verdict.label()),
            }
        }
        (None, change) => change.label().to_owned(),
    };
    [
        name(row, rows),
        side(row.base.as_ref(), style),
        side(row.compared.as_ref(), style),
        difference,
    ]
}

fn name(row: &CaseComparison, rows: &[CaseComparison]) -> String {
    let same = rows.iter().filter(|other| other.case_id == row.case_id);
    let variant = row.execution_variant.as_ref().filter(|_| same.count() > 1);
    case_name(&row.title, variant)
}

/// Returns "4/5 [38–96 %]".
pub(crate) fn side(outcome: Option<&CaseOutcome>, style: &Style) -> String {
    let Some(outcome) = outcome else {
        return style.mark("–", "-").to_owned();
    };
    let trials = &outcome.trials;
    match interval(trials, style) {
        None => "not measured".to_owned(),
        Some(interval) => format!(
            "{}/{} [{interval}]",
            trials.passed_trials, trials.eligible_trials
        ),
    }
}

fn lists(rows: &[CaseComparison], style: &Style) -> Vec<String> {
    listed(rows)
        .into_iter()
        .flat_map(|(label, text)| hanging(label, &text, 1, HANG + 6, style.columns()))
        .collect()
}

/// Lists cases by what became of them, and the flaky ones of each run.
pub(crate) fn listed(rows: &[CaseComparison]) -> [(&'static str, String); 4] {
    let list = |kept: &dyn Fn(&CaseComparison) -> bool| {
        let names: Vec<String> = rows
            .iter()
            .filter(|row| kept(row))
            .map(|row| name(row, rows))
            .collect();
        let count = counted(names.len() as u64, "case variant", "case variants");
        let mut text = match names.len() {
            0 => "none".to_owned(),
            _ => format!("{count}: {}", names[..names.len().min(NAMES)].join("; ")),
        };
        if names.len() > NAMES {
            text = format!("{text}; and {} more", names.len() - NAMES);
        }
        text
    };
    let change = |change: CaseChange| move |row: &CaseComparison| row.change == change;
    let flaky = |outcome: &Option<CaseOutcome>| outcome.as_ref().is_some_and(|made| made.flaky);
    let label = CaseChange::label;
    [
        (
            label(CaseChange::NewlyFailing),
            list(&change(CaseChange::NewlyFailing)),
        ),
        (label(CaseChange::Fixed), list(&change(CaseChange::Fixed))),
        ("flaky before", list(&|row| flaky(&row.base))),
        ("flaky now", list(&|row| flaky(&row.compared))),
    ]
}
