//! Runs a suite: plan, servers, trials, decision.
//!
//! The runner emits [`RunEvent`](strandline_contract::event::RunEvent)s and
//! knows no store and no terminal. One story per module:
//!
//! | module | tells |
//! |---|---|
//! | [`plan`] | what is to be run: case variants, models, bounds |
//! | `dispatcher` | when each trial runs, and how a run ends |
//! | `repeats` | how many trials a case gets, and when more are added |
//! | `servers`, `catalog` | sessions, what setting them up showed, their tools |
//! | `trial` | the steps of one trial |
//! | `agent` | model and tools taking turns over one prompt |
//! | `calls` | one tool call, from policy to recorded result |
//! | `gathered` | what a trial has gathered so far |
//! | `judging` | who waits for a judge |
//! | `record` | what a finished trial is graded and stored as |
//! | `bound` | budgets that never cut a record short |

mod agent;
mod bound;
mod calls;
mod catalog;
mod dispatcher;
mod gathered;
mod judging;
mod masking;
pub mod plan;
mod record;
mod repeats;
mod servers;
mod trial;

pub use dispatcher::{RunEnd, Stop, event_channel, run};
pub use plan::{CaseVariant, RunPlan, TrialKey};
