//! The verdict with its reasons, and what would lift a withheld one.

use strandline_contract::{
    rate::quotient,
    run::TrialRecord,
    verdict::{Coverage, Decision, Validity},
    words::{DecisionReason, MeasurementUnit, RefusalCode, SummaryVerdict, Verdict, Vocabulary},
};
use strandline_derive::verdict::case_passes_needed;

use super::{MAX_NAME, View};
use crate::{
    escape, glyphs,
    layout::{flow, hanging, width},
    style::{Ink, Style},
    words::{counted, duration, percent},
};

/// Column under which reasons stand.
const HANG: usize = 11;
/// Case names listed for one reason.
const NAMES: usize = 3;

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let mut lines = headline(view, view.summary.verdict, style);
    for Said { text, deeper } in reasons(view) {
        let indent = if deeper { HANG + 2 } else { HANG };
        lines.extend(hanging("", &text, 0, indent, style.columns()));
    }
    lines
}

/// One sentence below a verdict.
pub(crate) struct Said {
    /// The sentence.
    pub(crate) text: String,
    /// It explains the one before.
    pub(crate) deeper: bool,
}

/// Returns why the run was decided so, or why it was not.
pub(crate) fn reasons(view: &View<'_>) -> Vec<Said> {
    let run = view.input.run;
    let mut lines = Vec::new();
    let mut say = |text: &str, deeper: bool| {
        lines.push(Said {
            text: text.to_owned(),
            deeper,
        });
    };
    if let Some(decision) = &view.summary.decision {
        for reason in &decision.reasons {
            match withheld(view, decision, *reason) {
                None => say(reason.label(), false),
                Some((measured, lifted)) => {
                    say(&format!("{}: {measured}", reason.label()), false);
                    say(&format!("what would satisfy it: {lifted}"), true);
                }
            }
        }
    }
    if let Some(undecided) = &view.summary.undecided {
        say(undecided.reason.label(), false);
        if let Some(detail) = &undecided.detail {
            say(&escape::line(detail, 500), true);
        }
        say(
            "the absence of a verdict is neither a failure nor a regression",
            false,
        );
    }
    if let Some(error) = run.error.as_deref().filter(|text| !text.is_empty()) {
        say(&run_error(view, error), false);
    }
    if run.scripted {
        say(
            "scripted: the suite names every turn of the model, so this run says how the \
             server and the checks behave and nothing about a model",
            false,
        );
    }
    lines
}

/// Returns why the run ended early. What its trials say in full, as the evidence
/// that they are, is only named here.
fn run_error(view: &View<'_>, error: &str) -> String {
    let named = error.split_once(": ").and_then(|(code, message)| {
        let refusal = RefusalCode::from_wire(code)?;
        let told = |trial: &TrialRecord| {
            let own = trial.error.as_ref();
            own.is_some_and(|own| own.code == code && own.message == message)
        };
        view.input.trials.iter().any(told).then_some(refusal)
    });
    match named {
        Some(refusal) => format!("{} ({refusal})", refusal.label()),
        None => escape::line(error, 500),
    }
}

/// Returns the verdict's own line, wrapped when the terminal is narrow.
fn headline(view: &View<'_>, verdict: SummaryVerdict, style: &Style) -> Vec<String> {
    let run = view.input.run;
    let word = verdict.label().to_uppercase();
    let mut facts = vec![escape::line(&run.suite_name, MAX_NAME)];
    if let Some(decision) = &view.summary.decision {
        facts.push(case_count(decision));
    }
    facts.push(format!("run {}", view.input.run_reference));
    if let Some(ended_at) = run.ended_at {
        facts.push(duration(ended_at - run.started_at));
    }
    let mark = glyphs::verdict(verdict);
    let badge = format!(" {} {word}", mark.text(style));
    let indent = width(&badge).saturating_add(2).max(HANG);
    let dot = format!(" {} ", style.dot());
    let painted = style.paint(mark.ink, style.paint(Ink::Strong, badge.trim_start()));
    let room = style.columns().saturating_sub(indent);
    if room < 30 {
        // A long badge stands alone on a narrow terminal.
        let mut lines = vec![format!(" {painted}")];
        let facts = flow(&facts, &dot, style.columns() - HANG);
        lines.extend(
            facts
                .iter()
                .map(|line| format!("{}{line}", " ".repeat(HANG))),
        );
        return lines;
    }
    let mut wrapped = flow(&facts, &dot, room).into_iter();
    let gap = " ".repeat(indent - width(&badge));
    let mut lines = vec![format!(
        " {painted}{gap}{}",
        wrapped.next().unwrap_or_default()
    )];
    lines.extend(wrapped.map(|line| format!("{}{line}", " ".repeat(indent))));
    lines
}

