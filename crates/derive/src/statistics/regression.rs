//! Whether a difference shows a regression (`verdict.md` §11.3).

use strandline_contract::words::RegressionVerdict;

use super::{
    Sample, Z95,
    intervals::{Difference, newcombe_at},
};

/// Fewest trials a side needs, unless said otherwise.
pub const MIN_SAMPLE_SIZE: u64 = 5;
/// Smallest drop that counts, unless said otherwise; a fraction.
pub const MIN_EFFECT_SIZE: f64 = 0.01;

/// What two samples say about a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The difference with its interval; told whatever the verdict.
    pub difference: Difference,
    /// What it says.
    pub verdict: RegressionVerdict,
    /// Why the data do not suffice; only then.
    pub reason: Option<String>,
}

/// Assesses a change with the default sample and effect floors, at 95 %.
#[must_use]
pub fn assess_regression(base: Sample, compared: Sample) -> Assessment {
    assess_regression_with(base, compared, MIN_SAMPLE_SIZE, MIN_EFFECT_SIZE, Z95)
}

/// Assesses a change; first match wins.
#[must_use]
pub fn assess_regression_with(
    base: Sample,
    compared: Sample,
    min_sample_size: u64,
    min_effect_size: f64,
    z: f64,
) -> Assessment {
    let difference = newcombe_at(base, compared, z);
    let fewest = base.total().min(compared.total());
    let (verdict, reason) = if fewest == 0 {
        // 1. Independent of the sample floor.
        (
            RegressionVerdict::InsufficientData,
            Some("a side has no gradeable trial".to_owned()),
        )
    } else if fewest < min_sample_size {
        // 2.
        let reason = format!("a side has {fewest} gradeable trials, fewer than {min_sample_size}");
        (RegressionVerdict::InsufficientData, Some(reason))
    } else if difference.upper < 0.0 && difference.delta <= -min_effect_size {
        // 3.
        (RegressionVerdict::Regression, None)
    } else {
        // 4.
        (RegressionVerdict::NoRegression, None)
    };
    Assessment {
        difference,
        verdict,
        reason,
    }
}
