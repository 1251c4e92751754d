//! When repeating a case may stop: a truncated sequential probability ratio
//! test (Wald 1945, 1947) of its pass rate against its threshold.
//!
//! Around the threshold lies a region of indifference. Its ends are the two
//! hypotheses; the likelihood ratio of the upper against the lower one grows
//! with every pass and shrinks with every failure. At 1/α and above the
//! threshold is shown to be met, at β and below to be missed. With these
//! bounds the chance of a wrong decision is at most α (true rate at or below
//! the lower end) and at most β (at or above the upper end), whenever one
//! looks and stops: under either hypothesis the ratio, or its inverse, is a
//! non-negative supermartingale that starts at 1 (Ville 1939). So trials that
//! run at the same time, a stopped run that is resumed and a maximum of trials
//! all keep the bounds; a maximum only leaves more cases undecided.
//!
//! A decision also needs the pass rate so far to lie on its side of the
//! threshold: the test never contradicts the case verdict of policy v2.

use strandline_contract::{
    rate::quotient,
    sequential::{SequentialOutlook, SequentialSettings},
    words::SequentialDecision,
};

/// Most further trials that are looked ahead for the nearest decision.
const FARTHEST: u64 = 10_000;

/// The test of one case variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialTest {
    threshold: f64,
    /// Ends of the indifference region.
    lower: f64,
    upper: f64,
    /// What a pass adds to the logarithm of the likelihood ratio.
    pass: f64,
    /// What a failure adds: below 0, minus infinity when the upper end is 1.
    fail: f64,
    /// At or above: met.
    met: f64,
    /// At or below: missed.
    missed: f64,
    max_trials: u64,
}

impl SequentialTest {
    /// Makes the test of a pass threshold, a fraction from 0 to 1.
    ///
    /// The indifference region reaches `indifference` to both sides of the
    /// threshold, but at most half the way to either end of the scale; at a
    /// threshold of exactly 1 the upper end is 1, and one failure shows a miss.
    #[must_use]
    pub fn new(threshold: f64, settings: &SequentialSettings) -> Self {
        let upper = if threshold >= 1.0 {
            1.0
        } else {
            (threshold + settings.indifference).min(f64::midpoint(threshold, 1.0))
        };
        let lower = (threshold - settings.indifference).max(threshold / 2.0);
        Self {
            threshold,
            lower,
            upper,
            pass: (upper / lower).ln(),
            fail: ((1.0 - upper) / (1.0 - lower)).ln(),
            met: -settings.alpha.ln(),
            missed: settings.beta.ln(),
            max_trials: u64::from(settings.max_trials),
        }
    }

    /// Returns the lower end of the indifference region.
    #[must_use]
    pub const fn lower(&self) -> f64 {
        self.lower
    }

    /// Returns the upper end of the indifference region.
    #[must_use]
    pub const fn upper(&self) -> f64 {
        self.upper
    }

    /// Says what the gradeable trials so far show.
    #[must_use]
    pub fn decide(&self, passed: u64, failed: u64) -> SequentialDecision {
        let Some(total) = passed.checked_add(failed).filter(|total| *total > 0) else {
            return SequentialDecision::Undecided;
        };
        let meets = quotient(passed, total) >= self.threshold;
        if self.threshold <= 0.0 {
            // Every rate meets it.
            return SequentialDecision::Meets;
        }
        let ratio = self.log_ratio(passed, failed);
        if meets && ratio >= self.met {
            SequentialDecision::Meets
        } else if !meets && ratio <= self.missed {
            SequentialDecision::Misses
        } else {
            SequentialDecision::Undecided
        }
    }

    fn log_ratio(&self, passed: u64, failed: u64) -> f64 {
        // Zero failures must not meet an infinite weight.
        let failures = if failed == 0 {
            0.0
        } else {
            failed as f64 * self.fail
        };
        passed as f64 * self.pass + failures
    }

