//! What LLM judges said about the trials of a run: counted, never a rate, and
//! whether it decides anything.

use std::collections::BTreeMap;

use serde::Deserialize;
use strandline_contract::{
    judgement::{ATTRIBUTION_KEY, AttributionJudgement, GOAL_KEY, GoalJudgement},
    run::TrialRecord,
    words::{
        FailureCategory, JudgeKind, JudgeRole, JudgeStatus, JudgeVerdict, MeasurementUnit,
        StageReason, Vocabulary,
    },
};
use strandline_derive::judge::is_owed;

use super::{MAX_NAME, View};
use crate::{
    escape,
    layout::{flow, hanging},
    style::Style,
    words::counted,
};

/// Column under which the facts stand.
const HANG: usize = 11;

#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<JudgeVerdict, u64>,
    errors: u64,
    not_applicable: u64,
    due: u64,
    not_requested: u64,
    straddles: u64,
    own: bool,
    required: bool,
    metadata: u64,
    judges: Vec<String>,
}

impl Tally {
    fn add(&mut self, trial: &TrialRecord) {
        if let Some(goal) = read::<GoalJudgement>(trial, GOAL_KEY) {
            match (goal.verdict, goal.status) {
                (Some(verdict), _) => *self.verdicts.entry(verdict).or_default() += 1,
                (None, JudgeStatus::NotApplicable) => self.not_applicable += 1,
                (None, _) => self.errors += 1,
            }
            self.straddles += u64::from(goal.straddle);
            self.own |= goal.provenance.is_model_under_test;
            self.required |= goal.role == JudgeRole::Required;
            self.named(&goal.provenance.model);
        }
        if let Some(said) = read::<AttributionJudgement>(trial, ATTRIBUTION_KEY) {
            self.named(&said.provenance.model);
        }
        let says = |reason| {
            let mut rows = trial.chain.stage_results.iter();
            rows.any(|row| row.reason == Some(reason))
        };
        self.due += u64::from(is_owed(trial));
        self.not_requested += u64::from(says(StageReason::JudgeNotRequested));
        self.metadata += u64::from(trial.chain.failure_category == Some(FailureCategory::Metadata));
    }

    fn named(&mut self, model: &str) {
        let model = escape::line(model, MAX_NAME);
        if !self.judges.contains(&model) {
            self.judges.push(model);
        }
    }

    fn is_empty(&self) -> bool {
        self.judges.is_empty() && self.due == 0 && self.not_requested == 0
    }
}

fn read<'a, T: Deserialize<'a>>(trial: &'a TrialRecord, key: &str) -> Option<T> {
    T::deserialize(trial.metadata.get(key)?).ok()
}

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let mut tally = Tally::default();
    for trial in view.input.trials {
        tally.add(trial);
    }
    if tally.is_empty() {
        return Vec::new();
    }
    let columns = style.columns();
    let mut lines = Vec::new();
    let mut label = "judged";
    for line in flow(
        &facts(&tally),
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

fn facts(tally: &Tally) -> Vec<String> {
    let judged: u64 = tally.verdicts.values().sum();
    let mut facts = Vec::new();
    if !tally.judges.is_empty() {
        let role = if tally.required {
            "required"
        } else {
            "advisory, decides no trial"
        };
        facts.push(format!(
            "{} by the LLM judge {} ({role})",
            JudgeKind::GoalCompletion.label(),
            tally.judges.join(", ")
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
    if tally.metadata > 0 {
        let count = tally.metadata;
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
    if tally.own {
        facts.push("the judge is the model under test".to_owned());
    }
    facts
}
