//! Pure derivations: evidence in, documents out.

pub mod surface;
