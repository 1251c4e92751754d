//! The funnel of one run, counted over its trials (`analytics.md`).
//!
//! It counts, it decides nothing: states, reach, verification and versions are
//! read, never derived. A run without a funnel is unmeasured, never zero.
//!
//! | rule | module | spec |
//! |---|---|---|
//! | is a trial counted, and if not, why? | `classify` | §4 |
//! | what a trial adds at each stage | `tally` | §6 |
//! | which slices a trial belongs to, and which are kept | `slices` | §5 |
//! | trials streamed in, counts merged, the document | `accumulate` | §6, §8 |
//! | rates and means, which are never stored | `rates` | §9 |
//! | may two funnels be shown side by side? | `parity` | §9 |
//! | may a stored funnel be believed? | `validate` | §10 |
//! | from a run's stored records to its funnel | `records` | §12 |

mod accumulate;
mod classify;
mod parity;
mod rates;
mod records;
mod slices;
mod tally;
mod validate;

pub use accumulate::{StageAnalyticsAccumulator, derive_stage_analytics};
pub use classify::{Reader, classify_trial};
pub use parity::{case_set_fingerprint, parity_blockers};
pub use rates::{
    StageRate, latency_mean_ms, measured_pass_rate, measurement_coverage_rate, reach_rate,
    stage_rate,
};
pub use records::{Materialization, RunFunnel, TrialLabels, analytics_trial, config_revision};
pub use validate::validate_stage_analytics;
