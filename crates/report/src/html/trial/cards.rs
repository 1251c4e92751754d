//! The six stages as cards: state, reason, evidence and where it is.

use maud::{Markup, html};
use serde::Deserialize;
use strandline_contract::{
    decision::{SummaryChain, SummaryStage},
    measurements::StageMeasurements,
    words::{Stage, StageReason, StageState},
};

use super::timeline::{Told, turn_anchor};
use crate::{
    html::{Links, mark, term, text},
    style::Style,
    terminal::{
        Trial, evidence,
        trial::{TrialInput, entry::took},
    },
    words::counted,
};

pub(super) fn cards(
    links: &dyn Links,
    input: &TrialInput<'_>,
    trial: &Trial<'_>,
    told: &Told<'_>,
) -> Markup {
    let measured = StageMeasurements::deserialize(&input.trial.stage_measurements).ok();
    html! {
        @match &trial.chain {
            SummaryChain::Verified(chain) => {
                ol.cards {
                    @for row in &chain.stages {
                        li.card.(mark::state_class(row.state)) {
                            (card(links, input, row, measured.as_ref(), told))
                        }
                    }
                }
            }
            SummaryChain::Unverified(_) => p.absent {
                "the stored chain cannot be believed and is withheld"
            },
            SummaryChain::Absent(_) => p.absent { "no chain is stored" },
        }
    }
}

fn card(
    links: &dyn Links,
    input: &TrialInput<'_>,
    row: &SummaryStage,
    measured: Option<&StageMeasurements>,
    told: &Told<'_>,
) -> Markup {
    // The state's own label says as much.
    let reason = row
        .reason
        .filter(|reason| *reason != StageReason::EarlierStageFailed);
    html! {
        header {
            h3 { (mark::state(row.state)) " " (term::term(links, row.stage)) }
            @if let Some(latency) = latency(row.stage, measured) {
                small title="how long the cited evidence took" { (latency) }
            }
        }
        p {
            (term::term(links, row.state))
            @if let Some(reason) = reason { ", because " (term::term(links, reason)) }
        }
        @if row.state == StageState::Failed {
            @for fact in evidence::of_row(input.trial, row, input.trace, &Style::plain(100)) {
                p.evidence { bdi { (fact) } }
            }
        }
        (place(links, row, told))
    }
}

fn latency(stage: Stage, measured: Option<&StageMeasurements>) -> Option<String> {
    let row = measured?.rows.iter().find(|row| row.stage == stage)?;
    Some(took(row.latency?.value))
}

/// Returns the link to the evidence of a row: to its spans, else to its turns.
fn place(links: &dyn Links, row: &SummaryStage, told: &Told<'_>) -> Markup {
    let Some(cited) = &row.evidence else {
        return html! {};
    };
    let all: Vec<&String> = cited.span_ids.iter().flatten().collect();
    let spans: Vec<String> = all.iter().filter_map(|id| told.anchor_of(id)).collect();
    let turns: Vec<u32> = cited
        .prompt_indexes
        .iter()
        .flatten()
        .filter(|index| index.fract() == 0.0 && (0.0..1e6).contains(*index))
        .map(|index| *index as u32)
        .collect();
    let missing = all.len() - spans.len();
    let (anchors, label) = if spans.is_empty() {
        let anchors: Vec<String> = turns
            .iter()
            .filter(|turn| told.has_turn(**turn))
            .map(|turn| turn_anchor(*turn))
            .collect();
        let label = counted(anchors.len() as u64, "turn", "turns");
        (anchors, label)
    } else {
        let label = counted(spans.len() as u64, "span", "spans");
        (spans, label)
    };
    html! {
        @if let Some(first) = anchors.first() {
            p.place {
                a href=(links.here(first)) data-marks=(anchors.join(" ")) {
                    "evidence: " (label)
                }
            }
        }
        @if missing > 0 && told.is_here() {
            p.quiet-text.small {
                (counted(missing as u64, "cited span", "cited spans"))
                " not in the trace: " (text::name(all[all.len() - 1]))
            }
        }
    }
}
