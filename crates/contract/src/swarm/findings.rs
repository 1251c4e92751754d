//! What a wave found (`swarm.md` §8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::SessionUnit;
use crate::{
    number,
    words::{
        ChainStageBasis, DisclosureRail, Disposition, FindingBasis, FindingScope,
        FindingsJobStatus, FindingsNote, FindingsSummaryKind, RecordedSignal, Stage, StageState,
        SummaryVerdict, SwarmTargetKind, Tone,
    },
};

/// Most findings of one wave.
pub const MAX_FINDINGS: usize = 200;
/// Most session ids of one finding.
pub const MAX_FINDING_SESSIONS: usize = 1_000;
/// Most citations of one finding or excerpt.
pub const MAX_CITATIONS: usize = 30;
/// Most started sessions that one derivation scans.
pub const MAX_SCANNED_SESSIONS: usize = 1_000;
/// Longest outcome phrase, UTF-16 code units.
pub const MAX_OUTCOME_PHRASE_UNITS: usize = 100;
/// Most words of an outcome phrase.
pub const MAX_OUTCOME_PHRASE_WORDS: usize = 8;
/// Longest `actual` of an excerpt, UTF-16 code units.
pub const MAX_ACTUAL_UNITS: usize = 1_800;
/// Longest `account` of an excerpt, UTF-16 code units.
pub const MAX_ACCOUNT_UNITS: usize = 600;

/// Everything that a wave found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SwarmFindings {
    /// Always 1.
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub contract_version: u64,
    /// When they were derived, ms since the Unix epoch.
    #[serde(deserialize_with = "number::read_count")]
    pub generated_at: u64,
    /// A hash of what they were derived from; equal means nothing to do again.
    pub source_revision: String,
    /// The version of the rules.
    #[serde(deserialize_with = "number::read_count")]
    pub pipeline_version: u64,
    /// The version of the model's reading; 0 without one.
    #[serde(deserialize_with = "number::read_count")]
    pub extraction_version: u64,
    /// The model that read sessions, or `none`.
    pub extraction_model: String,
    /// The model that proposed causes, or `none`.
    pub reasoning_model: String,
    /// The findings in one word.
    pub summary_kind: FindingsSummaryKind,
    /// Sessions of the wave, counted.
    pub population: WavePopulation,
    /// What limits the findings as a whole.
    pub coverage_notes: Vec<FindingsNote>,
    /// What left the deployment.
    pub disclosure: Disclosure,
    /// One row per persona.
    pub personas: Vec<PersonaRow>,
    /// At most 200 rows.
    #[schemars(length(max = 200))]
    pub findings: Vec<Finding>,
    /// What became of proposed causes; absent when none could be proposed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verification: Option<Verification>,
}

/// Sessions of one wave, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WavePopulation {
    /// Sessions that the wave's runs were configured for.
    #[serde(deserialize_with = "number::read_count")]
    pub configured: u64,
    /// Sessions with at least one message.
    #[serde(deserialize_with = "number::read_count")]
    pub started: u64,
    /// Started sessions that were scanned and whose transcript loaded.
    #[serde(deserialize_with = "number::read_count")]
    pub read: u64,
    /// Started sessions that were not read.
    #[serde(deserialize_with = "number::read_count")]
    pub unread: u64,
    /// Sessions that were withdrawn.
    #[serde(deserialize_with = "number::read_count")]
    pub withdrawn: u64,
    /// Sessions that a limit stopped before they began.
    #[serde(deserialize_with = "number::read_count")]
    pub limited: u64,
    /// Sessions whose verdict is passed or failed.
    #[serde(deserialize_with = "number::read_count")]
    pub graded: u64,
}

/// What left the deployment for the sake of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Disclosure {
    /// Through which gateway.
    pub rail: DisclosureRail,
    /// What was sent; empty when nothing was.
    pub evidence_sent: Vec<String>,
}

/// How one persona fared over all of its goals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PersonaRow {
    /// The simulated user.
    pub persona: FindingPersona,
    /// The worst of its goals.
    pub disposition: Disposition,
    /// The tone of the disposition.
    pub tone: Tone,
    /// The runs it took part in.
    pub goal_run_ids: Vec<String>,
}

