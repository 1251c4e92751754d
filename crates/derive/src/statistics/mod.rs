//! Statistics of pass rates (`verdict.md` §11, `docs/statistics.md`).
//!
//! Everything in fractions; a sample is passed of gradeable trials.
//!
//! | question | module |
//! |---|---|
//! | how sure is a pass rate, and a difference of two? | `intervals`: Wilson, Newcombe |
//! | does a difference show a regression? | `regression` |
//! | how small a change could a sample have shown? | `detectable` |
//! | may repeating stop, and how long would it go on? | [`sequential`] |
//! | which cases both passed and failed? | `flaky` |

mod binomial;
mod detectable;
mod flaky;
mod intervals;
mod regression;
pub mod sequential;

pub use detectable::{DETECTION_POWER, Detectable, smallest_drop, smallest_rise};
pub use flaky::{FlakyCase, GradedTrial, flaky_cases};
pub use intervals::{Difference, Interval, Sample, Z95, newcombe, wilson, wilson_at};
pub use regression::{
    Assessment, MIN_EFFECT_SIZE, MIN_SAMPLE_SIZE, assess_regression, assess_regression_with,
};
