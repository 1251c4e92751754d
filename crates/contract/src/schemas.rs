//! JSON Schemas of every public document, by name.
//!
//! One line per document in [`DOCUMENTS`]. The schemas are checked in under
//! `docs/reference/schemas/`; a test of the binary fails when they are stale
//! and rewrites them when `STRANDLINE_UPDATE_SCHEMAS` is set.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use crate::{
    chain::Chain,
    chain_input::ChainInput,
    decision::DecisionSummary,
    measurements::StageMeasurements,
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
    written::<Chain<'_>>("chain", "the six-stage chain of one trial"),
    read::<ChainInput<'_>>("chain-input", "what a chain is derived from"),
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
            SchemaSettings::draft2020_12()
                .for_serialize()
                .into_generator()
                .into_root_schema_for::<T>()
        },
    }
}
