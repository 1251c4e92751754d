//! Pure derivations: evidence in, documents out.
//!
//! | question | module | spec |
//! |---|---|---|
//! | what was decided? | [`verdict`] | `verdict.md` §3–§10 |
//! | did it change between two runs? | [`compare`] | `verdict.md` §11 |

pub mod compare;
mod document;
pub mod surface;
pub mod verdict;

pub use document::Violation;
