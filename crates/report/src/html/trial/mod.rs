//! The page of a trial: what is known about each stage and on what evidence,
//! beside everything that happened in order of time.

mod call;
mod cards;
mod frames;
mod timeline;

use maud::{Markup, html};
use strandline_contract::{
    run::TrialRecord,
    words::{TaskResult, Vocabulary},
};
use strandline_derive::decision::derive_next_action;

pub use self::frames::list as frame_list;
use super::{Links, mark, term, text};
use crate::{
    escape,
    friction::trial_lines,
    glyphs,
    terminal::{
        Trial, evidence,
        trial::{Detail, TrialInput, checks, judges, outcome},
        trial_number,
    },
};

/// A stored trial as its page shows it.
#[derive(Debug, Clone, Copy)]
pub struct TrialPage<'a> {
    /// The trial with its run, its trace and what judges said.
    pub input: TrialInput<'a>,
    /// The id of the trial before it, of the same case variant.
    pub previous: Option<&'a str>,
    /// The id of the trial after it, of the same case variant.
    pub next: Option<&'a str>,
}

/// Returns what the page is called.
#[must_use]
pub fn title(page: &TrialPage<'_>) -> String {
    let trial = page.input.trial;
    format!(
        "{} · trial {}",
        escape::line(&trial.title, text::MAX_NAME),
        trial_number(trial)
    )
}

/// Returns what the page says.
#[must_use]
pub fn trial(links: &dyn Links, page: &TrialPage<'_>) -> Markup {
    let input = &page.input;
    let trial = Trial::new(input.trial);
    let told = timeline::Told::of(input, &trial);
    html! {
        (crumbs(links, page))
        (headline(links, input, &trial))
        div.trial {
            div.trial-side {
                section aria-label="The six stages" { (cards::cards(links, input, &trial, &told)) }
            }
            div.trial-main {
                (checks(input.trial))
                (judged(input.trial, input))
                (friction(input.trial))
                (timeline::section(links, input, &told))
                (frames::section(links, input))
            }
        }
        (elsewhere(links, input))
    }
}

fn crumbs(links: &dyn Links, page: &TrialPage<'_>) -> Markup {
    let input = &page.input;
    let (run, trial) = (input.run, input.trial);
    html! {
        div.crumbs {
            @if let Some(href) = links.runs() { a href=(href) { "Runs" } span { "/" } }
            a href=(links.run(&run.id)) {
                (text::name(&run.suite_name)) " " span.id { (input.run_reference) }
            }
            span { "/" }
            @match links.case(&run.id, &trial.case_id, trial.variant.as_ref()) {
                Some(href) => a href=(href) { (text::name(&trial.title)) },
                None => (text::name(&trial.title)),
            }
            span { "/" }
            span { "trial " (trial_number(trial)) (outcome::configured(input)) }
            span.neighbours {
                @if let Some(id) = page.previous {
                    a rel="prev" href=(links.trial(&run.id, id)) { "← previous trial" }
                }
                @if let Some(id) = page.next {
                    a rel="next" href=(links.trial(&run.id, id)) { "next trial →" }
                }
            }
        }
    }
}

/// Returns how the trial ended, and what to look at next.
fn headline(links: &dyn Links, input: &TrialInput<'_>, trial: &Trial<'_>) -> Markup {
    let record = input.trial;
    let (shown, word) = outcome::ending(record);
    let class = match (record.result, shown == glyphs::result(None)) {
        (Some(TaskResult::Passed), false) => "is-passed",
        (Some(TaskResult::Failed), false) => "is-failed",
        _ => "is-inconclusive",
    };
    let facts = outcome::facts(input);
    let category = trial
        .chain
        .verified()
        .and_then(|chain| chain.failure_category);
    let passed = record.result == Some(TaskResult::Passed) && !record.evaluator_error;
    html! {
        header.verdict.(class) {
            h1 {
                (mark::badge(shown, html! { span.word { (word) } }))
                span.subject { (text::name(&record.title)) }
            }
            // The title is said above.
            p.counts { bdi { (text::facts(facts.get(1..).unwrap_or_default())) } }
            ul.reasons {
                @if let Some(error) = &record.error {
                    li { bdi { (evidence::of_error(error)) } }
                }
                @if input.run.scripted {
                    li { "scripted: the suite names every turn of the model" }
                }
            }
            @if !passed {
                dl.facts {
                    @if let Some(category) = category {
                        dt { "category" }
                        dd {
                            (term::term(links, category))
                            " " span.quiet-text { "(a bucket, not a cause)" }
                        }
                    }
                    dt { "next" }
                    dd { (term::term(links, derive_next_action(&trial.chain, record.result))) }
                }
            }
        }
    }
}

/// Returns the assertion rows, what was blocked and what never ran.
fn checks(trial: &TrialRecord) -> Markup {
    let rows = checks::rows(trial);
    let blocked = &trial.policy_blocks;
    html! {
        @if let Some(held) = checks::held(trial, &rows) {
            section {
                h2 { "Checks" }
                p.quiet-text { (held) }
                ul.plain-list.checks {
                    @for row in &rows {
                        li.(mark::state_class(checks::state(row))) {
                            (mark::state(checks::state(row)))
                            span.aloud { (checks::state(row).label()) ": " }
                            bdi { (checks::words(row, Detail::Brief)) }
                        }
                    }
                }
            }
        }
        @if !blocked.is_empty() || !trial.skipped_steps.is_empty() {
            section {
                h2 { "Never happened" }
                ul.plain-list {
                    @for block in blocked {
                        li { bdi { (checks::blocked(block, Detail::Brief)) } }
                    }
                    @for step in &trial.skipped_steps { li { bdi { (checks::never_ran(step)) } } }
                }
            }
        }
    }
}

/// Returns what LLM judges say, advisory and required told apart.
fn judged(trial: &TrialRecord, input: &TrialInput<'_>) -> Markup {
    let said = judges::said(trial, input.judge_passes, Detail::Full);
    html! {
        @if !said.is_empty() {
            section {
                h2 { "LLM judges" }
                ul.plain-list.judged {
                    @for said in &said {
                        li.quiet-text[said.quiet] {
                            @if let Some(state) = said.mark {
                                (mark::state(state)) span.aloud { (state.label()) ": " }
                            }
                            @if said.label == "suspected" { "suspected: " }
                            bdi { (text::facts(&said.facts)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what the calls show about avoidable work; never a verdict.
fn friction(trial: &TrialRecord) -> Markup {
    let lines = trial_lines(trial);
    html! {
        @if !lines.is_empty() {
            section {
                h2 { "Friction" }
                ul.plain-list.friction { @for line in lines { li { bdi { (line) } } } }
                p.quiet-text.small { "A signal says what calls show, never a verdict." }
            }
        }
    }
}

fn elsewhere(links: &dyn Links, input: &TrialInput<'_>) -> Markup {
    html! {
        footer.elsewhere {
            @if let Some(href) = links.trial_json(&input.run.id, &input.trial.id) {
                ul.plain-list { li { a href=(href) { "The trial as JSON" } } }
            }
            p.quiet-text {
                "Trial " code { (escape::line(&input.trial.id, text::MAX_NAME)) }
            }
        }
    }
}
