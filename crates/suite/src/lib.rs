//! Suite files: text to a document or a list of findings, and back.
//!
//! | question | module | spec |
//! |---|---|---|
//! | what does the text say? | [`yaml`], [`source`] | `suite-file.md` §2.1 |
//! | is it a suite file? | `rules` | §3–§6, §10, `assertions.md` §5, §8 |
//! | what is wrong, and where? | [`finding`] | §2.2–§2.4 |
//! | what does a short file stand for? | `short` | ours |
//! | how are findings shown? | [`render`] | §2.3 |
//! | what does a run read? | `resolve` | §8 |
//! | what is worth a look? | `lint` | §8.1, §9.3 |
//! | how is it written? | [`mod@write`] | §7 |
//! | may the run start? | [`preflight`], [`refusal`] | §9.4, §9.5 |
//! | how is a server reached? | [`binding`] | §9.1–§9.3 |
//! | which provider answers? | [`model`] | §9.6 |
//! | what do the vectors compare? | [`vector`] | |
//!
//! Nothing here reads a file, the environment or a clock.

pub mod binding;
pub mod finding;
mod lint;
pub mod load;
pub mod model;
pub mod preflight;
pub mod refusal;
pub mod render;
mod resolve;
mod rules;
mod short;
pub mod source;
pub mod vector;
pub mod write;
pub mod yaml;

pub use finding::{Code, FailureStage, Finding, Segment};
pub use load::{
    Authored, Extensions, LoadFailure, LoadOptions, Loaded, MAX_FILE_BYTES, Warning, load,
    source_hash,
};
pub use refusal::Refusal;
pub use rules::Dialect;
pub use write::{expand_json, expand_yaml, write_json, write_yaml};
