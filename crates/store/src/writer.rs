//! The one writer: a task that owns the writing connection.
//!
//! Trials that end at about the same time share one transaction; each caller
//! is answered after the commit that holds its trial. Everything else is a
//! transaction of its own. Between them the leases of open runs are renewed,
//! in a commit that is forced to the disk and with it everything before.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use sqlx::{Connection, SqliteConnection};
use tokio::{
    sync::{mpsc, oneshot},
    time::MissedTickBehavior,
};

use crate::{
    error::StoreError,
    funnels::{self, PreparedRollUps},
    judgements::{self, PreparedJudgement},
    lease,
    retention::{self, Removed},
    runs::{self, OpenRun, PreparedRun, Then},
    trials::{self, MAX_BATCH, PreparedTrial, SaveStatements},
};

/// Where the answer to a command goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Runs open for writing in this process, by id.
pub(crate) type OpenRuns = Arc<Mutex<HashMap<String, Arc<OpenRun>>>>;

/// Work for the writer.
pub(crate) enum Command {
    /// Store one trial with its trace, together with others.
    Save(Box<PreparedTrial>, Reply<()>),
    /// Do this alone.
    Alone(Alone),
    /// Finish and close.
    Close(Reply<()>),
}

/// Work that is a transaction of its own.
pub(crate) enum Alone {
    /// Store a new run and lease it.
    Start(Box<PreparedRun>, Reply<OpenRun>),
    /// Take over a run that nobody runs.
    Claim(String, Reply<OpenRun>),
    /// Store what has become known about a run that goes on.
    Update(Arc<OpenRun>, Box<PreparedRun>, Reply<()>),
    /// Raise the number of trials of the case variant with this ordinal.
    Extend(Arc<OpenRun>, i64, u32, Reply<()>),
    /// Store a run's last record, with its roll-ups where it has them, and give up
    /// its lease.
    Finish(
        Arc<OpenRun>,
        Box<PreparedRun>,
        Option<PreparedRollUps>,
        Reply<()>,
    ),
    /// Store the roll-ups of a run that has ended in place of those before.
    ReplaceRollUps(String, PreparedRollUps, Reply<()>),
    /// Store a judge's pass and what follows from it.
    Judge(Box<PreparedJudgement>, Reply<()>),
    /// Delete runs with everything they own.
    DeleteRuns(Vec<String>, Reply<Removed>),
    /// Delete the traces of runs, or their frames only.
    DropTraces(Vec<String>, retention::TracePart, Reply<Removed>),
    /// Give free space back to the file system.
    Vacuum(Reply<()>),
}

impl From<Alone> for Command {
    fn from(work: Alone) -> Self {
        Self::Alone(work)
    }
}

/// The writer's own state.
pub(crate) struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) connection: SqliteConnection,
    pub(crate) open_runs: OpenRuns,
    pub(crate) statements: SaveStatements,
}

impl Writer {
    /// Serves commands until every handle is gone or `Close` arrives.
    pub(crate) async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut renewal = tokio::time::interval(lease::RENEW_EVERY);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next = None;
        let closed = loop {
            let command = match next.take() {
                Some(command) => command,
                None => tokio::select! {
                    command = commands.recv() => match command {
                        Some(command) => command,
                        None => break None,
                    },
                    _ = renewal.tick() => {
                        self.renew_leases().await;
                        continue;
                    }
                },
            };
            match command {
                Command::Save(trial, reply) => {
                    next = self.save_batch((trial, reply), &mut commands).await;
                }
                Command::Alone(work) => self.execute(work).await,
                Command::Close(reply) => break Some(reply),
            }
        };
        let result = self.release_leases().await;
        let Self {
            path, connection, ..
        } = self;
        let result = match connection.close().await {
            Ok(()) => result,
            Err(error) => Err(StoreError::from_sqlx(&path, &error)),
        };
        if let Some(reply) = closed {
            let _ = reply.send(result);
        }
    }

    /// Stores every trial that is waiting; returns the command behind them.
    async fn save_batch(
        &mut self,
        first: (Box<PreparedTrial>, Reply<()>),
        commands: &mut mpsc::Receiver<Command>,
    ) -> Option<Command> {
        let mut batch = vec![first];
        let mut next = None;
        while batch.len() < MAX_BATCH && next.is_none() {
            match commands.try_recv() {
                Ok(Command::Save(trial, reply)) => batch.push((trial, reply)),
                Ok(other) => next = Some(other),
                Err(_) => break,
            }
        }
        let (trials, replies): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|(trial, reply)| (*trial, reply))
            .unzip();
        let outcomes =
            trials::save_batch(&mut self.connection, &self.path, &self.statements, &trials).await;
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            let _ = reply.send(outcome);
        }
        next
    }

    async fn execute(&mut self, work: Alone) {
        let Self {
            path, connection, ..
        } = self;
        let failed = match work {
            Alone::Start(run, reply) => answer(reply, runs::start(connection, path, *run).await),
            Alone::Claim(id, reply) => answer(reply, runs::claim(connection, path, &id).await),
            Alone::Update(open, run, reply) => answer(
                reply,
                runs::update(connection, path, &open, *run, Then::GoOn).await,
            ),
            Alone::Extend(open, ordinal, configured, reply) => answer(
                reply,
                runs::extend(connection, path, &open, ordinal, configured).await,
            ),
            Alone::Finish(open, run, roll_ups, reply) => answer(
                reply,
                runs::update(connection, path, &open, *run, Then::End(roll_ups)).await,
            ),
            Alone::ReplaceRollUps(id, roll_ups, reply) => answer(
                reply,
                funnels::replace(connection, path, &id, &roll_ups).await,
            ),
            Alone::Judge(judgement, reply) => {
                answer(reply, judgements::save(connection, path, &judgement).await)
            }
            Alone::DeleteRuns(ids, reply) => {
                answer(reply, retention::delete_runs(connection, path, &ids).await)
            }
            Alone::DropTraces(ids, part, reply) => answer(
                reply,
                retention::drop_traces(connection, path, &ids, part).await,
            ),
            Alone::Vacuum(reply) => answer(reply, retention::vacuum(connection, path).await),
        };
        if failed {
            self.roll_back().await;
        }
    }

    /// Ends a transaction that failed; SQLite may have ended it already.
    async fn roll_back(&mut self) {
        let _ = sqlx::query("ROLLBACK").execute(&mut self.connection).await;
        let _ = sqlx::query("PRAGMA synchronous = NORMAL")
            .execute(&mut self.connection)
            .await;
    }

    /// Renews the lease of every open run.
    ///
    /// A failure here is not reported: the next save or renewal meets it too.
    async fn renew_leases(&mut self) {
        for run in self.snapshot() {
            match runs::renew(&mut self.connection, &run).await {
                Ok(true) => {}
                Ok(false) => run.mark_lost(),
                Err(_) => self.roll_back().await,
            }
        }
    }

    /// Ends the lease of every run that is still open: nobody will go on.
    async fn release_leases(&mut self) -> Result<(), StoreError> {
        for run in self.snapshot() {
            runs::release(&mut self.connection, &run)
                .await
                .map_err(|error| StoreError::from_sqlx(&self.path, &error))?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Vec<Arc<OpenRun>> {
        let runs = self
            .open_runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        runs.values().cloned().collect()
    }
}

/// Sends an outcome and tells whether it was a failure.
fn answer<T>(reply: Reply<T>, outcome: Result<T, StoreError>) -> bool {
    let failed = outcome.is_err();
    let _ = reply.send(outcome);
    failed
}
