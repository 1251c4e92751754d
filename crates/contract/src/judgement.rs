//! What LLM judges say about a trial, with every call they took
//! (`suite-file.md` §4.3, `chain.md` §14.4, `friction.md` §9).
//!
//! Three judgements lie in a trial's metadata under the keys [`GOAL_KEY`],
//! [`ATTRIBUTION_KEY`] and [`CONDITION_KEY`]; each is what stands now. Every
//! pass over a trial, superseded ones included, is kept beside it as a
//! [`JudgePass`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    rate::Counts,
    run::Usage,
    words::{
        ConditionSkipReason, JudgeAggregation, JudgeCallOutcome, JudgeConfidence, JudgeKind,
        JudgeRole, JudgeStatus, JudgeVerdict, SuspectedCondition,
    },
};

/// Metadata key of the [`GoalJudgement`] that stands.
pub const GOAL_KEY: &str = "goalJudge";
/// Metadata key of the [`AttributionJudgement`] that stands.
pub const ATTRIBUTION_KEY: &str = "metadataAttribution";
/// Metadata key of the [`SuspectedConditionVerdict`] that stands.
pub const CONDITION_KEY: &str = "suspectedConditionVerdict";
/// Version of [`JudgePass`].
pub const JUDGE_PASS_VERSION: u64 = 1;

/// One pass of LLM judges over one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgePass {
    /// Always [`JUDGE_PASS_VERSION`].
    pub version: u64,
    /// The trial that was judged.
    pub trial_id: String,
    /// When the pass ended, ms since the Unix epoch.
    pub at: i64,
    /// Every call made, by kind and sample.
    pub calls: Vec<JudgeCall>,
    /// What this pass says about the user's goal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub goal: Option<GoalJudgement>,
    /// What this pass says about tool metadata.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata_attribution: Option<AttributionJudgement>,
    /// What this pass suspects behind a friction signal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspected_condition: Option<SuspectedConditionVerdict>,
}

/// What LLM judges said about the trials of a run, counted; never a rate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeTally {
    /// `provider/model` of every judge, in order of first appearance.
    pub judges: Vec<String>,
    /// A judge is the model under test.
    pub is_model_under_test: bool,
    /// A suite requires the judge: its answer decides trials.
    pub required: bool,
    /// Trials by what was said about the user's goal.
    pub verdicts: Counts<JudgeVerdict>,
    /// Trials in which the judge failed.
    pub errors: u64,
    /// Trials with nothing to judge.
    pub not_applicable: u64,
    /// Trials whose samples lie on both sides of the threshold.
    pub straddles: u64,
    /// Trials in which tool metadata was quoted as misleading.
    pub metadata_attributed: u64,
    /// Trials to which a judge owes an answer.
    pub due: u64,
    /// Trials for which no judge was asked.
    pub not_requested: u64,
}

/// One request to an LLM judge and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeCall {
    /// What was asked.
    pub kind: JudgeKind,
    /// Ordinal among the samples of this judgement, from 0.
    pub sample: u32,
    /// The provider asked.
    pub provider: String,
    /// The model asked, without the provider.
    pub model: String,
    /// The model that the provider says answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub served_model: Option<String>,
    /// Version of the prompt template.
    pub template_version: u32,
    /// SHA-256 of the prompt template, before anything is filled in.
    pub template_hash: String,
    /// SHA-256 of the prompt as sent.
    pub prompt_hash: String,
    /// How it ended.
    pub outcome: JudgeCallOutcome,
    /// The score as the model gave it, 0–1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// What was made of the answer, where that differs from the answer:
    /// a capped score, a demotion, a quote that was not found.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// Why there is no usable answer: a stable word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_code: Option<String>,
    /// The same in one line, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The answer as text, credentials masked, at most 8,000 characters; absent
    /// for suspected conditions, whose answers may quote identifiers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<String>,
    /// Tokens used.
    pub usage: Usage,
    /// Requests made, retries included.
    pub attempts: u32,
    /// Time until the answer, ms.
    pub duration_ms: f64,
}

/// What an LLM judge says about the user's goal.
///
/// Readable as a [`JudgeRecord`](crate::judge_record::JudgeRecord).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoalJudgement {
    /// Whether there is an answer.
    pub status: JudgeStatus,
    /// What the aggregated score says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<JudgeVerdict>,
    /// Why, in the judge's words, the sample nearest the score first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The aggregated score, 0–1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// The score that passes.
    pub threshold: f64,
    /// The score that is at least partial.
    pub partial_floor: f64,
    /// The samples' scores after every cap, in the order asked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scores: Vec<f64>,
    /// Samples asked for (k); those without a usable answer have no score.
    pub samples: u32,
    /// How the samples became one score.
    pub aggregation: JudgeAggregation,
    /// Some samples reached the threshold and some did not.
    pub straddle: bool,
    /// Highest score that a sample could get, where it was bounded: the case
    /// has neither an expected output nor criteria.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score_cap: Option<f64>,
    /// What the answer does to the trial's result.
    pub role: JudgeRole,
    /// What the samples say about each criterion of the rubric.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub criteria: Vec<CriterionVotes>,
    /// Who judged, and with which template.
    #[serde(flatten)]
    pub provenance: JudgeProvenance,
}

