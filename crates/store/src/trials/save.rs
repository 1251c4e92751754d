//! Storing trials: serialized by the caller, inserted by the writer.

use std::{path::Path, sync::Arc};

use serde::Serialize;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};
use strandline_contract::{
    run::TrialRecord,
    trace::{Adaptation, Lint, Message, OfferedTools, Span, Trace},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};

use crate::{blob, error::StoreError, missing::is_attempted, runs::OpenRun};

/// A trial and its trace, serialized by the caller so that the writer need not.
pub(crate) struct PreparedTrial {
    open: Arc<OpenRun>,
    id: String,
    planned: i64,
    iteration: u32,
    status: IterationStatus,
    result: Option<TaskResult>,
    evaluator_error: bool,
    first_failed_stage: Option<Stage>,
    failure_category: Option<FailureCategory>,
    started_at: i64,
    ended_at: i64,
    document: Vec<u8>,
    body: Vec<u8>,
    frames: Option<Vec<u8>>,
    frame_count: i64,
}

/// A trace without its frames, spelled as [`Trace`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    messages: &'a [Message],
    spans: &'a [Span],
    frames_dropped: u64,
    offered_tools: &'a [OfferedTools],
    adaptations: &'a [Adaptation],
    lints: &'a [Lint],
}

impl PreparedTrial {
    pub(super) fn new(
        open: Arc<OpenRun>,
        trial: &TrialRecord,
        trace: &Trace,
    ) -> Result<Self, String> {
        let planned = open.place(
            &trial.case_id,
            trial.variant.as_ref(),
            trial.iteration_number,
        )?;
        let Trace {
            messages,
            spans,
            frames,
            frames_dropped,
            offered_tools,
            adaptations,
            lints,
        } = trace;
        let body = Body {
            messages,
            spans,
            frames_dropped: *frames_dropped,
            offered_tools,
            adaptations,
            lints,
        };
        Ok(Self {
            planned,
            id: trial.id.clone(),
            iteration: trial.iteration_number,
            status: trial.status,
            result: trial.result,
            evaluator_error: trial.evaluator_error,
            first_failed_stage: trial.chain.first_failed_stage,
            failure_category: trial.chain.failure_category,
            started_at: trial.started_at,
            ended_at: trial.ended_at,
            document: blob::encode(trial)?,
            body: blob::encode(&body)?,
            frames: if frames.is_empty() {
                None
            } else {
                Some(blob::encode(frames)?)
            },
            frame_count: i64::try_from(frames.len()).map_err(|error| error.to_string())?,
            open,
        })
    }
}

/// Stores trials in one transaction; the outer error is that of the whole.
///
/// Each trial is refused or stored on its own account.
pub(crate) async fn save_all(
    connection: &mut SqliteConnection,
    path: &Path,
    trials: Vec<PreparedTrial>,
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    let mut tokens: Vec<(i64, Option<i64>)> = Vec::new();
    for trial in &trials {
        let run = trial.open.seq;
        if tokens.iter().any(|(seen, _)| *seen == run) {
            continue;
        }
        let sql = if tokens.is_empty() {
            "BEGIN IMMEDIATE; SELECT lease_token FROM runs WHERE seq = ?"
        } else {
            "SELECT lease_token FROM runs WHERE seq = ?"
        };
        let token = sqlx::query(sql)
            .bind(run)
            .fetch_optional(&mut *connection)
            .await
            .and_then(|row| row.map(|row| row.try_get(0)).transpose())
            .map_err(fail)?;
        tokens.push((run, token));
    }
    let mut outcomes = Vec::with_capacity(trials.len());
    for trial in trials {
        let owned = tokens.contains(&(trial.open.seq, Some(trial.open.token)));
        outcomes.push(if owned {
            save_one(connection, path, trial).await?
        } else {
            trial.open.mark_lost();
            Err(StoreError::RunLost {
                run: trial.open.id.clone(),
            })
        });
    }
    sqlx::query("COMMIT")
        .execute(connection)
        .await
        .map_err(fail)?;
    Ok(outcomes)
}

async fn save_one(
    connection: &mut SqliteConnection,
    path: &Path,
    trial: PreparedTrial,
) -> Result<Result<(), StoreError>, StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    if trial.open.resumed {
        make_room(connection, &trial).await.map_err(fail)?;
    }
    let id = trial.id.clone();
    let saved = sqlx::query(
        "INSERT INTO trials (id, run, planned, iteration, status, result, evaluator_error, \
         first_failed_stage, failure_category, started_at, ended_at, document) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?); \
         INSERT INTO traces (trial, body, frames, frame_count) VALUES (last_insert_rowid(), ?, ?, ?)",
    )
    .bind(trial.id)
    .bind(trial.open.seq)
    .bind(trial.planned)
    .bind(trial.iteration)
    .bind(trial.status.wire())
    .bind(trial.result.map(Vocabulary::wire))
    .bind(trial.evaluator_error)
    .bind(trial.first_failed_stage.map(Vocabulary::wire))
    .bind(trial.failure_category.map(Vocabulary::wire))
    .bind(trial.started_at)
    .bind(trial.ended_at)
    .bind(trial.document)
    .bind(trial.body)
    .bind(trial.frames)
    .bind(trial.frame_count)
    .execute(connection)
    .await;
    match saved {
        Ok(_) => Ok(Ok(())),
        // Only the first statement can collide, so nothing of it is stored.
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Ok(Err(StoreError::InvalidTrial {
                trial: id,
                reason: "its id or its place in the plan is already taken".to_owned(),
            }))
        }
        Err(error) => Err(fail(error)),
    }
}

/// Removes a trial that was never attempted from the place of a new one.
async fn make_room(
    connection: &mut SqliteConnection,
    trial: &PreparedTrial,
) -> Result<(), sqlx::Error> {
    let mut query: QueryBuilder<Sqlite> = QueryBuilder::new("DELETE FROM trials WHERE run = ");
    query.push_bind(trial.open.seq);
    query.push(" AND planned = ").push_bind(trial.planned);
    query.push(" AND iteration = ").push_bind(trial.iteration);
    query.push(" AND status IN (");
    let mut words = query.separated(", ");
    for status in IterationStatus::ALL
        .iter()
        .filter(|status| !is_attempted(**status))
    {
        words.push_bind(status.wire());
    }
    query.push(")");
    query.build().execute(connection).await?;
    Ok(())
}
