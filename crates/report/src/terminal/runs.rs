//! The table of stored runs.

use strandline_contract::{
    decision::SummaryCounts,
    listing::{RunActivity, RunListItem},
    run::RunRecord,
    words::Vocabulary,
};
use strandline_derive::decision::{Page, summarize_run};

use super::MAX_NAME;
use crate::{
    escape, glyphs,
    layout::{cut, left, width},
    style::{Ink, Style},
    words::{counted, duration},
};

/// The narrowest column of suite names.
const SUITE: usize = 12;

/// What a store knows about a run beside its record.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    /// The beginning of the id that tells it from all others.
    pub short_id: &'a str,
    /// Whether somebody is running it.
    pub activity: RunActivity,
    /// Trials that the plan has.
    pub configured_trials: u64,
    /// Trials that are stored.
    pub stored_trials: u64,
}

/// Returns what a listing says about a run; the record may lack its suite and
/// plan.
#[must_use]
pub fn run_list_item(run: &RunRecord, facts: &RunFacts<'_>) -> RunListItem {
    let summary = summarize_run("", run, [], Page::default());
    RunListItem {
        run_id: run.id.clone(),
        short_id: facts.short_id.to_owned(),
        suite_id: run.suite_id.clone(),
        suite_name: run.suite_name.clone(),
        suite_path: run.suite_path.clone(),
        run_status: run.status,
        activity: facts.activity,
        started_at: run.started_at,
        ended_at: run.ended_at,
        verdict: summary.verdict,
        verdict_source: summary.verdict_source,
        undecided: summary.undecided,
        counts: summary.counts,
        configured_trials: facts.configured_trials,
        stored_trials: facts.stored_trials,
        scripted: run.scripted,
        error: run.error.clone(),
        strandline_version: run.strandline_version.clone(),
    }
}

/// Returns the table of runs, without a trailing line break; `when` writes a
/// time, ms since the Unix epoch, for the reader's clock.
#[must_use]
pub fn run_table(runs: &[RunListItem], when: impl Fn(i64) -> String, style: &Style) -> String {
    let rows: Vec<[String; 6]> = runs.iter().map(|run| cells(run, &when)).collect();
    let headings = ["run", "when", "suite", "verdict", "passed", "took"];
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or(0).max(width(headings[column]))
    };
    let mut columns: [usize; 6] = std::array::from_fn(widest);
    let others: usize = columns.iter().sum::<usize>() - columns[2];
    // A mark, and two columns between the cells.
    let free = style.columns().saturating_sub(3 + others + 2 * 5);
    columns[2] = columns[2].min(free.max(SUITE));
    let line = |cells: [&str; 6]| {
        let cells = std::array::from_fn::<String, 6, _>(|column| {
            let cell = cut(cells[column], columns[column], style.mark("…", "..."));
            left(&cell, columns[column])
        });
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![style.paint(Ink::Quiet, format!("   {}", line(headings)))];
    for (run, row) in runs.iter().zip(&rows) {
        let mark = glyphs::verdict(run.verdict).paint(style);
        let cells = line(std::array::from_fn(|column| row[column].as_str()));
        lines.push(format!(" {mark} {cells}"));
        for note in notes(run) {
            let note = format!("{}{note}", " ".repeat(3 + columns[0] + 2));
            lines.push(style.paint(Ink::Quiet, note));
        }
    }
    lines.join("\n")
}

fn cells(run: &RunListItem, when: &impl Fn(i64) -> String) -> [String; 6] {
    [
        escape::line(&run.short_id, MAX_NAME),
        when(run.started_at),
        escape::line(&run.suite_name, MAX_NAME),
        run.verdict.label().to_owned(),
        run.counts.as_ref().map_or(String::new(), passed),
        run.ended_at.map_or(String::new(), |ended| {
            duration(ended.saturating_sub(run.started_at))
        }),
    ]
}

/// Returns passed of all, with the unit.
pub(super) fn passed(counts: &SummaryCounts) -> String {
    let of = |passed: u64, total: u64, singular, plural| {
        format!("{passed} of {}", counted(total, singular, plural))
    };
    match counts {
        SummaryCounts::CaseVariant { total, passed, .. } => {
            of(*passed, *total, "case variant", "case variants")
        }
        SummaryCounts::Trial {
            total: Some(total),
            passed: Some(passed),
            ..
        } => of(*passed, *total, "trial", "trials"),
        SummaryCounts::Trial { .. } => String::new(),
    }
}

/// Returns what the row alone would leave unsaid.
fn notes(run: &RunListItem) -> Vec<String> {
    let trials = format!(
        "{} of {} stored",
        run.stored_trials,
        counted(run.configured_trials, "trial", "trials")
    );
    let mut notes = Vec::new();
    match run.activity {
        RunActivity::Ended => {}
        RunActivity::Running => notes.push(format!("still running, {trials}")),
        RunActivity::Killed => notes.push(format!(
            "killed, {trials}: strandline run --resume {}",
            run.short_id
        )),
    }
    if run.scripted {
        notes.push("scripted: says nothing about a model".to_owned());
    }
    notes
}
