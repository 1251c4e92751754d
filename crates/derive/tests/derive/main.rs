//! Every derivation against its vectors and invariants; one module per family.

mod assertions;
mod chain;
mod decision;
mod matching;
mod measurements;
mod verdict;
