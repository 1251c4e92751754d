//! Run-over-run comparison statistics (`verdict.md` §11).
//!
//! Exactly four: a Wilson interval, a Newcombe difference interval, a
//! three-way assessment and a list of flaky cases. Everything in fractions.

mod flaky;
mod intervals;
mod regression;

pub use flaky::{FlakyCase, GradedTrial, flaky_cases};
pub use intervals::{Difference, Interval, Sample, Z95, newcombe, wilson, wilson_at};
pub use regression::{
    Assessment, MIN_EFFECT_SIZE, MIN_SAMPLE_SIZE, assess_regression, assess_regression_with,
};
