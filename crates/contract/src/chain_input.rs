//! What a chain is derived from (`chain.md` §2).
//!
//! These types are a reading view: they hold what some rule reads, borrowed
//! from the text they were read from, and nothing else. Everything else in the
//! document is skipped. Read them from JSON text with `serde_json::from_str`,
//! from a stored value with `ChainInput::deserialize(&value)`, or build them by
//! hand. In every document `null` is the same as an absent key; a word outside
//! a closed vocabulary is refused.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    decode::{known_word, non_empty, null_as_default, number, text, texts, whole_number},
    quick::{Cursor, QuickRead},
    words::{
        AssertionKind, Attribution, CaseMode, IterationStatus, JudgeStatus, JudgeVerdict,
        PendingKind, RenderStatus, SetupOutcome, StepErrorSource, ToolErrorKind, ToolExpectation,
    },
};

/// Everything that decides one trial's chain.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct ChainInput<'a> {
    /// What the case says about itself.
    pub authored: AuthoredCase,
    /// What the trial left behind.
    #[serde(borrow)]
    pub evidence: Evidence<'a>,
    /// How the trial's lifecycle ended.
    pub iteration: Iteration,
    /// Whether a policy stopped the trial.
    #[serde(default)]
    pub policy: Option<Policy>,
}

/// What a case says about itself (`chain.md` §2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthoredCase {
    /// Whether a model chooses the calls.
    pub mode: CaseMode,
    /// Correct behaviour is to call nothing.
    #[serde(default, deserialize_with = "null_as_default")]
    pub is_negative_test: bool,
    /// The case expects at least one call.
    #[serde(default, deserialize_with = "null_as_default")]
    pub expects_tool_call: bool,
    /// The case expects a widget to render.
    #[serde(default, deserialize_with = "null_as_default")]
    pub expects_widget_render: bool,
    /// Number of checks that user value can be judged by.
    #[serde(default, deserialize_with = "null_as_default")]
    pub assertion_count: f64,
    /// A chat session in which a user request is recorded.
    #[serde(default, deserialize_with = "null_as_default")]
    pub has_user_ask: bool,
    /// What the case prescribes about calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_expectation: Option<ToolExpectation>,
}

impl AuthoredCase {
    /// Returns a case that says nothing but who chooses the calls.
    #[must_use]
    pub const fn new(mode: CaseMode) -> Self {
        Self {
            mode,
            is_negative_test: false,
            expects_tool_call: false,
            expects_widget_render: false,
            assertion_count: 0.0,
            has_user_ask: false,
            tool_expectation: None,
        }
    }
}

/// What a trial left behind (`chain.md` §2.2); every part may be absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence<'a> {
    /// Tool and other spans of this trial; never the synthetic setup spans.
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub spans: Vec<EvidenceSpan<'a>>,
    /// A trace exists, and its executor emits no spans.
    #[serde(deserialize_with = "null_as_default")]
    pub trace_lacks_span_channel: bool,
    /// There is no trace at all.
    #[serde(deserialize_with = "null_as_default")]
    pub trace_absent: bool,
    /// Match result per turn.
    #[serde(deserialize_with = "null_as_default")]
    pub prompts: Vec<TurnSummary>,
    /// Assertion results.
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub predicate_results: Vec<AssertionRow<'a>>,
    /// Tool errors that the harness recorded.
    #[serde(deserialize_with = "null_as_default")]
    pub tool_errors: Vec<ToolErrorRecord>,
    /// Why a step failed.
    pub step_error: Option<StepError>,
    /// Widgets that were watched.
    #[serde(deserialize_with = "null_as_default")]
    pub render_observations: Vec<RenderObservation>,
    /// How many tools the model was offered.
    #[serde(deserialize_with = "null_as_default")]
    pub tool_signals: ToolSignals,
    /// What the harness saw while connecting and listing tools.
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub setup_signals: SetupSignals<'a>,
    /// The grader failed.
    #[serde(deserialize_with = "null_as_default")]
    pub evaluator_errored: bool,
    /// What a goal or outcome judge says; advisory.
    #[serde(borrow)]
    pub judge_evidence: Option<JudgeEvidence<'a>>,
    /// Whether tool metadata caused a wrong selection.
    #[serde(borrow)]
    pub metadata_attribution: Option<MetadataAttribution<'a>>,
}

