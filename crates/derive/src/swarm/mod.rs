//! What the sessions of a swarm say, one by one and together (`swarm.md`).
//!
//! Three facts stay apart everywhere: execution (did it run), goal grading
//! (was the goal met) and observations (advisory checks).
//!
//! | module | decides | section |
//! |---|---|---|
//! | [`lifecycle`] | what became of a session, and of a run | §2, §3 |
//! | [`verdict`], [`graders`] | what a session says of its goal | §4 |
//! | [`summary`] | what verdict policy v2 says of a run's sessions | §6.3 |
//! | [`report`] | what a run reports | §6.1, §6.2 |
//! | [`fold`] | several runs' verdicts as one | §6.4 |
//! | [`findings`] | what a launch found | §8, §9 |
//! | `*_input`, `*_validate` | documents as they came | §4, §6, §8 |
//!
//! The chain of a session is derived by
//! [`crate::chain::chat_chain_input`] (§5).

mod findings;
mod fold;
mod graders;
mod invalid;
mod lifecycle;
mod report;
mod report_input;
mod report_validate;
mod session_input;
mod session_validate;
mod summary;
mod verdict;

pub use findings::{
    derive_findings, derive_findings_from_json, facts_from_trace, recorded_signals,
    session_disposition, source_revision, validate_findings, validate_findings_job,
};
pub use fold::fold_verdicts;
pub use invalid::InvalidSwarmDocument;
pub use lifecycle::{derive_lifecycle, derive_run_status, never_ran};
pub use report::{derive_run_report, derive_run_report_from_json};
pub use report_validate::validate_run_report;
pub use session_validate::validate_session_verdict;
pub use summary::{
    SummaryInput, TargetSessions, derive_verdict_summary, start_evidence, target_case_id,
};
pub use verdict::{derive_session_verdict, derive_session_verdict_from_json};
