//! What the checks of a trial say, what was blocked and what never ran.

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    assertion::{ResultRow, RowScope},
    policy::PolicyBlock,
    run::{SkippedStep, TrialRecord},
    words::{StageState, Vocabulary},
};

use super::{Detail, HANG, name};
use crate::{glyphs, layout::hanging, style::Style, words::counted};

/// Rows of one kind shown in brief; the rest is counted.
const MAX_BRIEF: usize = 8;

pub(super) fn render(trial: &TrialRecord, detail: Detail, style: &Style) -> Vec<String> {
    let mut lines = checks(trial, detail, style);
    lines.extend(blocks(trial, detail, style));
    lines.extend(skipped(trial, detail, style));
    lines
}

/// Returns the assertion rows: in brief only those that do not hold.
fn checks(trial: &TrialRecord, detail: Detail, style: &Style) -> Vec<String> {
    let rows = rows(trial);
    let Some(text) = held(trial, &rows) else {
        return Vec::new();
    };
    let mut lines = hanging("checks", &text, 1, HANG, style.columns());
    let told: Vec<&ResultRow> = rows
        .iter()
        .filter(|row| detail == Detail::Full || !row.passed || row.is_error())
        .collect();
    let most = match detail {
        Detail::Brief => MAX_BRIEF,
        Detail::Full => usize::MAX,
    };
    for row in told.iter().take(most) {
        lines.extend(check(row, detail, style));
    }
    lines.extend(rest(told.len(), most, style));
    lines
}

/// Returns the assertion rows that can be read.
pub(crate) fn rows(trial: &TrialRecord) -> Vec<ResultRow> {
    let rows = trial.predicate_results.iter();
    rows.filter_map(|row| ResultRow::deserialize(row).ok())
        .collect()
}

/// Returns "3 of 4 checks held"; nothing without checks.
pub(crate) fn held(trial: &TrialRecord, rows: &[ResultRow]) -> Option<String> {
    let all = trial.predicate_results.len();
    let held = rows
        .iter()
        .filter(|row| row.passed && !row.is_error())
        .count();
    let mut text = format!("{held} of {} held", counted(all as u64, "check", "checks"));
    let unreadable = all - rows.len();
    if unreadable > 0 {
        text.push_str(&format_args!(", {unreadable} cannot be read").to_string());
    }
    (all > 0).then_some(text)
}

/// Returns what a check says, as the state of a stage.
pub(crate) fn state(row: &ResultRow) -> StageState {
    match (row.is_error(), row.passed) {
        (true, _) => StageState::NotMeasured,
        (false, true) => StageState::Passed,
        (false, false) => StageState::Failed,
    }
}

/// Returns what a check is and says: "toolWasCalled at turn 1: …".
pub(crate) fn words(row: &ResultRow, detail: Detail) -> String {
    let kind = row.predicate.get("type").and_then(Value::as_str);
    let turn = match row.scope {
        Some(RowScope::Turn { prompt_index }) => {
            format!(" at turn {}", prompt_index.saturating_add(1))
        }
        None => String::new(),
    };
    let advisory = match row.predicate.get("role").and_then(Value::as_str) {
        Some("advisory") => " (advisory)",
        _ => "",
    };
    let reason = detail.lines(&row.reason).join(" ");
    format!(
        "{}{turn}{advisory}: {reason}",
        name(kind.unwrap_or("check"))
    )
}

fn check(row: &ResultRow, detail: Detail, style: &Style) -> Vec<String> {
    let text = words(row, detail);
    let lines = hanging("", &text, 0, HANG, style.columns());
    let mark = glyphs::state(state(row)).paint(style);
    // The mark stands left of the first line.
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| match (index, line.get(HANG..)) {
            (0, Some(text)) => format!("{}{mark} {text}", " ".repeat(HANG - 2)),
            _ => line,
        })
        .collect()
}

/// Returns the calls that the tool policy blocked.
fn blocks(trial: &TrialRecord, detail: Detail, style: &Style) -> Vec<String> {
    let most = match detail {
        Detail::Brief => MAX_BRIEF,
        Detail::Full => usize::MAX,
    };
    let mut lines = Vec::new();
    let mut label = "blocked";
    for block in trial.policy_blocks.iter().take(most) {
        let text = blocked(block, detail);
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    lines.extend(rest(trial.policy_blocks.len(), most, style));
    lines
}

/// Returns the steps that never ran.
fn skipped(trial: &TrialRecord, detail: Detail, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut label = "skipped";
    let most = match detail {
        Detail::Brief => MAX_BRIEF,
        Detail::Full => usize::MAX,
    };
    for step in trial.skipped_steps.iter().take(most) {
        let text = never_ran(step);
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    lines.extend(rest(trial.skipped_steps.len(), most, style));
    lines
}

/// Returns which call was blocked and why.
pub(crate) fn blocked(block: &Value, detail: Detail) -> String {
    match PolicyBlock::deserialize(block) {
        Ok(block) => format!(
            "{} never reached the server: {}",
            name(&block.tool_name),
            block.reason.label()
        ),
        Err(_) => detail.json(block),
    }
}

/// Returns which step never ran and why.
pub(crate) fn never_ran(step: &SkippedStep) -> String {
    format!(
        "step {} ({}) never ran: {}",
        name(&step.step_id),
        name(&step.kind),
        name(&step.reason)
    )
}

fn rest(all: usize, most: usize, style: &Style) -> Option<String> {
    let more = all.checked_sub(most).filter(|more| *more > 0)?;
    let dots = style.mark("…", "...");
    Some(format!(
        "{}{dots} {more} more with --trace",
        " ".repeat(HANG)
    ))
}