/// Declares an open word: members that a rule reads, and everything else.
macro_rules! open_word {
    (
        $(#[$attribute:meta])*
        $name:ident { $( $(#[$member:meta])* $variant:ident = $wire:literal, )+ }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$member])* $variant, )+
            /// Any other word, or none; no rule reads it.
            #[default]
            Other,
        }

        impl<'a> QuickRead<'a> for $name {
            fn quick_read(cursor: &mut Cursor<'a>) -> Option<Self> {
                Some(match cursor.optional(Cursor::plain_text)? {
                    $( Some($wire) => Self::$variant, )+
                    _ => Self::Other,
                })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;

                impl de::Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str("a string")
                    }

                    fn visit_unit<E: de::Error>(self) -> Result<$name, E> {
                        Ok($name::Other)
                    }

                    fn visit_str<E: de::Error>(self, word: &str) -> Result<$name, E> {
                        Ok(match word {
                            $( $wire => $name::$variant, )+
                            _ => $name::Other,
                        })
                    }
                }

                deserializer.deserialize_any(Word)
            }
        }
    };
}

open_word! {
    /// What a span timed.
    SpanCategory {
        /// A tool call.
        Tool = "tool",
    }
}

open_word! {
    /// How a span ended.
    EvidenceSpanStatus {
        /// In an error.
        Error = "error",
    }
}

open_word! {
    /// Whether an assertion row may decide anything.
    AssertionRole {
        /// It may not.
        Advisory = "advisory",
    }
}

open_word! {
    /// Whether an assertion could be evaluated.
    AssertionStatus {
        /// It could not; the row decides nothing.
        Error = "error",
    }
}

/// One span of the trial's trace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EvidenceSpan<'a> {
    /// Unique within the trial; anything but a string is absent.
    #[serde(borrow, deserialize_with = "text")]
    pub id: Option<Cow<'a, str>>,
    /// What it timed.
    #[schemars(with = "Option<String>")]
    pub category: SpanCategory,
    /// How it ended.
    #[schemars(with = "Option<String>")]
    pub status: EvidenceSpanStatus,
    /// JSON-RPC or transport error code, when the call ended in one.
    #[serde(deserialize_with = "number")]
    pub mcp_error_code: Option<f64>,
}

/// Match result of one turn; of the lists only emptiness is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnSummary {
    /// Ordinal of the turn.
    #[serde(deserialize_with = "whole_number")]
    pub prompt_index: Option<i64>,
    /// The turn expects calls.
    #[serde(deserialize_with = "non_empty")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub expected_tool_calls: bool,
    /// Some expected call is missing.
    #[serde(deserialize_with = "non_empty")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub missing: bool,
    /// Some call was not expected.
    #[serde(deserialize_with = "non_empty")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub unexpected: bool,
    /// Some expected call was made with other arguments.
    #[serde(deserialize_with = "non_empty")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub argument_mismatches: bool,
    /// The matcher's verdict; absent is not `false`.
    pub passed: Option<bool>,
}

/// Result of one assertion.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AssertionRow<'a> {
    /// Whether it held; absent is not a failure.
    pub passed: Option<bool>,
    /// What was seen, in one line; anything but a string is absent.
    #[serde(borrow, deserialize_with = "text")]
    pub reason: Option<Cow<'a, str>>,
    /// Whether it could be evaluated.
    #[schemars(with = "Option<String>")]
    pub status: AssertionStatus,
    /// What was asserted.
    #[serde(deserialize_with = "null_as_default")]
    pub predicate: AssertedPredicate,
}

