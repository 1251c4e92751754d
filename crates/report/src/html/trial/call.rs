//! A tool call with its arguments, beside what the case requires of it.

use maud::{Markup, html};
use serde_json::Value;
use strandline_contract::{
    assertion::{ArgumentMismatch, PromptSummary},
    transcript::ToolCall,
};

use crate::{diff::differences, html::text};

/// Differences shown of one call; the rest is counted.
const MAX_DIFFERENCES: usize = 40;

/// Returns what a turn required and what did not fit, as far as no call of the
/// timeline shows it.
pub(super) fn turn(summary: &PromptSummary, is_shown: impl Fn(&str, &Value) -> bool) -> Markup {
    let unshown = summary
        .argument_mismatches
        .iter()
        .filter(|mismatch| !is_shown(&mismatch.tool_name, &mismatch.actual_args));
    html! {
        @for wanted in &summary.missing {
            div.expectation.is-failed { "required and never made: " (named(wanted)) }
        }
        @for made in summary.unexpected.iter()
            .filter(|made| !is_shown(&made.tool_name, &made.arguments)) {
            div.expectation.is-failed { "made and not allowed: " (named(made)) }
        }
        @for mismatch in unshown {
            div.expectation.is-failed {
                "made with other arguments than required: " (tool(&mismatch.tool_name))
                (difference(mismatch))
            }
        }
    }
}

/// Returns a call that the model asks for, with what the case says of it.
pub(super) fn asked(
    name: &str,
    arguments: &Value,
    raw: Option<&str>,
    summary: Option<&PromptSummary>,
) -> Markup {
    let mismatch = summary.and_then(|summary| {
        let mut found = summary.argument_mismatches.iter();
        found.find(|mismatch| mismatch.tool_name == name && mismatch.actual_args == *arguments)
    });
    let stray = summary.is_some_and(|summary| {
        let mut found = summary.unexpected.iter();
        found.any(|made| made.tool_name == name && made.arguments == *arguments)
    });
    html! {
        div.call { (tool(name)) }
        @match raw {
            None => (text::json(arguments)),
            Some(raw) => {
                p.ink-unsure { "with arguments that are no JSON object" }
                (text::folded(raw))
            }
        }
        @if stray { div.expectation.is-failed { "the case does not allow this call" } }
        @if let Some(mismatch) = mismatch { (difference(mismatch)) }
    }
}

fn tool(name: &str) -> Markup {
    html! { code.tool { (text::name(name)) } }
}

fn named(call: &ToolCall) -> Markup {
    html! { (tool(&call.tool_name)) (text::json(&call.arguments)) }
}

/// Returns where arguments differ from what the case requires.
fn difference(mismatch: &ArgumentMismatch) -> Markup {
    let found = differences(&mismatch.expected_args, &mismatch.actual_args);
    let side = |side: Option<&String>| {
        html! {
            @match side {
                Some(value) => code { bdi { (value) } },
                None => span.quiet-text { "nothing" },
            }
        }
    };
    html! {
        table.difference {
            caption { "where the arguments differ from what the case requires" }
            thead {
                tr {
                    th scope="col" { "argument" }
                    th scope="col" { "required" }
                    th scope="col" { "got" }
                }
            }
            tbody {
                @for difference in found.iter().take(MAX_DIFFERENCES) {
                    tr {
                        th scope="row" {
                            @if difference.path.is_empty() { "all arguments" }
                            @else { code { bdi { (difference.path) } } }
                        }
                        td.required { (side(difference.expected.as_ref())) }
                        td.got { (side(difference.got.as_ref())) }
                    }
                }
            }
        }
        @if found.len() > MAX_DIFFERENCES {
            p.quiet-text { "and " (found.len() - MAX_DIFFERENCES) " more differences" }
        }
    }
}