    /// Returns how many further trials show that the threshold is met if all
    /// of them pass; `None` when no number can.
    #[must_use]
    pub fn fewest_passes(&self, passed: u64, failed: u64) -> Option<u64> {
        let ratio = self.log_ratio(passed, failed);
        nearest((self.met - ratio) / self.pass, |more| {
            self.decide(passed + more, failed) == SequentialDecision::Meets
        })
    }

    /// Returns how many further trials show that the threshold is missed if
    /// all of them fail; `None` when no number can.
    #[must_use]
    pub fn fewest_failures(&self, passed: u64, failed: u64) -> Option<u64> {
        let ratio = self.log_ratio(passed, failed);
        nearest((self.missed - ratio) / self.fail, |more| {
            self.decide(passed, failed + more) == SequentialDecision::Misses
        })
    }

    /// Returns how many trials to add after `attempted` ones: as many as any
    /// decision still takes, so that none of them can turn out superfluous;
    /// 0 once decided or at the maximum.
    #[must_use]
    pub fn next_batch(&self, passed: u64, failed: u64, attempted: u64) -> u64 {
        let left = self.max_trials.saturating_sub(attempted);
        if left == 0 || self.decide(passed, failed) != SequentialDecision::Undecided {
            return 0;
        }
        let nearest = [
            self.fewest_passes(passed, failed),
            self.fewest_failures(passed, failed),
        ]
        .into_iter()
        .flatten()
        .min();
        nearest.unwrap_or(1).clamp(1, left)
    }

    /// Says what it would take to decide; `None` once decided.
    #[must_use]
    pub fn outlook(&self, passed: u64, failed: u64, attempted: u64) -> Option<SequentialOutlook> {
        if self.decide(passed, failed) != SequentialDecision::Undecided {
            return None;
        }
        let trials_left = self.max_trials.saturating_sub(attempted);
        let total = passed + failed;
        let forecast = (total > 0).then(|| {
            let rate = quotient(passed, total);
            self.forecast(rate, passed, failed, trials_left)
        });
        Some(SequentialOutlook {
            fewest_passes: self.fewest_passes(passed, failed),
            fewest_failures: self.fewest_failures(passed, failed),
            trials_left,
            expected_trials: forecast.map(|forecast| forecast.expected_trials),
            undecided_chance: forecast.map(|forecast| forecast.undecided),
        })
    }

    /// Computes how repeating goes on at a true pass rate, one trial at a
    /// time, for at most `trials_left` trials; exact up to rounding.
    #[must_use]
    pub fn forecast(&self, rate: f64, passed: u64, failed: u64, trials_left: u64) -> Forecast {
        let mut forecast = Forecast::default();
        // Chance of each number of further passes while still undecided.
        let mut open = vec![1.0];
        for done in 0..=trials_left {
            let mut next = vec![0.0; open.len() + 1];
            for (more, chance) in (0_u64..).zip(&open).filter(|(_, chance)| **chance > 0.0) {
                match self.decide(passed + more, failed + (done - more)) {
                    SequentialDecision::Meets => forecast.meets += chance,
                    SequentialDecision::Misses => forecast.misses += chance,
                    SequentialDecision::Undecided if done == trials_left => {
                        forecast.undecided += chance;
                    }
                    SequentialDecision::Undecided => {
                        forecast.expected_trials += chance;
                        let place = usize::try_from(more).unwrap_or(usize::MAX);
                        next[place] += chance * (1.0 - rate);
                        next[place + 1] += chance * rate;
                    }
                }
            }
            open = next;
        }
        forecast
    }
}

/// Returns the least number that `decides`, given about where it lies.
fn nearest(about: f64, decides: impl Fn(u64) -> bool) -> Option<u64> {
    if about > FARTHEST as f64 {
        return None;
    }
    // One less, for what rounding may have added; not a number counts as 0.
    let start = (about - 1.0).max(0.0) as u64;
    (start..=FARTHEST).find(|more| decides(*more))
}

/// How repeating goes on at a true pass rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Forecast {
    /// Chance that the threshold is shown to be met.
    pub meets: f64,
    /// Chance that it is shown to be missed.
    pub misses: f64,
    /// Chance that the trials run out first.
    pub undecided: f64,
    /// Expected further trials.
    pub expected_trials: f64,
}
