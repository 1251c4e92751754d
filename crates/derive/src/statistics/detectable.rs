//! The smallest change that a sample could have shown.
//!
//! Two figures, both for the base as it was observed and a compared sample of
//! given size:
//!
//! - *shown*: the smallest observed change that would have been called one,
//!   by the same rule that calls regressions (`verdict.md` §11.3);
//! - *true change*: the smallest change of the true rate that would have led
//!   to such an observation with a chance of at least 80 %
//!   ([`DETECTION_POWER`]): the minimum detectable effect.

use strandline_contract::{rate::quotient, words::RegressionVerdict};

use super::{Sample, assess_regression, binomial::chance_above};

/// Chance with which a minimum detectable effect is detected: the customary
/// 80 % (Cohen 1988).
pub const DETECTION_POWER: f64 = 0.8;

/// Halvings of the search for a rate; the result is exact to 2^-40.
const HALVINGS: u32 = 40;

/// The smallest change in one direction that a sample could have shown, in
/// fractions above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detectable {
    /// Smallest observed change whose interval would have excluded zero.
    pub shown: f64,
    /// Smallest true change that would have been shown with
    /// [`DETECTION_POWER`]; `None` when none would.
    pub true_change: Option<f64>,
}

/// Returns the smallest drop from `base` that `compared_total` trials could
/// have shown; `None` when not even a drop to zero would have been shown.
#[must_use]
pub fn smallest_drop(base: Sample, compared_total: u64) -> Option<Detectable> {
    let greatest = greatest_regression(base, compared_total)?;
    let base_rate = quotient(base.passed(), base.total());
    // Fewer passes than that are shown too: the chance falls as the rate rises.
    let detected = |rate: f64| 1.0 - chance_above(greatest, compared_total, rate);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if detected(middle) >= DETECTION_POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    let true_change = base_rate - low;
    Some(Detectable {
        shown: base_rate - quotient(greatest, compared_total),
        true_change: (true_change > 0.0).then_some(true_change),
    })
}

/// Returns the smallest rise from `base` that `compared_total` trials could
/// have shown: a rise of passes is a drop of failures.
#[must_use]
pub fn smallest_rise(base: Sample, compared_total: u64) -> Option<Detectable> {
    let failures = Sample::new(base.total() - base.passed(), base.total())?;
    smallest_drop(failures, compared_total)
}

/// Returns the greatest number of compared passes that is a regression.
///
/// The upper end of the difference rises with the passes, so that the numbers
/// that are regressions are the ones from 0 up to it.
fn greatest_regression(base: Sample, compared_total: u64) -> Option<u64> {
    let is_regression = |passed: u64| {
        Sample::new(passed, compared_total).is_some_and(|compared| {
            assess_regression(base, compared).verdict == RegressionVerdict::Regression
        })
    };
    if !is_regression(0) {
        return None;
    }
    let (mut low, mut high) = (0, compared_total);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if is_regression(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(passed: u64, total: u64) -> Sample {
        Sample::new(passed, total).expect("a sample")
    }

    #[test]
    fn the_smallest_drop_is_the_first_that_a_scan_finds() {
        for (total, compared) in [(5, 5), (10, 7), (30, 30), (50, 12), (12, 60)] {
            for passed in 0..=total {
                let base = sample(passed, total);
                let scanned = (0..=compared).rev().find(|count| {
                    assess_regression(base, sample(*count, compared)).verdict
                        == RegressionVerdict::Regression
                });
                let found = smallest_drop(base, compared).map(|drop| drop.shown);
                let expected =
                    scanned.map(|count| quotient(passed, total) - quotient(count, compared));
                assert_eq!(found, expected, "{passed}/{total} against {compared}");
            }
        }
    }

    #[test]
    fn five_trials_show_only_a_large_drop() {
        let drop = smallest_drop(sample(5, 5), 5).expect("a drop");
        assert!((drop.shown - 0.6).abs() < 1e-12, "{drop:?}");
        let true_change = drop.true_change.expect("a true change");
        assert!(true_change > drop.shown, "{drop:?}");
        assert_eq!(smallest_rise(sample(5, 5), 5), None);
        assert_eq!(smallest_drop(sample(4, 4), 4), None);
        assert_eq!(smallest_drop(sample(0, 0), 5), None);
    }

    #[test]
    fn a_larger_sample_shows_a_smaller_drop() {
        let mut last = f64::INFINITY;
        for total in [10, 40, 160, 640, 1_000_000] {
            let drop = smallest_drop(sample(total * 9 / 10, total), total).expect("a drop");
            let true_change = drop.true_change.expect("a true change");
            assert!(drop.shown < last && drop.shown < true_change, "{drop:?}");
            last = drop.shown;
        }
    }

    #[test]
    fn the_true_change_is_detected_four_times_in_five() {
        let (base, compared) = (sample(27, 30), 30);
        let drop = smallest_drop(base, compared).expect("a drop");
        let rate = 0.9 - drop.true_change.expect("a true change");
        let greatest = greatest_regression(base, compared).expect("a count");
        let power = 1.0 - chance_above(greatest, compared, rate);
        assert!((power - DETECTION_POWER).abs() < 1e-6, "{power}");
    }
}
