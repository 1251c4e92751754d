//! Repeating until decided: the bounds of the sequential test, and what it
//! says of a run's case variants (`docs/statistics.md`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    number,
    verdict::{MAX_CONFIGURED_TRIALS, RowVariant},
    words::{MeasurementUnit, SequentialDecision},
};

/// Bounds of the sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialSettings {
    /// Most often (a fraction of cases) that a case whose true pass rate lies
    /// at or below the indifference region is taken to meet its threshold.
    #[serde(serialize_with = "number::write")]
    pub alpha: f64,
    /// Most often that a case whose true pass rate lies at or above the
    /// indifference region is taken to miss its threshold.
    #[serde(serialize_with = "number::write")]
    pub beta: f64,
    /// How far from the threshold, to either side, a true pass rate may lie
    /// and still be taken for either; a fraction.
    #[serde(serialize_with = "number::write")]
    pub indifference: f64,
    /// Most trials of one case variant, 1 to 100.
    pub max_trials: u32,
}

impl Default for SequentialSettings {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            beta: 0.05,
            indifference: 0.1,
            max_trials: 50,
        }
    }
}

impl SequentialSettings {
    /// Says what is wrong with the settings.
    ///
    /// # Errors
    ///
    /// An error rate outside 0 to 0.5, an indifference outside 0 to 0.5 (both
    /// without the ends), a maximum outside 1 to 100.
    pub fn check(&self) -> Result<(), String> {
        let open = |value: f64| value > 0.0 && value < 0.5;
        for (name, value) in [
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("indifference", self.indifference),
        ] {
            if !open(value) {
                return Err(format!(
                    "`{name}` must be a fraction above 0 and below 0.5, not {value}"
                ));
            }
        }
        if !(1..=MAX_CONFIGURED_TRIALS).contains(&u64::from(self.max_trials)) {
            return Err(format!(
                "a case variant has 1 to {MAX_CONFIGURED_TRIALS} trials, not {}",
                self.max_trials
            ));
        }
        Ok(())
    }
}

/// Member of a run's stored settings that holds its [`SequentialSettings`].
pub const SEQUENTIAL_SETTINGS: &str = "untilDecided";

/// Returns the bounds that a run repeated its cases under, if it did.
#[must_use]
pub fn sequential_settings(settings: &Value) -> Option<SequentialSettings> {
    let stored = settings.get(SEQUENTIAL_SETTINGS)?;
    serde_json::from_value(stored.clone()).ok()
}

/// What the sequential test says of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialReport {
    /// The run.
    pub run_id: String,
    /// What a row describes.
    pub unit: MeasurementUnit,
    /// Bounds that the rows were assessed with.
    pub settings: SequentialSettings,
    /// The run itself repeated its cases until decided under these bounds, so
    /// that its numbers of trials depend on its results.
    pub used_by_run: bool,
    /// One row per planned case variant, in plan order.
    pub cases: Vec<SequentialRow>,
}

/// What the sequential test says of one case variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialRow {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The variant; absent when the run did not fan out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_variant: Option<RowVariant>,
    /// Fraction of gradeable trials that must pass.
    #[serde(serialize_with = "number::write")]
    pub pass_threshold: f64,
    /// Lower end of the indifference region; a fraction.
    #[serde(serialize_with = "number::write")]
    pub lower_rate: f64,
    /// Upper end of the indifference region; a fraction.
    #[serde(serialize_with = "number::write")]
    pub upper_rate: f64,
    /// Gradeable trials; the test reads no other.
    pub eligible_trials: u64,
    /// Passed trials.
    pub passed_trials: u64,
    /// What they show.
    pub decision: SequentialDecision,
    /// What it would take to decide; absent once decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outlook: Option<SequentialOutlook>,
}

/// What it would take to decide a case variant, in further gradeable trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialOutlook {
    /// Further trials that show that the threshold is met if all of them pass;
    /// absent when no number of passes can.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fewest_passes: Option<u64>,
    /// Further trials that show that it is missed if all of them fail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fewest_failures: Option<u64>,
    /// Trials left below the maximum.
    pub trials_left: u64,
    /// Trials expected until decided or until none is left, if the true pass
    /// rate is the one so far; absent without a gradeable trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_trials: Option<f64>,
    /// Chance that the maximum is reached without a decision, if the true pass
    /// rate is the one so far; absent without a gradeable trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undecided_chance: Option<f64>,
}
