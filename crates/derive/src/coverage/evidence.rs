//! What of a stored trial is counted.

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::{
    run::{RunRecord, TrialRecord},
    trace::Trace,
    words::{Stage, StageState},
};

use crate::{
    assertions::trace::tool_errors,
    decision::{StoredChain, derive_summary_chain},
};

/// A stored run with what is counted of its trials.
#[derive(Debug, Clone)]
pub struct RunEvidence<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// Its stored trials.
    pub trials: Vec<TrialEvidence>,
}

/// What is counted of one trial.
#[derive(Debug, Clone, Default)]
pub struct TrialEvidence {
    /// The state of every stage; `None` when the chain cannot be read.
    pub(super) stages: Option<Vec<(Stage, StageState)>>,
    /// Tools that were called.
    pub(super) called: BTreeSet<String>,
    /// Tools of which some call ended in an error; `None` when the trace that
    /// would say so is gone.
    pub(super) errored: Option<BTreeSet<String>>,
}

impl TrialEvidence {
    /// Reads a trial; its trace is only needed where [`trace_is_needed`].
    #[must_use]
    pub fn of(trial: &TrialRecord, trace: Option<&Trace>) -> Self {
        let errored = match trace {
            Some(trace) => Some(
                tool_errors(trace, &[])
                    .into_iter()
                    .filter_map(|error| error.tool_name)
                    .collect(),
            ),
            None => (!trace_is_needed(trial)).then(BTreeSet::new),
        };
        let chain = derive_summary_chain(&StoredChain::from(&trial.chain));
        let stages = chain.verified().map(|chain| {
            let rows = chain.stages.iter();
            rows.map(|row| (row.stage, row.state)).collect()
        });
        let called = trial
            .actual_tool_calls
            .iter()
            .filter_map(|call| call.get("toolName")?.as_str())
            .map(str::to_owned)
            .collect();
        Self {
            stages,
            called,
            errored,
        }
    }
}

/// Returns whether a trial's record alone cannot tell which tools failed: its
/// evidence shows a failed call, and only the trace names the tool.
#[must_use]
pub fn trace_is_needed(trial: &TrialRecord) -> bool {
    let evidence = trial.chain_input.get("evidence");
    let list = |key: &str| {
        evidence
            .and_then(|evidence| evidence.get(key)?.as_array())
            .into_iter()
            .flatten()
    };
    let failed = |span: &Value| {
        let is = |key: &str, word: &str| span.get(key).and_then(Value::as_str) == Some(word);
        is("category", "tool") && is("status", "error")
    };
    list("toolErrors").next().is_some() || list("spans").any(failed)
}
