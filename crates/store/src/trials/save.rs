//! Storing trials: serialized by the caller, inserted by the writer.

use std::{path::Path, sync::Arc};

use serde::Serialize;
use sqlx::{AssertSqlSafe, SqliteConnection};
use strandline_contract::{
    run::TrialRecord,
    trace::{Adaptation, Lint, Message, OfferedTools, Span, Trace},
    words::{FailureCategory, IterationStatus, Stage, TaskResult, Vocabulary},
};

#[cfg(test)]
use crate::missing::is_attempted;
use crate::{blob, error::StoreError, runs::OpenRun};

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

/// Trials in one transaction. One statement text per size is kept prepared.
pub(crate) const MAX_BATCH: usize = 16;

const INSERT: &str = "INSERT INTO trials (id, run, planned, iteration, status, result, evaluator_error, \
     first_failed_stage, failure_category, started_at, ended_at, document, trace, frames, frame_count) VALUES ";
/// One trial, unless its run is no longer ours: then `run` is null, and the
/// statement fails.
const ROW: &str = "(?, (SELECT seq FROM runs WHERE seq = ? AND lease_token = ?), \
     ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
/// Removes a trial that was never attempted (`missing::is_attempted`) from the
/// place of a new one.
const MAKE_ROOM: &str = "DELETE FROM trials WHERE run = ? AND planned = ? AND iteration = ? \
     AND status IN ('pending', 'skipped', 'cancelled');";

/// The statements that save a batch, by number of trials.
///
/// A batch is one statement, and so a transaction of itself: handing text to
/// the database's thread and taking answers back costs as much as the rest.
pub(crate) struct SaveStatements {
    fresh: Vec<Arc<str>>,
    resumed: Vec<Arc<str>>,
}

impl SaveStatements {
    pub(crate) fn new() -> Self {
        let insert = |count: usize| format!("{INSERT}{}", vec![ROW; count].join(", "));
        let fresh = |count: usize| insert(count).into();
        let resumed = |count: usize| {
            let room = MAKE_ROOM.repeat(count);
            format!("BEGIN IMMEDIATE; {room} {}; COMMIT", insert(count)).into()
        };
        Self {
            fresh: (0..=MAX_BATCH).map(fresh).collect(),
            resumed: (0..=MAX_BATCH).map(resumed).collect(),
        }
    }

    fn of(&self, trials: &[PreparedTrial]) -> (Option<&Arc<str>>, Room) {
        if trials.iter().any(|trial| trial.open.resumed) {
            (self.resumed.get(trials.len()), Room::Make)
        } else {
            (self.fresh.get(trials.len()), Room::Expect)
        }
    }
}

/// Whether a trial's place may be taken by one that was never attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Expect,
    Make,
}

/// Stores at most [`MAX_BATCH`] trials in one transaction. When one of them is
/// refused, each gets its own, so that the others are not refused with it.
pub(crate) async fn save_batch(
    connection: &mut SqliteConnection,
    path: &Path,
    statements: &SaveStatements,
    trials: &[PreparedTrial],
) -> Vec<Result<(), StoreError>> {
    match save(connection, path, statements, trials).await {
        Ok(()) => vec![Ok(()); trials.len()],
        Err(Refused::Trial(error)) if trials.len() == 1 => vec![Err(error)],
        Err(Refused::Trial(_)) => {
            let mut outcomes = Vec::with_capacity(trials.len());
            for trial in trials {
                let alone = save(connection, path, statements, std::slice::from_ref(trial)).await;
                outcomes.push(alone.map_err(Refused::error));
            }
            outcomes
        }
        Err(Refused::All(error)) => vec![Err(error); trials.len()],
    }
}

/// Why a transaction was not committed.
enum Refused {
    /// Some trial of it cannot be stored; the error speaks of the first.
    Trial(StoreError),
    /// Nothing can be stored.
    All(StoreError),
}

impl Refused {
    fn error(self) -> StoreError {
        match self {
            Self::Trial(error) | Self::All(error) => error,
        }
    }
}

async fn save(
    connection: &mut SqliteConnection,
    path: &Path,
    statements: &SaveStatements,
    trials: &[PreparedTrial],
) -> Result<(), Refused> {
    let (Some(first), (Some(sql), room)) = (trials.first(), statements.of(trials)) else {
        return Ok(());
    };
    let mut query = sqlx::query(AssertSqlSafe(Arc::clone(sql)));
    if room == Room::Make {
        for trial in trials {
            query = query
                .bind(trial.open.seq)
                .bind(trial.planned)
                .bind(trial.iteration);
        }
    }
    for trial in trials {
        query = query
            .bind(&trial.id)
            .bind(trial.open.seq)
            .bind(trial.open.token)
            .bind(trial.planned)
            .bind(trial.iteration)
            .bind(trial.status.wire())
            .bind(trial.result.map(Vocabulary::wire))
            .bind(trial.evaluator_error)
            .bind(trial.first_failed_stage.map(Vocabulary::wire))
            .bind(trial.failure_category.map(Vocabulary::wire))
            .bind(trial.started_at)
            .bind(trial.ended_at)
            .bind(&trial.document)
            .bind(&trial.body)
            .bind(&trial.frames)
            .bind(trial.frame_count);
    }
    let Err(error) = query.execute(&mut *connection).await else {
        return Ok(());
    };
    if room == Room::Make {
        // SQLite has ended the transaction itself after some kinds of error.
        let _ = sqlx::query("ROLLBACK").execute(connection).await;
    }
    let database = match &error {
        sqlx::Error::Database(database) => database,
        _ => return Err(Refused::All(StoreError::from_sqlx(path, &error))),
    };
    if database.is_unique_violation() {
        return Err(Refused::Trial(StoreError::InvalidTrial {
            trial: first.id.clone(),
            reason: "its id or its place in the plan is already taken".to_owned(),
        }));
    }
    if database.kind() == sqlx::error::ErrorKind::NotNullViolation {
        if trials.len() == 1 {
            first.open.mark_lost();
        }
        return Err(Refused::Trial(StoreError::RunLost {
            run: first.open.id.clone(),
        }));
    }
    Err(Refused::All(StoreError::from_sqlx(path, &error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_from_exactly_what_was_never_attempted() {
        for status in IterationStatus::ALL {
            let named = MAKE_ROOM.contains(&format!("'{}'", status.wire()));
            assert_eq!(named, !is_attempted(*status), "{status}");
        }
    }
}
