//! How many trials of a case show each kind of signal (`friction.md` §7).

use std::collections::{BTreeMap, BTreeSet};

use strandline_contract::{
    friction::{FrictionSignal, FrictionSignals, IdentifierSignals},
    rate::{Counts, Rate},
    words::{FrictionGap, FrictionSignalKind, FrictionState, Vocabulary},
};

/// One rate per kind of signal, over the trials of a case.
pub type FrictionRates = BTreeMap<FrictionSignalKind, Rate<FrictionGap>>;

/// Counts, per kind, how many of the measured trials show it, trial by trial.
#[derive(Debug, Default)]
pub struct FrictionCounter {
    documents: u64,
    kinds: BTreeMap<FrictionSignalKind, KindCount>,
}

#[derive(Debug, Default)]
struct KindCount {
    shown: u64,
    measured: u64,
    gaps: Counts<FrictionGap>,
}

impl FrictionCounter {
    /// Counts one trial's document.
    ///
    /// The identifier kinds count trials whose identifier half was measured too.
    pub fn add(&mut self, document: &FrictionSignals) {
        let kinds: BTreeSet<_> = document.signals.iter().map(FrictionSignal::kind).collect();
        self.documents += 1;
        for kind in FrictionSignalKind::ALL {
            let count = self.kinds.entry(*kind).or_default();
            match gap_of(document, *kind) {
                Some(gap) => *count.gaps.entry(gap).or_default() += 1,
                None => {
                    count.measured += 1;
                    count.shown += u64::from(kinds.contains(kind));
                }
            }
        }
    }

    /// Returns one rate per kind; `None` when no trial had a document: nothing
    /// was measured, which is not 0.
    #[must_use]
    pub fn rates(self) -> Option<FrictionRates> {
        let rate = |count: KindCount| Rate::measure(count.shown, count.measured, count.gaps);
        let kinds = self.kinds.into_iter();
        (self.documents > 0).then(|| kinds.map(|(kind, count)| (kind, rate(count))).collect())
    }
}

/// Derives, per kind, how many of the measured trials show it
/// ([`FrictionCounter`]).
#[must_use]
pub fn derive_friction_rates<'a>(
    documents: impl IntoIterator<Item = &'a FrictionSignals>,
) -> Option<FrictionRates> {
    let mut counter = FrictionCounter::default();
    for document in documents {
        counter.add(document);
    }
    counter.rates()
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
