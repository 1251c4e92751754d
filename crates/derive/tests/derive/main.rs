//! Every derivation against its vectors and invariants; one module per family.

#![expect(clippy::disallowed_methods, reason = "tests read conformance files")]

mod analytics;
mod assertion_properties;
mod assertions;
mod chain;
mod coverage;
mod decision;
mod friction;
mod grade;
mod judge;
mod matching;
mod measurements;
mod recorded;
mod statistics;
mod swarm;
mod verdict;
