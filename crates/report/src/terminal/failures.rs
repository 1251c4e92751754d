//! Trials that did not pass, grouped by case and by where they stopped.
//!
//! A group names a location and a reason, never a cause: who reads it still
//! has to look at the evidence.

use strandline_contract::{
    decision::SummaryChain,
    overview::ChainStanding,
    words::{
        FailureCategory, IterationStatus, Stage, StageReason, TaskResult, Verdict, Vocabulary,
    },
};
use strandline_derive::decision::derive_next_action;

use super::{Row, Trial, View, evidence, trial_number};
use crate::{
    glyphs,
    layout::{hanging, left, width, wrap},
    style::{Ink, Style},
    words::ranges,
};

/// Groups shown; the rest is counted.
const MAX_GROUPS: usize = 12;
/// Different pieces of evidence shown in one group.
const MAX_EVIDENCE: usize = 3;
/// Column under which the text of a group stands.
const HANG: usize = 13;

/// Returns the groups of a run: cases that missed their threshold first, else in
/// the suite's order.
pub(crate) fn groups<'a>(view: &'a View<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = view.rows.iter().flat_map(groups_of).collect();
    groups.sort_by_key(
        |group| match group.row.decided.as_ref().map(|row| row.verdict) {
            Some(Verdict::Failed) => 0,
            Some(Verdict::Inconclusive) | None => 1,
            Some(Verdict::Passed) => 2,
        },
    );
    groups
}

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let groups = groups(view);
    let mut lines = Vec::new();
    for group in groups.iter().take(MAX_GROUPS) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(group.render(view, style));
    }
    if groups.len() > MAX_GROUPS {
        let more = groups.len() - MAX_GROUPS;
        lines.push(String::new());
        lines.push(format!(
            " {} {more} more groups of trials that did not pass: strandline show {}",
            style.mark("…", "..."),
            view.input.run_reference
        ));
    }
    lines
}

/// Where trials stopped, or why they were never graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// The first failed stage and the reason on its row.
    At(Stage, Option<StageReason>),
    /// No stage failed: the trial's lifecycle and the first reason why a
    /// stage could not be measured.
    Nowhere(IterationStatus, Option<StageReason>),
}

impl Stop {
    fn of(trial: &Trial<'_>) -> Self {
        match trial.first_failed() {
            Some(row) => Self::At(row.stage, row.reason),
            None => Self::Nowhere(
                trial.record.status,
                trial.first_unmeasured().and_then(|row| row.reason),
            ),
        }
    }
}

/// How trials ended that did not pass, or passed although a stage failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// Where they stopped.
    pub(crate) stop: Stop,
    /// They passed all the same.
    pub(crate) passed: bool,
    /// The grader broke.
    pub(crate) evaluator_error: bool,
    /// Whether their chains may be believed.
    pub(crate) chain: ChainStanding,
}

impl Ending {
    /// Returns what happened to them: "stopped at Tool call".
    pub(crate) fn words(self) -> String {
        match (self.stop, self.passed) {
            (Stop::At(stage, _), false) => format!("stopped at {}", stage.label()),
            (Stop::At(stage, _), true) => {
                format!("passed although {} did not hold", stage.label())
            }
            (Stop::Nowhere(..), _) if self.evaluator_error => {
                "not graded: the evaluator broke".to_owned()
            }
            (Stop::Nowhere(IterationStatus::Completed, _), _) => match self.chain {
                ChainStanding::Verified => "failed and no stage did",
                ChainStanding::Unverified => "failed and the stored chain cannot be believed",
                ChainStanding::Absent => "failed and no chain is stored",
            }
            .to_owned(),
            (Stop::Nowhere(status, _), _) => format!("not graded: {}", status.label()),
        }
    }
}

/// Trials of one case variant that stopped in the same way.
pub(crate) struct Group<'a> {
    pub(crate) row: &'a Row<'a>,
    pub(crate) stop: Stop,
    pub(crate) category: Option<FailureCategory>,
    /// All of them passed or all of them did not.
    pub(crate) passed: bool,
    pub(crate) trials: Vec<&'a Trial<'a>>,
}

/// Returns the groups of one case variant.
pub(crate) fn groups_of<'a>(row: &'a Row<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for trial in &row.trials {
        let record = trial.record;
        let passed = record.result == Some(TaskResult::Passed) && !record.evaluator_error;
        // A passed trial is told only when some stage failed all the same.
        if passed && trial.first_failed().is_none() {
            continue;
        }
        let stop = Stop::of(trial);
        let category = trial
            .chain
            .verified()
            .and_then(|chain| chain.failure_category);
        let group = groups.iter_mut().find(|group| {
            group.stop == stop && group.category == category && group.passed == passed
        });
        match group {
            Some(group) => group.trials.push(trial),
            None => groups.push(Group {
                row,
                stop,
                category,
                passed,
                trials: vec![trial],
            }),
        }
    }
    groups.sort_by_key(|group| (group.passed, group.stop));
    groups
}

