//! What one trial's tool calls show about avoidable work (`friction.md` §7).
//!
//! Never a verdict. An absent document means "never measured", never "none".
//! Identifier values are not stored: key paths and counts only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    number,
    words::{FrictionGap, FrictionSignalKind, FrictionState, PaginationKey},
};

/// The version of the document.
pub const FRICTION_SIGNALS_VERSION: u64 = 1;
/// The metadata key under which a trial's signals are stored.
pub const FRICTION_SIGNALS_KEY: &str = "frictionSignals";
/// Most calls that are examined.
pub const MAX_FRICTION_CALLS: usize = 200;
/// Most signals that are kept.
pub const MAX_FRICTION_SIGNALS: usize = 24;
/// Most identifier key paths of one signal.
pub const MAX_IDENTIFIER_KEY_PATHS: usize = 8;
/// Most repeat call indexes of one signal.
pub const MAX_REPEAT_CALL_INDEXES: usize = 8;
/// Most pagination keys of one signal.
pub const MAX_PAGINATION_KEYS: usize = 4;

/// The friction signals of one trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrictionSignals {
    /// Always [`FRICTION_SIGNALS_VERSION`].
    #[serde(deserialize_with = "number::read_count")]
    #[schemars(range(min = 1, max = 1))]
    pub version: u64,
    /// Whether the calls were examined at all.
    pub state: FrictionState,
    /// Why not; present exactly when they were not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_measured_reason: Option<FrictionGap>,
    /// Calls that the trial made.
    #[serde(deserialize_with = "number::read_count")]
    pub call_count: u64,
    /// Calls whose result was kept.
    #[serde(deserialize_with = "number::read_count")]
    pub result_available_count: u64,
    /// Calls with a start and an end on record.
    #[serde(deserialize_with = "number::read_count")]
    pub timed_call_count: u64,
    /// Whether identifiers could be followed.
    pub identifier_signals: IdentifierSignals,
    /// At most 24 signals, by the call at which they were seen.
    pub signals: Vec<FrictionSignal>,
}

/// Whether identifiers in results could be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", deny_unknown_fields)]
pub enum IdentifierSignals {
    /// They could.
    Measured {},
    /// They could not.
    NotMeasured {
        /// Why not.
        reason: FrictionGap,
    },
}

/// One signal. All indexes are positions among the trial's calls, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum FrictionSignal {
    /// A result carried identifiers, and no later call carried any of them.
    IdentifierSurfacedUnused {
        /// The call whose result carried them.
        information_call_index: u64,
        /// The last call that did not carry them.
        observed_at_call_index: u64,
        /// The tool whose result carried them.
        tool_name: String,
        /// The call's id.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tool_call_id: Option<String>,
        /// Where in the result they lie, at most 8 paths.
        identifier_key_paths: Vec<String>,
        /// Distinct identifiers.
        identifier_count: u64,
        /// Later calls, at least 2.
        later_call_count: u64,
    },
    /// As above, and the same tool was asked again with other arguments.
    SearchRepeatedAfterIdentifier {
        /// The call whose result carried them.
        information_call_index: u64,
        /// The last call that asked again.
        observed_at_call_index: u64,
        /// The tool.
        tool_name: String,
        /// The call's id.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tool_call_id: Option<String>,
        /// The calls that asked again, the first 8.
        repeat_call_indexes: Vec<u64>,
        /// Where in the result they lie, at most 8 paths.
        identifier_key_paths: Vec<String>,
        /// Distinct identifiers.
        identifier_count: u64,
    },
    /// Adjacent calls of one tool with equal arguments.
    IdenticalRetry {
        /// The later call.
        call_index: u64,
        /// The earlier call.
        prior_call_index: u64,
        /// The tool.
        tool_name: String,
        /// The earlier call ended in an error.
        after_error: bool,
    },
    /// Adjacent calls of one tool with other arguments.
    ChangedRetry {
        /// The later call.
        call_index: u64,
        /// The earlier call.
        prior_call_index: u64,
        /// The tool.
        tool_name: String,
        /// The earlier call ended in an error.
        after_error: bool,
    },
    /// Adjacent calls of one tool that differ in pagination arguments only.
    PaginationContinuation {
        /// The later call.
        call_index: u64,
        /// The earlier call.
        prior_call_index: u64,
        /// The tool.
        tool_name: String,
        /// The arguments that differ, the first 4.
        pagination_keys: Vec<PaginationKey>,
    },
}

impl FrictionSignal {
    /// Returns the signal's kind.
    #[must_use]
    pub const fn kind(&self) -> FrictionSignalKind {
        match self {
            Self::IdentifierSurfacedUnused { .. } => FrictionSignalKind::IdentifierSurfacedUnused,
            Self::SearchRepeatedAfterIdentifier { .. } => {
                FrictionSignalKind::SearchRepeatedAfterIdentifier
            }
            Self::IdenticalRetry { .. } => FrictionSignalKind::IdenticalRetry,
            Self::ChangedRetry { .. } => FrictionSignalKind::ChangedRetry,
            Self::PaginationContinuation { .. } => FrictionSignalKind::PaginationContinuation,
        }
    }

    /// Returns the index of the call at which the signal was seen.
    #[must_use]
    pub const fn observed_at(&self) -> u64 {
        match self {
            Self::IdentifierSurfacedUnused {
                observed_at_call_index,
                ..
            }
            | Self::SearchRepeatedAfterIdentifier {
                observed_at_call_index,
                ..
            } => *observed_at_call_index,
            Self::IdenticalRetry { call_index, .. }
            | Self::ChangedRetry { call_index, .. }
            | Self::PaginationContinuation { call_index, .. } => *call_index,
        }
    }

    /// Returns the index of the earlier call that the signal starts from.
    #[must_use]
    pub const fn anchor(&self) -> u64 {
        match self {
            Self::IdentifierSurfacedUnused {
                information_call_index,
                ..
            }
            | Self::SearchRepeatedAfterIdentifier {
                information_call_index,
                ..
            } => *information_call_index,
            Self::IdenticalRetry {
                prior_call_index, ..
            }
            | Self::ChangedRetry {
                prior_call_index, ..
            }
            | Self::PaginationContinuation {
                prior_call_index, ..
            } => *prior_call_index,
        }
    }

    /// Returns the tool concerned.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        match self {
            Self::IdentifierSurfacedUnused { tool_name, .. }
            | Self::SearchRepeatedAfterIdentifier { tool_name, .. }
            | Self::IdenticalRetry { tool_name, .. }
            | Self::ChangedRetry { tool_name, .. }
            | Self::PaginationContinuation { tool_name, .. } => tool_name,
        }
    }
}
