//! Following a run while it is written, by this process or by another one.
//!
//! Trials are stored under rising numbers, so a reader that knows the last
//! number it saw asks for what came after it and misses nothing.

use sqlx::FromRow;

use crate::{
    Store, TrialRow,
    error::StoreError,
    trials::{LISTED_COLUMNS, ListedRow},
};

/// How many of a run's trials are stored, and what they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialTally {
    /// Trials that are stored.
    pub stored: u64,
    /// Of these, trials whose checks all hold.
    pub passed: u64,
    /// Trials whose checks do not all hold.
    pub failed: u64,
    /// Trials without a result whose grader broke.
    pub evaluator_errors: u64,
    /// Trials without a result for another reason.
    pub ungraded: u64,
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
        let others: Vec<(Option<String>, bool, i64)> = sqlx::query_as(
            "SELECT result, evaluator_error, count(*) FROM trials t \
             WHERE t.run = (SELECT seq FROM runs WHERE id = ?) AND t.result IS NOT 'passed' \
             GROUP BY result, evaluator_error",
        )
        .bind(run_id)
        .fetch_all(&self.readers)
        .await
        .map_err(self.failure())?;
        let mut tally = TrialTally {
            stored: stored.unsigned_abs(),
            ..TrialTally::default()
        };
        for (result, evaluator_error, count) in others {
            let count = count.unsigned_abs();
            match (result, evaluator_error) {
                (Some(_), _) => tally.failed += count,
                (None, true) => tally.evaluator_errors += count,
                (None, false) => tally.ungraded += count,
            }
        }
        let others = tally.failed + tally.evaluator_errors + tally.ungraded;
        tally.passed = tally.stored.saturating_sub(others);
        Ok(tally)
    }
}
