//! What two samples of trials say.

use strandline_contract::comparison::{PassSample, RateComparison, RateDifference, SmallestChange};

use crate::{
    statistics::{
        DETECTION_POWER, Detectable, Sample, assess_regression, smallest_drop, smallest_rise,
    },
    verdict::pass_rate_interval,
};

/// Confidence of every interval of a difference.
const CONFIDENCE: f64 = 0.95;

/// Returns a sample with the Wilson interval of its pass rate.
#[must_use]
pub fn pass_sample(sample: Sample) -> PassSample {
    PassSample {
        passed_trials: sample.passed(),
        eligible_trials: sample.total(),
        pass_rate_interval: pass_rate_interval(sample.total(), sample.passed()).unwrap_or(None),
    }
}

/// Compares two samples (`verdict.md` §11): difference, verdict, and how small
/// a change they could have shown.
#[must_use]
pub fn compare_rates(base: Sample, compared: Sample) -> RateComparison {
    let assessment = assess_regression(base, compared);
    let measured = base.total() > 0 && compared.total() > 0;
    RateComparison {
        base: pass_sample(base),
        compared: pass_sample(compared),
        difference: measured.then_some(RateDifference {
            confidence: CONFIDENCE,
            delta: assessment.difference.delta,
            lower: assessment.difference.lower,
            upper: assessment.difference.upper,
        }),
        verdict: assessment.verdict,
        reason: assessment.reason,
        smallest_drop: smallest_drop(base, compared.total()).map(smallest_change),
        smallest_rise: smallest_rise(base, compared.total()).map(smallest_change),
    }
}

fn smallest_change(detectable: Detectable) -> SmallestChange {
    SmallestChange {
        shown: detectable.shown,
        true_change: detectable.true_change,
        power: DETECTION_POWER,
    }
}
