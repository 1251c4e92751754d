//! The six-stage chain as it is stored and shown (`chain.md` §3).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{FailureCategory, Stage, StageReason, StageState};

/// The version of the rules that derive a chain; stored with every chain.
pub const STAGE_ANALYZER_VERSION: u32 = 12;

/// One derived chain: six stage rows and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Chain<'a> {
    /// Exactly six rows, one per stage, in stage order.
    pub stage_results: Vec<StageRow<'a>>,
    /// The stage of the first failed row: a location, never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_failed_stage: Option<Stage>,
    /// The bucket the failure is grouped under: never a cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure_category: Option<FailureCategory>,
    /// The version of the rules that derived the rows.
    pub stage_analyzer_version: u32,
}

impl Chain<'_> {
    /// Returns the chain with its text its own, to be kept.
    #[must_use]
    pub fn into_owned(self) -> Chain<'static> {
        Chain {
            stage_results: self
                .stage_results
                .into_iter()
                .map(StageRow::into_owned)
                .collect(),
            first_failed_stage: self.first_failed_stage,
            failure_category: self.failure_category,
            stage_analyzer_version: self.stage_analyzer_version,
        }
    }
}

impl StageRow<'_> {
    fn into_owned(self) -> StageRow<'static> {
        let owned = |texts: Vec<Cow<'_, str>>| {
            texts
                .into_iter()
                .map(|text| Cow::Owned(text.into_owned()))
                .collect()
        };
        StageRow {
            stage: self.stage,
            state: self.state,
            reason: self.reason,
            evidence: self.evidence.map(|evidence| StageEvidence {
                span_ids: evidence.span_ids.map(owned),
                prompt_indexes: evidence.prompt_indexes,
                predicate_reasons: evidence.predicate_reasons.map(owned),
            }),
        }
    }
}

/// What is known about one stage of one trial, and on what evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageRow<'a> {
    /// The stage this row is about.
    pub stage: Stage,
    /// What is known about it.
    pub state: StageState,
    /// Why it has this state; present on every row that we derive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<StageReason>,
    /// What was looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<StageEvidence<'a>>,
}

/// Pointers into a trial's trace that a stage row rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageEvidence<'a> {
    /// Span ids, at most five.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub span_ids: Option<Vec<Cow<'a, str>>>,
    /// Ordinals of the turns concerned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt_indexes: Option<Vec<i64>>,
    /// One-line explanations, at most five of at most 500 characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub predicate_reasons: Option<Vec<Cow<'a, str>>>,
}
