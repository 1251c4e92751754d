//! Reach and latency of the six stages (`measurements.md`).
//!
//! Measurements never change a stage row.
//!
//! | rule | module | spec |
//! |---|---|---|
//! | was a stage reached? | `reach` | §3 |
//! | the derivation | `measure`, `union` | §4 |
//! | may stored measurements be believed? do they agree with the chain? | `validate` | §5 |
//! | a trial's measurements, where they may be believed | `stored` | §5 |
//! | measurements beside a stored chain | `attach` | §6 |
//! | setup tallies of a run | `setup` | §7 |
//! | latency added up over trials | `aggregate` | §8 |

mod aggregate;
mod attach;
mod measure;
mod reach;
mod setup;
mod stored;
mod union;
mod validate;

pub use aggregate::{aggregate_latency, is_valid_aggregate, mean_ms, stage_sample, within_bounds};
pub use attach::attach_measurements;
pub use measure::{derive_measurements, is_latency_eligible};
pub use reach::{is_consistent, reach_of_state};
pub use setup::{SetupAccumulator, derive_setup_tallies};
pub use stored::believed_measurements;
pub use validate::{Disagreement, DisagreementCode, disagreements, validate_measurements};
