//! Verdict policy v2: what is decided and what it was decided from
//! (`verdict.md` §2, §9).
//!
//! Every object here is closed: an unknown key is an error. Counts are
//! integers 0 … 2^53 − 1, rates and thresholds fractions 0 to 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    rate::Rate,
    run::{ExecutionVariant, TrialRecord},
    words::{
        CoverageKind, DecisionReason, ExclusionReason, IterationStatus, MeasurementUnit,
        TaskResult, Verdict,
    },
};

/// The version of the policy that decides runs.
pub const VERDICT_POLICY_VERSION: u64 = 2;
/// Most configured trials of one case variant.
pub const MAX_CONFIGURED_TRIALS: u64 = 100;
/// Most distinct cases of one decision.
pub const MAX_CASES: usize = 500;
/// Most rows (case variants) of one decision.
pub const MAX_ROWS: usize = 50_000;
/// Longest model or provider name, UTF-16 code units.
pub const MAX_NAME_UNITS: usize = 200;
/// Longest case id, characters.
pub const MAX_CASE_ID_LENGTH: usize = 128;
/// Least fraction of attempted trials that must complete, unless authored.
pub const DEFAULT_MIN_COMPLETION_RATE: f64 = 0.8;
/// Greatest fraction of attempted trials that the evaluator may lose, unless authored.
pub const DEFAULT_MAX_EVALUATOR_ERROR_RATE: f64 = 0.1;

/// Returns whether a text is an id: 1 to 128 of letters, digits, `_`, `-`.
#[must_use]
pub fn is_opaque_id(text: &str) -> bool {
    (1..=MAX_CASE_ID_LENGTH).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// How much of a run must be measured before it may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Every configured trial was attempted and at least one is gradeable.
    AllConfiguredTrialsAttempted,
    /// At least this many trials are gradeable; at least 1.
    MinEligibleTrials(u64),
}

impl Coverage {
    /// Returns the word for the kind of coverage.
    #[must_use]
    pub const fn kind(self) -> CoverageKind {
        match self {
            Self::AllConfiguredTrialsAttempted => CoverageKind::AllConfiguredTrialsAttempted,
            Self::MinEligibleTrials(_) => CoverageKind::MinEligibleTrials,
        }
    }
}

/// A coverage as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum CoverageWire {
    /// Every configured trial was attempted and at least one is gradeable.
    AllConfiguredTrialsAttempted {
        /// Always 1.
        #[schemars(range(min = 1, max = 1))]
        min_gradeable_trials: u64,
    },
    /// At least this many trials are gradeable.
    MinEligibleTrials {
        /// At least 1.
        #[schemars(range(min = 1))]
        min_eligible_trials: u64,
    },
}

impl Serialize for Coverage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::AllConfiguredTrialsAttempted => CoverageWire::AllConfiguredTrialsAttempted {
                min_gradeable_trials: 1,
            },
            Self::MinEligibleTrials(min_eligible_trials) => CoverageWire::MinEligibleTrials {
                min_eligible_trials,
            },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Coverage {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match CoverageWire::deserialize(deserializer)? {
            CoverageWire::AllConfiguredTrialsAttempted {
                min_gradeable_trials: 1,
            } => Ok(Self::AllConfiguredTrialsAttempted),
            CoverageWire::MinEligibleTrials {
                min_eligible_trials: least @ 1..,
            } => Ok(Self::MinEligibleTrials(least)),
            _ => Err(serde::de::Error::custom(
                "a coverage's number is out of range",
            )),
        }
    }
}

impl JsonSchema for Coverage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Coverage".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        CoverageWire::json_schema(generator)
    }
}

/// What a run must have measured before it may decide, every default applied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValidityPolicy {
    /// How many trials must be attempted or gradeable.
    pub coverage: Coverage,
    /// Least fraction of attempted trials that must complete (0.8 for 80 %).
    #[serde(serialize_with = "number::write")]
    pub min_completion_rate: f64,
    /// Greatest fraction of attempted trials that the evaluator may lose.
    #[serde(serialize_with = "number::write")]
    pub max_evaluator_error_rate: f64,
}

