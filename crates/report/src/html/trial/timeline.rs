//! Everything that a trace tells, in order of time, on one axis.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    assertion::PromptSummary,
    run::TrialRecord,
    trace::{Part, Span, SpanStatus, Trace},
};

use super::call;
use crate::{
    html::{Links, mark, text},
    style::Ink,
    terminal::{
        Trial,
        trial::{
            Detail, TrialInput,
            entry::{Entry, since, took},
            timeline::{adapted, counts, entries, found},
        },
    },
};

/// Entries shown; the rest is counted.
const MAX_ENTRIES: usize = 3_000;
/// Notes of one kind shown; the rest is counted.
const MAX_NOTES: usize = 60;

/// What the timeline of a trial holds.
pub(super) struct Told<'a> {
    entries: Vec<Entry<'a>>,
    summaries: BTreeMap<u32, PromptSummary>,
    /// Span id → the element that tells it.
    anchors: BTreeMap<&'a str, String>,
    here: bool,
}

/// Returns the id of a turn's heading.
pub(super) fn turn_anchor(turn: u32) -> String {
    format!("turn-{}", u64::from(turn) + 1)
}

fn span_anchor(id: &str) -> String {
    text::anchor("span", id)
}

impl<'a> Told<'a> {
    pub(super) fn of(input: &TrialInput<'a>, trial: &'a Trial<'_>) -> Self {
        let mut entries = input
            .trace
            .map(|trace| entries(input, trial, trace))
            .unwrap_or_default();
        entries.truncate(MAX_ENTRIES);
        let mut anchors: BTreeMap<&str, String> = BTreeMap::new();
        // A step is told by the turn that it opened.
        for span in input.trace.iter().flat_map(|trace| &trace.spans) {
            if let Some(turn) = span.prompt_index {
                anchors.insert(&span.id, turn_anchor(turn));
            }
        }
        for span in entries.iter().filter_map(|entry| entry.span) {
            anchors.insert(&span.id, span_anchor(&span.id));
        }
        let told = Self {
            summaries: summaries(input.trial),
            here: input.trace.is_some(),
            entries,
            anchors: BTreeMap::new(),
        };
        anchors.retain(|_, anchor| {
            !anchor.starts_with("turn-")
                || told.entries.iter().any(|entry| {
                    entry.kind == "turn" && entry.turn.map(turn_anchor).as_ref() == Some(anchor)
                })
        });
        Self { anchors, ..told }
    }

    /// Returns the element that tells a span.
    pub(super) fn anchor_of(&self, span_id: &str) -> Option<String> {
        self.anchors.get(span_id).cloned()
    }

    /// Returns whether a turn has a heading.
    pub(super) fn has_turn(&self, turn: u32) -> bool {
        match self.here {
            true => self
                .entries
                .iter()
                .any(|entry| entry.kind == "turn" && entry.turn == Some(turn)),
            false => self.summaries.contains_key(&turn),
        }
    }

    /// Returns whether the trace is there.
    pub(super) const fn is_here(&self) -> bool {
        self.here
    }

    /// Returns whether an entry of a turn shows this call.
    fn shows(&self, turn: u32, name: &str, made: &Value) -> bool {
        self.entries
            .iter()
            .any(|entry| match (entry.turn, entry.part) {
                (
                    Some(of),
                    Some(Part::ToolCall {
                        tool_name,
                        arguments,
                        ..
                    }),
                ) => of == turn && tool_name == name && arguments == made,
                _ => false,
            })
    }
}

fn summaries(trial: &TrialRecord) -> BTreeMap<u32, PromptSummary> {
    trial
        .prompts
        .iter()
        .filter_map(|turn| PromptSummary::deserialize(turn).ok())
        .map(|turn| (turn.prompt_index, turn))
        .collect()
}

pub(super) fn section(links: &dyn Links, input: &TrialInput<'_>, told: &Told<'_>) -> Markup {
    html! {
        section #timeline {
            h2 { "Timeline" }
            @match input.trace {
                Some(trace) => (timeline(links, input, trace, told)),
                None => {
                    p { "the trace was deleted to save space; the trial's record is whole" }
                    @for (turn, summary) in &told.summaries {
                        div.turn id=(turn_anchor(*turn)) { h3 { "Turn " (u64::from(*turn) + 1) } }
                        (call::turn(summary, |_, _| false))
                    }
                }
            }
        }
    }
}

fn timeline(links: &dyn Links, input: &TrialInput<'_>, trace: &Trace, told: &Told<'_>) -> Markup {
    let began = input.trial.started_at as f64;
    let axis = Axis::of(input.trial, told);
    let all = counts(input, trace);
    html! {
        p.quiet-text { (text::facts(&all)) }
        div.axis {
            span { "0" }
            span { (took(axis.length / 2.0)) }
            span { (took(axis.length)) }
        }
        ol.timeline {
            @for entry in &told.entries {
                @if entry.kind == "turn" { (turn(entry, told)) }
                @else { (shown(entry, told, &axis, began)) }
            }
        }
        ul.legend {
            li { span.swatch.bar-model {} "waiting for the model" }
            li { span.swatch.bar-server {} "waiting for a server" }
            li { span.swatch.bar-bad {} "ended in an error" }
        }
        @if told.entries.len() == MAX_ENTRIES {
            p.quiet-text {
                "The first " (MAX_ENTRIES) " entries. "
                @if let Some(href) = links.trial_json(&input.run.id, &input.trial.id) {
                    a href=(href) { "All of them as JSON" }
                }
            }
        }
        (notes("Adapted on the way", &adapted(trace, Detail::Brief)))
        (notes("Findings about the servers", &found(trace, Detail::Brief)))
    }
}

