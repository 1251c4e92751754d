//! Trials and their traces: stored, listed, read.

mod rows;
mod save;

use futures::{Stream, StreamExt, TryStreamExt, stream};
use sqlx::{FromRow, QueryBuilder, Sqlite};
use strandline_contract::{
    run::{ExecutionVariant, TrialRecord},
    trace::{Frame, Trace},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};

use self::rows::{DocumentRow, Listed, read_trial};
pub(crate) use self::rows::{LISTED_COLUMNS, ListedRow};
pub(crate) use self::save::{MAX_BATCH, PreparedTrial, SaveStatements, save_batch};
use crate::{Store, blob, error::StoreError, page::Page, runs::variant_key, writer::Command};

/// Trials that a stream reads at a time.
const STREAMED: u32 = 200;

/// Which trials of a run to list; absent members leave everything in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialFilter {
    /// Only trials of this case.
    pub case_id: Option<String>,
    /// Only trials under this model; the inner `None` means without a model.
    pub variant: Option<Option<ExecutionVariant>>,
    /// Only the trial with this ordinal.
    pub iteration_number: Option<u32>,
    /// Only trials with this lifecycle status.
    pub status: Option<IterationStatus>,
    /// Only trials whose result is not `passed`, undecided ones included.
    pub not_passed: bool,
    /// Only trials whose chain first failed here.
    pub first_failed_stage: Option<Stage>,
    /// Only trials whose failure is grouped here.
    pub failure_category: Option<FailureCategory>,
}

/// What a listing says about a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialRow {
    /// Its id.
    pub id: String,
    /// The case's id in the suite.
    pub case_id: String,
    /// The case's title as planned.
    pub title: String,
    /// The model it ran under.
    pub variant: Option<ExecutionVariant>,
    /// Ordinal among the case variant's trials, from 0.
    pub iteration_number: u32,
    /// Lifecycle.
    pub status: IterationStatus,
    /// What its checks say.
    pub result: Option<TaskResult>,
    /// The grader broke.
    pub evaluator_error: bool,
    /// Where its chain first failed: a location, never a cause.
    pub first_failed_stage: Option<Stage>,
    /// The bucket its failure is grouped under: never a cause.
    pub failure_category: Option<FailureCategory>,
    /// Start, ms since the Unix epoch.
    pub started_at: i64,
    /// End, ms since the Unix epoch.
    pub ended_at: i64,
}

/// Whether to read raw frames with a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Leave them packed.
    Skip,
    /// Read them too.
    Load,
}

/// What became of a trace's raw frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameState {
    /// They are stored and were not asked for.
    NotLoaded,
    /// They are in the trace.
    Loaded,
    /// They were deleted to save space.
    Pruned,
}

/// A trace as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrace {
    /// The trace; its frames only when they were asked for.
    pub trace: Trace,
    /// How many frames were stored with it.
    pub frame_count: u64,
    /// What became of them.
    pub frame_state: FrameState,
}

impl Store {
    /// Stores a trial and its trace in one transaction; the future ends when
    /// it is durable (crate documentation).
    ///
    /// Both are serialized before the function returns, so the future borrows
    /// neither and may be spawned.
    ///
    /// A place in the plan takes one attempted trial. One that was never
    /// attempted gives way to another in a resumed run.
    ///
    /// # Errors
    ///
    /// When the run is not open here or was taken over, the plan has no free
    /// place for the trial, or the file cannot be written. The trial is then
    /// not stored, not even in part.
    pub fn save_trial(
        &self,
        trial: &TrialRecord,
        trace: &Trace,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let prepared = self.prepare_trial(trial, trace);
        let store = self.clone();
        async move {
            let prepared = Box::new(prepared?);
            store.ask(|reply| Command::Save(prepared, reply)).await
        }
    }

