//! Deleting runs, dropping traces, giving space back.

use std::{collections::HashMap, path::Path};

use sqlx::SqliteConnection;

use crate::{
    Store,
    error::StoreError,
    lease::Liveness,
    runs::{self, RunFilter, RunHead},
    writer::Alone,
};

/// Runs read at a time while deciding what to prune.
const SCANNED: u32 = 200;

/// What pruning removes from a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracePart {
    /// The raw frames; messages and spans stay.
    Frames,
    /// The whole trace; the trial with its chain stays.
    Trace,
}

/// Which runs to prune: those that every given member selects.
///
/// Runs that are still being run are never pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrunePolicy {
    /// Spare this many of the newest runs of each suite.
    pub keep_last: Option<u32>,
    /// Only runs that started before this time, ms since the Unix epoch.
    pub started_before: Option<i64>,
    /// Only runs of the suite with this id or this name.
    pub suite: Option<String>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Runs.
    pub runs: u64,
    /// Trials.
    pub trials: u64,
    /// Traces, whole or their frames.
    pub traces: u64,
}

impl Store {
    /// Deletes the run with that id and everything it owns.
    ///
    /// # Errors
    ///
    /// [`StoreError::RunIsLive`] while it is being run; when there is no such
    /// run or the file cannot be written.
    pub async fn delete_run(&self, run_id: &str) -> Result<Removed, StoreError> {
        let head = self.run_head(run_id).await?;
        if let Liveness::Live { pid } = head.liveness {
            return Err(StoreError::RunIsLive {
                run: head.record.id,
                pid,
            });
        }
        self.delete_runs(vec![head.record.id]).await
    }

    /// Lists the runs that a policy selects, newest first, without touching
    /// them.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub async fn prunable(&self, policy: &PrunePolicy) -> Result<Vec<RunHead>, StoreError> {
        let filter = RunFilter {
            suite: policy.suite.clone(),
            status: None,
        };
        let mut kept: HashMap<String, u32> = HashMap::new();
        let mut selected = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.runs(&filter, cursor.as_deref(), SCANNED).await?;
            for run in page.items {
                let newer = kept.entry(run.record.suite_id.clone()).or_default();
                let spared = policy.keep_last.is_some_and(|keep| *newer < keep)
                    || policy
                        .started_before
                        .is_some_and(|before| run.record.started_at >= before)
                    || matches!(run.liveness, Liveness::Live { .. });
                *newer += 1;
                if !spared {
                    selected.push(run);
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(selected);
            }
        }
    }

    /// Deletes the runs with those ids, as [`Store::prunable`] lists them.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub async fn delete_runs(&self, ids: Vec<String>) -> Result<Removed, StoreError> {
        self.ask(|reply| Alone::DeleteRuns(ids, reply)).await
    }

    /// Drops traces, or their raw frames, of the runs with those ids.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub async fn drop_traces(
        &self,
        ids: Vec<String>,
        part: TracePart,
    ) -> Result<Removed, StoreError> {
        self.ask(|reply| Alone::DropTraces(ids, part, reply)).await
    }

    /// Gives free space inside the file back to the file system.
    ///
    /// Needs about as much free space as the file is long while it works.
    ///
    /// # Errors
    ///
    /// When another process uses the file, or it cannot be written.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        self.ask(Alone::Vacuum).await
    }
}

/// Deletes runs, one transaction each so that other writers get their turn.
///
/// A run that is being run is spared: it may have been claimed meanwhile.
pub(crate) async fn delete_runs(
    connection: &mut SqliteConnection,
    path: &Path,
    ids: &[String],
) -> Result<Removed, StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    let mut removed = Removed::default();
    for id in ids {
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut *connection)
            .await
            .map_err(fail)?;
        if runs::is_live(connection, path, id).await? {
            sqlx::query("ROLLBACK")
                .execute(&mut *connection)
                .await
                .map_err(fail)?;
            continue;
        }
        let (trials, traces): (i64, i64) = sqlx::query_as(
            "SELECT count(*), count(trace) FROM trials WHERE run = (SELECT seq FROM runs WHERE id = ?)",
        )
        .bind(id)
        .fetch_one(&mut *connection)
        .await
        .map_err(fail)?;
        let deleted = sqlx::query("DELETE FROM runs WHERE id = ?")
            .bind(id)
            .execute(&mut *connection)
            .await
            .map_err(fail)?
            .rows_affected();
        if deleted > 0 {
            removed.runs += deleted;
            removed.trials += trials.unsigned_abs();
            removed.traces += traces.unsigned_abs();
            sqlx::query(
                "DELETE FROM snapshots WHERE NOT EXISTS (SELECT 1 FROM run_snapshots WHERE snapshot = seq)",
            )
            .execute(&mut *connection)
            .await
            .map_err(fail)?;
        }
        sqlx::query("COMMIT")
            .execute(&mut *connection)
            .await
            .map_err(fail)?;
    }
    Ok(removed)
}

/// Drops traces or frames of runs, one transaction a run.
pub(crate) async fn drop_traces(
    connection: &mut SqliteConnection,
    path: &Path,
    ids: &[String],
    part: TracePart,
) -> Result<Removed, StoreError> {
    let sql = match part {
        TracePart::Frames => {
            "UPDATE trials SET frames = NULL \
             WHERE frames IS NOT NULL AND run = (SELECT seq FROM runs WHERE id = ?)"
        }
        TracePart::Trace => {
            "UPDATE trials SET trace = NULL, frames = NULL \
             WHERE trace IS NOT NULL AND run = (SELECT seq FROM runs WHERE id = ?)"
        }
    };
    let mut removed = Removed::default();
    for id in ids {
        removed.traces += sqlx::query(sql)
            .bind(id)
            .execute(&mut *connection)
            .await
            .map_err(|error| StoreError::from_sqlx(path, &error))?
            .rows_affected();
    }
    Ok(removed)
}

/// Empties the write-ahead log and rebuilds the file without free pages.
pub(crate) async fn vacuum(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<(), StoreError> {
    sqlx::query("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(connection)
        .await
        .map_err(|error| StoreError::from_sqlx(path, &error))?;
    Ok(())
}
