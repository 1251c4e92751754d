//! Verdict policy v2 (`verdict.md`): what a run decides, and whether a stored
//! decision may be believed.
//!
//! | module | decides | section |
//! |---|---|---|
//! | [`trial`] | what one iteration contributes | §3 |
//! | [`case`] | one case variant's row | §4 |
//! | [`run`] | the decision, and every refusal in order | §5, §7 |
//! | [`policy`], [`input`] | the aggregator's input as JSON | §7 |
//! | [`identity`] | when two rows are the same | §6 |
//! | [`validate`], [`consistency`] | stored decisions | §8 |
//! | [`statistics`], [`validate_statistics`] | pass@k, pass^k, intervals | §9 |
//! | [`passes_needed`] | passes a case needs | §10 |
//!
//! Comparison statistics (§11) are in [`crate::compare`].

mod case;
mod consistency;
mod identity;
mod input;
mod passes_needed;
mod policy;
mod refusal;
mod run;
mod statistics;
mod trial;
mod validate;
mod validate_statistics;

pub use case::aggregate_case;
pub use input::{derive_decision_from_json, derive_verdict_from_json};
pub use passes_needed::case_passes_needed;
pub use refusal::Refusal;
pub use run::derive_decision;
pub use statistics::{
    OutsideDomain, derive_trial_statistics, pass_at_k, pass_hat_k, pass_rate_interval,
};
pub use trial::{derive_trial_observation, has_evaluator_error};
pub(crate) use validate::{check_decision, read_decision};
pub use validate::{validate_case_aggregate, validate_decision, validate_policy, validate_rate};
pub use validate_statistics::validate_trial_statistics;