    fn prepare_trial(
        &self,
        trial: &TrialRecord,
        trace: &Trace,
    ) -> Result<PreparedTrial, StoreError> {
        let open = self.open_run(&trial.run_id)?;
        if open.is_lost() {
            return Err(StoreError::RunLost {
                run: open.id.clone(),
            });
        }
        PreparedTrial::new(open, trial, trace).map_err(|reason| StoreError::InvalidTrial {
            trial: trial.id.clone(),
            reason,
        })
    }

    /// Lists a run's trials with their documents, in plan order.
    ///
    /// # Errors
    ///
    /// When there is no such run, the cursor is not from this listing, or a
    /// trial cannot be read.
    pub async fn trials(
        &self,
        run_id: &str,
        filter: &TrialFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<TrialRecord>, StoreError> {
        self.page::<DocumentRow>(run_id, filter, cursor, limit)
            .await?
            .map(DocumentRow::record)
    }

    /// Lists a run's trials without their documents, in plan order.
    ///
    /// # Errors
    ///
    /// As [`Store::trials`].
    pub async fn trial_rows(
        &self,
        run_id: &str,
        filter: &TrialFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<TrialRow>, StoreError> {
        self.page::<ListedRow>(run_id, filter, cursor, limit)
            .await?
            .map(ListedRow::row)
    }

    /// Streams all of a run's trials that a filter lets through, in plan
    /// order, a few hundred in memory at a time.
    pub fn trial_stream<'a>(
        &'a self,
        run_id: &'a str,
        filter: &'a TrialFilter,
    ) -> impl Stream<Item = Result<TrialRecord, StoreError>> + 'a {
        let pages = stream::try_unfold(
            Some(None),
            move |state: Option<Option<String>>| async move {
                let Some(cursor) = state else {
                    return Ok(None);
                };
                let page = self
                    .trials(run_id, filter, cursor.as_deref(), STREAMED)
                    .await?;
                Ok::<_, StoreError>(Some((page.items, page.next_cursor.map(Some))))
            },
        );
        pages
            .map_ok(|items| stream::iter(items.into_iter().map(Ok)))
            .try_flatten()
            .boxed()
    }

    /// Returns the trial that `reference` names: its id or the beginning of it.
    ///
    /// # Errors
    ///
    /// When no trial or more than one has such an id, or it cannot be read.
    pub async fn trial(&self, reference: &str) -> Result<TrialRecord, StoreError> {
        let id = self.resolve_trial(reference).await?;
        let row: Option<(String, Vec<u8>)> =
            sqlx::query_as("SELECT id, document FROM trials WHERE id = ?")
                .bind(&id)
                .fetch_optional(&self.readers)
                .await
                .map_err(self.failure())?;
        match row {
            Some((id, document)) => read_trial(&id, &document),
            None => Err(StoreError::NotFound {
                what: "trial",
                reference: id,
            }),
        }
    }

    /// Returns the trace of the trial with that id; `None` when it was pruned.
    ///
    /// # Errors
    ///
    /// When there is no such trial or the trace cannot be read.
    pub async fn trace(
        &self,
        trial_id: &str,
        frames: Frames,
    ) -> Result<Option<StoredTrace>, StoreError> {
        let sql = match frames {
            Frames::Load => {
                "SELECT trace, frame_count, frames IS NOT NULL, frames FROM trials WHERE id = ?"
            }
            Frames::Skip => {
                "SELECT trace, frame_count, frames IS NOT NULL, NULL FROM trials WHERE id = ?"
            }
        };
        type TraceRow = (Option<Vec<u8>>, i64, bool, Option<Vec<u8>>);
        let row: Option<TraceRow> = sqlx::query_as(sql)
            .bind(trial_id)
            .fetch_optional(&self.readers)
            .await
            .map_err(self.failure())?;
        let Some((body, frame_count, kept, packed)) = row else {
            return Err(StoreError::NotFound {
                what: "trial",
                reference: trial_id.to_owned(),
            });
        };
        let Some(body) = body else {
            return Ok(None);
        };
        let unreadable = |detail| StoreError::UnreadableDocument {
            what: format!("the trace of trial `{trial_id}`"),
            detail,
        };
        let mut trace: Trace = blob::decode(&body).map_err(unreadable)?;
        if let Some(packed) = packed {
            trace.frames = blob::decode::<Vec<Frame>>(&packed).map_err(unreadable)?;
        }
        let frame_count = frame_count.unsigned_abs();
        let frame_state = match (frames, kept || frame_count == 0) {
            (_, false) => FrameState::Pruned,
            (Frames::Load, true) => FrameState::Loaded,
            (Frames::Skip, true) => FrameState::NotLoaded,
        };
        Ok(Some(StoredTrace {
            trace,
            frame_count,
            frame_state,
        }))
    }

