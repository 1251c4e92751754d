//! Runs: begin, change hands, end; listed and read.

mod open;
mod prepared;
mod rows;
mod writes;

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use strandline_contract::{
    run::{ExecutionVariant, PlannedCase, RunRecord, RunStatus},
    words::Vocabulary,
};

use self::rows::{RunRow, SELECT_RUNS, read_plan};
pub(crate) use self::{
    open::OpenRun,
    prepared::PreparedRun,
    writes::{Then, claim, extend, is_live, refuse_live, release, renew, start, update},
};
use crate::{Store, blob, error::StoreError, lease::Liveness, page::Page, writer::Alone};

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of the suite with this id or this name.
    pub suite: Option<String>,
    /// Only runs with this status.
    pub status: Option<RunStatus>,
}

/// What a listing says about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHead {
    /// The record; its suite is `null`, and its plan and its servers' tool
    /// lists are empty: [`Store::run`] reads them.
    pub record: RunRecord,
    /// The beginning of its id that tells it from all others.
    pub short_id: String,
    /// Whether it is still being run.
    pub liveness: Liveness,
    /// Trials that the plan has.
    pub configured_trials: u64,
    /// Trials that are stored.
    pub stored_trials: u64,
}

/// A run as it is stored, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The record, with suite, plan and tool lists.
    pub record: RunRecord,
    /// The beginning of its id that tells it from all others.
    pub short_id: String,
    /// Whether it is still being run.
    pub liveness: Liveness,
    /// Trials that are stored.
    pub stored_trials: u64,
}

/// Returns the key of a variant within one case; empty without a variant.
pub(crate) fn variant_key(variant: Option<&ExecutionVariant>) -> String {
    match variant {
        None => String::new(),
        Some(variant) => serde_json::json!([variant.model, variant.provider]).to_string(),
    }
}

