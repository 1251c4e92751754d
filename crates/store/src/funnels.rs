//! Funnels of runs: written with a run's end, rebuilt in place, read.
//!
//! The store keeps them and checks nothing: whoever reads one validates it.

use serde::Serialize;
use serde_json::Value;
use sqlx::SqliteConnection;
use strandline_contract::{
    analytics::StageAnalytics,
    run::{RunRecord, RunStatus},
    words::Vocabulary,
};

use crate::{Store, blob, error::StoreError, runs::PreparedRun, writer::Alone};

/// A run's funnel, serialized by the caller so that the writer need not.
pub(crate) struct PreparedFunnel {
    document: Vec<u8>,
}

impl PreparedFunnel {
    fn new<T: Serialize>(run_id: &str, funnel: &T) -> Result<Self, StoreError> {
        let document = blob::encode(funnel).map_err(|reason| StoreError::InvalidRun {
            run: run_id.to_owned(),
            reason: format!("its funnel: {reason}"),
        })?;
        Ok(Self { document })
    }
}

impl Store {
    /// Stores a run's last record together with its funnel, in one
    /// transaction, and gives up its lease.
    ///
    /// # Errors
    ///
    /// As [`Store::finish_run`]; also when the funnel is of another run.
    pub async fn finish_run_with_funnel(
        &self,
        record: &RunRecord,
        funnel: &StageAnalytics,
    ) -> Result<(), StoreError> {
        belongs(&record.id, funnel)?;
        let open = self.open_run(&record.id)?;
        let run = Box::new(PreparedRun::new(record)?);
        let funnel = PreparedFunnel::new(&record.id, funnel)?;
        self.ask(|reply| Alone::Finish(open, run, Some(funnel), reply))
            .await?;
        self.forget(&record.id);
        Ok(())
    }

    /// Stores the funnel of a run that has ended, in place of the one before.
    ///
    /// # Errors
    ///
    /// When there is no such run, it has not ended, or the file cannot be
    /// written.
    pub async fn replace_funnel(&self, funnel: &StageAnalytics) -> Result<(), StoreError> {
        let prepared = PreparedFunnel::new(&funnel.run_id, funnel)?;
        self.ask(|reply| Alone::ReplaceFunnel(funnel.run_id.clone(), prepared, reply))
            .await
    }

    /// Returns the funnel of the run with that id as it is stored; `None` when
    /// there is none, which is no funnel of zeros.
    ///
    /// # Errors
    ///
    /// When there is no such run, or the document cannot be read.
    pub async fn funnel(&self, run_id: &str) -> Result<Option<Value>, StoreError> {
        let row: Option<(Option<Vec<u8>>,)> = sqlx::query_as(
            "SELECT funnels.document FROM runs LEFT JOIN funnels ON funnels.run = runs.seq \
             WHERE runs.id = ?",
        )
        .bind(run_id)
        .fetch_optional(&self.readers)
        .await
        .map_err(self.failure())?;
        let Some((document,)) = row else {
            return Err(StoreError::NotFound {
                what: "run",
                reference: run_id.to_owned(),
            });
        };
        let read = |document: Vec<u8>| {
            blob::decode(&document).map_err(|detail| StoreError::UnreadableDocument {
                what: format!("the funnel of run `{run_id}`"),
                detail,
            })
        };
        document.map(read).transpose()
    }
}

fn belongs(run_id: &str, funnel: &StageAnalytics) -> Result<(), StoreError> {
    if funnel.run_id == run_id {
        return Ok(());
    }
    Err(StoreError::InvalidRun {
        run: run_id.to_owned(),
        reason: format!("the funnel given with it is of run `{}`", funnel.run_id),
    })
}

/// Stores a funnel, inside a transaction.
pub(crate) async fn put(
    connection: &mut SqliteConnection,
    run: i64,
    funnel: &PreparedFunnel,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT OR REPLACE INTO funnels (run, document) VALUES (?, ?)")
        .bind(run)
        .bind(&funnel.document)
        .execute(connection)
        .await?;
    Ok(())
}

/// Deletes the funnel of a run that goes on, inside a transaction: it counted
/// another set of trials.
pub(crate) async fn remove(connection: &mut SqliteConnection, run: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM funnels WHERE run = ?")
        .bind(run)
        .execute(connection)
        .await?;
    Ok(())
}

/// Replaces the funnel of a run that has ended: one statement, one commit.
pub(crate) async fn replace(
    connection: &mut SqliteConnection,
    path: &std::path::Path,
    run_id: &str,
    funnel: &PreparedFunnel,
) -> Result<(), StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    let replaced = sqlx::query(
        "INSERT OR REPLACE INTO funnels (run, document) \
         SELECT seq, ? FROM runs WHERE id = ? AND status <> ?",
    )
    .bind(&funnel.document)
    .bind(run_id)
    .bind(RunStatus::Running.wire())
    .execute(&mut *connection)
    .await
    .map_err(fail)?
    .rows_affected();
    if replaced > 0 {
        return Ok(());
    }
    let known: Option<i64> = sqlx::query_scalar("SELECT seq FROM runs WHERE id = ?")
        .bind(run_id)
        .fetch_optional(connection)
        .await
        .map_err(fail)?;
    Err(match known {
        Some(_) => StoreError::InvalidRun {
            run: run_id.to_owned(),
            reason: "it has not ended, and a funnel is written with a run's end".to_owned(),
        },
        None => StoreError::NotFound {
            what: "run",
            reference: run_id.to_owned(),
        },
    })
}
