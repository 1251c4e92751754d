//! Runs a suite: plan, servers, trials, decision.
//!
//! The runner emits [`RunEvent`](strandline_contract::event::RunEvent)s and
//! knows no store and no terminal. One story per module:
//!
//! | module | tells |
//! |---|---|
//! | [`plan`] | what is to be run: case variants, models, bounds |
//! | [`dispatcher`] | when each trial runs, and how a run ends |
//! | [`servers`] | sessions, tool catalog, setup signals |
//! | [`trial`] | the steps of one trial |
//! | [`agent`] | model and tools taking turns over one prompt |
//! | [`calls`] | one tool call, from policy to recorded result |
//! | [`record`] | what a finished trial is graded and stored as |

pub mod agent;
pub mod calls;
pub mod dispatcher;
pub mod plan;
pub mod record;
pub mod servers;
pub mod trial;

pub use dispatcher::{Stop, run};
pub use plan::{CaseVariant, RunPlan};
