//! Several runs' verdicts as one (`swarm.md` §6.4).

use strandline_contract::words::SummaryVerdict;

/// Folds verdicts: the worst that was decided, `passed` only when all passed.
///
/// Nothing folds to `notEstablished`. Rates are never pooled.
#[must_use]
pub fn fold_verdicts(verdicts: impl IntoIterator<Item = SummaryVerdict>) -> SummaryVerdict {
    let (mut any, mut inconclusive, mut all_passed) = (false, false, true);
    for verdict in verdicts {
        any = true;
        match verdict {
            SummaryVerdict::Failed => return SummaryVerdict::Failed,
            SummaryVerdict::Inconclusive => inconclusive = true,
            SummaryVerdict::Passed => {}
            SummaryVerdict::NotEstablished => all_passed = false,
        }
    }
    if inconclusive {
        return SummaryVerdict::Inconclusive;
    }
    if any && all_passed {
        return SummaryVerdict::Passed;
    }
    SummaryVerdict::NotEstablished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decision_wins_and_silence_is_no_pass() {
        use SummaryVerdict::{Failed, Inconclusive, NotEstablished, Passed};
        for (verdicts, folded) in [
            (&[][..], NotEstablished),
            (&[Passed, Passed], Passed),
            (&[Passed, NotEstablished], NotEstablished),
            (&[NotEstablished, Inconclusive, Passed], Inconclusive),
            (&[Inconclusive, Failed, NotEstablished], Failed),
        ] {
            assert_eq!(fold_verdicts(verdicts.iter().copied()), folded);
        }
    }
}