impl ValidityPolicy {
    /// Resolves an authored `validity` block (`verdict.md` §2).
    ///
    /// Each member falls back to its default alone; leaving the minimum out
    /// demands full coverage.
    #[must_use]
    pub fn resolve(
        min_eligible_trials: Option<u64>,
        min_completion_rate: Option<f64>,
        max_evaluator_error_rate: Option<f64>,
    ) -> Self {
        Self {
            coverage: match min_eligible_trials {
                None => Coverage::AllConfiguredTrialsAttempted,
                Some(least) => Coverage::MinEligibleTrials(least),
            },
            min_completion_rate: min_completion_rate.unwrap_or(DEFAULT_MIN_COMPLETION_RATE),
            max_evaluator_error_rate: max_evaluator_error_rate
                .unwrap_or(DEFAULT_MAX_EVALUATOR_ERROR_RATE),
        }
    }
}

impl Default for ValidityPolicy {
    fn default() -> Self {
        Self::resolve(None, None, None)
    }
}

impl From<&crate::suite::ResolvedValidity> for ValidityPolicy {
    fn from(validity: &crate::suite::ResolvedValidity) -> Self {
        Self::resolve(
            validity.min_eligible_trials,
            Some(validity.min_completion_rate),
            Some(validity.max_evaluator_error_rate),
        )
    }
}

/// A trial's status as the aggregator is given it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ObservedStatus {
    /// A word of the vocabulary.
    Known(IterationStatus),
    /// Any other word; the aggregator refuses it.
    Unknown(String),
}

impl From<IterationStatus> for ObservedStatus {
    fn from(status: IterationStatus) -> Self {
        Self::Known(status)
    }
}

/// What one trial contributes to a decision (`verdict.md` §3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialObservation {
    /// The trial's lifecycle.
    pub status: ObservedStatus,
    /// What its checks say; read only when it completed.
    pub task_verdict: Option<TaskResult>,
    /// The grader broke; read only when it completed, and wins over the verdict.
    pub evaluator_error: bool,
}

impl From<&TrialRecord> for TrialObservation {
    fn from(trial: &TrialRecord) -> Self {
        Self {
            status: trial.status.into(),
            task_verdict: trial.result,
            evaluator_error: trial.evaluator_error,
        }
    }
}

/// One case under one variant, as the aggregator reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseInput {
    /// The case's id in the suite.
    pub case_id: String,
    /// The variant; absent when the run did not fan out.
    pub execution_variant: Option<ExecutionVariant>,
    /// Trials configured for this variant, 1–100.
    pub configured_trials: u64,
    /// Fraction of eligible trials that must pass.
    pub effective_pass_threshold: f64,
    /// The trials that have an entry; configured ones without count as not ended.
    pub trials: Vec<TrialObservation>,
}

/// The variant that a stored row belongs to.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RowVariant {
    /// Model name without the provider, 1–200 UTF-16 code units.
    pub model: String,
    /// Provider name, 1–200 UTF-16 code units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// Further identity that a later contract revision may store; never empty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub selection_key: Option<String>,
}

impl From<&ExecutionVariant> for RowVariant {
    fn from(variant: &ExecutionVariant) -> Self {
        Self {
            model: variant.model.clone(),
            provider: variant.provider.clone(),
            selection_key: None,
        }
    }
}