/// A simulated user, as pinned at launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingPersona {
    /// The persona it was copied from; `null` when it was written for the run.
    pub persona_ref_id: Option<String>,
    /// Its name.
    pub name: String,
}

/// What a simulated user wanted, in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingGoal {
    /// The run.
    pub run_id: String,
    /// The journey that the run executed.
    pub journey_ref_id: String,
    /// The goal's title.
    pub title: String,
}

/// What a goal was tried against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingTarget {
    /// What kind of thing it is.
    pub kind: SwarmTargetKind,
    /// Opaque; never parsed.
    pub id: String,
    /// What a person calls it.
    pub label: String,
    /// The model behind it; `null` when not known.
    pub model_id: Option<String>,
}

/// How many sessions a finding counts, out of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingPopulation {
    /// Sessions counted.
    #[serde(deserialize_with = "number::read_count")]
    pub count: u64,
    /// Sessions they are counted among.
    #[serde(deserialize_with = "number::read_count")]
    pub total: u64,
    /// Always `sessions`.
    pub unit: SessionUnit,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finding {
    /// Unique within the findings; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What it rests on.
    pub basis: FindingBasis,
    /// What it speaks about.
    pub scope_level: FindingScope,
    /// Whose sessions.
    pub persona: FindingPersona,
    /// In pursuit of what.
    pub goal: FindingGoal,
    /// Against what.
    pub target: FindingTarget,
    /// How many sessions, out of how many.
    pub population: FindingPopulation,
    /// The sessions counted.
    #[schemars(length(max = 1000))]
    pub session_ids: Vec<String>,
    /// `SESSION/m:INDEX` for a message, `SESSION/signal:SIGNAL:N` for a signal.
    #[schemars(length(max = 30))]
    pub citations: Vec<String>,
    /// What the counted sessions decided, folded.
    pub verdict_seen: SummaryVerdict,
    /// The stage concerned: a location, never a cause.
    pub chain_stage: Option<Stage>,
    /// What is known about that stage.
    pub chain_stage_state: Option<StageState>,
    /// How the finding comes by its stage.
    pub chain_stage_basis: ChainStageBasis,
    /// Where the counted sessions ended up.
    pub disposition: Disposition,
    /// The tone of the disposition.
    pub tone: Tone,
    /// What limits this finding.
    pub coverage_notes: Vec<FindingsNote>,
    /// What happened: at most 100 UTF-16 code units and 8 words, no digit.
    pub outcome_phrase: Option<String>,
    /// A confirmed cause.
    pub mechanism_phrase: Option<String>,
    /// What might remove it.
    pub fix_phrase: Option<String>,
    /// What one session shows.
    pub report_excerpt: Option<ReportExcerpt>,
    /// The cause that several rows share.
    pub mechanism_id: Option<String>,
    /// The signal that the row counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<RecordedSignal>,
}

/// What one session shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportExcerpt {
    /// What was seen, at most 1800 UTF-16 code units.
    pub actual: String,
    /// The same in plain words, uncited, at most 600 UTF-16 code units.
    #[serde(default)]
    pub account: Option<String>,
    /// Where it was seen.
    #[schemars(length(max = 30))]
    pub citations: Vec<String>,
}

/// What became of proposed causes.
///
/// `proposed` is the sum of the next three; `omitted` overlaps them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verification {
    /// Causes that were proposed.
    #[serde(deserialize_with = "number::read_count")]
    pub proposed: u64,
    /// Causes that a second reading confirmed.
    #[serde(deserialize_with = "number::read_count")]
    pub confirmed: u64,
    /// Causes that were looked at and did not hold.
    #[serde(deserialize_with = "number::read_count")]
    pub rejected: u64,
    /// Causes that nobody looked at again.
    #[serde(deserialize_with = "number::read_count")]
    pub unverified: u64,
    /// Confirmed causes that a cap left out.
    #[serde(deserialize_with = "number::read_count")]
    pub omitted: u64,
}

/// How far deriving the findings of a wave has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingsJob {
    /// How far.
    pub status: FindingsJobStatus,
    /// Why it failed: an open word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_code: Option<String>,
    /// When this was written, ms since the Unix epoch.
    #[serde(deserialize_with = "number::read_count")]
    pub updated_at: u64,
}
