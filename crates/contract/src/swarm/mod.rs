//! Documents of swarm runs: session verdicts, run reports, findings
//! (`swarm.md`).
//!
//! Every object is closed: an unknown key is an error, and nothing has a
//! default. Counts are integers 0 … 2^53 − 1; `null` is a value where a type
//! shows it and never the same as an absent key.
//!
//! | module | holds | section |
//! |---|---|---|
//! | [`session`] | what one session is judged by, and its verdict | §4 |
//! | [`report`] | what one run reports over its sessions | §6 |
//! | [`wave`] | the sessions of one launch, as findings read them | §9 |
//! | [`findings`] | what a launch found | §8 |

pub mod findings;
pub mod report;
pub mod session;
pub mod wave;

/// The version of every document of this module.
pub const SWARM_CONTRACT_VERSION: u64 = 1;
