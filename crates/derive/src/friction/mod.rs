//! What one trial's tool calls show about avoidable work (`friction.md`).
//!
//! Deterministic, and never a verdict: it changes no result, chain or funnel.
//! Identifier values never leave this module.
//!
//! | module | decides | section |
//! |---|---|---|
//! | [`input`] | which calls and results there are | §2 |
//! | [`result`] | what a raw result says | §3 |
//! | [`arguments`] | when two calls' arguments are equal | §4 |
//! | [`identifiers`], [`lenient`] | which identifiers a result carries | §5 |
//! | [`tokens`] | whether arguments carry an identifier | §5 |
//! | [`signals`] | the signals | §6 |
//! | [`validate`] | stored documents | §7 |
//! | [`window`] | what a judge may see of the calls | §9.3 |
//! | [`roll_up`] | how many trials of a case show each kind | §7 |

mod arguments;
mod identifiers;
mod input;
mod lenient;
mod result;
mod roll_up;
mod signals;
mod tokens;
mod validate;
mod window;

pub use input::{
    FrictionInput, MalformedFrictionInput, ResultEntry, results_from_trace, results_from_transcript,
};
pub(crate) use result::is_error_result;
pub use roll_up::{FrictionCounter, FrictionRates, derive_friction_rates};
pub use signals::{derive_friction_signals, derive_friction_signals_from_json};
pub(crate) use validate::read_friction_signals;
pub use validate::{StoredFriction, project_friction_signals, validate_friction_signals};
pub use window::{Window, WindowCall, WindowResult, friction_of_trial};
