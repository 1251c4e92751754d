//! Two runs compared, and the series of a suite's runs
//! (`verdict.md` §11, `analytics.md` §9).
//!
//! Counts are stored with what they are out of; rates are theirs to derive.
//! Nothing here merges two runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    decision::{SummaryCounts, Undecided},
    number,
    sequential::SequentialSettings,
    verdict::{PassRateInterval, RowVariant},
    words::{
        CaseChange, ChangeKind, ComparisonCaution, GateOutcome, ParityBlocker, RegressionVerdict,
        SummaryVerdict, Verdict,
    },
};

/// Two runs beside each other.
///
/// Where a parity blocker stands, or a run has no stage analytics, there is no
/// comparison: `overall` and `cases` are absent then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunComparison {
    /// The run that is compared against.
    pub base: ComparedRun,
    /// The run that is compared.
    pub compared: ComparedRun,
    /// Whether the two may be compared.
    pub parity: Parity,
    /// What to keep in mind while reading the numbers.
    pub cautions: Vec<ComparisonCaution>,
    /// All gradeable trials of each run taken together; absent where the cases
    /// weigh so differently in the two runs that the rate could move by more
    /// than a point without any case having changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub overall: Option<RateComparison>,
    /// One entry per case variant: the base run's plan order, then case
    /// variants that only the compared run planned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cases: Option<Vec<CaseComparison>>,
    /// What changed in the servers' surfaces; one entry per server.
    pub surface: Vec<ServerChanges>,
    /// What changed in the suite.
    pub suite: SuiteChanges,
    /// What differs in how the runs were started: models, numbers of trials.
    pub settings: Vec<ValueChange>,
    /// The gates that were asked for, in order.
    pub gates: Vec<GateResult>,
}

/// Whether two runs may be compared (`analytics.md` §9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", deny_unknown_fields)]
pub enum Parity {
    /// Nothing stands against it.
    Comparable {},
    /// Something does.
    Blocked {
        /// What, in check order; at least one.
        blockers: Vec<ParityBlocker>,
    },
    /// It cannot be told: a run has no stage analytics.
    Unknown {
        /// The runs without, by id.
        unmeasured: Vec<String>,
    },
}

impl Parity {
    /// Returns whether the two runs may be compared.
    #[must_use]
    pub const fn is_comparable(&self) -> bool {
        matches!(self, Self::Comparable {})
    }
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ComparedRun {
    /// The run's id.
    pub run_id: String,
    /// The beginning of the id that tells it from all others in its store.
    pub short_id: String,
    /// The suite's id.
    pub suite_id: String,
    /// The suite's name.
    pub suite_name: String,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// What was decided.
    pub verdict: SummaryVerdict,
    /// Why nothing was; only then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undecided: Option<Undecided>,
    /// Counts with their unit, as the run's decision summary has them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counts: Option<SummaryCounts>,
    /// All gradeable trials taken together; absent without a readable decision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<PassSample>,
    /// Its case variants, where the runs are shown apart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cases: Option<Vec<RunCase>>,
    /// Bounds under which it repeated its cases until decided, if it did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until_decided: Option<SequentialSettings>,
    /// Every model in the run is the scripted one.
    pub scripted: bool,
}

/// A case variant of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunCase {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The variant; absent when the run did not fan out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_variant: Option<RowVariant>,
    /// What the run decided of it.
    pub outcome: CaseOutcome,
}

/// What one run decided of a case variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseOutcome {
    /// Verdict of the case under policy v2.
    pub verdict: Verdict,
    /// Fraction of gradeable trials that must pass.
    #[serde(serialize_with = "number::write")]
    pub pass_threshold: f64,
    /// Its gradeable trials.
    pub trials: PassSample,
    /// It both passed and failed within the run.
    pub flaky: bool,
}

/// Passed of gradeable trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PassSample {
    /// Passed trials.
    pub passed_trials: u64,
    /// Gradeable trials; 0 is "not measured".
    pub eligible_trials: u64,
    /// Wilson interval of the pass rate; `null` without trials.
    pub pass_rate_interval: Option<PassRateInterval>,
}