/// The parts of an assertion that routing reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AssertedPredicate {
    /// Its kind; absent when the word is unknown or missing.
    #[serde(rename = "type", deserialize_with = "known_word")]
    #[schemars(with = "Option<String>")]
    pub kind: Option<AssertionKind>,
    /// Whether it may decide anything.
    #[schemars(with = "Option<String>")]
    pub role: AssertionRole,
}

/// One recorded tool error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolErrorRecord {
    /// What kind of failure; a word that no rule reads is absent.
    #[serde(deserialize_with = "known_word")]
    #[schemars(with = "Option<String>")]
    pub kind: Option<ToolErrorKind>,
}

/// Why a step failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepError {
    /// Which layer failed.
    pub source: Option<StepErrorSource>,
}

/// One watched widget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RenderObservation {
    /// How it ended; an unknown word is no success.
    #[serde(deserialize_with = "known_word")]
    #[schemars(with = "Option<String>")]
    pub status: Option<RenderStatus>,
}

/// How many tools the model was offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSignals {
    /// Tools listed by the servers, before any policy.
    pub tools_total_before: Option<f64>,
}

/// What the harness saw while connecting and while listing tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetupSignals<'a> {
    /// Connecting and initializing.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub connection: Option<SetupSignal<'a>>,
    /// Listing tools.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<SetupSignal<'a>>,
}

/// How one setup phase ended on all expected servers together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupSignal<'a> {
    /// How it ended.
    pub outcome: SetupOutcome,
    /// On whose side the failure lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
    /// Whether our own network egress was seen to work; connection only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress_verified: Option<bool>,
    /// Ids of the synthetic setup spans concerned.
    #[serde(
        borrow,
        default,
        deserialize_with = "texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub span_ids: Vec<Cow<'a, str>>,
    /// Wall time over all observed attempts, ms.
    #[serde(
        default,
        serialize_with = "crate::number::write_optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub duration_ms: Option<f64>,
    /// One line per failing server.
    #[serde(
        borrow,
        default,
        deserialize_with = "texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reasons: Vec<Cow<'a, str>>,
}

impl SetupSignal<'_> {
    /// Returns a signal that says nothing but how the phase ended.
    #[must_use]
    pub const fn new(outcome: SetupOutcome) -> Self {
        Self {
            outcome,
            attribution: None,
            egress_verified: None,
            span_ids: Vec::new(),
            duration_ms: None,
            reasons: Vec::new(),
        }
    }
}

/// What an LLM judge says about the user's goal; advisory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeEvidence<'a> {
    /// Whether it answered.
    pub status: JudgeStatus,
    /// Why it has not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_kind: Option<PendingKind>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<JudgeVerdict>,
    /// Its own words.
    #[serde(
        borrow,
        default,
        deserialize_with = "texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reasons: Vec<Cow<'a, str>>,
}

impl JudgeEvidence<'_> {
    /// Returns evidence that says nothing but the judge's status.
    #[must_use]
    pub const fn new(status: JudgeStatus) -> Self {
        Self {
            status,
            pending_kind: None,
            verdict: None,
            reasons: Vec::new(),
        }
    }
}

/// What an LLM judge says about tool metadata as the cause of a wrong choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataAttribution<'a> {
    /// Whether it answered.
    pub status: JudgeStatus,
    /// Why it has not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_kind: Option<PendingKind>,
    /// It blames the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributed: Option<bool>,
    /// Its own words; without any, nothing is attributed.
    #[serde(
        borrow,
        default,
        deserialize_with = "texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reasons: Vec<Cow<'a, str>>,
}

/// The lifecycle of the trial, never its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Iteration {
    /// How far it came.
    pub status: IterationStatus,
}

/// Whether a policy stopped the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Policy {
    /// It did.
    pub blocked: bool,
}
