//! How many trials of a case show each kind of signal (`friction.md` §7).

use std::collections::{BTreeMap, BTreeSet};

use strandline_contract::{
    friction::{FrictionSignal, FrictionSignals, IdentifierSignals},
    rate::{Counts, Rate},
    words::{FrictionGap, FrictionSignalKind, FrictionState, Vocabulary},
};

/// One rate per kind of signal, over the trials of a case.
pub type FrictionRates = BTreeMap<FrictionSignalKind, Rate<FrictionGap>>;

/// Derives, per kind, how many of the measured trials show it.
///
/// The identifier kinds count trials whose identifier half was measured too.
/// `None` when no trial has a document: nothing was measured, which is not 0.
#[must_use]
pub fn derive_friction_rates<'a>(
    documents: impl IntoIterator<Item = &'a FrictionSignals>,
) -> Option<FrictionRates> {
    let documents: Vec<&FrictionSignals> = documents.into_iter().collect();
    if documents.is_empty() {
        return None;
    }
    let rate = |kind: FrictionSignalKind| {
        let mut shown = 0;
        let mut measured = 0;
        let mut gaps: Counts<FrictionGap> = Counts::new();
        for document in &documents {
            match gap_of(document, kind) {
                Some(gap) => *gaps.entry(gap).or_default() += 1,
                None => {
                    let kinds: BTreeSet<_> =
                        document.signals.iter().map(FrictionSignal::kind).collect();
                    measured += 1;
                    shown += u64::from(kinds.contains(&kind));
                }
            }
        }
        Rate::measure(shown, measured, gaps)
    };
    Some(
        FrictionSignalKind::ALL
            .iter()
            .map(|kind| (*kind, rate(*kind)))
            .collect(),
    )
}

/// Returns why a document says nothing about a kind, if it does not.
fn gap_of(document: &FrictionSignals, kind: FrictionSignalKind) -> Option<FrictionGap> {
    match (document.state, document.identifier_signals) {
        (FrictionState::NotMeasured, IdentifierSignals::NotMeasured { reason }) => {
            Some(document.not_measured_reason.unwrap_or(reason))
        }
        (FrictionState::NotMeasured, IdentifierSignals::Measured {}) => document
            .not_measured_reason
            .or(Some(FrictionGap::EvidenceIncomplete)),
        (FrictionState::Measured, IdentifierSignals::NotMeasured { reason })
            if kind.is_identifier() =>
        {
            Some(reason)
        }
        (FrictionState::Measured, _) => None,
    }
}
