//! Every derivation against its vectors and invariants; one module per family.

mod assertion_properties;
mod assertions;
mod chain;
mod decision;
mod grade;
mod matching;
mod measurements;
mod verdict;