impl Store {
    /// Stores a new run and leases it to this process, which may then add
    /// trials to it.
    ///
    /// # Errors
    ///
    /// When the plan contradicts itself, the id is taken, or the file cannot
    /// be written.
    pub async fn start_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        let run = Box::new(PreparedRun::new(record)?);
        let open = self.ask(|reply| Alone::Start(run, reply)).await?;
        self.remember(open);
        Ok(())
    }

    /// Takes over a run that nobody runs any more: `reference` is its id, the
    /// beginning of it, or `last`. The run is `running` again, without an end
    /// and without a decision.
    ///
    /// # Errors
    ///
    /// [`StoreError::RunIsLive`] while its process lives.
    pub async fn claim_run(&self, reference: &str) -> Result<StoredRun, StoreError> {
        let id = self.resolve_run(reference).await?;
        let open = self.ask(|reply| Alone::Claim(id.clone(), reply)).await?;
        self.remember(open);
        self.run(&id).await
    }

    /// Stores what has become known about a run that goes on.
    ///
    /// # Errors
    ///
    /// When the run is not open here, was taken over, or cannot be written.
    pub async fn update_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        let open = self.open_run(&record.id)?;
        let run = Box::new(PreparedRun::new(record)?);
        self.ask(|reply| Alone::Update(open, run, reply)).await
    }

    /// Raises the number of trials of one planned case variant of a run that
    /// goes on, so that further trials of it can be stored.
    ///
    /// # Errors
    ///
    /// When the run is not open here, was taken over, has no such case
    /// variant, or cannot be written.
    pub async fn extend_plan(
        &self,
        run_id: &str,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
        configured_trials: u32,
    ) -> Result<(), StoreError> {
        let open = self.open_run(run_id)?;
        let ordinal = open
            .ordinal(case_id, variant)
            .map_err(|reason| StoreError::InvalidRun {
                run: run_id.to_owned(),
                reason,
            })?;
        self.ask(|reply| Alone::Extend(open, ordinal, configured_trials, reply))
            .await
    }

    /// Stores a run's last record and gives up its lease. The run has no funnel:
    /// [`Store::finish_run_with_roll_ups`] stores one with it.
    ///
    /// # Errors
    ///
    /// When the run is not open here, was taken over, or cannot be written; it
    /// then stays open.
    pub async fn finish_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        let open = self.open_run(&record.id)?;
        let run = Box::new(PreparedRun::new(record)?);
        self.ask(|reply| Alone::Finish(open, run, None, reply))
            .await?;
        self.forget(&record.id);
        Ok(())
    }

    /// Lists runs, the one that started last first.
    ///
    /// # Errors
    ///
    /// When the cursor is not from this listing or the file cannot be read.
    pub async fn runs(
        &self,
        filter: &RunFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<RunHead>, StoreError> {
        let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(SELECT_RUNS);
        query.push(" WHERE 1");
        if let Some(suite) = &filter.suite {
            query.push(" AND (suite_id = ").push_bind(suite);
            query.push(" OR suite_name = ").push_bind(suite).push(")");
        }
        if let Some(status) = filter.status {
            query.push(" AND status = ").push_bind(status.wire());
        }
        if let Some(cursor) = cursor {
            query.push(" AND id < ").push_bind(cursor);
        }
        query
            .push(" ORDER BY id DESC LIMIT ")
            .push_bind(i64::from(limit) + 1);
        let rows: Vec<RunRow> = query
            .build_query_as()
            .fetch_all(&self.readers)
            .await
            .map_err(self.failure())?;
        Page::cut(rows, limit, cursor.is_none(), |row| row.id.clone()).map(RunRow::head)
    }

    /// Returns what a listing says about the run that `reference` names.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn run_head(&self, reference: &str) -> Result<RunHead, StoreError> {
        let id = self.resolve_run(reference).await?;
        let mut connection = self.readers.acquire().await.map_err(self.failure())?;
        self.row(&mut connection, &id).await?.head()
    }

    /// Returns the run that `reference` names: its id, the beginning of it, or
    /// `last`.
    ///
    /// # Errors
    ///
    /// When no run or more than one has such an id, or it cannot be read.
    pub async fn run(&self, reference: &str) -> Result<StoredRun, StoreError> {
        let id = self.resolve_run(reference).await?;
        let mut connection = self.readers.acquire().await.map_err(self.failure())?;
        let row = self.row(&mut connection, &id).await?;
        let mut record = row.record()?;
        let parts: Vec<(String, i64, Vec<u8>)> = sqlx::query_as(
            "SELECT role, ordinal, body FROM run_snapshots JOIN snapshots ON seq = snapshot WHERE run = ?",
        )
        .bind(row.seq)
        .fetch_all(&mut *connection)
        .await
        .map_err(self.failure())?;
        for (role, ordinal, body) in parts {
            let unreadable = |detail| StoreError::UnreadableDocument {
                what: format!("the {role} of run `{id}`"),
                detail,
            };
            if role == "suite" {
                record.resolved_suite = blob::decode(&body).map_err(unreadable)?;
            } else if let Some(server) = usize::try_from(ordinal)
                .ok()
                .and_then(|ordinal| record.servers.get_mut(ordinal))
            {
                server.tools = blob::decode(&body).map_err(unreadable)?;
            }
        }
        record.plan = read_plan(&mut connection, row.seq)
            .await
            .map_err(self.failure())?;
        Ok(StoredRun {
            record,
            short_id: row.short_id(),
            liveness: row.liveness()?,
            stored_trials: row.stored_trials.unsigned_abs(),
        })
    }

    async fn row(&self, connection: &mut SqliteConnection, id: &str) -> Result<RunRow, StoreError> {
        RunRow::fetch(connection, id)
            .await
            .map_err(self.failure())?
            .ok_or_else(|| StoreError::NotFound {
                what: "run",
                reference: id.to_owned(),
            })
    }

    /// Returns a run's row number and plan.
    pub(crate) async fn plan(&self, run_id: &str) -> Result<(i64, Vec<PlannedCase>), StoreError> {
        let mut connection = self.readers.acquire().await.map_err(self.failure())?;
        let seq: Option<i64> = sqlx::query_scalar("SELECT seq FROM runs WHERE id = ?")
            .bind(run_id)
            .fetch_optional(&mut *connection)
            .await
            .map_err(self.failure())?;
        let seq = seq.ok_or_else(|| StoreError::NotFound {
            what: "run",
            reference: run_id.to_owned(),
        })?;
        let plan = read_plan(&mut connection, seq)
            .await
            .map_err(self.failure())?;
        Ok((seq, plan))
    }
}
