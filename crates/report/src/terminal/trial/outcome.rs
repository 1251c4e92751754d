//! How a trial ended, what is known about each stage, and who looks next.

use strandline_contract::{
    decision::{SummaryChain, SummaryStage},
    run::TrialRecord,
    trace::Trace,
    words::{IterationStatus, StageReason, StageState, TaskResult, Vocabulary},
};
use strandline_derive::decision::derive_next_action;

use super::{HANG, TrialInput, name, trial_number};
use crate::{
    glyphs::{self, Mark},
    layout::{flow, hanging, left, wrap},
    style::{Ink, Style},
    terminal::{MAX_NAME, Trial, evidence, model_name},
    words::{duration, ranges},
};

/// Column under which what is said about a stage stands.
const STAGE_HANG: usize = 16;

/// Returns the trial's own line and where it belongs.
pub(super) fn headline(input: &TrialInput<'_>, style: &Style) -> Vec<String> {
    let trial = input.trial;
    let facts = facts(input);
    let (mark, word) = ending(trial);
    let badge = format!("{} {}", mark.text(style), word.to_uppercase());
    let dot = format!(" {} ", style.dot());
    let room = style.columns().saturating_sub(HANG);
    let mut lines = vec![format!(
        " {}",
        style.paint(mark.ink, style.paint(Ink::Strong, badge))
    )];
    for line in flow(&facts, &dot, room) {
        lines.push(format!("{}{line}", " ".repeat(HANG)));
    }
    // A short badge shares its line with the first facts.
    if crate::layout::width(&lines[0]) + 2 <= HANG && lines.len() > 1 {
        let facts = lines.remove(1);
        lines[0] = format!("{}{}", left(&lines[0], HANG), facts.trim_start());
    }
    lines.push(format!("{}trial {}", " ".repeat(HANG), name(&trial.id)));
    if input.run.scripted {
        lines.extend(hanging(
            "",
            "scripted: the suite names every turn of the model",
            0,
            HANG,
            style.columns(),
        ));
    }
    if let Some(error) = &trial.error {
        let error = evidence::of_error(error);
        lines.extend(hanging("error", &error, 3, HANG, style.columns()));
    }
    lines
}

/// Returns what the trial is, where it belongs and how long it took.
pub(crate) fn facts(input: &TrialInput<'_>) -> Vec<String> {
    let trial = input.trial;
    let mut facts = vec![
        crate::escape::line(&trial.title, MAX_NAME),
        format!("trial {}{}", trial_number(trial), configured(input)),
    ];
    facts.extend(trial.variant.as_ref().map(model_name));
    facts.push(format!("run {}", input.run_reference));
    facts.push(duration(trial.ended_at.saturating_sub(trial.started_at)));
    facts
}

/// Returns " of 5": how many trials of the case variant were configured.
pub(crate) fn configured(input: &TrialInput<'_>) -> String {
    let trial = input.trial;
    input
        .run
        .plan
        .iter()
        .find(|plan| plan.case_id == trial.case_id && plan.variant == trial.variant)
        .map_or(String::new(), |plan| {
            format!(" of {}", plan.configured_trials)
        })
}

/// Returns how the trial ended: what it was graded, or why it was not.
pub(crate) fn ending(trial: &TrialRecord) -> (Mark, &'static str) {
    if trial.status == IterationStatus::Completed && trial.evaluator_error {
        return (glyphs::result(None), "not graded");
    }
    match (trial.status, trial.result) {
        (IterationStatus::Completed, Some(result)) => {
            (glyphs::result(Some(result)), result.label())
        }
        (IterationStatus::Completed, None) => (glyphs::result(None), "not graded"),
        (status, _) => (glyphs::result(None), status.label()),
    }
}

/// Returns the six stages, each with its state, its reason and, where it
/// failed, its evidence.
pub(super) fn stages(trial: &Trial<'_>, trace: Option<&Trace>, style: &Style) -> Vec<String> {
    match &trial.chain {
        SummaryChain::Verified(chain) => chain
            .stages
            .iter()
            .flat_map(|row| stage(trial, row, trace, style))
            .collect(),
        SummaryChain::Unverified(_) => {
            vec![" the stored chain cannot be believed and is withheld".to_owned()]
        }
        SummaryChain::Absent(_) => vec![" no chain is stored".to_owned()],
    }
}

fn stage(
    trial: &Trial<'_>,
    row: &SummaryStage,
    trace: Option<&Trace>,
    style: &Style,
) -> Vec<String> {
    let mark = glyphs::state(row.state);
    let because = row
        .reason
        // The state's own label says as much.
        .filter(|reason| *reason != StageReason::EarlierStageFailed)
        .map_or(String::new(), |reason| {
            format!(", because {}", reason.label())
        });
    let says = format!("{}{because}", row.state.label());
    let room = style.columns().saturating_sub(STAGE_HANG);
    let mut says = wrap(&says, room).into_iter();
    let mut lines = vec![format!(
        " {} {}{}",
        mark.paint(style),
        left(row.stage.label(), STAGE_HANG - 3),
        says.next().unwrap_or_default()
    )];
    let indented = |text: &str| hanging("", text, 0, STAGE_HANG, style.columns());
    lines.extend(says.map(|line| format!("{}{line}", " ".repeat(STAGE_HANG))));
    if row.state == StageState::Failed {
        for fact in evidence::of_row(trial.record, row, trace, style) {
            lines.extend(indented(&fact));
        }
        if let Some(place) = place(row, style) {
            let place = indented(&place);
            lines.extend(place.iter().map(|line| style.paint(Ink::Quiet, line)));
        }
    }
    lines
}

/// Returns where in the trace a row's evidence is.
fn place(row: &SummaryStage, style: &Style) -> Option<String> {
    let evidence = row.evidence.as_ref()?;
    let spans = evidence.span_ids.iter().flatten();
    let spans: Vec<String> = spans.map(|span| name(span)).collect();
    let turns: Vec<u32> = evidence
        .prompt_indexes
        .iter()
        .flatten()
        .filter(|index| index.fract() == 0.0 && (0.0..1e6).contains(*index))
        .map(|index| *index as u32 + 1)
        .collect();
    let mut parts = Vec::new();
    match turns.as_slice() {
        [] => {}
        [turn] => parts.push(format!("turn {turn}")),
        turns => parts.push(format!("turns {}", ranges(turns, style.mark("–", "-")))),
    }
    match spans.as_slice() {
        [] => {}
        [span] => parts.push(format!("span {span}")),
        spans => parts.push(format!("spans {}", spans.join(", "))),
    }
    (!parts.is_empty()).then(|| format!("in the trace: {}", parts.join(", ")))
}

/// Returns the bucket of a failure and who looks next.
pub(super) fn next(trial: &Trial<'_>, style: &Style) -> Vec<String> {
    let record = trial.record;
    if record.result == Some(TaskResult::Passed) && !record.evaluator_error {
        return Vec::new();
    }
    let columns = style.columns();
    let mut lines = Vec::new();
    let category = trial
        .chain
        .verified()
        .and_then(|chain| chain.failure_category);
    if let Some(category) = category {
        let text = format!("{} (a bucket, not a cause)", category.label());
        lines.extend(hanging("category", &text, 1, HANG, columns));
    }
    let action = derive_next_action(&trial.chain, record.result);
    lines.extend(hanging("next", action.label(), 1, HANG, columns));
    lines
}
