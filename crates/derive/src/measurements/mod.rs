//! Reach and latency of the six stages (`measurements.md`).
//!
//! Measurements never change a stage row.

mod measure;
mod reach;
mod union;

pub use measure::derive_measurements;
pub use reach::{is_consistent, reach_of_state};
