//! Where the chain broke, over a page of diagnostics (`decision-summary.md` §10).

use std::collections::BTreeSet;

use strandline_contract::{
    decision::{BreakPlace, ChainBreak, DecisionSummary, VerifiedChain},
    words::{Stage, SummaryVerdict},
};

/// Derives where the chain broke; nothing for a passed run, for a page without
/// items, or where the readable chains neither broke nor carry a category.
#[must_use]
pub fn derive_chain_break(summary: &DecisionSummary) -> Option<ChainBreak> {
    let items = &summary.diagnostics.items;
    if summary.verdict == SummaryVerdict::Passed || items.is_empty() {
        return None;
    }
    let readable: Vec<&VerifiedChain> = items
        .iter()
        .filter_map(|item| item.chain.verified())
        .collect();
    Some(ChainBreak {
        place: place_of(&readable)?,
        readable: readable.len() as u64,
        unreadable: (items.len() - readable.len()) as u64,
        complete: summary.diagnostics.complete,
    })
}

fn place_of(readable: &[&VerifiedChain]) -> Option<BreakPlace> {
    if readable.is_empty() {
        return Some(BreakPlace::NothingReadable);
    }
    // The earliest stage in stage order, not the most frequent one.
    let stages: BTreeSet<Stage> = readable
        .iter()
        .filter_map(|chain| chain.first_failed_stage)
        .collect();
    if let Some(&stage) = stages.first() {
        let broke_there: Vec<_> = readable
            .iter()
            .filter(|chain| chain.first_failed_stage == Some(stage))
            .collect();
        return Some(BreakPlace::Stage {
            stage,
            reason: broke_there
                .iter()
                .flat_map(|chain| &chain.stages)
                .filter(|row| row.stage == stage)
                .find_map(|row| row.reason),
            trials: broke_there.len() as u64,
            distinct_stages: stages.len() as u64,
        });
    }
    let categories: Vec<_> = readable
        .iter()
        .filter_map(|chain| chain.failure_category)
        .collect();
    if categories.is_empty() {
        return None;
    }
    Some(BreakPlace::Categories {
        trials: categories.len() as u64,
        categories: BTreeSet::from_iter(categories).into_iter().collect(),
    })
}