/// What the samples say about one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionVotes {
    /// The criterion's id in the rubric.
    pub id: String,
    /// Its label.
    pub label: String,
    /// A sample that finds it unmet cannot reach the threshold.
    pub required: bool,
    /// Samples that find it met.
    pub met: u32,
    /// Samples that say anything about it.
    pub of: u32,
}

/// What an LLM judge says about tool metadata as the reason of a wrong choice.
///
/// Readable as an [`AttributionRecord`](crate::judge_record::AttributionRecord).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributionJudgement {
    /// Whether there is an answer.
    pub status: JudgeStatus,
    /// More than half of the samples blame the metadata and quote it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attributed: Option<bool>,
    /// The quoted evidence; each quote was found in what the server advertised.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Samples that blame the metadata with a quote.
    pub votes: u32,
    /// Samples with a usable answer.
    pub answered: u32,
    /// Samples asked for (k).
    pub samples: u32,
    /// How the samples became one answer.
    pub aggregation: JudgeAggregation,
    /// The samples disagree.
    pub straddle: bool,
    /// Who judged, and with which template.
    #[serde(flatten)]
    pub provenance: JudgeProvenance,
}

/// Who judged, when, and with which prompt template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeProvenance {
    /// `provider/model` that was asked.
    pub model: String,
    /// It is the model under test, which tends to judge itself kindly.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_model_under_test: bool,
    /// Version of the prompt template.
    pub judge_template_version: u32,
    /// SHA-256 of the prompt template.
    pub judge_template_hash: String,
    /// When, ms since the Unix epoch.
    pub generated_at: i64,
}

/// One advisory reading of one flagged trial (`friction.md` §9.2).
///
/// Stored documents are read by `strandline_derive`, which refuses what this
/// type cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum SuspectedConditionVerdict {
    /// An LLM judge answered; the answer may be `unclear`.
    #[serde(rename_all = "camelCase")]
    Scored {
        /// What is suspected.
        condition: SuspectedCondition,
        /// How sure the judge says it is.
        confidence: JudgeConfidence,
        /// One server-side change that might help, 1–300 UTF-16 units.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        remediation: Option<String>,
        /// Where in the window it was seen.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        evidence: Option<ConditionEvidence>,
        /// Which trial, which signal, who judged.
        #[serde(flatten)]
        provenance: ConditionProvenance,
    },
    /// No LLM judge looked.
    #[serde(rename_all = "camelCase")]
    Skipped {
        /// Why not.
        reason: ConditionSkipReason,
        /// Which trial, which signal, who would have judged.
        #[serde(flatten)]
        provenance: ConditionProvenance,
    },
    /// The LLM judge failed.
    #[serde(rename_all = "camelCase")]
    Error {
        /// Which trial, which signal, who judged.
        #[serde(flatten)]
        provenance: ConditionProvenance,
    },
}

impl SuspectedConditionVerdict {
    /// Returns which trial, which signal and who judged.
    #[must_use]
    pub const fn provenance(&self) -> &ConditionProvenance {
        match self {
            Self::Scored { provenance, .. }
            | Self::Skipped { provenance, .. }
            | Self::Error { provenance } => provenance,
        }
    }
}

/// Where in the evidence window a condition was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionEvidence {
    /// Position among the trial's calls, from 0.
    pub call_index: u64,
    /// That call's tool.
    pub tool_name: String,
    /// Key path in that call's result, 1–120 UTF-16 units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field_path: Option<String>,
}

/// Which trial, which signal, and who judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConditionProvenance {
    /// `<case id>#<iteration number>`.
    pub grading_key: String,
    /// Kind of the friction signal.
    pub signal_kind: String,
    /// The call that the signal starts from.
    pub information_call_index: u64,
    /// The call at which it was seen; the window ends there.
    pub observed_at_call_index: u64,
    /// Version of the prompt template, from 1.
    pub judge_template_version: u64,
    /// SHA-256 of the prompt template.
    pub judge_template_hash: String,
    /// `provider/model` that was asked.
    pub model: String,
    /// When, ms since the Unix epoch.
    pub generated_at: u64,
}
