//! Markdown for a pull-request comment or a step summary.
//!
//! The story in its order: decided, measured, the table, then a section for
//! each group of trials that did not pass, closed until it is opened, with the
//! trace of its first trial. What does not fit is left out from the end, traces
//! first, and counted.

use std::fmt::Write;

use strandline_contract::words::{Stage, Vocabulary};

use super::PLAIN;
use crate::{
    escape, glyphs,
    style::Style,
    terminal::{
        MAX_NAME, Row, RunInput, View,
        cases::{interval, needs, share},
        failures::{Group, groups},
        headline::reasons,
        measured, rollup,
        trial::{Detail, FramesKept, RawFrames, TrialInput, trial_report},
    },
};

/// Longest text that a comment on GitHub may have, with some room for a frame.
pub const COMMENT_LIMIT: usize = 64_000;
/// Width of a trace.
const TRACE: Style = Style::plain(100);
/// Rows of the table.
const MAX_ROWS: usize = 100;

/// Returns a run as Markdown of at most `limit` bytes.
#[must_use]
pub fn report(input: &RunInput<'_>, limit: usize) -> String {
    let view = View::new(input);
    let mut text = head(&view);
    text.push_str(&table(&view));
    let groups = groups(&view);
    let sections: Vec<Section> = groups
        .iter()
        .map(|group| Section::new(&view, group))
        .collect();
    text.push_str(&fitted(&sections, limit.saturating_sub(text.len()), &view));
    text
}

/// One group of trials: its story, and the trace of its first trial.
struct Section {
    story: String,
    trace: Option<String>,
}

/// Returns as many sections as fit, the traces of the first ones with them.
fn fitted(sections: &[Section], room: usize, view: &View<'_>) -> String {
    const CLOSE: &str = "\n</details>\n\n";
    let note = |sections: usize, traces: usize| {
        let mut parts = Vec::new();
        if sections > 0 {
            parts.push(format!("{sections} more groups of trials"));
        }
        if traces > 0 {
            parts.push(format!("{traces} traces"));
        }
        format!(
            "_Left out for length: {}. `strandline show {}` has everything._\n",
            parts.join(" and "),
            view.input.run_reference
        )
    };
    let room = room.saturating_sub(note(sections.len(), sections.len()).len());
    let stories: Vec<&Section> = sections
        .iter()
        .scan(0_usize, |used, section| {
            *used += section.story.len() + CLOSE.len();
            (*used <= room).then_some(section)
        })
        .collect();
    let mut free = room.saturating_sub(
        stories
            .iter()
            .map(|section| section.story.len() + CLOSE.len())
            .sum(),
    );
    let mut text = String::new();
    let mut traces = 0;
    for section in &stories {
        text.push_str(&section.story);
        match &section.trace {
            Some(trace) if trace.len() <= free => {
                free -= trace.len();
                text.push_str(trace);
            }
            Some(_) => traces += 1,
            None => {}
        }
        text.push_str(CLOSE);
    }
    let hidden = sections.len() - stories.len();
    if hidden > 0 || traces > 0 {
        text.push_str(&note(hidden, traces));
    }
    text
}

fn head(view: &View<'_>) -> String {
    let verdict = view.summary.verdict;
    let mark = glyphs::verdict(verdict).unicode;
    let mut text = format!(
        "### {mark} {}: {}\n\n",
        verdict.label().to_uppercase(),
        inline(&escape::line(&view.input.run.suite_name, MAX_NAME))
    );
    for said in reasons(view) {
        let indent = if said.deeper { "  " } else { "" };
        let _ = writeln!(text, "{indent}- {}", inline(&said.text));
    }
    let measured: Vec<String> = measured::facts(view);
    let _ = write!(
        text,
        "\n**measured** {} · run `{}`\n\n",
        inline(&measured.join(" · ")),
        view.input.run_reference
    );
    text
}

