//! A trial without its timeline: result, strip, reasons, measures.

use maud::{Markup, html};
use strandline_contract::{decision::SummaryChain, measurements::StageMeasurements, words::Stage};
use strandline_derive::measurements::believed_measurements;

use crate::{
    friction, glyphs,
    html::{Links, mark, strip, term::term, text},
    terminal::{
        evidence,
        trial::{TrialInput, outcome},
        trial_number,
    },
};

/// Why a trial's timeline is not in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTimeline {
    /// The file's budget was spent.
    Budget,
    /// Nothing is stored of it any more, or nothing was.
    NotStored,
}

/// Returns what the file says of a trial without its timeline.
pub(super) fn brief(
    links: &dyn Links,
    input: &TrialInput<'_>,
    chain: &SummaryChain,
    why: NoTimeline,
) -> Markup {
    let trial = input.trial;
    let (shown, word) = outcome::ending(trial);
    let facts = outcome::facts(input);
    let measured = believed_measurements(trial);
    html! {
        article.trial-brief {
            h1 {
                (mark::badge(shown, word)) " "
                span.subject { (text::name(&trial.title)) }
            }
            // The title is said above.
            p.counts { bdi { (text::facts(facts.get(1..).unwrap_or_default())) } }
            @if let Some(error) = &trial.error { p { bdi { (evidence::of_error(error)) } } }
            (stages(links, chain, measured.as_ref()))
            @let seen = friction::trial_lines(trial);
            @if !seen.is_empty() {
                h2 { "Friction" }
                ul.plain-list { @for line in seen { li { bdi { (line) } } } }
            }
            p.absent {
                @match why {
                    NoTimeline::Budget => {
                        "The timeline is not included: the file's budget for traces was spent. "
                        code {
                            "strandline show " (input.run_reference) " --case "
                            (text::name(&trial.case_id)) " --trial " (trial_number(trial))
                        }
                        " shows it."
                    }
                    NoTimeline::NotStored => "No trace of this trial is stored.",
                }
            }
        }
    }
}

fn stages(links: &dyn Links, chain: &SummaryChain, measured: Option<&StageMeasurements>) -> Markup {
    let SummaryChain::Verified(chain) = chain else {
        let why = match chain {
            SummaryChain::Unverified(_) => "The stored chain cannot be believed and is withheld.",
            SummaryChain::Verified(_) | SummaryChain::Absent(_) => "No chain is stored.",
        };
        return html! { p.absent { (why) } };
    };
    let latency = |stage: Stage| {
        let rows = measured.map_or(&[][..], |measured| &measured.rows);
        rows.iter()
            .find(|row| row.stage == stage)
            .and_then(|row| row.latency)
    };
    html! {
        p { (strip::strip(&strip::cells_of(&chain.stages))) }
        div.scroll {
            table.stages {
                thead {
                    tr {
                        th scope="col" { "stage" }
                        th scope="col" { "state" }
                        th scope="col" { "because" }
                        th.number scope="col" { "latency" }
                    }
                }
                tbody {
                    @for row in &chain.stages {
                        tr {
                            th scope="row" { (term(links, row.stage)) }
                            td { (mark::badge(glyphs::state(row.state), term(links, row.state))) }
                            td {
                                @if let Some(reason) = row.reason { (term(links, reason)) }
                                @for said in row
                                    .evidence
                                    .iter()
                                    .flat_map(|evidence| evidence.predicate_reasons.iter().flatten())
                                {
                                    div.evidence { (text::line(said, text::MAX_LINE)) }
                                }
                            }
                            td.number {
                                @match latency(row.stage) {
                                    Some(latency) => { (format!("{:.1} ms", latency.value)) }
                                    None => span.quiet-text { "no latency" },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
