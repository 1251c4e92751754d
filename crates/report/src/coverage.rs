//! What a suite, or a run of it, leaves unproved, as a person reads it.

use std::collections::BTreeMap;

use strandline_contract::{
    coverage::{Coverage, CoverageGap, CoverageTally},
    words::{CheckVerdict, GapKind, RateState, StageState, Vocabulary},
};

use crate::{
    escape, glyphs,
    layout::hanging,
    style::{Ink, Style},
    words::counted,
};

/// Lines shown under one kind; the rest is counted.
const MAX_LINES: usize = 12;
const MAX_NAME: usize = 120;
const MAX_ARGUMENTS: usize = 400;

/// Returns coverage as text, without a trailing line break; `run_reference` is
/// what `strandline show` is given to find the run.
#[must_use]
pub fn coverage(coverage: &Coverage, run_reference: Option<&str>, style: &Style) -> String {
    let mut lines = vec![format!(" {}", headline(coverage, run_reference, style))];
    for tally in &coverage.kinds {
        lines.push(String::new());
        lines.extend(heading(tally, style));
        let gaps = coverage.gaps.iter().filter(|gap| gap.kind() == tally.kind);
        lines.extend(details(gaps, style));
    }
    lines.push(String::new());
    let note = "a gap says what nobody looked at: it is no defect of the server, and no verdict \
                depends on it";
    lines.extend(
        hanging("", note, 1, 1, style.columns())
            .into_iter()
            .map(|line| style.paint(Ink::Quiet, line)),
    );
    lines.join("\n")
}

fn headline(coverage: &Coverage, run_reference: Option<&str>, style: &Style) -> String {
    let name = style.paint(Ink::Strong, escape::line(&coverage.suite.name, MAX_NAME));
    let dot = style.dot();
    match (&coverage.run, run_reference) {
        (Some(run), Some(reference)) => format!(
            "{name} {dot} run {} {dot} {}, {} readable",
            escape::line(reference, MAX_NAME),
            counted(run.trials, "trial", "trials"),
            counted(run.chains, "chain", "chains"),
        ),
        _ => format!("{name} {dot} the suite file alone"),
    }
}

/// Returns "▲ tool never expected: 2 of 6 tools".
fn heading(tally: &CoverageTally, style: &Style) -> Vec<String> {
    let (verdict, told) = match (tally.state, tally.unproved, tally.undecided) {
        (RateState::NotMeasured, ..) => {
            let why = tally.reason.map_or("", Vocabulary::label);
            (CheckVerdict::NotChecked, format!("not measured: {why}"))
        }
        (RateState::Measured, 0, undecided) => {
            let verdict = if undecided == 0 {
                CheckVerdict::Ok
            } else {
                CheckVerdict::NotChecked
            };
            (verdict, counts(tally))
        }
        (RateState::Measured, ..) => (CheckVerdict::Warning, counts(tally)),
    };
    let mark = glyphs::check(verdict);
    let text = format!("{}: {told}", tally.kind.label());
    let mut lines = hanging("", &text, 3, 3, style.columns());
    if let Some(first) = lines.first_mut() {
        *first = format!(" {} {}", mark.paint(style), first.trim_start());
    }
    lines
}

/// Returns "2 of 6 tools, 1 cannot be told".
fn counts(tally: &CoverageTally) -> String {
    let unit = tally.unit.words(tally.total);
    let undecided = match tally.undecided {
        0 => String::new(),
        undecided => format!(", {undecided} cannot be told"),
    };
    format!("{} of {} {unit}{undecided}", tally.unproved, tally.total)
}

fn details<'a>(gaps: impl Iterator<Item = &'a CoverageGap>, style: &Style) -> Vec<String> {
    let texts = texts(gaps);
    let mut lines: Vec<String> = texts
        .iter()
        .take(MAX_LINES)
        .flat_map(|text| {
            let mut lines = hanging("", text, 3, 7, style.columns());
            if let Some(first) = lines.first_mut() {
                *first = format!("     {} {}", style.dot(), first.trim_start());
            }
            lines
        })
        .collect();
    if let Some(more) = texts.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        let text = format!("and {more} more; `--json` lists all");
        lines.extend(hanging("", &text, 3, 5, style.columns()));
    }
    lines
}