/// Returns "3 of 5 case variants passed".
pub(crate) fn case_count(decision: &Decision) -> String {
    let total = decision.cases.len() as u64;
    let count = |verdict| {
        let rows = decision.cases.iter().filter(|row| row.verdict == verdict);
        rows.count()
    };
    let unit = MeasurementUnit::CaseVariant.words(total);
    let text = format!("{} of {total} {unit} passed", count(Verdict::Passed));
    match count(Verdict::Inconclusive) {
        0 => text,
        inconclusive => format!("{text}, {inconclusive} inconclusive"),
    }
}

/// Returns what was measured for a validity reason, and what would satisfy it.
fn withheld(
    view: &View<'_>,
    decision: &Decision,
    reason: DecisionReason,
) -> Option<(String, String)> {
    let Validity {
        policy,
        configured_trials: configured,
        attempted_trials: attempted,
        eligible_trials: eligible,
        completion_rate,
        evaluator_error_rate,
        ..
    } = &decision.validity;
    let reference = view.input.run_reference;
    Some(match reason {
        DecisionReason::ConfiguredTrialsNotAttempted => (
            format!("{attempted} of {configured} configured trials attempted"),
            format!(
                "attempt the rest (`strandline run --resume {reference}`), or name the least \
                 number of gradeable trials in `validity.minEligibleTrials`"
            ),
        ),
        DecisionReason::NoGradeableTrials => (
            format!("0 of {attempted} attempted trials gradeable"),
            "at least 1 gradeable trial".to_owned(),
        ),
        DecisionReason::EligibleTrialsBelowMinimum => {
            let least = match policy.coverage {
                Coverage::MinEligibleTrials(least) => least,
                Coverage::AllConfiguredTrialsAttempted => 1,
            };
            (
                format!("{eligible} of {attempted} attempted trials gradeable"),
                format!(
                    "at least {}",
                    counted(least, "gradeable trial", "gradeable trials")
                ),
            )
        }
        DecisionReason::CompletionRateBelowMinimum => {
            let floor = policy.min_completion_rate;
            (
                format!(
                    "{} of {attempted} attempted trials completed ({}, floor {})",
                    completion_rate.numerator(),
                    percent(completion_rate.value().unwrap_or(0.0)),
                    percent(floor)
                ),
                format!(
                    "at least {} of {attempted} attempted trials completed",
                    needed(*attempted, floor)
                ),
            )
        }
        DecisionReason::EvaluatorErrorRateAboveMaximum => {
            let ceiling = policy.max_evaluator_error_rate;
            (
                format!(
                    "{} of {attempted} attempted trials lost to the evaluator ({}, limit {})",
                    evaluator_error_rate.numerator(),
                    percent(evaluator_error_rate.value().unwrap_or(0.0)),
                    percent(ceiling)
                ),
                format!(
                    "at most {} of {attempted} attempted trials lost to the evaluator",
                    tolerated(*attempted, ceiling)
                ),
            )
        }
        DecisionReason::CompletionRateNotMeasured
        | DecisionReason::EvaluatorErrorRateNotMeasured => (
            format!("0 of {configured} configured trials attempted"),
            "at least 1 attempted trial".to_owned(),
        ),
        DecisionReason::CaseHasNoEligibleTrials => {
            let empty: Vec<&str> = view
                .rows
                .iter()
                .filter(|row| {
                    let decided = row.decided.as_ref();
                    decided.is_some_and(|decided| decided.eligible_trials == 0)
                })
                .map(|row| row.name.as_str())
                .collect();
            let mut names = empty[..empty.len().min(NAMES)].join("; ");
            if empty.len() > NAMES {
                names = format!("{names}; and {} more", empty.len() - NAMES);
            }
            (
                format!("0 gradeable trials in: {names}"),
                "at least 1 gradeable trial in every case variant".to_owned(),
            )
        }
        DecisionReason::CasePassRateMetThreshold
        | DecisionReason::CasePassRateBelowThreshold
        | DecisionReason::AllMeasuredCasesMetThreshold => return None,
    })
}

/// Returns the least part of `total` whose fraction reaches `floor`.
fn needed(total: u64, floor: f64) -> u64 {
    case_passes_needed(total as f64, floor)
}

/// Returns the greatest part of `total` whose fraction stays within `ceiling`.
fn tolerated(total: u64, ceiling: f64) -> u64 {
    (0..=total)
        .rev()
        .find(|part| quotient(*part, total) <= ceiling)
        .unwrap_or(0)
}
