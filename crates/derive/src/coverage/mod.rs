//! What a suite, or a run of it, leaves unproved.
//!
//! | module | question |
//! |---|---|
//! | [`demands`] | which calls and arguments does a case demand? |
//! | [`tools`] | which tools are there, and what was seen of them? |
//! | [`evidence`] | what of a stored trial is counted? |
//! | [`gaps`] | which counts and gaps follow? |

mod demands;
mod evidence;
mod gaps;
mod tools;

pub use evidence::{RunEvidence, TrialEvidence, trace_is_needed};
pub use gaps::{CoverageInput, derive_coverage};
