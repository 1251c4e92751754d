//! Pure derivations: evidence in, documents out.
//!
//! Nothing here reads a clock, a file or a random source, and every function
//! is total over its input.
//!
//! | question | module | spec |
//! |---|---|---|
//! | do a trial's assertions hold, and does it pass? | [`assertions`] | `assertions.md` |
//! | where is an assertion kind judged? | [`kinds`] | `chain.md` §5 |
//! | may a tool be called? | [`policy`] | `suite-file.md` §4.2 |
//! | where did value stop? | [`chain`] | `chain.md` §4–§9 |
//! | was a stage reached, and how long did it take? | [`measurements`] | `measurements.md` |
//! | how many trials got how far? | [`analytics`] | `analytics.md` |
//! | what do calls show about avoidable work? | [`friction`] | `friction.md` §2–§7 |
//! | what does a report say of a run and of each trial? | [`full_report`] | – |
//! | what was decided? | [`verdict`] | `verdict.md` §3–§10 |
//! | what does a run report, and on what evidence? | [`decision`] | `decision-summary.md` |
//! | what do the sessions of a swarm say, one by one and together? | [`swarm`] | `swarm.md` §3–§9 |
//! | what does a suite, or a run of it, leave unproved? | [`coverage`] | — |
//! | may two runs be compared, and what differs? | [`compare`] | `verdict.md` §11, `analytics.md` §9 |
//! | what would it take to decide a case by repeating it? | [`repeating`] | `docs/statistics.md` |
//! | how sure is a rate, a difference, a repeated case? | [`statistics`] | `verdict.md` §11 |

pub mod analytics;
pub mod assertions;
pub mod chain;
pub mod compare;
pub mod coverage;
pub mod decision;
mod document;
pub mod friction;
pub mod full_report;
pub mod judge;
pub mod kinds;
pub mod measurements;
pub mod overview;
pub mod policy;
pub mod repeating;
pub mod statistics;
pub mod surface;
pub mod swarm;
pub mod verdict;

pub use document::Violation;
