//! A run's record taken apart into columns, document and snapshots.

use std::collections::HashSet;

use serde_json::Value;
use sha2::{Digest, Sha256};
use strandline_contract::run::{PlannedCase, RunRecord, RunStatus};

use crate::{blob, error::StoreError};

/// A run's record, serialized by the caller so that the writer need not.
pub(crate) struct PreparedRun {
    pub(super) id: String,
    pub(super) status: RunStatus,
    pub(super) suite_id: String,
    pub(super) suite_name: String,
    pub(super) started_at: i64,
    pub(super) ended_at: Option<i64>,
    pub(super) scripted: bool,
    pub(super) document: Vec<u8>,
    pub(super) suite: Snapshot,
    pub(super) tools: Vec<Snapshot>,
    pub(super) plan: Vec<PlannedCase>,
}

/// A document stored once under its hash.
pub(super) struct Snapshot {
    pub(super) hash: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl Snapshot {
    fn new(document: &Value) -> Result<Self, String> {
        let json = serde_json::to_vec(document).map_err(|error| error.to_string())?;
        Ok(Self {
            hash: Sha256::digest(&json).to_vec(),
            body: blob::pack(&json)?,
        })
    }
}

impl PreparedRun {
    pub(crate) fn new(record: &RunRecord) -> Result<Self, StoreError> {
        Self::build(record).map_err(|reason| StoreError::InvalidRun {
            run: record.id.clone(),
            reason,
        })
    }

    /// Returns the record as it lies in its column.
    pub(crate) fn document(&self) -> &[u8] {
        &self.document
    }

    fn build(record: &RunRecord) -> Result<Self, String> {
        let mut seen = HashSet::new();
        for case in &record.plan {
            if !seen.insert((&case.case_id, &case.variant)) {
                return Err(format!(
                    "its plan has case `{}` twice under the same model",
                    case.case_id
                ));
            }
        }
        let tools = record
            .servers
            .iter()
            .map(|server| Snapshot::new(&Value::Array(server.tools.clone())))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            id: record.id.clone(),
            status: record.status,
            suite_id: record.suite_id.clone(),
            suite_name: record.suite_name.clone(),
            started_at: record.started_at,
            ended_at: record.ended_at,
            scripted: record.scripted,
            document: blob::encode(&without_parts(record)?)?,
            suite: Snapshot::new(&record.resolved_suite)?,
            tools,
            plan: record.plan.clone(),
        })
    }
}

/// Returns the record without what has tables of its own.
fn without_parts(record: &RunRecord) -> Result<Value, String> {
    let mut document = serde_json::to_value(record).map_err(|error| error.to_string())?;
    document["resolvedSuite"] = Value::Null;
    document["plan"] = Value::Array(Vec::new());
    if let Some(servers) = document["servers"].as_array_mut() {
        for server in servers {
            server["tools"] = Value::Array(Vec::new());
        }
    }
    Ok(document)
}
