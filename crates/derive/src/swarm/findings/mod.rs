//! What the swarm runs of one launch found, without a model (`swarm.md` §9).
//!
//! | module | decides | section |
//! |---|---|---|
//! | [`input`] | the wave as it came | §9 |
//! | [`reading`] | which sessions count | §9.1 |
//! | [`disposition`] | where a session ended up | §9.2 |
//! | [`signals`] | what is recorded of a session | §9.3 |
//! | [`session`] | one considered session, everything about it known | §9.2–§9.5 |
//! | [`rows`] | the rows, their order and cap | §9.4 |
//! | [`wave`] | population, notes, summary, personas | §9.4, §9.5 |
//! | [`validate`], [`read_finding`] | stored findings | §8 |

mod disposition;
mod input;
mod read_finding;
mod reading;
mod rows;
mod session;
mod signals;
mod validate;
mod wave;

pub use disposition::session_disposition;
pub use signals::{facts_from_trace, recorded_signals};
pub use validate::{validate_findings, validate_findings_job};
pub use wave::{derive_findings, derive_findings_from_json, source_revision};
