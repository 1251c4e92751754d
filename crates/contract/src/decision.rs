//! The run decision summary (`decision-summary.md` §5): what a run decided, in
//! which unit it counts, and what evidence lies under its non-passing trials.
//!
//! Objects are closed, except stage rows and their evidence, whose unknown
//! keys are dropped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    verdict::Decision,
    words::{
        FailureCategory, Stage, StageReason, StageState, SummaryVerdict, TaskResult,
        UndecidedReason, VerdictSource,
    },
};

/// The version of the summary's shape.
pub const DECISION_SUMMARY_SCHEMA_VERSION: u64 = 1;

/// What a run decided and what lies under it.
///
/// The verdict is taken elsewhere and only reported here. A diagnostic is one
/// trial; no verdict follows from diagnostics, since a case passes despite a
/// failing trial when its threshold is below 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecisionSummary {
    /// Always [`DECISION_SUMMARY_SCHEMA_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub schema_version: u64,
    /// The run.
    pub run_id: String,
    /// The run's lifecycle, verbatim.
    pub run_status: String,
    /// One page of non-passing trials.
    pub diagnostics: Diagnostics,
    /// What was decided; `notEstablished` is the absence of a decision.
    pub verdict: SummaryVerdict,
    /// Where the verdict comes from.
    pub verdict_source: VerdictSource,
    /// Why there is no verdict; present exactly when there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undecided: Option<Undecided>,
    /// Counts with their unit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counts: Option<SummaryCounts>,
    /// The stored decision; present exactly when the source is `policyV2`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<Decision>,
}

/// Why a run has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Undecided {
    /// Which absence it is.
    pub reason: UndecidedReason,
    /// What is known about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Counts of a run; never shown without their unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "measurementUnit",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum SummaryCounts {
    /// Case variants by their verdict.
    CaseVariant {
        /// All case variants.
        total: u64,
        /// Those that passed.
        passed: u64,
        /// Those that failed.
        failed: u64,
        /// Those without a verdict of their own.
        inconclusive: u64,
    },
    /// Trials, as an older run recorded them; not checked against each other.
    Trial {
        /// All trials.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        total: Option<u64>,
        /// Those that passed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        passed: Option<u64>,
        /// Those that failed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failed: Option<u64>,
    },
}

/// One page of non-passing trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostics {
    /// One item per examined trial that did not pass, in input order.
    pub items: Vec<Diagnostic>,
    /// The items are the run's whole non-passing set.
    pub complete: bool,
    /// Where the next page starts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
    /// Trials examined for this page, passing ones included.
    #[serde(deserialize_with = "number::read_count")]
    pub scanned_iterations: u64,
}

/// One trial that did not pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostic {
    /// The trial.
    pub iteration_id: String,
    /// Its ordinal, as stored.
    #[serde(deserialize_with = "number::read_count")]
    pub iteration_number: u64,
    /// The case's declared id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case_id: Option<String>,
    /// The case's id in a store.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test_case_id: Option<String>,
    /// The case's title.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// The trial's lifecycle, verbatim.
    pub status: String,
    /// What its checks say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<TaskResult>,
    /// Its chain, where it may be believed.
    pub chain: SummaryChain,
    /// What the case expects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<ExpectedTools>,
    /// What was seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<Observed>,
    /// Where to look.
    pub evidence: EvidenceLocator,
    /// Who looks next, in one sentence
    /// ([`NextAction`](crate::words::NextAction)); it names no cause.
    pub next_action: String,
}

/// The tools that a case expects to be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpectedTools {
    /// Distinct names, at least one, in order of first appearance.
    pub tool_names: Vec<String>,
}

/// What a trial did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    /// Distinct names of called tools, in order of first appearance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_names: Option<Vec<String>>,
    /// The error on record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
}

/// A trial's chain as a summary shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum SummaryChain {
    /// The stored chain passed its validator.
    Verified(VerifiedChain),
    /// A chain is stored and may not be believed; it is withheld.
    Unverified(UnverifiedChain),
    /// No chain is stored.
    Absent(AbsentChain),
}

impl SummaryChain {
    /// Returns the chain, if it may be believed.
    #[must_use]
    pub const fn verified(&self) -> Option<&VerifiedChain> {
        match self {
            Self::Verified(chain) => Some(chain),
            Self::Unverified(_) | Self::Absent(_) => None,
        }
    }
}

/// A chain that passed its validator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerifiedChain {
    /// The six rows.
    pub stages: Vec<SummaryStage>,
    /// The stage of the first failed row: a location, never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_failed_stage: Option<Stage>,
    /// The bucket the failure is grouped under: never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure_category: Option<FailureCategory>,
    /// The version of the rules that derived the rows.
    #[serde(deserialize_with = "number::read_count")]
    pub analyzer_version: u64,
    /// Those rules are newer than ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub analyzer_version_ahead: Option<VersionAhead>,
}

/// A chain that did not pass its validator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnverifiedChain {
    /// The version on record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub analyzer_version: Option<u64>,
    /// That version is newer than ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub analyzer_version_ahead: Option<VersionAhead>,
}

/// No chain; nothing else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbsentChain {}

/// A chain made by newer rules than this build knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionAhead {
    /// The version on record.
    #[serde(deserialize_with = "number::read_count")]
    pub reported: u64,
    /// The newest version this build knows.
    #[serde(deserialize_with = "number::read_count")]
    pub known: u64,
}

/// A stage row as stored; unknown keys are dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryStage {
    /// The stage this row is about.
    pub stage: Stage,
    /// What is known about it.
    pub state: StageState,
    /// Why it has this state.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<StageReason>,
    /// What was looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<SummaryStageEvidence>,
}

/// A stage row's evidence as stored: other producers' values are kept verbatim.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryStageEvidence {
    /// Span ids.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub span_ids: Option<Vec<String>>,
    /// Ordinals of the turns concerned; any finite numbers.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::write_optional_list",
        default
    )]
    pub prompt_indexes: Option<Vec<f64>>,
    /// One-line explanations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub predicate_reasons: Option<Vec<String>>,
}

/// Where the evidence of a trial lies; of the first failed stage's row alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvidenceLocator {
    /// The run.
    pub run_id: String,
    /// The trial.
    pub iteration_id: String,
    /// The trial's trace, relative to the API root.
    pub trace_path: String,
    /// The first failed stage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage: Option<Stage>,
    /// Spans its row rests on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub span_ids: Option<Vec<String>>,
    /// Turns its row rests on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt_indexes: Option<Vec<u64>>,
    /// What its row explains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasons: Option<Vec<String>>,
}

/// Where the chain broke over a page of diagnostics (`decision-summary.md` §10).
///
/// It says something of the readable items of one page only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainBreak {
    /// What can be said.
    pub place: BreakPlace,
    /// Items whose chain may be believed.
    pub readable: u64,
    /// Items whose chain is absent or withheld.
    pub unreadable: u64,
    /// The page is the run's whole non-passing set; else it speaks for itself only.
    pub complete: bool,
}

/// What can be said about where the chain broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakPlace {
    /// No item has a readable chain.
    NothingReadable,
    /// Some readable chain broke; this is the earliest stage in stage order.
    Stage {
        /// The stage: a location, never a cause.
        stage: Stage,
        /// The first reason recorded at it.
        reason: Option<StageReason>,
        /// Readable trials that broke there.
        trials: u64,
        /// Distinct stages at which readable trials broke.
        distinct_stages: u64,
    },
    /// None broke, and some carry a category.
    Categories {
        /// Distinct categories, in vocabulary order.
        categories: Vec<FailureCategory>,
        /// Readable trials that carry one.
        trials: u64,
    },
}
