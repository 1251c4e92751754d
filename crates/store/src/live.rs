//! Following a run while it is written, by this process or by another one.
//!
//! Trials are stored under rising numbers, so a reader that knows the last
//! number it saw asks for what came after it and misses nothing.

use sqlx::FromRow;
use strandline_contract::words::{IterationStatus, Vocabulary};

use crate::{
    Store, TrialRow,
    error::StoreError,
    missing::is_attempted,
    trials::{LISTED_COLUMNS, ListedRow},
};

/// How many of a run's trials are stored, and what they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialTally {
    /// Trials that are stored.
    pub stored: u64,
    /// Of these, trials that were attempted (`verdict.md` §4.1).
    pub attempted: u64,
    /// Attempted trials whose checks all hold.
    pub passed: u64,
    /// Attempted trials whose checks do not all hold.
    pub failed: u64,
    /// Attempted trials without a result.
    pub not_graded: u64,
}

/// Trials that were stored after a point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredAfter {
    /// The trials, in the order in which they were stored, each with the point
    /// after it.
    pub trials: Vec<(TrialRow, i64)>,
}

#[derive(Debug, FromRow)]
struct NumberedRow {
    seq: i64,
    #[sqlx(flatten)]
    row: ListedRow,
}

impl Store {
    /// Lists up to `limit` trials of a run that were stored after a point; 0 is
    /// the beginning. A trial that takes another's place in a resumed run comes
    /// again.
    ///
    /// # Errors
    ///
    /// When a trial cannot be read.
    pub async fn trials_after(
        &self,
        run_id: &str,
        after: i64,
        limit: u32,
    ) -> Result<StoredAfter, StoreError> {
        let sql = format!(
            "SELECT t.seq, {LISTED_COLUMNS} FROM trials t \
             JOIN runs r ON r.seq = t.run \
             JOIN planned_cases p ON p.run = t.run AND p.ordinal = t.planned \
             WHERE r.id = ? AND t.seq > ? ORDER BY t.seq LIMIT ?"
        );
        let rows: Vec<NumberedRow> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(run_id)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await
            .map_err(self.failure())?;
        let trials = rows
            .into_iter()
            .map(|row| Ok((row.row.row()?, row.seq)))
            .collect::<Result<_, StoreError>>()?;
        Ok(StoredAfter { trials })
    }

    /// Returns the point after everything that is stored of a run.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub async fn last_stored(&self, run_id: &str) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "SELECT coalesce(max(t.seq), 0) FROM trials t JOIN runs r ON r.seq = t.run WHERE r.id = ?",
        )
        .bind(run_id)
        .fetch_one(&self.readers)
        .await
        .map_err(self.failure())
    }

    /// Counts a run's stored trials by what they say.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub async fn tally(&self, run_id: &str) -> Result<TrialTally, StoreError> {
        let stored: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM trials WHERE run = (SELECT seq FROM runs WHERE id = ?)",
        )
        .bind(run_id)
        .fetch_one(&self.readers)
        .await
        .map_err(self.failure())?;
        let others: Vec<(String, Option<String>, i64)> = sqlx::query_as(
            "SELECT status, result, count(*) FROM trials t \
             WHERE t.run = (SELECT seq FROM runs WHERE id = ?) AND t.result IS NOT 'passed' \
             GROUP BY status, result",
        )
        .bind(run_id)
        .fetch_all(&self.readers)
        .await
        .map_err(self.failure())?;
        let mut tally = TrialTally {
            stored: stored.unsigned_abs(),
            attempted: stored.unsigned_abs(),
            ..TrialTally::default()
        };
        for (status, result, count) in others {
            let count = count.unsigned_abs();
            if IterationStatus::from_wire(&status).is_some_and(|status| !is_attempted(status)) {
                tally.attempted = tally.attempted.saturating_sub(count);
            } else if result.is_some() {
                tally.failed += count;
            } else {
                tally.not_graded += count;
            }
        }
        let others = tally.failed + tally.not_graded;
        tally.passed = tally.attempted.saturating_sub(others);
        Ok(tally)
    }
}
