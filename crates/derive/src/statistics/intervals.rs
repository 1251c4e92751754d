//! Wilson and Newcombe intervals (`verdict.md` §11.1, §11.2).
//!
//! Plain doubles in exactly the written association, no fused multiply-add.

use strandline_contract::rate::quotient;

/// The 0.975 quantile of the normal distribution: 95 % two-sided.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Passes among graded trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    passed: u64,
    total: u64,
}

impl Sample {
    /// Makes a sample; `None` when more passed than there are.
    #[must_use]
    pub const fn new(passed: u64, total: u64) -> Option<Self> {
        if passed > total {
            return None;
        }
        Some(Self { passed, total })
    }

    /// Returns how many passed.
    #[must_use]
    pub const fn passed(self) -> u64 {
        self.passed
    }

    /// Returns out of how many.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.total
    }
}

/// A rate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The rate itself; 0 without trials.
    pub point: f64,
    /// Lower end, at least 0.
    pub lower: f64,
    /// Upper end, at most 1.
    pub upper: f64,
}

/// The difference of two rates with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Compared rate minus base rate: negative is worse.
    pub delta: f64,
    /// Lower end, at least −1.
    pub lower: f64,
    /// Upper end, at most 1.
    pub upper: f64,
}

/// Returns the Wilson interval of a sample at 95 %.
///
/// Without trials it is 0 to 1. The ends are not pinned for a sample that
/// passed never or always; [`crate::verdict::pass_rate_interval`] pins them.
#[must_use]
pub fn wilson(sample: Sample) -> Interval {
    wilson_at(sample, Z95)
}

/// Returns the Wilson interval of a sample at the normal quantile `z`.
#[must_use]
pub fn wilson_at(sample: Sample, z: f64) -> Interval {
    if sample.total == 0 {
        return Interval {
            point: 0.0,
            lower: 0.0,
            upper: 1.0,
        };
    }
    let (passed, total) = (sample.passed as f64, sample.total as f64);
    let squared = z * z;
    let denominator = total + squared;
    let center = (passed + squared / 2.0) / denominator;
    let spread = (z / denominator) * ((passed * (total - passed)) / total + squared / 4.0).sqrt();
    let lower = center - spread;
    let upper = center + spread;
    Interval {
        point: quotient(sample.passed, sample.total),
        // Written as comparisons so that the ends are never −0.
        lower: if lower > 0.0 { lower } else { 0.0 },
        upper: if upper < 1.0 { upper } else { 1.0 },
    }
}

/// Returns the difference of two rates at 95 %, Newcombe's hybrid score
/// interval (his method 10).
#[must_use]
pub fn newcombe(base: Sample, compared: Sample) -> Difference {
    newcombe_at(base, compared, Z95)
}

pub(super) fn newcombe_at(base: Sample, compared: Sample, z: f64) -> Difference {
    let base = wilson_at(base, z);
    let compared = wilson_at(compared, z);
    let square = |x: f64| x * x;
    let delta = compared.point - base.point;
    let below = (square(compared.point - compared.lower) + square(base.upper - base.point)).sqrt();
    let above = (square(compared.upper - compared.point) + square(base.point - base.lower)).sqrt();
    Difference {
        delta,
        lower: (delta - below).clamp(-1.0, 1.0),
        upper: (delta + above).clamp(-1.0, 1.0),
    }
}
