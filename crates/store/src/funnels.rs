//! Roll-ups of runs, the funnel and the overview: written with a run's end,
//! rebuilt in place, read.
//!
//! The store keeps them and checks nothing: whoever reads one validates it.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sqlx::{Connection, SqliteConnection};
use strandline_contract::{
    analytics::StageAnalytics,
    overview::RunOverview,
    run::{RunRecord, RunStatus},
    words::Vocabulary,
};

use crate::{Store, blob, error::StoreError, runs::PreparedRun, writer::Alone};

/// A run's roll-ups, serialized by the caller so that the writer need not.
pub(crate) struct PreparedRollUps {
    funnel: Vec<u8>,
    overview: Vec<u8>,
}

impl PreparedRollUps {
    fn new(
        run_id: &str,
        funnel: &StageAnalytics,
        overview: &RunOverview,
    ) -> Result<Self, StoreError> {
        belongs(run_id, "funnel", &funnel.run_id)?;
        belongs(run_id, "overview", &overview.run_id)?;
        Ok(Self {
            funnel: encode(run_id, "funnel", funnel)?,
            overview: encode(run_id, "overview", overview)?,
        })
    }
}

fn encode(run_id: &str, what: &str, document: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    blob::encode(document).map_err(|reason| StoreError::InvalidRun {
        run: run_id.to_owned(),
        reason: format!("its {what}: {reason}"),
    })
}

impl Store {
    /// Stores a run's last record together with its funnel and its overview, in
    /// one transaction, and gives up its lease.
    ///
    /// # Errors
    ///
    /// As [`Store::finish_run`]; also when a roll-up is of another run.
    pub async fn finish_run_with_roll_ups(
        &self,
        record: &RunRecord,
        funnel: &StageAnalytics,
        overview: &RunOverview,
    ) -> Result<(), StoreError> {
        let roll_ups = PreparedRollUps::new(&record.id, funnel, overview)?;
        let open = self.open_run(&record.id)?;
        let run = Box::new(PreparedRun::new(record)?);
        self.ask(|reply| Alone::Finish(open, run, Some(roll_ups), reply))
            .await?;
        self.forget(&record.id);
        Ok(())
    }

    /// Stores the roll-ups of a run that has ended, in place of those before.
    ///
    /// # Errors
    ///
    /// When there is no such run, it has not ended, the two are of different
    /// runs, or the file cannot be written.
    pub async fn replace_roll_ups(
        &self,
        funnel: &StageAnalytics,
        overview: &RunOverview,
    ) -> Result<(), StoreError> {
        let prepared = PreparedRollUps::new(&funnel.run_id, funnel, overview)?;
        self.ask(|reply| Alone::ReplaceRollUps(funnel.run_id.clone(), prepared, reply))
            .await
    }

    /// Returns the funnel of the run with that id as it is stored; `None` when
    /// there is none, which is no funnel of zeros.
    ///
    /// # Errors
    ///
    /// When there is no such run, or the document cannot be read.
    pub async fn funnel(&self, run_id: &str) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT funnels.document FROM runs LEFT JOIN funnels ON funnels.run = runs.seq \
             WHERE runs.id = ?";
        self.roll_up(run_id, "funnel", sql).await
    }

    /// Returns the overview of the run with that id; `None` when none is
    /// stored: the run has not ended, or an earlier version made it.
    ///
    /// # Errors
    ///
    /// When there is no such run, or the document cannot be read.
    pub async fn overview(&self, run_id: &str) -> Result<Option<RunOverview>, StoreError> {
        let sql = "SELECT overviews.document FROM runs \
             LEFT JOIN overviews ON overviews.run = runs.seq WHERE runs.id = ?";
        self.roll_up(run_id, "overview", sql).await
    }

    async fn roll_up<T: DeserializeOwned>(
        &self,
        run_id: &str,
        what: &str,
        sql: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let row: Option<(Option<Vec<u8>>,)> = sqlx::query_as(sql)
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
                what: format!("the {what} of run `{run_id}`"),
                detail,
            })
        };
        document.map(read).transpose()
    }
}

fn belongs(run_id: &str, what: &str, of: &str) -> Result<(), StoreError> {
    if of == run_id {
        return Ok(());
    }
    Err(StoreError::InvalidRun {
        run: run_id.to_owned(),
        reason: format!("the {what} given with it is of run `{of}`"),
    })
}

/// Stores roll-ups, inside a transaction.
pub(crate) async fn put(
    connection: &mut SqliteConnection,
    run: i64,
    roll_ups: &PreparedRollUps,
) -> Result<(), sqlx::Error> {
    let documents = [
        (
            "INSERT OR REPLACE INTO funnels (run, document) VALUES (?, ?)",
            &roll_ups.funnel,
        ),
        (
            "INSERT OR REPLACE INTO overviews (run, document) VALUES (?, ?)",
            &roll_ups.overview,
        ),
    ];
    for (sql, document) in documents {
        sqlx::query(sql)
            .bind(run)
            .bind(document)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Deletes the roll-ups of a run that goes on, inside a transaction: they
/// counted another set of trials.
pub(crate) async fn remove(connection: &mut SqliteConnection, run: i64) -> Result<(), sqlx::Error> {
    for sql in [
        "DELETE FROM funnels WHERE run = ?",
        "DELETE FROM overviews WHERE run = ?",
    ] {
        sqlx::query(sql).bind(run).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Replaces the roll-ups of a run that has ended, in one transaction.
pub(crate) async fn replace(
    connection: &mut SqliteConnection,
    path: &std::path::Path,
    run_id: &str,
    roll_ups: &PreparedRollUps,
) -> Result<(), StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    let mut transaction = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(fail)?;
    let known: Option<(i64, String)> = sqlx::query_as("SELECT seq, status FROM runs WHERE id = ?")
        .bind(run_id)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(fail)?;
    match known {
        Some((_, status)) if status == RunStatus::Running.wire() => Err(StoreError::InvalidRun {
            run: run_id.to_owned(),
            reason: "it has not ended, and its funnel is written with its end".to_owned(),
        }),
        Some((seq, _)) => {
            put(&mut transaction, seq, roll_ups).await.map_err(fail)?;
            transaction.commit().await.map_err(fail)
        }
        None => Err(StoreError::NotFound {
            what: "run",
            reference: run_id.to_owned(),
        }),
    }
}
