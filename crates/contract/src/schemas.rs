//! JSON Schemas of every public document, by name.
//!
//! One line per document in [`DOCUMENTS`]. The schemas are checked in under
//! `docs/reference/schemas/`; a test of the binary fails when they are stale
//! and rewrites them when `STRANDLINE_UPDATE_SCHEMAS` is set.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Value, json};

use crate::{
    analytics::StageAnalytics,
    analytics_input::AnalyticsInput,
    assertion::{MatchResult, MatchRollUp, PromptSummary, ResultRow, ScoreRow},
    chain::Chain,
    chain_input::ChainInput,
    comparison::{RunComparison, SuiteTrend, SurfaceComparison},
    coverage::Coverage,
    decision::DecisionSummary,
    friction::FrictionSignals,
    full_report::FullReport,
    judgement::{JudgePass, SuspectedConditionVerdict},
    listing::{RunList, TrialList},
    measurements::{MeasurementsInput, SetupTally, StageMeasurements},
    overview::RunOverview,
    policy::{FrozenPolicy, PolicyBlock},
    run::{RunRecord, TrialRecord},
    sequential::SequentialReport,
    swarm::{
        findings::SwarmFindings,
        report::{RunReport, RunReportInput},
        session::{SessionVerdict, SessionVerdictInput},
        wave::WaveInput,
    },
    trace::Trace,
    transcript::Transcript,
    verdict::{Decision, TrialStatistics},
};

/// A document that the outside reads or writes.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    /// Name on the command line and in the file name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Makes its schema.
    pub schema: fn() -> Schema,
}

impl Document {
    /// Returns the schema as it is printed and checked in.
    #[must_use]
    pub fn text(&self) -> String {
        let schema = (self.schema)();
        // `{:#}` of a JSON value is its indented form.
        format!("{:#}", schema.as_value())
    }
}

/// Every public document.
pub const DOCUMENTS: &[Document] = &[
    written::<ResultRow>("assertion-row", "what one assertion says about one trial"),
    written::<Chain<'_>>("chain", "the six-stage chain of one trial"),
    read::<ChainInput<'_>>("chain-input", "what a chain is derived from"),
    written::<Coverage>("coverage", "what a suite, or a run of it, leaves unproved"),
    written::<FrozenPolicy>("frozen-policy", "which tool calls of a run reach a server"),
    written::<MatchResult>("match-result", "calls of a flat list against expected ones"),
    written::<MatchRollUp>(
        "match-roll-up",
        "the turn summaries of one trial taken together",
    ),
    written::<RunOverview>("run-overview", "one run's trials taken together"),
    written::<PolicyBlock>("policy-block", "one call that the tool policy blocked"),
    written::<PromptSummary>(
        "prompt-summary",
        "one turn's calls against its expectations",
    ),
    written::<ScoreRow>("score-row", "one score of a trial under a stable rule id"),
    written::<StageMeasurements>(
        "stage-measurements",
        "reach and latency of the six stages of one trial",
    ),
    written::<Decision>("decision", "what a run decided under policy v2"),
    written::<TrialStatistics>(
        "trial-statistics",
        "pass@k, pass^k and intervals beside a decision",
    ),
    written::<DecisionSummary>(
        "decision-summary",
        "what a run decided and what evidence lies under it",
    ),
    written::<RunRecord>("run", "one run as it is stored"),
    written::<TrialRecord>("trial", "one trial as it is stored"),
    written::<Trace>("trace", "messages, spans and frames of one trial"),
    Document {
        name: "suite-file",
        about: "suite files of both dialects and in the short form, for editors",
        schema: || Schema::try_from(crate::suite_schema::suite_file()).unwrap_or_default(),
    },
    written::<RunComparison>("run-comparison", "two runs beside each other"),
    written::<SurfaceComparison>(
        "surface-comparison",
        "what changed in the tools of two runs' servers",
    ),
    written::<SuiteTrend>("suite-trend", "the stored runs of a suite as a series"),
    written::<SequentialReport>(
        "sequential-report",
        "what it would take to decide each case of a run by repeating it",
    ),
    written::<RunList>("run-list", "stored runs with what each decided"),
    written::<FullReport>("full-report", "everything that a stored run says"),
    written::<TrialList>("trial-list", "the trials of a run, without their evidence"),
    read::<Transcript>("transcript", "what assertions read of one trial"),
    read::<MeasurementsInput<'_>>(
        "measurements-input",
        "what stage measurements are derived from",
    ),
    written::<StageAnalytics>(
        "stage-analytics",
        "the funnel of one run, counted over trials",
    ),
    read::<AnalyticsInput<'_>>("analytics-input", "what a funnel is counted from"),
    written::<SetupTally>("setup-tally", "what happened in one setup phase of one run"),
    written::<FrictionSignals>(
        "friction-signals",
        "what a trial's calls show about avoidable work",
    ),
    written::<SessionVerdict>("swarm-verdict", "what one swarm session says of its goal"),
    read::<SessionVerdictInput>("swarm-verdict-input", "what a swarm session is judged by"),
    written::<RunReport>(
        "swarm-report",
        "what one swarm run reports over its sessions",
    ),
    read::<RunReportInput>(
        "swarm-report-input",
        "what a swarm run report is assembled from",
    ),
    written::<SwarmFindings>("swarm-findings", "what the swarm runs of one launch found"),
    read::<WaveInput>(
        "swarm-findings-input",
        "what swarm findings are derived from",
    ),
    written::<JudgePass>(
        "judge-pass",
        "what LLM judges said about one trial, with every call",
    ),
    written::<SuspectedConditionVerdict>(
        "suspected-condition",
        "one advisory reading of one flagged trial",
    ),
];

/// Returns the document of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.name == name)
}

/// Registers a document that we read: optional keys may be absent.
const fn read<T: JsonSchema>(name: &'static str, about: &'static str) -> Document {
    Document {
        name,
        about,
        schema: || {
            SchemaSettings::draft2020_12()
                .for_deserialize()
                .into_generator()
                .into_root_schema_for::<T>()
        },
    }
}

/// Registers a document that we write: the schema says what readers can rely on.
const fn written<T: JsonSchema>(name: &'static str, about: &'static str) -> Document {
    Document {
        name,
        about,
        schema: || {
            written_settings()
                .into_generator()
                .into_root_schema_for::<T>()
        },
    }
}

/// Returns how schemas of documents that we write are made.
#[must_use]
pub fn written_settings() -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(forbid_null_for_absent))
}

/// Forbids `null` for members that may be missing: we leave an absent value
/// out, and `null` is not absence.
fn forbid_null_for_absent(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |key: &str| {
        required
            .as_array()
            .is_some_and(|keys| keys.contains(&json!(key)))
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (key, property) in properties {
        if !is_required(key) {
            forbid_null(property);
        }
    }
}

fn forbid_null(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|alternative| *alternative != json!({"type": "null"}));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
}