/// One row of a decision: one case under one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseAggregate {
    /// The case's id in the suite.
    pub case_id: String,
    /// The variant; absent when the run did not fan out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_variant: Option<RowVariant>,
    /// Trials configured, 1–100.
    #[serde(deserialize_with = "number::read_count")]
    pub configured_trials: u64,
    /// Trials that began, whatever became of them.
    #[serde(deserialize_with = "number::read_count")]
    pub attempted_trials: u64,
    /// Trials that could be graded; passed plus failed.
    #[serde(deserialize_with = "number::read_count")]
    pub eligible_trials: u64,
    /// Graded trials that passed.
    #[serde(deserialize_with = "number::read_count")]
    pub passed_trials: u64,
    /// Graded trials that failed.
    #[serde(deserialize_with = "number::read_count")]
    pub failed_trials: u64,
    /// Fraction of eligible trials that must pass (0.8 for 80 %).
    #[serde(serialize_with = "number::write")]
    pub effective_pass_threshold: f64,
    /// Passed of eligible.
    pub pass_rate: Rate<ExclusionReason>,
    /// Completed of attempted.
    pub completion_rate: Rate<ExclusionReason>,
    /// The larger of passed and failed, of eligible: an all-fail case has 1.
    pub observed_stability: Rate<ExclusionReason>,
    /// Some trial passed and some failed.
    pub mixed_verdict: bool,
    /// What the row says.
    pub verdict: Verdict,
    /// Why.
    pub reason: DecisionReason,
}

/// How much a run measured, and whether that suffices to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Validity {
    /// What was demanded.
    pub policy: ValidityPolicy,
    /// Every demand was met.
    pub holds: bool,
    /// Configured trials of all rows.
    #[serde(deserialize_with = "number::read_count")]
    pub configured_trials: u64,
    /// Attempted trials of all rows.
    #[serde(deserialize_with = "number::read_count")]
    pub attempted_trials: u64,
    /// Gradeable trials of all rows.
    #[serde(deserialize_with = "number::read_count")]
    pub eligible_trials: u64,
    /// Completed of attempted.
    pub completion_rate: Rate<ExclusionReason>,
    /// Lost to the evaluator, of attempted.
    pub evaluator_error_rate: Rate<ExclusionReason>,
}

/// What a run decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// Always [`VERDICT_POLICY_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 2, max = 2))]
    pub verdict_policy_version: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// Why; 1 to 11, in vocabulary order.
    pub reasons: Vec<DecisionReason>,
    /// How much was measured.
    pub validity: Validity,
    /// One row per case variant, in input order.
    pub cases: Vec<CaseAggregate>,
}

/// Statistics beside a decision, for reports only: no verdict depends on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialStatistics {
    /// Always `caseVariant`.
    pub unit: MeasurementUnit,
    /// Gradeable trials of all rows.
    #[serde(deserialize_with = "number::read_count")]
    pub eligible_trials: u64,
    /// Passed trials of all rows.
    #[serde(deserialize_with = "number::read_count")]
    pub passed_trials: u64,
    /// One row per decision row, same order.
    pub cases: Vec<TrialStatisticsRow>,
}

/// A decision with the statistics that are carried beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecidedRun {
    /// What was decided.
    pub decision: Decision,
    /// For reports only.
    pub trial_statistics: TrialStatistics,
}

/// Statistics of one case variant's trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialStatisticsRow {
    /// The case's id in the suite.
    pub case_id: String,
    /// The variant; absent when the run did not fan out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_variant: Option<RowVariant>,
    /// Gradeable trials.
    #[serde(deserialize_with = "number::read_count")]
    pub eligible_trials: u64,
    /// Passed trials.
    #[serde(deserialize_with = "number::read_count")]
    pub passed_trials: u64,
    /// How many trials the two estimates draw; always all gradeable ones.
    #[serde(deserialize_with = "number::read_count")]
    pub k: u64,
    /// Chance that at least one of `k` drawn trials passed; `null` without trials.
    #[serde(serialize_with = "number::write_optional")]
    pub pass_at_k: Option<f64>,
    /// Chance that all of `k` drawn trials passed; `null` without trials.
    #[serde(serialize_with = "number::write_optional")]
    pub pass_hat_k: Option<f64>,
    /// Interval of the pass rate; `null` without trials.
    pub pass_rate_interval: Option<PassRateInterval>,
}

/// A Wilson interval of a pass rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PassRateInterval {
    /// Always 0.95.
    #[serde(serialize_with = "number::write")]
    pub confidence: f64,
    /// Lower end; exactly 0 when nothing passed.
    #[serde(serialize_with = "number::write")]
    pub lower: f64,
    /// Upper end; exactly 1 when everything passed.
    #[serde(serialize_with = "number::write")]
    pub upper: f64,
}