/// A case variant in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseComparison {
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title.
    pub title: String,
    /// The variant; absent when the runs did not fan out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_variant: Option<RowVariant>,
    /// What became of its verdict.
    pub change: CaseChange,
    /// What the base run decided; absent when it did not plan the case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<CaseOutcome>,
    /// What the compared run decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub compared: Option<CaseOutcome>,
    /// The two rates; absent when a side has no gradeable trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rates: Option<RateComparison>,
}

/// Two pass rates and what they can show (`verdict.md` §11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateComparison {
    /// The base run's trials.
    pub base: PassSample,
    /// The compared run's trials.
    pub compared: PassSample,
    /// Compared rate minus base rate, with Newcombe's hybrid score interval;
    /// absent when a side has no gradeable trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<RateDifference>,
    /// What the difference says.
    pub verdict: RegressionVerdict,
    /// Why the data do not suffice; only then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The smallest drop that these samples could have shown; absent when not
    /// even a drop to zero would have been.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub smallest_drop: Option<SmallestChange>,
    /// The smallest rise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub smallest_rise: Option<SmallestChange>,
}

/// A difference of two pass rates, in fractions; negative is worse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateDifference {
    /// Always 0.95.
    #[serde(serialize_with = "number::write")]
    pub confidence: f64,
    /// Compared rate minus base rate.
    #[serde(serialize_with = "number::write")]
    pub delta: f64,
    /// Lower end.
    #[serde(serialize_with = "number::write")]
    pub lower: f64,
    /// Upper end.
    #[serde(serialize_with = "number::write")]
    pub upper: f64,
}

/// The smallest change that samples could have shown, in fractions above 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmallestChange {
    /// Smallest observed change whose interval would have excluded zero.
    #[serde(serialize_with = "number::write")]
    pub shown: f64,
    /// Minimum detectable effect: the smallest true change from the observed
    /// base rate that would have been shown with the chance `power`; absent
    /// when none would.
    #[serde(
        serialize_with = "number::write_optional",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub true_change: Option<f64>,
    /// Always 0.8.
    #[serde(serialize_with = "number::write")]
    pub power: f64,
}

/// What changed in the surfaces of two runs' servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SurfaceComparison {
    /// The run that is compared against.
    pub base_run_id: String,
    /// The run that is compared.
    pub compared_run_id: String,
    /// One entry per server, the base run's first.
    pub servers: Vec<ServerChanges>,
}

/// What changed in one server's surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerChanges {
    /// The server's name in the suite.
    pub server: String,
    /// The server as a whole; absent when both runs used it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<ChangeKind>,
    /// Tools were listed in both runs; without, nothing is known of them.
    pub listed: bool,
    /// Changes of what the server says of itself: name, version, protocol.
    pub facts: Vec<ValueChange>,
    /// Tools that differ, by name.
    pub tools: Vec<ItemChange>,
    /// Tools that do not.
    pub unchanged_tools: u64,
}

/// What changed in the suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuiteChanges {
    /// Both runs read the same resolved suite.
    pub same: bool,
    /// Both read the same bytes.
    pub same_file: bool,
    /// Changes outside the cases.
    pub settings: Vec<ValueChange>,
    /// Cases that differ, by id.
    pub cases: Vec<ItemChange>,
}

/// A named thing that was added, removed or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemChange {
    /// Its name or id.
    pub name: String,
    /// What happened to it.
    pub change: ChangeKind,
    /// Where it differs; only when it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueChange>,
}

/// One place where two documents differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValueChange {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What was there, as JSON text, cut where it is long; absent when nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<String>,
    /// What is there now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<String>,
}

/// What became of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateResult {
    /// The gate as it was asked for.
    pub gate: String,
    /// Whether it holds.
    pub outcome: GateOutcome,
    /// On what grounds, in one line.
    pub reason: String,
}

/// The stored runs of one suite, one after the other; never an aggregate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuiteTrend {
    /// The suite as it was asked for: an id or a name.
    pub suite: String,
    /// The runs, the one that started first first.
    pub points: Vec<TrendPoint>,
    /// No older run of the suite is stored.
    pub complete: bool,
}

/// One run of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrendPoint {
    /// The run.
    pub run: ComparedRun,
    /// Whether it may be compared with the run before it; absent for the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parity: Option<Parity>,
}
