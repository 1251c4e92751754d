//! Rows of the table `trials`, with and without the document.

use sqlx::FromRow;
use strandline_contract::{
    run::{ExecutionVariant, TrialRecord},
    words::Vocabulary,
};

use super::TrialRow;
use crate::{blob, error::StoreError};

pub(super) fn read_trial(id: &str, document: &[u8]) -> Result<TrialRecord, StoreError> {
    blob::decode(document).map_err(|detail| StoreError::UnreadableDocument {
        what: format!("trial `{id}`"),
        detail,
    })
}

/// A row of a trial listing.
pub(super) trait Listed {
    const COLUMNS: &'static str;
    /// The row's place in plan order.
    fn place(&self) -> (i64, i64);
}

#[derive(Debug, FromRow)]
pub(super) struct DocumentRow {
    id: String,
    planned: i64,
    iteration: i64,
    document: Vec<u8>,
}

impl Listed for DocumentRow {
    const COLUMNS: &'static str = "t.id, t.planned, t.iteration, t.document";
    fn place(&self) -> (i64, i64) {
        (self.planned, self.iteration)
    }
}

impl DocumentRow {
    pub(super) fn record(self) -> Result<TrialRecord, StoreError> {
        read_trial(&self.id, &self.document)
    }
}

/// What is read of a trial that is listed without its document.
pub(crate) const LISTED_COLUMNS: &str = "t.id, t.planned, t.iteration, p.case_id, p.title, p.model, p.provider, \
     t.status, t.result, t.evaluator_error, t.first_failed_stage, t.failure_category, t.started_at, t.ended_at";

#[derive(Debug, FromRow)]
pub(crate) struct ListedRow {
    id: String,
    planned: i64,
    iteration: u32,
    case_id: String,
    title: String,
    model: Option<String>,
    provider: Option<String>,
    status: String,
    result: Option<String>,
    evaluator_error: bool,
    first_failed_stage: Option<String>,
    failure_category: Option<String>,
    started_at: i64,
    ended_at: i64,
}

impl Listed for ListedRow {
    const COLUMNS: &'static str = LISTED_COLUMNS;
    fn place(&self) -> (i64, i64) {
        (self.planned, i64::from(self.iteration))
    }
}

impl ListedRow {
    pub(crate) fn row(self) -> Result<TrialRow, StoreError> {
        Ok(TrialRow {
            status: word(&self.id, &self.status)?,
            result: optional_word(&self.id, self.result.as_deref())?,
            first_failed_stage: optional_word(&self.id, self.first_failed_stage.as_deref())?,
            failure_category: optional_word(&self.id, self.failure_category.as_deref())?,
            variant: self.model.map(|model| ExecutionVariant {
                model,
                provider: self.provider,
            }),
            id: self.id,
            case_id: self.case_id,
            title: self.title,
            iteration_number: self.iteration,
            evaluator_error: self.evaluator_error,
            started_at: self.started_at,
            ended_at: self.ended_at,
        })
    }
}

/// Reads a stored word; one that this version does not know is an error.
fn word<V: Vocabulary>(trial: &str, wire: &str) -> Result<V, StoreError> {
    V::from_wire(wire).ok_or_else(|| StoreError::UnreadableDocument {
        what: format!("trial `{trial}`"),
        detail: format!("this version knows no {} `{wire}`", V::NAME),
    })
}

fn optional_word<V: Vocabulary>(trial: &str, wire: Option<&str>) -> Result<Option<V>, StoreError> {
    wire.map(|wire| word(trial, wire)).transpose()
}