impl Group<'_> {
    fn render(&self, view: &View<'_>, style: &Style) -> Vec<String> {
        let columns = style.columns();
        let mut lines = self.heading(style);
        lines.extend(self.because(style));
        for (trials, facts) in self.evidence(view, style) {
            // A long list of trials moves all of its evidence to the right.
            let hang = HANG.max(3 + width(&trials) + 2);
            let mut label = trials.as_str();
            for fact in facts {
                lines.extend(hanging(label, &fact, 3, hang, columns));
                label = "";
            }
        }
        if let Some(next) = self.next() {
            lines.extend(hanging("next", next, 3, HANG, columns));
        }
        // Unwrapped, so that it can be copied.
        let label = left("   look", HANG);
        lines.push(format!("{label}{}", self.look(view)));
        lines
    }

    /// Returns who looks next and at what; a group that passed needs nobody.
    pub(crate) fn next(&self) -> Option<&'static str> {
        let first = self.trials.first().filter(|_| !self.passed)?;
        Some(derive_next_action(&first.chain, first.record.result).label())
    }

    /// Returns why they stopped there, as the stage's row says it.
    pub(crate) fn reason(&self) -> Option<StageReason> {
        match self.stop {
            Stop::At(_, reason) | Stop::Nowhere(_, reason) => reason,
        }
    }

    /// Returns "4 of 5 trials stopped at Tool call".
    pub(crate) fn what(&self) -> String {
        let of = self.row.trials.len();
        let share = format!(
            "{} of {of} {}",
            self.trials.len(),
            if of == 1 { "trial" } else { "trials" }
        );
        let first = self.trials[0];
        let ending = Ending {
            stop: self.stop,
            passed: self.passed,
            evaluator_error: first.record.evaluator_error,
            chain: match first.chain {
                SummaryChain::Verified(_) => ChainStanding::Verified,
                SummaryChain::Unverified(_) => ChainStanding::Unverified,
                SummaryChain::Absent(_) => ChainStanding::Absent,
            },
        };
        let what = format!("{share} {}", ending.words());
        let met = match self.row.decided.as_ref().map(|row| row.verdict) {
            Some(Verdict::Passed) => " (the case met its threshold)",
            _ => "",
        };
        format!("{what}{met}")
    }

    fn heading(&self, style: &Style) -> Vec<String> {
        let mark = match &self.row.decided {
            Some(decided) => glyphs::case_verdict(decided.verdict),
            None => glyphs::result(None),
        };
        let text = format!("{} {} {}", self.row.name, style.dot(), self.what());
        let mut wrapped = wrap(&text, style.columns().saturating_sub(3)).into_iter();
        let first = wrapped.next().unwrap_or_default();
        let mut lines = vec![format!(" {} {first}", mark.paint(style))];
        lines.extend(wrapped.map(|line| format!("   {line}")));
        lines
    }

    /// Returns the reason, with the category at the right edge or below.
    fn because(&self, style: &Style) -> Vec<String> {
        let columns = style.columns();
        let reason = self
            .reason()
            .map(|reason| format!("because {}", reason.label()));
        let category = self.category.map_or("", Vocabulary::label);
        let text = reason.unwrap_or_default();
        let free = columns.saturating_sub(3 + width(&text));
        if !text.is_empty() && free >= width(category) + 3 {
            let gap = columns.min(100).saturating_sub(width(category) + 1);
            let line = left(&format!("   {text}"), gap.max(3 + width(&text) + 2));
            return vec![
                format!("{line}{}", style.paint(Ink::Quiet, category))
                    .trim_end()
                    .to_owned(),
            ];
        }
        let mut lines = Vec::new();
        if !text.is_empty() {
            lines.extend(hanging("", &text, 3, 3, columns));
        }
        if !category.is_empty() {
            lines.extend(hanging("category", category, 3, HANG, columns));
        }
        lines
    }

    /// Returns the evidence, trials with the same evidence together.
    pub(crate) fn evidence(&self, view: &View<'_>, style: &Style) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(Vec<u32>, Vec<String>)> = Vec::new();
        for trial in &self.trials {
            let facts = self.facts(view, trial, style);
            match found.iter_mut().find(|(_, known)| *known == facts) {
                Some((numbers, _)) => numbers.push(trial_number(trial.record)),
                None => found.push((vec![trial_number(trial.record)], facts)),
            }
        }
        let more: usize = found
            .iter()
            .skip(MAX_EVIDENCE)
            .map(|(numbers, _)| numbers.len())
            .sum();
        let mut shown: Vec<(String, Vec<String>)> = found
            .into_iter()
            .take(MAX_EVIDENCE)
            .filter(|(_, facts)| !facts.is_empty())
            .map(|(numbers, facts)| (trials_label(&numbers, style), facts))
            .collect();
        if more > 0 {
            let trials = if more == 1 { "trial" } else { "trials" };
            shown.push((
                String::new(),
                vec![format!("and {more} more {trials} with other evidence")],
            ));
        }
        shown
    }

    fn facts(&self, view: &View<'_>, trial: &Trial<'_>, style: &Style) -> Vec<String> {
        let record = trial.record;
        let row = match (self.stop, &record.error) {
            (Stop::At(..), _) => trial.first_failed(),
            (Stop::Nowhere(..), Some(error)) => return vec![evidence::of_error(error)],
            (Stop::Nowhere(..), None) => trial.first_unmeasured(),
        };
        let trace = view.input.traces.get(&record.id);
        row.map(|row| evidence::of_row(record, row, trace, style))
            .unwrap_or_default()
    }

    /// Returns the command that shows the first of the group's trials.
    pub(crate) fn look(&self, view: &View<'_>) -> String {
        let trial = self.trials[0].record;
        let mut command = format!(
            "strandline show {} --case {} --trial {}",
            view.input.run_reference,
            trial.case_id,
            trial_number(trial)
        );
        let siblings = view
            .rows
            .iter()
            .filter(|row| row.plan.case_id == trial.case_id);
        if let Some(variant) = trial.variant.as_ref().filter(|_| siblings.count() > 1) {
            command.push_str(" --model ");
            command.push_str(&shell_word(&super::model_name(variant)));
        }
        command
    }
}

/// Returns a word as a shell reads it back.
fn shell_word(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./:@".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns "trial 2" or "trials 1–4, 7".
fn trials_label(numbers: &[u32], style: &Style) -> String {
    match numbers {
        [number] => format!("trial {number}"),
        numbers => format!("trials {}", ranges(numbers, style.mark("–", "-"))),
    }
}
