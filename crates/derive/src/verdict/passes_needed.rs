//! How many passes a case needs, for display (`verdict.md` §10).

/// Returns the least number of passes out of `configured_trials` whose
/// fraction meets `pass_threshold`.
///
/// A count or threshold that is not finite or not above 0 needs 0 passes; a
/// threshold above 1 counts as 1. The fraction is compared as the verdict
/// compares it: the double quotient, no epsilon.
#[must_use]
pub fn case_passes_needed(configured_trials: f64, pass_threshold: f64) -> u64 {
    if !configured_trials.is_finite() || configured_trials <= 0.0 {
        return 0;
    }
    if !pass_threshold.is_finite() || pass_threshold <= 0.0 {
        return 0;
    }
    let trials = configured_trials.floor();
    let threshold = pass_threshold.min(1.0);
    // The quotient never falls as passes rise, so the first pass count that
    // meets the threshold is found by halving.
    let (mut low, mut high) = (0, trials as u64);
    while low < high {
        let middle = low + (high - low) / 2;
        if middle as f64 / trials < threshold {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
