//! What the checks of a trial say, what was blocked and what never ran.

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    assertion::{ResultRow, RowScope},
    policy::PolicyBlock,
    run::TrialRecord,
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
    let rows: Vec<ResultRow> = trial
        .predicate_results
        .iter()
        .filter_map(|row| ResultRow::deserialize(row).ok())
        .collect();
    let unreadable = trial.predicate_results.len() - rows.len();
    if trial.predicate_results.is_empty() {
        return Vec::new();
    }
    let held = rows
        .iter()
        .filter(|row| row.passed && !row.is_error())
        .count();
    let mut text = format!(
        "{held} of {} held",
        counted(trial.predicate_results.len() as u64, "check", "checks")
    );
    if unreadable > 0 {
        text.push_str(&format_args!(", {unreadable} cannot be read").to_string());
    }
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

fn check(row: &ResultRow, detail: Detail, style: &Style) -> Vec<String> {
    let state = match (row.is_error(), row.passed) {
        (true, _) => StageState::NotMeasured,
        (false, true) => StageState::Passed,
        (false, false) => StageState::Failed,
    };
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
    let text = format!(
        "{}{turn}{advisory}: {reason}",
        name(kind.unwrap_or("check"))
    );
    let lines = hanging("", &text, 0, HANG, style.columns());
    let mark = glyphs::state(state).paint(style);
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
        let text = match PolicyBlock::deserialize(block) {
            Ok(block) => format!(
                "{} never reached the server: {}",
                name(&block.tool_name),
                block.reason.label()
            ),
            Err(_) => detail.json(block),
        };
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
        let text = format!(
            "step {} ({}) never ran: {}",
            name(&step.step_id),
            name(&step.kind),
            name(&step.reason)
        );
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    lines.extend(rest(trial.skipped_steps.len(), most, style));
    lines
}

fn rest(all: usize, most: usize, style: &Style) -> Option<String> {
    let more = all.checked_sub(most).filter(|more| *more > 0)?;
    let dots = style.mark("…", "...");
    Some(format!(
        "{}{dots} {more} more with --trace",
        " ".repeat(HANG)
    ))
}
