//! What a running suite reports while it runs.
//!
//! The runner emits events; progress bars, the store and reporters listen.

use std::sync::Arc;

use crate::{
    judgement::JudgePass,
    run::{ExecutionVariant, RunRecord, TrialRecord},
    trace::Trace,
    words::Stage,
};

/// One thing that happened during a run.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The plan is made; no server was reached yet.
    RunStarted(Box<RunRecord>),
    /// A trial began.
    TrialStarted(Arc<TrialRef>),
    /// A trial entered another activity.
    TrialActivity(Arc<TrialRef>, Activity),
    /// A case variant gets more trials than planned: what its trials showed so
    /// far does not decide it.
    TrialsAdded(TrialsAdded),
    /// A trial ended; record and trace are complete.
    TrialFinished(Box<(TrialRecord, Trace)>),
    /// A finished trial was judged: its record with everything derived again,
    /// and what was asked and answered.
    TrialJudged(Box<(TrialRecord, JudgePass)>),
    /// No further trial will be run; the record is complete.
    RunFinished(Box<RunRecord>),
}

/// Names one trial while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialRef {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The model it runs under.
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
}

/// A case variant that gets more trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialsAdded {
    /// The case's id in the suite.
    pub case_id: String,
    /// The model it runs under.
    pub variant: Option<ExecutionVariant>,
    /// How many trials are configured from now on, those before included.
    pub configured_trials: u32,
}

/// What a running trial is doing, and whom it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The stage of the chain that the work belongs to.
    pub stage: Stage,
    /// Whom it waits for.
    pub waiting_for: WaitingFor,
}

/// Whom a trial waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// The server under test.
    Server,
    /// The model provider.
    Model,
    /// Nobody: our own work.
    Nobody,
}
