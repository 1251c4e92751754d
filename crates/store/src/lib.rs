//! The embedded run store: one SQLite file per project.
//!
//! | question | module |
//! |---|---|
//! | how is the file opened, upgraded, refused? | `schema` |
//! | how does a run begin, change hands, end? | [`runs`] |
//! | how is a trial stored, listed, read? | [`trials`] |
//! | what did LLM judges say, and what before? | [`judgements`] |
//! | where are a run's funnel and overview? | [`funnels`] |
//! | how is a run followed while it is written? | [`live`] |
//! | which of a run's trials are missing? | [`missing`] |
//! | who runs a run, and does that process live? | [`lease`] |
//! | how is an id looked up by its beginning? | [`lookup`] |
//! | how are runs deleted and space given back? | [`retention`] |
//! | what happens when trials end together? | `writer` |
//! | how does a document lie in a column? | `blob` |
//!
//! # What durable means
//!
//! [`Store::save_trial`] returns after the commit that holds the trial and its
//! trace. From then on they survive the death of the process in any form
//! (`kill -9`, a panic, an abort). They survive a power cut or a crash of the
//! operating system from the next forced commit on: the renewal of the run's
//! lease, at most five seconds later, or the end of the run. What
//! [`Store::start_run`] and [`Store::finish_run`] store survives a power cut as
//! soon as they return, and so does everything stored before. A power cut never
//! damages what was stored; trials lost to one show as missing
//! ([`Store::missing_trials`]) and are run again by a resumed run.

mod blob;
mod error;
pub mod funnels;
pub mod judgements;
pub mod lease;
pub mod live;
pub mod lookup;
pub mod missing;
pub mod page;
pub mod retention;
pub mod runs;
#[cfg(test)]
#[path = "../tests/store/sample.rs"]
#[expect(dead_code, reason = "the outside tests use more of it")]
mod sample;
mod schema;
#[cfg(test)]
mod tests;
pub mod trials;
mod writer;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::{
    SqliteConnection, SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tokio::sync::{mpsc, oneshot};

pub use crate::{
    error::StoreError,
    judgements::StoredJudgePass,
    lease::Liveness,
    live::{StoredAfter, TrialTally},
    lookup::Named,
    missing::MissingTrial,
    page::Page,
    retention::{PrunePolicy, Removed, TracePart},
    runs::{RunFilter, RunHead, StoredRun},
    trials::{FrameState, Frames, StoredTrace, TrialFilter, TrialRow},
};
use crate::{
    runs::OpenRun,
    trials::SaveStatements,
    writer::{Command, OpenRuns, Reply, Writer},
};

/// Connections for reading; each has a thread of its own.
const READERS: u32 = 4;
/// Commands that may wait for the writer before callers wait to hand one in.
const QUEUE: usize = 1024;

/// A store file, open for reading or for reading and writing.
///
/// Clones share one writer and one pool of readers. Several processes may have
/// the same file open; their transactions take turns.
#[derive(Debug, Clone)]
pub struct Store {
    path: Arc<PathBuf>,
    readers: SqlitePool,
    writer: Option<mpsc::Sender<Command>>,
    open_runs: OpenRuns,
}

impl Store {
    /// Opens the store at `path` for writing; makes the file, and its own
    /// directory, where they are missing, and upgrades an older file.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be used, among others when a newer version
    /// made it. A file that is no store is left untouched.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, &schema::MIGRATIONS).await
    }

    /// Opens the store at `path` for reading.
    ///
    /// A file of an older format is upgraded first; one of a newer format is
    /// read as far as it lets us.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be used; [`StoreError::Missing`] when there is
    /// none.
    pub async fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::open_read_only_with(path, &schema::MIGRATIONS).await
    }

    async fn open_with(path: &Path, migrations: &Migrator) -> Result<Self, StoreError> {
        let connection = schema::open_writer(path, migrations).await?;
        Ok(Self::from_connection(path, connection))
    }

    fn from_connection(path: &Path, connection: SqliteConnection) -> Self {
        let open_runs = OpenRuns::default();
        let (sender, commands) = mpsc::channel(QUEUE);
        let writer = Writer {
            path: path.to_path_buf(),
            connection,
            open_runs: Arc::clone(&open_runs),
            statements: SaveStatements::new(),
        };
        tokio::spawn(writer.serve(commands));
        Self {
            path: Arc::new(path.to_path_buf()),
            readers: readers(schema::reader_options(path)),
            writer: Some(sender),
            open_runs,
        }
    }

    async fn open_read_only_with(path: &Path, migrations: &Migrator) -> Result<Self, StoreError> {
        let options = schema::open_reader(path, migrations).await?;
        Ok(Self {
            path: Arc::new(path.to_path_buf()),
            readers: readers(options),
            writer: None,
            open_runs: Arc::new(Mutex::new(HashMap::new())),
        })
    }

    /// Returns where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the file after all work handed in before; runs still open lose
    /// their lease at once, so that others see them as no longer running.
    ///
    /// # Errors
    ///
    /// Says what could not be written.
    pub async fn close(self) -> Result<(), StoreError> {
        self.readers.close().await;
        if self.writer.is_some() {
            self.ask(Command::Close).await?;
        }
        Ok(())
    }

    /// Hands a command to the writer and waits for its answer.
    async fn ask<T, C: Into<Command>>(
        &self,
        command: impl FnOnce(Reply<T>) -> C,
    ) -> Result<T, StoreError> {
        let closed = || StoreError::NotWritable {
            path: self.path.to_path_buf(),
        };
        let (reply, answer) = oneshot::channel();
        let writer = self.writer.as_ref().ok_or_else(closed)?;
        writer
            .send(command(reply).into())
            .await
            .map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Returns the open run with that id.
    fn open_run(&self, id: &str) -> Result<Arc<OpenRun>, StoreError> {
        let runs = self
            .open_runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let run = runs
            .get(id)
            .ok_or_else(|| StoreError::RunNotOpen { run: id.to_owned() })?;
        Ok(Arc::clone(run))
    }

    fn remember(&self, run: OpenRun) {
        self.open_runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.id.clone(), Arc::new(run));
    }

    fn forget(&self, id: &str) {
        self.open_runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id);
    }

    fn failure(&self) -> impl Fn(sqlx::Error) -> StoreError {
        |error| StoreError::from_sqlx(&self.path, &error)
    }
}

fn readers(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(Duration::from_secs(60))
        .test_before_acquire(false)
        .connect_lazy_with(options)
}
