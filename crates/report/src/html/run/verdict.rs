//! What was decided, in one band at the top.

use maud::{Markup, html};
use strandline_contract::words::{RunStatus, SummaryVerdict};

use super::status;
use crate::{
    glyphs,
    html::{Links, mark, term, text},
    terminal::{View, headline},
    words::{duration, utc},
};

/// Returns the class that colours a verdict.
pub(crate) const fn class(verdict: SummaryVerdict) -> &'static str {
    match verdict {
        SummaryVerdict::Passed => "is-passed",
        SummaryVerdict::Failed => "is-failed",
        SummaryVerdict::Inconclusive => "is-inconclusive",
        SummaryVerdict::NotEstablished => "is-not-established",
    }
}

pub(super) fn band(links: &dyn Links, view: &View<'_>) -> Markup {
    let run = view.input.run;
    let verdict = view.summary.verdict;
    html! {
        div.crumbs {
            @if let Some(href) = links.runs() { a href=(href) { "Runs" } span { "/" } }
            @match links.trend(&run.suite_id) {
                Some(href) => a href=(href) { (text::name(&run.suite_name)) },
                None => (text::name(&run.suite_name)),
            }
            span { "/" }
            span.id { (view.input.run_reference) }
        }
        header.verdict.(class(verdict)) {
            h1 {
                (mark::badge(glyphs::verdict(verdict), html! {
                    span.word { (term::term(links, verdict)) }
                }))
                span.subject { (text::name(&run.suite_name)) }
            }
            p.counts { (text::facts(&facts(links, view))) }
            @let reasons = headline::reasons(view);
            @if !reasons.is_empty() {
                ul.reasons {
                    @for said in &reasons {
                        li.deeper[said.deeper] { bdi { (said.text) } }
                    }
                }
            }
        }
    }
}

fn facts(links: &dyn Links, view: &View<'_>) -> Vec<Markup> {
    let run = view.input.run;
    let mut facts = Vec::new();
    if let Some(decision) = &view.summary.decision {
        facts.push(html! { (headline::case_count(decision)) });
    }
    if run.status != RunStatus::Completed {
        facts.push(status(links, run.status));
    }
    let started = utc(run.started_at);
    facts.push(html! { time datetime=(started.iso) { (started.text) } });
    if let Some(ended_at) = run.ended_at {
        facts.push(html! { (duration(ended_at.saturating_sub(run.started_at))) });
    }
    facts
}