/// One line a gap; the arguments of one tool are one line.
fn texts<'a>(gaps: impl Iterator<Item = &'a CoverageGap>) -> Vec<String> {
    let mut texts = Vec::new();
    let mut arguments: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for gap in gaps {
        match gap {
            CoverageGap::ToolNeverExpected {
                server,
                tool_name,
                called_in_trials,
            } => texts.push(match called_in_trials {
                None => tool(server.as_deref(), tool_name),
                Some(called) => {
                    format!("{}: {}", tool(server.as_deref(), tool_name), calls(*called))
                }
            }),
            CoverageGap::ArgumentNeverAsserted {
                server,
                tool_name,
                argument,
                required,
            } => {
                let required = if *required { " (required)" } else { "" };
                let argument = escape::line(argument, MAX_NAME);
                arguments
                    .entry(tool(Some(server), tool_name))
                    .or_default()
                    .push(format!("{argument}{required}"));
            }
            CoverageGap::ErrorPathNeverExercised {
                server,
                tool_name,
                called_in_trials,
            } => {
                let called = match called_in_trials {
                    0 => calls(0),
                    called => format!("{}, never with an error", calls(*called)),
                };
                texts.push(format!("{}: {called}", tool(server.as_deref(), tool_name)));
            }
            CoverageGap::StageNeverDecided {
                stage,
                not_applicable_trials,
                not_measured_trials,
            } => {
                let states = [
                    (StageState::NotApplicable, *not_applicable_trials),
                    (StageState::NotMeasured, *not_measured_trials),
                ];
                let told: Vec<String> = states
                    .iter()
                    .filter(|(_, count)| *count > 0)
                    .map(|(state, count)| {
                        format!(
                            "{} in {}",
                            state.label(),
                            counted(*count, "trial", "trials")
                        )
                    })
                    .collect();
                texts.push(format!("{}: {}", stage.label(), told.join(", ")));
            }
            CoverageGap::EmptyAnswerPasses { case_id, title } => texts.push(format!(
                "{}: {}",
                escape::line(case_id, MAX_NAME),
                escape::line(title, MAX_NAME)
            )),
        }
    }
    texts.extend(arguments.into_iter().map(|(tool, arguments)| {
        let list = arguments.join(", ");
        format!("{tool}: {}", escape::line(&list, MAX_ARGUMENTS))
    }));
    texts
}

fn tool(server: Option<&str>, name: &str) -> String {
    let name = escape::line(name, MAX_NAME);
    match server {
        Some(server) => format!("{} {name}", escape::line(server, MAX_NAME)),
        None => format!("{name} (named by the suite, listed by no server)"),
    }
}

fn calls(count: u64) -> String {
    match count {
        0 => "called in no trial".to_owned(),
        count => format!("called in {}", counted(count, "trial", "trials")),
    }
}

/// Returns what a gate says of a kind that has more gaps than allowed.
#[must_use]
pub fn gate_failure(tally: &CoverageTally, most: u64) -> String {
    format!(
        "{}: {}, and the gate allows {most}",
        tally.kind.label(),
        counts(tally)
    )
}

/// Returns what a gate says of a kind that was not measured.
#[must_use]
pub fn gate_unmeasured(tally: &CoverageTally) -> String {
    let why = tally.reason.map_or("", Vocabulary::label);
    format!("{}: not measured: {why}", tally.kind.label())
}

/// Returns every kind that a gate can name, for a hint.
#[must_use]
pub fn gate_kinds() -> String {
    let kinds: Vec<&str> = GapKind::ALL.iter().map(|kind| kind.wire()).collect();
    kinds.join(", ")
}
