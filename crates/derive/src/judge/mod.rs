//! LLM judges: what they are asked, what is made of their answers, what those
//! do to a trial. Asking itself is the engine's.
//!
//! A judge is a model, not a rule. It is advisory unless the suite requires
//! it, every text of a server, a user or a model reaches it fenced as data,
//! and a judge that breaks says nothing about the server.
//!
//! | module | tells | section |
//! |---|---|---|
//! | [`settings`] | what the suite says about judges | `suite-file.md` §4.3 |
//! | [`template`] | the prompts, numbered and hashed | – |
//! | [`fence`] | untrusted text as data | – |
//! | `transcript` | the conversation as it is shown to a judge | – |
//! | `answer` | what is an answer at all | – |
//! | [`goal`] | goal completion | `suite-file.md` §4.3, `chain.md` §14.4 |
//! | [`attribution`] | metadata attribution | `chain.md` §9.4–9.5 |
//! | [`condition`] | suspected conditions | `friction.md` §9 |
//! | `samples` | k samples, one answer | – |
//! | [`stored`] | stored suspected conditions | `friction.md` §9.2 |
//! | `tally` | what judges said over the trials of a run | – |
//! | [`mod@regrade`] | chain, measurements and result with what judges say | `chain.md` §14.5 |

mod answer;
pub mod attribution;
pub mod condition;
pub mod fence;
pub mod goal;
mod regrade;
mod samples;
pub mod settings;
mod stored;
mod tally;
pub mod template;
mod transcript;

pub use answer::{Unusable, stored_answer};
pub use regrade::{
    Askable, GOAL_SCORER, adopt, askable, derive_trial_chain, derive_trial_measurements, is_owed,
    regrade,
};
pub use settings::{Criterion, JudgeSettings, suite_of};
pub use stored::{StoredCondition, project_suspected_condition, validate_suspected_condition};
pub use tally::JudgeCounter;
