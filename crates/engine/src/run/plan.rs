//! What a run is going to do, fixed before anything is started.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::Value;
use strandline_contract::{
    binding::ServerBinding,
    run::{ExecutionVariant, PlannedCase, TrialRecord},
    sequential::SequentialSettings,
    suite::{ResolvedCase, ResolvedSuite},
    verdict::TrialObservation,
};

use strandline_derive::assertions::grade::CasePlan;

use crate::{judge::JudgePlan, mcp::Redactor, models::ModelClient};

/// A run, fully resolved: nothing in it is looked up later.
pub struct RunPlan {
    /// Id of the run (UUID v7).
    pub run_id: String,
    /// The suite.
    pub suite: Arc<ResolvedSuite>,
    /// Where the suite was read from, as shown to people.
    pub suite_path: String,
    /// SHA-256 of the suite file's bytes.
    pub source_hash: String,
    /// One binding per target server, in target order.
    pub servers: Vec<ServerBinding>,
    /// What to run, in authored order.
    pub case_variants: Vec<CaseVariant>,
    /// Trials that an earlier part of the same run has finished.
    pub finished: Vec<(TrialKey, TrialObservation)>,
    /// When the run first started, ms since the Unix epoch, if it is resumed.
    pub first_started_at: Option<i64>,
    /// Trials at once.
    pub concurrency: usize,
    /// Trials at once that may hold a session of one server.
    pub server_concurrency: usize,
    /// Start no further trial once one has failed.
    pub fail_fast: bool,
    /// Repeat a case variant beyond its configured trials until a sequential
    /// test decides it, within these bounds.
    pub until_decided: Option<SequentialSettings>,
    /// Seed given to models that take one; trial seeds are derived from it.
    pub seed: Option<u64>,
    /// What is masked in everything that is recorded.
    pub redactor: Redactor,
    /// `HOST:PORT` that proves our own network works (`chain.md` §14.3).
    pub egress_canary: Option<String>,
    /// Who judges finished trials; absent: their judgements stay due.
    pub judge: Option<JudgePlan>,
    /// Settings as stored with the run.
    pub settings: Value,
}

/// One case under one model.
#[derive(Clone)]
pub struct CaseVariant {
    /// The case.
    pub case: Arc<ResolvedCase>,
    /// The variant; absent when the case does not fan out over models.
    pub variant: Option<ExecutionVariant>,
    /// What the case demands, compiled.
    pub grading: Arc<CasePlan>,
    /// The model; absent for cases without a prompt.
    pub model: Option<Arc<dyn ModelClient>>,
    /// Configured trials.
    pub trials: u32,
}

/// Names one trial of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrialKey {
    /// The case's id.
    pub case_id: String,
    /// The variant.
    pub variant: Option<ExecutionVariant>,
    /// Ordinal, from 0.
    pub iteration_number: u32,
}

impl TrialKey {
    /// Returns the key of a finished trial.
    #[must_use]
    pub fn of(trial: &TrialRecord) -> Self {
        Self {
            case_id: trial.case_id.clone(),
            variant: trial.variant.clone(),
            iteration_number: trial.iteration_number,
        }
    }
}

/// A trial that is still to be run: index of its case variant, ordinal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outstanding {
    /// Index into [`RunPlan::case_variants`].
    pub case_variant: usize,
    /// Ordinal, from 0.
    pub iteration_number: u32,
}

impl RunPlan {
    /// Returns the plan as stored with the run.
    #[must_use]
    pub fn planned_cases(&self) -> Vec<PlannedCase> {
        self.case_variants
            .iter()
            .map(|planned| PlannedCase {
                case_id: planned.case.id.clone(),
                title: planned.case.title.clone(),
                variant: planned.variant.clone(),
                configured_trials: planned.trials,
                pass_threshold: planned.case.pass_threshold,
            })
            .collect()
    }

    /// Returns the trials that are still to be run, in authored order.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Outstanding> {
        let done: BTreeSet<TrialKey> = self.finished.iter().map(|(key, _)| key.clone()).collect();
        let mut trials = Vec::new();
        for (case_variant, planned) in self.case_variants.iter().enumerate() {
            for iteration_number in 0..planned.trials {
                let key = TrialKey {
                    case_id: planned.case.id.clone(),
                    variant: planned.variant.clone(),
                    iteration_number,
                };
                if !done.contains(&key) {
                    trials.push(Outstanding {
                        case_variant,
                        iteration_number,
                    });
                }
            }
        }
        trials
    }

    /// Returns which case variant a trial belongs to.
    #[must_use]
    pub fn position(&self, trial: &TrialRecord) -> Option<usize> {
        self.case_variants.iter().position(|planned| {
            planned.case.id == trial.case_id && planned.variant == trial.variant
        })
    }

    /// Returns whether the run has models and every one is the scripted one.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        let mut models = self
            .case_variants
            .iter()
            .filter_map(|planned| planned.model.as_ref())
            .peekable();
        models.peek().is_some() && models.all(|model| model.provider() == "scripted")
    }

    /// Returns the time the whole run may take.
    #[must_use]
    pub fn run_budget(&self) -> Duration {
        Duration::from_millis(self.suite.execution.run_timeout_ms)
    }
}
