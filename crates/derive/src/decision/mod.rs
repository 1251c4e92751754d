//! The run decision summary (`decision-summary.md`): what a run decided, in
//! which unit it counts, and what lies under its non-passing trials.
//!
//! | module | decides | section |
//! |---|---|---|
//! | [`input`] | what the summary is made of | §3 |
//! | [`resolution`] | verdict, source, counts, why undecided | §4 |
//! | [`summary`], [`diagnostic`] | the page of diagnostics | §5 |
//! | [`chain`] | whether a stored chain may be shown | §6 |
//! | [`evidence`] | where the evidence lies | §7 |
//! | [`next_action`] | who looks next | §8 |
//! | [`validate`] | stored summaries | §9 |
//! | [`chain_break`] | where the chain broke, over a page | §10 |
//! | [`conformance`] | the form that the vectors compare | |

mod chain;
mod chain_break;
mod conformance;
mod diagnostic;
mod evidence;
mod input;
mod next_action;
mod resolution;
mod summary;
mod validate;

pub use chain::derive_summary_chain;
pub use chain_break::derive_chain_break;
pub use conformance::conformance_form;
pub use evidence::trace_path;
pub use input::{IterationInput, MalformedSummaryInput, Page, RunInput, StoredChain, SummaryInput};
pub use next_action::derive_next_action;
pub use summary::{
    derive_decision_summary, derive_decision_summary_from_json, diagnose_trial, summarize_run,
};
pub use validate::validate_decision_summary;
