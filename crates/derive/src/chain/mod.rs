//! The six-stage chain of one trial (`chain.md`).
//!
//! | rule | module | spec |
//! |---|---|---|
//! | which branch a trial takes | `branches` | §7 |
//! | what is read off the evidence | `facts` | §4 |
//! | whether a stage applies | `applicability` | §6 |
//! | one rule table per stage | `stages` | §8 |
//! | provider withdrawal | `withdrawal` | §9.2 |
//! | position | `position` | §9.3 |
//! | first failed stage, category, metadata | `failure` | §9.4, §9.5 |
//! | whether a stored chain may be believed | [`validate_chain`], [`project_chain`] | §11 |
//! | what a suite case says about itself | `authored` | §14.1 |
//! | what setting servers up says | [`setup`] | §14.3 |
//! | what a stored judge record says | `judge` | §14.4 |
//! | a judge that answers later | `second_pass` | §14.5 |
//! | chat sessions | `chat` | §14.6 |

mod applicability;
mod authored;
mod branches;
mod chat;
mod facts;
mod failure;
mod judge;
mod position;
mod row;
mod second_pass;
pub mod setup;
mod stages;
mod validate;
mod withdrawal;

pub use authored::authored_case;
pub use branches::derive_chain;
pub use chat::chat_chain_input;
pub use judge::{judge_evidence, metadata_attribution};
pub use second_pass::{LateEvidence, second_pass};
pub(crate) use validate::read_chain;
pub use validate::{project_chain, validate_chain};
