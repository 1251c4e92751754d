//! Reach and latency of the six stages (`measurements.md` §2).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    chain::Chain,
    decode::{known_word, number, text, texts},
    trace::Span,
    words::{Attribution, LatencyBasis, Reach, SetupOutcome, SetupPhase, Stage, StageState},
};

/// The version of the measurement document; stored with it.
pub const MEASUREMENTS_SCHEMA_VERSION: u32 = 1;

/// The analyzer version of an input that names none.
///
/// `measurements.md` §4 says the current version, while every vector of the
/// family without a version says 8. The vectors decide; whoever derives a
/// chain knows its version and passes it.
pub const UNVERSIONED_ANALYZER: i64 = 8;

/// The metadata key under which a trial's measurements are stored.
pub const STAGE_MEASUREMENTS_KEY: &str = "stageMeasurements";

/// The only unit of a latency figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LatencyUnit {
    /// Milliseconds.
    #[default]
    #[serde(rename = "ms")]
    Milliseconds,
}

/// Per stage of one trial: was it reached, and how long did the cited
/// evidence take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageMeasurements {
    /// Always 1.
    pub schema_version: u32,
    /// The version of the rules that derived the chain measured here.
    pub stage_analyzer_version: i64,
    /// Exactly six rows, one per stage, in stage order.
    pub rows: Vec<StageMeasurement>,
}

/// Reach and latency of one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageMeasurement {
    /// The stage this row is about.
    pub stage: Stage,
    /// Whether the trial got there.
    pub reach: Reach,
    /// How long the cited evidence took; no latency is not 0 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<StageLatency>,
}

/// How long the evidence cited by one stage row took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StageLatency {
    /// Always `ms`.
    pub unit: LatencyUnit,
    /// Always `evidence_span_union`.
    pub basis: LatencyBasis,
    /// Milliseconds, finite, at least 0.
    #[serde(serialize_with = "crate::number::write")]
    pub value: f64,
}

/// What measurements are derived from (`measurements.md` §2).
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeasurementsInput<'a> {
    /// Rows of a derived chain, in any order.
    #[serde(borrow)]
    pub stage_results: Vec<MeasuredRow<'a>>,
    /// The version of the rules that derived them; absent means
    /// [`UNVERSIONED_ANALYZER`].
    #[serde(default)]
    pub stage_analyzer_version: Option<i64>,
    /// The spans that the chain saw, all on one clock.
    #[serde(borrow, default)]
    pub spans: Option<Vec<TimedSpan<'a>>>,
}

impl<'a> MeasurementsInput<'a> {
    /// Returns the input of a trial whose chain was just derived.
    #[must_use]
    pub fn of_trial(chain: &'a Chain<'_>, spans: &'a [Span]) -> Self {
        let rows = chain.stage_results.iter().map(|row| MeasuredRow {
            stage: row.stage,
            state: row.state,
            evidence: row.evidence.as_ref().map(|evidence| CitedSpans {
                span_ids: evidence
                    .span_ids
                    .iter()
                    .flatten()
                    .map(|id| Cow::Borrowed(&**id))
                    .collect(),
            }),
        });
        let timed = spans.iter().map(|span| TimedSpan {
            id: Some(Cow::Borrowed(&span.id)),
            started_at: Some(span.started_at),
            ended_at: Some(span.ended_at),
            ..TimedSpan::default()
        });
        Self {
            stage_results: rows.collect(),
            stage_analyzer_version: Some(i64::from(chain.stage_analyzer_version)),
            spans: Some(timed.collect()),
        }
    }
}

/// The parts of a chain row that measuring reads.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct MeasuredRow<'a> {
    /// The stage this row is about.
    pub stage: Stage,
    /// What is known about it.
    pub state: StageState,
    /// What was looked at.
    #[serde(borrow, default)]
    pub evidence: Option<CitedSpans<'a>>,
}

/// The spans that a chain row cites.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CitedSpans<'a> {
    /// Span ids, in order.
    #[serde(borrow, deserialize_with = "texts")]
    pub span_ids: Vec<Cow<'a, str>>,
}

/// A span with its times, ms since the epoch or since the trial's start.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TimedSpan<'a> {
    /// Unique within the trial; anything but a string is absent.
    #[serde(borrow, deserialize_with = "text")]
    pub id: Option<Cow<'a, str>>,
    /// Start; wins over `startMs`.
    #[serde(deserialize_with = "number")]
    pub started_at: Option<f64>,
    /// End; wins over `endMs`.
    #[serde(deserialize_with = "number")]
    pub ended_at: Option<f64>,
    /// Start, older spelling.
    #[serde(deserialize_with = "number")]
    pub start_ms: Option<f64>,
    /// End, older spelling.
    #[serde(deserialize_with = "number")]
    pub end_ms: Option<f64>,
}

/// Latency samples added up; the mean is `total_ms / sample_count`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LatencyAggregate {
    /// Always `ms`.
    pub unit: LatencyUnit,
    /// What the samples measure.
    pub basis: LatencyBasis,
    /// Number of samples, at least 1.
    pub sample_count: u64,
    /// Sum, ms.
    #[serde(serialize_with = "crate::number::write")]
    pub total_ms: f64,
    /// Smallest sample, ms.
    #[serde(serialize_with = "crate::number::write")]
    pub min_ms: f64,
    /// Greatest sample, ms.
    #[serde(serialize_with = "crate::number::write")]
    pub max_ms: f64,
}

/// What happened in one setup phase of one run (`measurements.md` §7).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetupTally {
    /// The phase.
    pub phase: SetupPhase,
    /// Attempts; one connect serves many trials.
    pub unique_attempts: u64,
    /// Attempts that failed.
    pub failed_attempts: u64,
    /// Failed attempts that are known to lie at the server.
    pub server_attributed_failures: u64,
    /// Trials that a failed attempt touched.
    pub impacted_trials: u64,
    /// Wall time of the phase, when all copies agree on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyAggregate>,
}

/// One trial's copy of a setup phase's signal (`measurements.md` §7).
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalCopy<'a> {
    /// The phase; another word is none of ours, and the copy is ignored.
    #[serde(default, deserialize_with = "known_word")]
    pub phase: Option<SetupPhase>,
    /// How the phase ended; anything but `failed` acts as `ok`.
    #[serde(default, deserialize_with = "known_word")]
    pub outcome: Option<SetupOutcome>,
    /// On whose side a failure lies.
    #[serde(default, deserialize_with = "known_word")]
    pub attribution: Option<Attribution>,
    /// Whether our own network egress was seen to work.
    #[serde(default)]
    pub egress_verified: Option<bool>,
    /// Wall time of the phase, ms.
    #[serde(default, deserialize_with = "number")]
    pub duration_ms: Option<f64>,
    /// The trial that carries this copy.
    #[serde(borrow, default, deserialize_with = "text")]
    pub trial_key: Option<Cow<'a, str>>,
}
