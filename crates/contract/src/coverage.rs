//! What a suite, or a run of it, leaves unproved.
//!
//! Counts of things that nobody looked at. A gap is no defect of the server,
//! and no verdict depends on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    suite::SuiteIdentity,
    words::{CoverageUnit, CoverageUnmeasured, GapKind, RateState, Stage},
};

/// The version of the document.
pub const COVERAGE_VERSION: u64 = 1;

/// What one suite, or one run of it, leaves unproved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Coverage {
    /// Always [`COVERAGE_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub version: u64,
    /// The suite.
    pub suite: SuiteIdentity,
    /// The run whose evidence is counted; absent for a suite file alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<CoveredRun>,
    /// One row per kind of gap, in vocabulary order.
    pub kinds: Vec<CoverageTally>,
    /// Every gap, by kind and then by name.
    pub gaps: Vec<CoverageGap>,
}

impl Coverage {
    /// Returns the row of a kind.
    #[must_use]
    pub fn tally(&self, kind: GapKind) -> Option<&CoverageTally> {
        self.kinds.iter().find(|tally| tally.kind == kind)
    }
}

/// The run whose evidence is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CoveredRun {
    /// The run.
    pub run_id: String,
    /// Trials that are stored.
    #[serde(deserialize_with = "number::read_count")]
    pub trials: u64,
    /// Of these, trials with a chain that can be read.
    #[serde(deserialize_with = "number::read_count")]
    pub chains: u64,
    /// Whether some server's listing of tools is stored.
    pub tools_listed: bool,
}

/// How much of one kind is unproved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CoverageTally {
    /// The kind.
    pub kind: GapKind,
    /// What is counted.
    pub unit: CoverageUnit,
    /// Whether it could be measured; without it the counts are 0.
    pub state: RateState,
    /// Why not; present exactly when it could not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<CoverageUnmeasured>,
    /// All of them; the sum of the next three.
    #[serde(deserialize_with = "number::read_count")]
    pub total: u64,
    /// Those that are no gap.
    #[serde(deserialize_with = "number::read_count")]
    pub proved: u64,
    /// Those that are a gap.
    #[serde(deserialize_with = "number::read_count")]
    pub unproved: u64,
    /// Those of which it cannot be told.
    #[serde(deserialize_with = "number::read_count")]
    pub undecided: u64,
}

/// One thing that is unproved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum CoverageGap {
    /// No enabled case demands a call of the tool.
    ToolNeverExpected {
        /// The server that lists it; absent when only the suite names it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        server: Option<String>,
        /// The server's own tool name.
        tool_name: String,
        /// Trials in which it was called all the same; absent without a run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        called_in_trials: Option<u64>,
    },
    /// No enabled case demands a value for the argument.
    ArgumentNeverAsserted {
        /// The server that lists the tool.
        server: String,
        /// The server's own tool name.
        tool_name: String,
        /// The argument.
        argument: String,
        /// The tool's schema demands the argument.
        required: bool,
    },
    /// In no trial did a call of the tool end in an error.
    ErrorPathNeverExercised {
        /// The server that lists it; absent when only the suite names it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        server: Option<String>,
        /// The server's own tool name.
        tool_name: String,
        /// Trials in which it was called.
        called_in_trials: u64,
    },
    /// In every trial the stage was not applicable or not measured.
    StageNeverDecided {
        /// The stage.
        stage: Stage,
        /// Trials in which it was not applicable.
        not_applicable_trials: u64,
        /// Trials in which it was not measured.
        not_measured_trials: u64,
    },
    /// Every required rule of the case holds on an empty answer.
    EmptyAnswerPasses {
        /// The case's id in the suite.
        case_id: String,
        /// The case's title.
        title: String,
    },
}

impl CoverageGap {
    /// Returns the gap's kind.
    #[must_use]
    pub const fn kind(&self) -> GapKind {
        match self {
            Self::ToolNeverExpected { .. } => GapKind::ToolNeverExpected,
            Self::ArgumentNeverAsserted { .. } => GapKind::ArgumentNeverAsserted,
            Self::ErrorPathNeverExercised { .. } => GapKind::ErrorPathNeverExercised,
            Self::StageNeverDecided { .. } => GapKind::StageNeverDecided,
            Self::EmptyAnswerPasses { .. } => GapKind::EmptyAnswerPasses,
        }
    }
}
