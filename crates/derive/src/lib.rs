//! Pure derivations: evidence in, documents out.
