//! Every derivation against its vectors and invariants; one module per family.

mod assertions;
mod chain;
mod matching;
mod decision;
mod measurements;
mod verdict;
