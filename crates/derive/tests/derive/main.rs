//! Every derivation against its vectors and invariants; one module per family.

mod chain;
mod measurements;
