//! The funnel of one run as a person reads it: per stage, how many trials got
//! there, how many of these were measured, and how many of those passed.
//!
//! Every rate stands beside what it is out of, and coverage beside every pass
//! rate. What is left out is named. A funnel says where trials stopped; it
//! never says why the server made them stop.

pub(crate) mod table;

use strandline_contract::{
    analytics::{Slice, SliceRow, StageAnalytics},
    measurements::SetupTally,
    redact::redact_text,
    words::{
        ExclusionDetail, FunnelAbsence, MaterializationState, MeasurementUnit, SliceDimension,
        Vocabulary,
    },
};
use strandline_derive::analytics::latency_mean_ms;

use self::table::{Table, WITH_BAR, listed, milliseconds};
use super::MAX_NAME;
use crate::{
    escape,
    layout::{flow, hanging, left, wrap},
    style::{Ink, Style},
    words::counted,
};

/// Column under which the headline's facts stand.
const HANG: usize = 10;

/// A run's funnel with what names the run.
#[derive(Debug, Clone, Copy)]
pub struct FunnelInput<'a> {
    /// The funnel.
    pub funnel: &'a StageAnalytics,
    /// The suite's name.
    pub suite_name: &'a str,
    /// What `strandline show` is given to find the run again.
    pub run_reference: &'a str,
    /// Every model turn was written by the suite.
    pub scripted: bool,
}

/// Returns the funnel of all trials, or one per slice of a dimension, without
/// a trailing line break.
#[must_use]
pub fn funnel_report(input: &FunnelInput<'_>, by: SliceDimension, style: &Style) -> String {
    let mut sections = vec![headline(input, style)];
    let rows: Vec<&SliceRow> = input.funnel.slices_of(by).collect();
    if rows.is_empty() {
        sections.push(wrapped(&nothing_to_group(by), style));
    }
    for row in &rows {
        sections.push(slice(row, style));
    }
    if by == SliceDimension::Overall {
        sections.push(setup(&input.funnel.setup, style));
    } else {
        sections.push(truncation(input.funnel, by, style));
    }
    if !rows.is_empty() {
        sections.push(legend(style));
    }
    let texts: Vec<String> = sections
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    texts.join("\n\n")
}

/// Returns why there is no funnel of a run; never a funnel of zeros.
#[must_use]
pub fn absence_report(
    absence: FunnelAbsence,
    detail: Option<&str>,
    run_reference: &str,
    style: &Style,
) -> String {
    let mut lines = vec![format!(
        " {}  run {run_reference}: {}",
        style.paint(Ink::Quiet, style.paint(Ink::Strong, "NO FUNNEL")),
        absence.label()
    )];
    let mut say = |text: &str| lines.extend(hanging("", text, 1, 12, style.columns()));
    for text in absence_says(absence, detail) {
        say(&text);
    }
    say(match absence {
        FunnelAbsence::NotYet => "if its process is gone, `strandline run --resume` ends it",
        FunnelAbsence::NotRecorded => {
            "its trials and its decision are there: `strandline show` tells them"
        }
        FunnelAbsence::Withheld => {
            "a bug to chase: the run's trials and its decision are untouched, `strandline show` \
             tells them"
        }
    });
    lines.join("\n")
}

/// Returns what the absence of a funnel says.
pub(crate) fn absence_says(absence: FunnelAbsence, detail: Option<&str>) -> Vec<String> {
    let mut says = vec![absence.entry().meaning.to_owned()];
    says.extend(detail.map(|detail| format!("it says: {}", escape::line(detail, 400))));
    says
}

fn headline(input: &FunnelInput<'_>, style: &Style) -> Vec<String> {
    let funnel = input.funnel;
    let badge = style.paint(Ink::Strong, "FUNNEL");
    let dot = format!(" {} ", style.dot());
    let room = style.columns().saturating_sub(HANG);
    let mut facts = vec![
        name(input.suite_name),
        format!("run {}", input.run_reference),
        funnel.materialization_state.label().to_owned(),
    ];
    if input.scripted {
        facts.push("scripted model".to_owned());
    }
    let mut lines: Vec<String> = flow(&facts, &dot, room)
        .into_iter()
        .map(|line| format!("{}{line}", " ".repeat(HANG)))
        .collect();
    if let Some(first) = lines.first_mut() {
        *first = format!(" {}{}", left(&badge, HANG - 1), first.trim_start());
    }
    for text in counted_and_left_out(funnel) {
        lines.extend(hanging("", &text, 0, HANG, style.columns()));
    }
    lines
}

/// Returns how many trials a funnel counts, what it leaves out, and what keeps
/// it from being final or comparable.
pub(crate) fn counted_and_left_out(funnel: &StageAnalytics) -> Vec<String> {
    let mut says = Vec::new();
    let mut say = |text: &str| says.push(text.to_owned());
    let unit = MeasurementUnit::Trial.words(funnel.total_trials);
    say(&format!(
        "{} of {} {unit} counted",
        funnel.included_trials, funnel.total_trials
    ));
    for (class, count) in listed(&funnel.excluded_trials) {
        let details: Vec<String> = funnel
            .excluded_trial_detail
            .iter()
            .filter(|(detail, count)| detail.class() == class && **count > 0)
            .map(|(detail, count): (&ExclusionDetail, &u64)| format!("{} {count}", detail.label()))
            .collect();
        say(&format!(
            "{count} left out, {}: {}",
            class.label(),
            details.join(", ")
        ));
    }
    if funnel.materialization_state == MaterializationState::Provisional {
        say(MaterializationState::Provisional.entry().meaning);
    }
    for versions in [
        (&funnel.source_stage_analyzer_versions, "analyzer versions"),
        (
            &funnel.source_measurements_schema_versions,
            "measurement schemas",
        ),
    ] {
        if let (Some(mixed), what) = versions {
            let mixed: Vec<String> = mixed.iter().map(ToString::to_string).collect();
            say(&format!(
                "its trials mix {what} {}: it compares with no other funnel",
                mixed.join(", ")
            ));
        }
    }
    says
}

