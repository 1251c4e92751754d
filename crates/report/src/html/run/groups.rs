//! Trials that did not pass, by where they stopped and why.
//!
//! A group names a location and a reason, never a cause: who reads it still
//! has to look at the evidence.

use maud::{Markup, html};
use strandline_contract::{
    overview::{NamedTrial, RunOverview, StopGroup},
    words::{
        FailureCategory, NextAction, Stage, StageReason, StageState, TaskResult, Verdict,
        Vocabulary,
    },
};

use super::{RunPage, case_title, sentence};
use crate::{
    glyphs,
    html::{Links, mark, term, text},
    style::Ink,
    terminal::{
        View,
        failures::{Ending, Stop},
    },
    words::counted,
};

/// Case variants shown in one group; the rest is counted.
const MAX_CASES: usize = 40;
/// Trials linked for one case variant; the rest is counted.
const MAX_TRIALS: usize = 10;

/// Trials of any case variant that stopped in the same way.
pub(super) struct Group<'a> {
    /// The first failed stage.
    pub(super) stage: Option<Stage>,
    passed: bool,
    ending: String,
    reason: Option<StageReason>,
    category: Option<FailureCategory>,
    next: Option<NextAction>,
    trials: u64,
    /// The case variants with their place in the plan.
    parts: Vec<(usize, &'a StopGroup)>,
}

/// Returns the groups of a run: by stage in chain order, then trials that were
/// not graded, then those that passed all the same.
pub(super) fn of(overview: &RunOverview) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, case) in overview.cases.iter().enumerate() {
        for part in &case.groups {
            let ending = ending(part).words();
            let known = groups.iter_mut().find(|group| {
                group.ending == ending
                    && group.reason == part.reason
                    && group.category == part.failure_category
                    && group.next == part.next_action
                    && group.passed == part.passed
            });
            match known {
                Some(group) => {
                    group.trials += part.trials;
                    group.parts.push((index, part));
                }
                None => groups.push(Group {
                    stage: part.stage,
                    passed: part.passed,
                    ending,
                    reason: part.reason,
                    category: part.failure_category,
                    next: part.next_action,
                    trials: part.trials,
                    parts: vec![(index, part)],
                }),
            }
        }
    }
    groups.sort_by_key(|group| {
        let no_stage = group.stage.is_none();
        (
            group.passed,
            no_stage,
            group.stage,
            std::cmp::Reverse(group.trials),
        )
    });
    groups
}

fn ending(part: &StopGroup) -> Ending {
    Ending {
        stop: match part.stage {
            Some(stage) => Stop::At(stage, part.reason),
            None => Stop::Nowhere(part.status, part.reason),
        },
        passed: part.passed,
        evaluator_error: part.evaluator_error,
        chain: part.chain,
    }
}

/// Returns the id of a stage's first group.
pub(super) fn anchor(stage: Option<Stage>) -> String {
    format!("stopped-{}", stage.map_or("nowhere", Vocabulary::wire))
}

pub(super) fn section(
    links: &dyn Links,
    page: &RunPage<'_>,
    view: &View<'_>,
    groups: &[Group<'_>],
) -> Markup {
    let failing: Vec<&Group<'_>> = groups.iter().filter(|group| !group.passed).collect();
    let passed: Vec<&Group<'_>> = groups.iter().filter(|group| group.passed).collect();
    html! {
        @if !failing.is_empty() {
            section #stopped {
                h2 { "Trials that did not pass" }
                p.quiet-text {
                    "Grouped by where they stopped. A stage is a location and a category a \
                     bucket; neither is a cause."
                }
                (listed(links, page, view, &failing))
            }
        }
        @if !passed.is_empty() {
            section {
                h2 { "Passed although a stage did not hold" }
                (listed(links, page, view, &passed))
            }
        }
    }
}

fn listed(links: &dyn Links, page: &RunPage<'_>, view: &View<'_>, groups: &[&Group<'_>]) -> Markup {
    let mut last = None;
    let mut anchored = Vec::new();
    for group in groups {
        let first = last != Some(group.stage);
        last = Some(group.stage);
        anchored.push((first && !group.passed).then(|| anchor(group.stage)));
    }
    html! {
        @for (group, anchor) in groups.iter().zip(anchored) {
            article.group id=[anchor] { (shown(links, page, view, group)) }
        }
    }
}

fn shown(links: &dyn Links, page: &RunPage<'_>, view: &View<'_>, group: &Group<'_>) -> Markup {
    let shown = match (group.passed, group.stage) {
        (true, _) => glyphs::result(Some(TaskResult::Passed)),
        (false, Some(_)) => glyphs::state(StageState::Failed),
        (false, None) => glyphs::result(None),
    };
    html! {
        header {
            h3 {
                (mark::mark(shown)) " "
                (sentence(&group.ending))
            }
            span.group-count {
                (counted(group.trials, "trial", "trials"))
                " of " (counted(group.parts.len() as u64, "case variant", "case variants"))
            }
        }
        @if let Some(reason) = group.reason {
            p.because { "because " (term::term(links, reason)) }
        }
        dl.facts {
            @if let Some(category) = group.category {
                dt { "category" }
                dd { (term::term(links, category)) " " span.quiet-text { "(a bucket, not a cause)" } }
            }
            @if let Some(next) = group.next {
                dt { "next" }
                dd { (term::term(links, next)) }
            }
        }
        ul.plain-list.group-cases {
            @for (index, part) in group.parts.iter().take(MAX_CASES) {
                li data-row { (case(links, page, view, *index, part)) }
            }
            @if group.parts.len() > MAX_CASES {
                li.quiet-text {
                    "and " (group.parts.len() - MAX_CASES) " more case variants"
                }
            }
        }
    }
}

/// Returns one case variant's trials of a group, with their evidence.
fn case(
    links: &dyn Links,
    page: &RunPage<'_>,
    view: &View<'_>,
    index: usize,
    part: &StopGroup,
) -> Markup {
    let row = view.rows.get(index);
    let all = page
        .overview
        .and_then(|overview| overview.cases.get(index))
        .map_or(0, |case| case.trials);
    let met = row
        .and_then(|row| row.decided.as_ref())
        .is_some_and(|decided| decided.verdict == Verdict::Passed);
    html! {
        div.group-case {
            span.group-name {
                @if let Some(row) = row { (case_title(row)) }
            }
            span.quiet-text {
                (part.trials) " of " (counted(all, "trial", "trials"))
                @if met && !part.passed { " (the case met its threshold)" }
            }
            span.group-trials { (trials(links, page, part)) }
        }
        @for line in &part.evidence {
            p.evidence { (text::line(line, text::MAX_LINE)) }
        }
    }
}

fn trials(links: &dyn Links, page: &RunPage<'_>, part: &StopGroup) -> Markup {
    let shown = part.first.iter().take(MAX_TRIALS);
    let linked = shown.len() as u64;
    html! {
        @for NamedTrial { trial_id, iteration_number } in shown {
            a.trial-link href=(links.trial(&page.run.id, trial_id)) {
                "trial " (iteration_number.saturating_add(1))
            }
        }
        @if part.trials > linked {
            span.(mark::ink_class(Ink::Quiet)) { "and " (part.trials - linked) " more" }
        }
    }
}