fn notes(heading: &str, notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            h3.notes-heading { (heading) }
            ul.notes {
                @for note in notes.iter().take(MAX_NOTES) { li { bdi { (note) } } }
                @if notes.len() > MAX_NOTES { li { "and " (notes.len() - MAX_NOTES) " more" } }
            }
        }
    }
}

fn turn(entry: &Entry<'_>, told: &Told<'_>) -> Markup {
    let number = entry.turn.unwrap_or(0);
    html! {
        li.turn id=(turn_anchor(number)) {
            h3 { "Turn " (u64::from(number) + 1) }
            @if let Some(summary) = told.summaries.get(&number) {
                (call::turn(summary, |name, made| told.shows(number, name, made)))
            }
        }
    }
}

fn shown(entry: &Entry<'_>, told: &Told<'_>, axis: &Axis, began: f64) -> Markup {
    let anchor = entry.span.map(|span| span_anchor(&span.id));
    html! {
        li.entry.(kind_class(entry.kind)).is-cited[entry.cited] id=[anchor] data-row {
            div.when {
                @if let Some(at) = entry.at { (since(at)) }
            }
            div.kind.(entry.ink.map_or("", mark::ink_class)) { (entry.kind) }
            div.what {
                @if !entry.facts.is_empty() && !is_plain_call(entry) {
                    p.entry-facts { bdi { (text::facts(&entry.facts)) } }
                }
                @if entry.cited { p.cited { "cited as evidence" } }
                (body(entry, told))
            }
            div.bar { (axis.bar(entry.span, began)) }
        }
    }
}

/// Returns whether the body says all that the facts do.
const fn is_plain_call(entry: &Entry<'_>) -> bool {
    matches!(entry.part, Some(Part::ToolCall { .. }))
}

const fn kind_class(kind: &str) -> &'static str {
    match kind.as_bytes() {
        b"user" => "kind-user",
        b"says" => "kind-says",
        b"asks" => "kind-asks",
        b"answer" | b"blocked" => "kind-answer",
        b"system" => "kind-system",
        _ => "kind-other",
    }
}

fn body(entry: &Entry<'_>, told: &Told<'_>) -> Markup {
    html! {
        @match entry.part {
            Some(Part::Text { text }) => (text::folded(text)),
            Some(Part::ToolCall { tool_name, arguments, raw_arguments, .. }) => {
                (call::asked(
                    tool_name,
                    arguments,
                    raw_arguments.as_deref(),
                    entry.turn.and_then(|turn| told.summaries.get(&turn)),
                ))
            }
            Some(Part::ToolResult { model_text, result, .. }) => {
                @if !model_text.is_empty() { (text::folded(model_text)) }
                @if let Some(result) = result {
                    details.folded { summary { "the raw result" } (text::json(result)) }
                }
            }
            None => {
                @if let Some(text) = &entry.text { (text::folded(text)) }
            }
        }
    }
}

/// The common axis of all bars: from the start of the trial to the last end.
struct Axis {
    /// ms.
    length: f64,
}

/// Width of the drawing of a bar.
const WIDTH: f64 = 1_000.0;

impl Axis {
    fn of(trial: &TrialRecord, told: &Told<'_>) -> Self {
        let began = trial.started_at as f64;
        let ends = told
            .entries
            .iter()
            .filter_map(|entry| Some(entry.span?.ended_at - began));
        let whole = trial.ended_at.saturating_sub(trial.started_at) as f64;
        let length = ends.fold(whole, f64::max);
        Self {
            length: if length.is_finite() && length > 0.0 {
                length
            } else {
                1.0
            },
        }
    }

    /// Returns where on the axis a span lies.
    fn bar(&self, span: Option<&Span>, began: f64) -> Markup {
        let Some(span) = span else {
            return html! {};
        };
        let at = |time: f64| ((time - began) / self.length * WIDTH).clamp(0.0, WIDTH);
        let (start, end) = (at(span.started_at), at(span.ended_at));
        let width = (end - start).max(6.0);
        let start = start.min(WIDTH - width);
        let class = match (span.status, span.category.as_str()) {
            (SpanStatus::Error, _) => "bar-bad",
            (SpanStatus::Ok, "llm") => "bar-model",
            (SpanStatus::Ok, _) => "bar-server",
        };
        let took = took(span.ended_at - span.started_at);
        html! {
            svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=(took) {
                rect.bar-track x="0" y="4" width="1000" height="2" {}
                rect.(class) x={ (format!("{start:.1}")) } y="0" width={ (format!("{width:.1}")) }
                    height="10" rx="2" {}
            }
        }
    }
}

/// Returns entries without the axis, as the list of raw frames has them.
pub(super) fn bare(entries: &[Entry<'_>]) -> Markup {
    html! {
        ol.timeline.bare {
            @for entry in entries {
                li.entry {
                    div.when { @if let Some(at) = entry.at { (since(at)) } }
                    div.kind.(mark::ink_class(entry.ink.unwrap_or(Ink::Quiet))) { (entry.kind) }
                    div.what {
                        p.entry-facts { bdi { (text::facts(&entry.facts)) } }
                        @if let Some(text) = &entry.text { (text::folded(text)) }
                    }
                }
            }
        }
    }
}
