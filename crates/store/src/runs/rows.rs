//! Rows of the tables `runs` and `planned_cases`.

use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};
use strandline_contract::{
    run::{ExecutionVariant, PlannedCase, RunRecord, RunStatus},
    words::Vocabulary,
};

use super::RunHead;
use crate::{
    blob,
    error::StoreError,
    lease::{self, Liveness, Owner},
    lookup::shortened,
};

pub(super) const SELECT_RUNS: &str = "SELECT seq, id, status, document, lease_until, owner_machine, owner_pid, owner_start, \
     (SELECT count(*) FROM trials WHERE run = runs.seq) AS stored_trials, \
     (SELECT coalesce(sum(configured_trials), 0) FROM planned_cases WHERE run = runs.seq) AS configured_trials, \
     (SELECT max(id) FROM runs AS other WHERE other.id < runs.id) AS id_before, \
     (SELECT min(id) FROM runs AS other WHERE other.id > runs.id) AS id_after \
     FROM runs";

#[derive(Debug, FromRow)]
pub(super) struct RunRow {
    pub(super) seq: i64,
    pub(super) id: String,
    status: String,
    document: Vec<u8>,
    lease_until: i64,
    owner_machine: String,
    owner_pid: i64,
    owner_start: i64,
    pub(super) stored_trials: i64,
    configured_trials: i64,
    id_before: Option<String>,
    id_after: Option<String>,
}

impl RunRow {
    pub(super) async fn fetch(
        connection: &mut SqliteConnection,
        id: &str,
    ) -> Result<Option<Self>, sqlx::Error> {
        let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(SELECT_RUNS);
        query.push(" WHERE id = ").push_bind(id);
        query.build_query_as().fetch_optional(connection).await
    }

    pub(super) fn record(&self) -> Result<RunRecord, StoreError> {
        blob::decode(&self.document).map_err(|detail| StoreError::UnreadableDocument {
            what: format!("run `{}`", self.id),
            detail,
        })
    }

    pub(super) fn short_id(&self) -> String {
        shortened(
            &self.id,
            self.id_before.as_deref(),
            self.id_after.as_deref(),
        )
    }

    pub(super) fn liveness(&self) -> Result<Liveness, StoreError> {
        if self.status != RunStatus::Running.wire() {
            return Ok(Liveness::Ended);
        }
        let owner = Owner {
            machine: self.owner_machine.clone(),
            pid: u32::try_from(self.owner_pid).map_err(|error| StoreError::UnreadableDocument {
                what: format!("the owner of run `{}`", self.id),
                detail: error.to_string(),
            })?,
            started: self.owner_start,
        };
        Ok(owner.liveness(self.lease_until, lease::now()))
    }

    pub(super) fn head(self) -> Result<RunHead, StoreError> {
        Ok(RunHead {
            record: self.record()?,
            short_id: self.short_id(),
            liveness: self.liveness()?,
            configured_trials: self.configured_trials.unsigned_abs(),
            stored_trials: self.stored_trials.unsigned_abs(),
        })
    }
}

#[derive(Debug, FromRow)]
struct PlannedRow {
    case_id: String,
    model: Option<String>,
    provider: Option<String>,
    title: String,
    configured_trials: u32,
    pass_threshold: f64,
}

pub(super) async fn read_plan(
    connection: &mut SqliteConnection,
    seq: i64,
) -> Result<Vec<PlannedCase>, sqlx::Error> {
    let rows: Vec<PlannedRow> = sqlx::query_as(
        "SELECT case_id, model, provider, title, configured_trials, pass_threshold FROM planned_cases WHERE run = ? ORDER BY ordinal",
    )
    .bind(seq)
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| PlannedCase {
            case_id: row.case_id,
            title: row.title,
            variant: row.model.map(|model| ExecutionVariant {
                model,
                provider: row.provider,
            }),
            configured_trials: row.configured_trials,
            pass_threshold: row.pass_threshold,
        })
        .collect())
}
