//! Key order of the writer (`suite-file.md` §7).

use crate::{rules::Dialect, yaml::Entry};

/// Which object of a suite file is being written; a list has the object of
/// its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    File(Dialect),
    Suite,
    Target,
    Server,
    Defaults(Dialect),
    ToolPolicy,
    Validity,
    Provenance,
    Case(Dialect),
    Import,
    /// A file in the short form.
    Short,
    ShortCase,
    /// Authored order.
    Other,
}

impl Object {
    /// Returns the object that a member of this one is.
    pub(super) fn member(self, key: &str) -> Self {
        match (self, key) {
            (Self::File(_), "suite") => Self::Suite,
            (Self::File(_), "target") => Self::Target,
            (Self::File(dialect), "defaults") => Self::Defaults(dialect),
            (Self::File(_), "provenance") => Self::Provenance,
            (Self::File(dialect), "cases") => Self::Case(dialect),
            (Self::Target, "servers" | "hosts") | (Self::Server, "servers") => Self::Server,
            (Self::Defaults(_) | Self::Short, "toolPolicy") => Self::ToolPolicy,
            (Self::Defaults(_) | Self::Short, "validity") => Self::Validity,
            (Self::Case(_), "import") => Self::Import,
            (Self::Short, "cases") => Self::ShortCase,
            _ => Self::Other,
        }
    }

    /// Returns the keys that come first, in order; others follow as authored.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::File(_) => &[
                "schemaVersion",
                "mode",
                "reportingMode",
                "suite",
                "target",
                "mcpServers",
                "defaults",
                "execution",
                "provenance",
                "cases",
            ],
            Self::Suite => &["id", "name", "description"],
            Self::Target => &["servers", "environment", "hosts"],
            Self::Server => &["name", "id"],
            Self::Defaults(Dialect::One) => &[
                "judge",
                "model",
                "provider",
                "repetitions",
                "passThreshold",
                "captureLevel",
                "toolPolicy",
                "validity",
            ],
            Self::Defaults(Dialect::Two) => &[
                "judge",
                "model",
                "provider",
                "iterations",
                "passThreshold",
                "captureLevel",
                "toolPolicy",
                "validity",
            ],
            Self::ToolPolicy => &["mode", "allow", "deny"],
            Self::Validity => &[
                "minEligibleTrials",
                "minCompletionRate",
                "maxEvaluatorErrorRate",
            ],
            Self::Provenance => &[
                "sourceHash",
                "sourceFormat",
                "sourceFormatVersion",
                "converter",
                "converterVersion",
                "model",
                "discoverySnapshotHash",
                "reportHash",
                "importedAt",
            ],
            Self::Case(Dialect::One) => &[
                "judge",
                "id",
                "title",
                "intent",
                "kind",
                "disabled",
                "model",
                "repetitions",
                "passThreshold",
                "isNegativeTest",
                "expectedOutput",
                "steps",
                "checks",
                "suppressedSuiteStandardCheckIds",
                "assertions",
                "import",
            ],
            Self::Case(Dialect::Two) => &[
                "judge",
                "id",
                "title",
                "intent",
                "kind",
                "disabled",
                "model",
                "iterations",
                "passThreshold",
                "isNegativeTest",
                "expectedOutput",
                "steps",
                "assertions",
                "suppressedSuiteStandardCheckIds",
                "import",
            ],
            Self::Import => &["status", "sourceCaseKey", "note"],
            // Ours: the short form reads top down and keeps its order.
            Self::Short | Self::ShortCase | Self::Other => &[],
        }
    }

    /// Returns the entries in the order they are written.
    pub(super) fn sorted(self, entries: &[Entry]) -> Vec<&Entry> {
        let keys = self.keys();
        let mut sorted: Vec<&Entry> = entries.iter().collect();
        sorted.sort_by_key(|entry| {
            keys.iter()
                .position(|key| *key == entry.key)
                .unwrap_or(keys.len())
        });
        sorted
    }
}