fn table(view: &View<'_>) -> String {
    let stages: Vec<&str> = Stage::ALL.iter().map(|stage| stage.label()).collect();
    let mut text = format!(
        "| | case | {} | passed | needs |\n|---|---|{}---:|---:|\n",
        stages.join(" | "),
        ":-:|".repeat(stages.len())
    );
    for row in view.rows.iter().take(MAX_ROWS) {
        text.push_str(&table_row(row));
    }
    if let Some(hidden) = view
        .rows
        .len()
        .checked_sub(MAX_ROWS)
        .filter(|more| *more > 0)
    {
        let _ = write!(text, "\n_{hidden} more case variants._\n");
    }
    text.push_str(
        "\n● passed · ✖ failed · ○ never ran · ◌ not measured · – not applicable; \
         a number: that many of the case's trials\n\n",
    );
    text
}

fn table_row(row: &Row<'_>) -> String {
    let mark = row.decided.as_ref().map_or("○", |decided| {
        glyphs::case_verdict(decided.verdict).unicode
    });
    let cells: Vec<String> = rollup::strip(&row.trials)
        .into_iter()
        .map(|cell| {
            cell.map_or(String::new(), |cell| {
                let count = cell.part().map_or(String::new(), |part| part.to_string());
                format!("{}{count}", glyphs::state(cell.state).unicode)
            })
        })
        .collect();
    let interval = interval(row, &PLAIN).map_or(String::new(), |text| format!(" {text}"));
    format!(
        "| {mark} | {} | {} | {}{interval} | {} |\n",
        inline(&row.name),
        cells.join(" | "),
        share(row),
        needs(row)
    )
}

impl Section {
    fn new(view: &View<'_>, group: &Group<'_>) -> Self {
        let mark = group.row.decided.as_ref().map_or("○", |decided| {
            glyphs::case_verdict(decided.verdict).unicode
        });
        let mut story = format!(
            "<details>\n<summary>{mark} <b>{}</b> · {}</summary>\n\n",
            html(&group.row.name),
            html(&group.what())
        );
        if let Some(reason) = group.reason() {
            let category = group
                .category
                .map_or(String::new(), |word| format!(" ({})", word.label()));
            let _ = write!(story, "because {}{category}\n\n", reason.label());
        }
        let mut lines = Vec::new();
        for (trials, facts) in group.evidence(view, &PLAIN) {
            lines.extend(facts.into_iter().map(|fact| format!("{trials}  {fact}")));
        }
        if !lines.is_empty() {
            story.push_str(&fenced(&lines.join("\n")));
        }
        if let Some(next) = group.next() {
            let _ = write!(story, "**next** {next}\n\n");
        }
        let _ = writeln!(story, "**look** `{}`", group.look(view));
        Self {
            story,
            trace: trace(view, group),
        }
    }
}

/// Returns the first trial's page, if its trace is at hand.
fn trace(view: &View<'_>, group: &Group<'_>) -> Option<String> {
    let record = group.trials.first()?.record;
    let trace = view.input.traces.get(&record.id)?;
    let page = trial_report(
        &TrialInput {
            run: view.input.run,
            run_reference: view.input.run_reference,
            trial: record,
            trace: Some(trace),
            frames: FramesKept::InTrace,
            judge_passes: &[],
        },
        Detail::Brief,
        RawFrames::Counted,
        &TRACE,
    );
    Some(format!(
        "\n<details>\n<summary>trace of trial {}</summary>\n\n{}</details>\n",
        crate::terminal::trial_number(record),
        fenced(&page)
    ))
}

/// Returns text in a code block that nothing inside can close.
fn fenced(text: &str) -> String {
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{text}\n{fence}\n\n")
}

/// Escapes text for HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', "&#64;")
}

/// Escapes text for a line of Markdown or a cell of a table: it keeps its words
/// and gets no structure, no link and no mention.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in html(text).chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$'
        ) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_block_cannot_be_closed_from_inside() {
        assert_eq!(fenced("a"), "```text\na\n```\n\n");
        assert_eq!(fenced("````\n"), "`````text\n````\n\n`````\n\n");
    }

    #[test]
    fn titles_get_no_structure() {
        assert_eq!(
            inline("<img onerror=x> | [a](b) @team *b*"),
            r"&lt;img onerror=x&gt; \| \[a\](b) &#64;team \*b\*"
        );
    }
}
