//! What LLM judges said about the trials of a run: counted, never a rate, and
//! whether it decides anything.

use strandline_contract::{
    judgement::JudgeTally,
    words::{JudgeKind, MeasurementUnit, Vocabulary},
};
use strandline_derive::judge::JudgeCounter;

use super::{MAX_NAME, View};
use crate::{
    escape,
    layout::{flow, hanging},
    style::Style,
    words::counted,
};

/// Column under which the facts stand.
const HANG: usize = 11;

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let mut counter = JudgeCounter::default();
    for trial in view.input.trials {
        counter.add(trial);
    }
    let Some(tally) = counter.tally() else {
        return Vec::new();
    };
    let columns = style.columns();
    let mut lines = Vec::new();
    let mut label = "judged";
    for line in flow(
        &judge_facts(&tally),
        &format!(" {} ", style.dot()),
        columns - HANG,
    ) {
        lines.extend(hanging(label, &line, 1, HANG, columns));
        label = "";
    }
    if tally.due > 0 {
        let text = format!(
            "strandline judge {} asks what is due",
            view.input.run_reference
        );
        lines.extend(hanging("", &text, 1, HANG, columns));
    }
    lines
}

/// Returns what judges said over a run's trials, one fact each.
#[must_use]
pub fn judge_facts(tally: &JudgeTally) -> Vec<String> {
    let judged: u64 = tally.verdicts.values().sum();
    let mut facts = Vec::new();
    if !tally.judges.is_empty() {
        let role = if tally.required {
            "required"
        } else {
            "advisory, decides no trial"
        };
        let judges: Vec<String> = tally
            .judges
            .iter()
            .map(|model| escape::line(model, MAX_NAME))
            .collect();
        facts.push(format!(
            "{} by the LLM judge {} ({role})",
            JudgeKind::GoalCompletion.label(),
            judges.join(", ")
        ));
    }
    if judged > 0 {
        let parts: Vec<String> = tally
            .verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", verdict.label()))
            .collect();
        facts.push(format!(
            "{} of {judged} judged {}",
            parts.join(", "),
            MeasurementUnit::Trial.words(judged)
        ));
    }
    let unit = |count: u64| MeasurementUnit::Trial.words(count);
    if tally.errors > 0 {
        let errors = tally.errors;
        facts.push(format!("the judge failed in {errors} {}", unit(errors)));
    }
    if tally.not_applicable > 0 {
        let count = tally.not_applicable;
        facts.push(format!("nothing to judge in {count} {}", unit(count)));
    }
    if tally.straddles > 0 {
        let count = counted(tally.straddles, "straddle", "straddles");
        facts.push(format!("{count} of the threshold"));
    }
    if tally.metadata_attributed > 0 {
        let count = tally.metadata_attributed;
        facts.push(format!(
            "tool metadata quoted as misleading in {count} {}",
            unit(count)
        ));
    }
    if tally.due > 0 {
        facts.push(format!("due in {} {}", tally.due, unit(tally.due)));
    }
    if tally.not_requested > 0 {
        let count = tally.not_requested;
        facts.push(format!("not requested in {count} {}", unit(count)));
    }
    if tally.is_model_under_test {
        facts.push("the judge is the model under test".to_owned());
    }
    facts
}
