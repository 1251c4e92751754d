//! The six-stage chain of one trial (`chain.md`).
//!
//! | rule | module | spec |
//! |---|---|---|
//! | which branch a trial takes | [`branches`](self) | §7 |
//! | what is read off the evidence | `facts` | §4 |
//! | whether a stage applies | `applicability` | §6 |
//! | one rule table per stage | `stages` | §8 |
//! | provider withdrawal | `withdrawal` | §9.2 |
//! | position | `position` | §9.3 |
//! | first failed stage, category, metadata | `failure` | §9.4, §9.5 |
//! | what a suite case says about itself | `authored` | §14.1 |
//! | what setting servers up says | [`setup`] | §14.3 |

mod applicability;
mod authored;
mod branches;
mod facts;
mod failure;
mod position;
mod row;
pub mod setup;
mod stages;
mod withdrawal;

pub use authored::authored_case;
pub use branches::derive_chain;