/// Returns one slice: its own line, then its six stages.
fn slice(row: &SliceRow, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(title) = title(&row.slice) {
        let text = format!("{title}: {}", slice_counts(row));
        let text = wrap(&text, style.columns() - 1);
        lines.extend(
            text.iter()
                .map(|line| format!(" {}", style.paint(Ink::Strong, line))),
        );
    }
    lines.extend(Table::new(row, style).lines());
    lines
}

/// Returns how many trials a slice counts and leaves out.
pub(crate) fn slice_counts(row: &SliceRow) -> String {
    let mut text = format!("{} counted", counted_trials(row.included_trials));
    for (class, count) in listed(&row.excluded_trials) {
        text.push_str("; ");
        text.push_str(&format_args!("{count} left out, {}", class.label()).to_string());
    }
    text
}

/// Returns what a slice is about; nothing for all trials.
pub(crate) fn title(slice: &Slice) -> Option<String> {
    Some(match slice {
        Slice::Overall {} => return None,
        Slice::Intent { intent: None } => "cases without an intent".to_owned(),
        Slice::Intent {
            intent: Some(intent),
        } => format!("intent {}", quoted(intent)),
        Slice::Model { provider, model } => format!("model {}/{}", name(provider), name(model)),
        Slice::Host {
            host_key,
            host_name,
            execution_engine,
        } => {
            let host = name(host_name.as_ref().unwrap_or(host_key));
            let engine = execution_engine.as_deref().map(name);
            let engine = engine.unwrap_or_else(|| "not recorded".to_owned());
            format!("host {host}, engine {engine}")
        }
    })
}

/// Returns what happened before any trial, told once a run.
fn setup(tallies: &[SetupTally], style: &Style) -> Vec<String> {
    super::labelled("setup", &setup_says(tallies), HANG, style)
}

/// Returns one text per setup phase.
pub(crate) fn setup_says(tallies: &[SetupTally]) -> Vec<String> {
    tallies
        .iter()
        .map(|tally| {
            let mut facts = vec![match tally.failed_attempts {
                0 => "went well".to_owned(),
                _ => format!("failed, {} touched", counted_trials(tally.impacted_trials)),
            }];
            if tally.failed_attempts > 0 {
                facts.push(
                    match tally.server_attributed_failures {
                        0 => "not attributed to the server",
                        _ => "attributed to the server",
                    }
                    .to_owned(),
                );
            }
            facts.extend(
                latency_mean_ms(tally.latency.as_ref())
                    .map(|wall| format!("{} wall time", milliseconds(wall))),
            );
            format!("{}: {}", tally.phase.label(), facts.join(", "))
        })
        .collect()
}

fn truncation(funnel: &StageAnalytics, by: SliceDimension, style: &Style) -> Vec<String> {
    match dropped_slices(funnel, by) {
        None => Vec::new(),
        Some(text) => wrapped(&text, style),
    }
}

/// Returns how many slices of a dimension are kept, when some are not.
pub(crate) fn dropped_slices(funnel: &StageAnalytics, by: SliceDimension) -> Option<String> {
    let dropped = funnel
        .slice_truncation
        .iter()
        .flatten()
        .find(|truncation| truncation.dimension == by)?;
    Some(format!(
        "{} of {} {} slices are kept: those with the most counted trials",
        dropped.retained,
        dropped.distinct_values,
        by.label()
    ))
}

pub(crate) fn nothing_to_group(by: SliceDimension) -> String {
    match by {
        SliceDimension::Host => "no trial names a host: this run has no slices by host".to_owned(),
        SliceDimension::Model => {
            "no trial ran under a model: this run has no slices by model".to_owned()
        }
        SliceDimension::Overall | SliceDimension::Intent => "this funnel has no slices".to_owned(),
    }
}

/// What the figures of a funnel are out of.
pub(crate) const HOW_TO_READ: &str = "unit: trials. reached: of those of which it is known; \
     measured: of those that reached the stage (coverage); passed: of those measured. A trial is \
     in all six stages, so rows do not add up.";

fn legend(style: &Style) -> Vec<String> {
    let mut text = String::from(HOW_TO_READ);
    if style.columns() >= WITH_BAR {
        let bars = format!(
            " Bars: {} passed, {} failed, {} reached and not measured, {} not reached.",
            style.mark("█", "#"),
            style.mark("▓", "x"),
            style.mark("▒", ":"),
            style.mark("·", "."),
        );
        text.push_str(&bars);
    }
    let lines = wrapped(&text, style);
    lines
        .into_iter()
        .map(|line| style.paint(Ink::Quiet, line))
        .collect()
}

fn counted_trials(count: u64) -> String {
    counted(count, "trial", "trials")
}

fn wrapped(text: &str, style: &Style) -> Vec<String> {
    hanging("", text, 0, 1, style.columns())
}

/// Returns a label in quotes: it may read like one of our own words.
fn quoted(label: &str) -> String {
    format!("`{}`", name(label))
}

/// Returns a foreign name as a safe line, secrets masked.
fn name(text: &str) -> String {
    escape::line(&redact_text(text), MAX_NAME)
}