    async fn page<R>(
        &self,
        run_id: &str,
        filter: &TrialFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<R>, StoreError>
    where
        R: Listed + for<'r> FromRow<'r, sqlx::sqlite::SqliteRow> + Send + Unpin,
    {
        let run: Option<i64> = sqlx::query_scalar("SELECT seq FROM runs WHERE id = ?")
            .bind(run_id)
            .fetch_optional(&self.readers)
            .await
            .map_err(self.failure())?;
        let run = run.ok_or_else(|| StoreError::NotFound {
            what: "run",
            reference: run_id.to_owned(),
        })?;
        let mut query = filter.select(R::COLUMNS, run);
        if let Some(cursor) = cursor {
            let (planned, iteration) = read_cursor(cursor)?;
            query.push(" AND (t.planned, t.iteration) > (");
            query.push_bind(planned).push(", ");
            query.push_bind(iteration).push(")");
        }
        query
            .push(" ORDER BY t.planned, t.iteration LIMIT ")
            .push_bind(i64::from(limit) + 1);
        let rows: Vec<R> = query
            .build_query_as()
            .fetch_all(&self.readers)
            .await
            .map_err(self.failure())?;
        Ok(Page::cut(rows, limit, cursor.is_none(), |row| {
            let (planned, iteration) = row.place();
            format!("{planned}.{iteration}")
        }))
    }
}

fn read_cursor(cursor: &str) -> Result<(i64, i64), StoreError> {
    cursor
        .split_once('.')
        .and_then(|(planned, iteration)| Some((planned.parse().ok()?, iteration.parse().ok()?)))
        .ok_or_else(|| StoreError::BadCursor {
            cursor: cursor.to_owned(),
        })
}

impl TrialFilter {
    pub(crate) fn select(&self, columns: &str, run: i64) -> QueryBuilder<Sqlite> {
        let mut query: QueryBuilder<Sqlite> = QueryBuilder::new("SELECT ");
        query.push(columns).push(
            " FROM trials t JOIN planned_cases p ON p.run = t.run AND p.ordinal = t.planned WHERE t.run = ",
        );
        query.push_bind(run);
        if let Some(case_id) = &self.case_id {
            // Not on the joined row: that would look at every trial of the run.
            query.push(" AND t.planned IN (SELECT ordinal FROM planned_cases WHERE run = ");
            query.push_bind(run).push(" AND case_id = ");
            query.push_bind(case_id.clone()).push(")");
        }
        if let Some(variant) = &self.variant {
            query
                .push(" AND p.variant_key = ")
                .push_bind(variant_key(variant.as_ref()));
        }
        if let Some(iteration) = self.iteration_number {
            query
                .push(" AND t.iteration = ")
                .push_bind(i64::from(iteration));
        }
        if let Some(status) = self.status {
            query.push(" AND t.status = ").push_bind(status.wire());
            // Lets the partial index of the other states be used.
            if status != IterationStatus::Completed {
                query.push(" AND t.status <> 'completed'");
            }
        }
        if self.not_passed {
            query.push(" AND t.result IS NOT 'passed'");
        }
        if let Some(stage) = self.first_failed_stage {
            query
                .push(" AND t.first_failed_stage = ")
                .push_bind(stage.wire());
        }
        if let Some(category) = self.failure_category {
            query
                .push(" AND t.failure_category = ")
                .push_bind(category.wire());
        }
        query
    }
}
