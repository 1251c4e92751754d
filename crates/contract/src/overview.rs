//! What one run's trials look like taken together: how far each case variant
//! got, and where and why its trials stopped.
//!
//! Counts of trials for lists and pages, so that nobody has to read a hundred
//! thousand trials to show a run. Written with a run's end; what it groups by
//! is a location and a reason, never a cause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    run::{ExecutionVariant, Usage},
    words::{
        FailureCategory, FrictionSignalKind, IterationStatus, NextAction, Stage, StageReason,
        StageState,
    },
};

/// The version of the document.
pub const RUN_OVERVIEW_VERSION: u64 = 1;
/// Most trials that a group names.
pub const MAX_NAMED_TRIALS: usize = 20;
/// Most lines of evidence that a group quotes.
pub const MAX_QUOTED_EVIDENCE: usize = 3;

/// One run's trials taken together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunOverview {
    /// Always [`RUN_OVERVIEW_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub version: u64,
    /// The run.
    pub run_id: String,
    /// Trials that are stored.
    #[serde(deserialize_with = "number::read_count")]
    pub trials: u64,
    /// One row per planned case variant, in plan order.
    pub cases: Vec<CaseOverview>,
    /// Friction signals that were seen, in vocabulary order.
    pub friction: Vec<FrictionTally>,
}

/// One case variant's trials taken together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseOverview {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The model it ran under; absent without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<ExecutionVariant>,
    /// Trials that were configured.
    #[serde(deserialize_with = "number::read_count")]
    pub configured_trials: u64,
    /// Trials that are stored.
    #[serde(deserialize_with = "number::read_count")]
    pub trials: u64,
    /// Of these, trials with the result `passed` and a grader that worked.
    #[serde(deserialize_with = "number::read_count")]
    pub passed: u64,
    /// The six stages, in chain order.
    pub strip: Vec<StageCounts>,
    /// Trials that did not pass, and passed ones in which a stage failed all
    /// the same, by where and why they stopped; the latter last.
    pub groups: Vec<StopGroup>,
    /// Tokens of all trials together; absent parts were reported by none.
    pub usage: Usage,
    /// From start to end, all trials together, ms.
    #[serde(deserialize_with = "number::read_count")]
    pub duration_ms: u64,
}

/// In how many trials one stage has which state.
///
/// A trial whose chain may not be believed has no row and is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageCounts {
    /// The stage.
    pub stage: Stage,
    /// Trials in which it passed.
    #[serde(deserialize_with = "number::read_count")]
    pub passed: u64,
    /// Trials in which it failed.
    #[serde(deserialize_with = "number::read_count")]
    pub failed: u64,
    /// Trials in which it never ran.
    #[serde(deserialize_with = "number::read_count")]
    pub not_reached: u64,
    /// Trials in which it was not measured.
    #[serde(deserialize_with = "number::read_count")]
    pub not_measured: u64,
    /// Trials to which it does not apply.
    #[serde(deserialize_with = "number::read_count")]
    pub not_applicable: u64,
}

impl StageCounts {
    /// States from the least to the most favourable: one failing trial of a
    /// hundred shows, and a cell is a pass only when every trial that the
    /// stage applies to passed it.
    pub const LEAST_FAVOURABLE_FIRST: [StageState; 5] = [
        StageState::Failed,
        StageState::NotMeasured,
        StageState::NotReached,
        StageState::Passed,
        StageState::NotApplicable,
    ];

    /// Makes a row without trials.
    #[must_use]
    pub const fn none(stage: Stage) -> Self {
        Self {
            stage,
            passed: 0,
            failed: 0,
            not_reached: 0,
            not_measured: 0,
            not_applicable: 0,
        }
    }

    /// Returns the trials in a state.
    #[must_use]
    pub const fn of(&self, state: StageState) -> u64 {
        match state {
            StageState::Passed => self.passed,
            StageState::Failed => self.failed,
            StageState::NotReached => self.not_reached,
            StageState::NotMeasured => self.not_measured,
            StageState::NotApplicable => self.not_applicable,
        }
    }

    /// Counts one more trial in a state.
    pub const fn add(&mut self, state: StageState) {
        match state {
            StageState::Passed => self.passed += 1,
            StageState::Failed => self.failed += 1,
            StageState::NotReached => self.not_reached += 1,
            StageState::NotMeasured => self.not_measured += 1,
            StageState::NotApplicable => self.not_applicable += 1,
        }
    }

    /// Returns the trials that have a row for the stage.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.passed + self.failed + self.not_reached + self.not_measured + self.not_applicable
    }

    /// Returns the least favourable state that some trial is in; `None` where
    /// no trial has a row.
    #[must_use]
    pub fn least_favourable(&self) -> Option<StageState> {
        Self::LEAST_FAVOURABLE_FIRST
            .into_iter()
            .find(|state| self.of(*state) > 0)
    }
}

/// Whether a trial's chain may be believed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ChainStanding {
    /// It passed its check.
    Verified,
    /// It did not, and is withheld.
    Unverified,
    /// None is stored.
    Absent,
}

/// Trials of one case variant that stopped in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StopGroup {
    /// All of them passed, although a stage failed; else none passed.
    pub passed: bool,
    /// The first failed stage; absent when no stage failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage: Option<Stage>,
    /// The reason on that stage's row; where no stage failed, on the first row
    /// that could not be measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<StageReason>,
    /// Lifecycle.
    pub status: IterationStatus,
    /// The grader broke.
    pub evaluator_error: bool,
    /// Whether their chains may be believed.
    pub chain: ChainStanding,
    /// The bucket that their failure is grouped under; never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure_category: Option<FailureCategory>,
    /// What to look at next; absent for trials that passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_action: Option<NextAction>,
    /// How many trials.
    #[serde(deserialize_with = "number::read_count")]
    pub trials: u64,
    /// The first of them, at most [`MAX_NAMED_TRIALS`].
    pub first: Vec<NamedTrial>,
    /// Evidence of the first one, at most [`MAX_QUOTED_EVIDENCE`] lines.
    pub evidence: Vec<String>,
}

/// A trial by its id and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedTrial {
    /// Its id.
    pub trial_id: String,
    /// Ordinal among the case variant's trials, from 0.
    #[serde(deserialize_with = "number::read_count")]
    pub iteration_number: u64,
}

/// In how many trials a friction signal was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrictionTally {
    /// The signal.
    pub kind: FrictionSignalKind,
    /// Trials that show it.
    #[serde(deserialize_with = "number::read_count")]
    pub trials: u64,
    /// Trials in which it was looked for.
    #[serde(deserialize_with = "number::read_count")]
    pub of: u64,
}
