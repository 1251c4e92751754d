//! What can go wrong with a store: what, where, and what to do about it.

use std::path::{Path, PathBuf};

/// Why the store could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store file to read.
    #[error("no store at `{}`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The directory above the store's own directory does not exist.
    #[error("cannot create the store `{}`: the directory `{}` does not exist", path.display(), directory.display())]
    DirectoryMissing {
        /// The store.
        path: PathBuf,
        /// The directory that must exist first.
        directory: PathBuf,
    },
    /// The file is something else.
    #[error("`{}` is not a Strandline store: {reason}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// The file is damaged.
    #[error("the store `{}` is damaged: {detail}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What the database says.
        detail: String,
    },
    /// A newer version made the file, and this one must not write to it.
    #[error("the store `{}` has format {found}, and this version writes formats up to {known}", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// The file's format.
        found: i64,
        /// The newest format that this version writes.
        known: i64,
    },
    /// A newer version made the file, and this one cannot even read it.
    #[error("the store `{}` has format {found}, which needs a version that knows format {needs}; this one knows {known}", path.display())]
    UnreadableFormat {
        /// The store.
        path: PathBuf,
        /// The file's format.
        found: i64,
        /// The oldest format knowledge that can read it.
        needs: i64,
        /// The newest format that this version knows.
        known: i64,
    },
    /// The file or its directory cannot be written.
    #[error("cannot write the store `{}`: {detail}", path.display())]
    ReadOnly {
        /// The store.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// No space is left.
    #[error("cannot write the store `{}`: no space left on its disk", path.display())]
    DiskFull {
        /// The store.
        path: PathBuf,
    },
    /// Another process kept the file locked for too long.
    #[error("the store `{}` is locked by another process, also after {waited_seconds} s", path.display())]
    Busy {
        /// The store.
        path: PathBuf,
        /// How long we waited.
        waited_seconds: u64,
    },
    /// Reading or writing failed in the operating system.
    #[error("cannot use the store `{}`: {detail}", path.display())]
    Io {
        /// The store.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// Nothing has that id.
    #[error("no {what} `{reference}` in this store")]
    NotFound {
        /// `run` or `trial`, or both.
        what: &'static str,
        /// What was asked for.
        reference: String,
    },
    /// Several things begin with that id.
    #[error("`{reference}` names more than one {what}: {}", listed(candidates, *more))]
    Ambiguous {
        /// `run`, `trial` or both.
        what: &'static str,
        /// What was asked for.
        reference: String,
        /// Ids that begin with it.
        candidates: Vec<String>,
        /// There are further ones.
        more: bool,
    },
    /// The cursor was not made by this store.
    #[error("`{cursor}` is no cursor of this listing")]
    BadCursor {
        /// What was given.
        cursor: String,
    },
    /// Another process is still running the run.
    #[error("run `{run}` is still being run by process {pid}")]
    RunIsLive {
        /// The run.
        run: String,
        /// Its process.
        pid: u32,
    },
    /// Another process took the run over, so our results no longer count.
    #[error("run `{run}` was taken over or deleted by another process")]
    RunLost {
        /// The run.
        run: String,
    },
    /// The run was not started or claimed through this store handle.
    #[error("run `{run}` is not open for writing here")]
    RunNotOpen {
        /// The run.
        run: String,
    },
    /// The run's record contradicts itself.
    #[error("run `{run}` cannot be stored: {reason}")]
    InvalidRun {
        /// The run.
        run: String,
        /// What is wrong.
        reason: String,
    },
    /// The trial has no free place in its run.
    #[error("trial `{trial}` cannot be stored: {reason}")]
    InvalidTrial {
        /// The trial.
        trial: String,
        /// What is wrong.
        reason: String,
    },
    /// A stored document cannot be read.
    #[error("{what} cannot be read: {detail}")]
    UnreadableDocument {
        /// Which one.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The store was opened for reading, or is being closed.
    #[error("the store `{}` is not open for writing", path.display())]
    NotWritable {
        /// The store.
        path: PathBuf,
    },
    /// Anything else that the database reports.
    #[error("the store `{}` failed: {detail}", path.display())]
    Database {
        /// The store.
        path: PathBuf,
        /// What the database says.
        detail: String,
    },
}

impl StoreError {
    /// Returns what to do next, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => {
                Some("run a suite first, or name the store with `--store PATH`")
            }
            Self::DirectoryMissing { .. } => {
                Some("create that directory, or name another store with `--store PATH`")
            }
            Self::NotAStore { .. } => {
                Some("name another file with `--store PATH`; this one was left untouched")
            }
            Self::Damaged { .. } => Some(
                "move the file (with its `-wal` and `-shm`) away and run again; `sqlite3 FILE .recover` may save what is readable",
            ),
            Self::NewerFormat { .. } | Self::UnreadableFormat { .. } => Some(
                "use the newer Strandline that made it, or name another store with `--store PATH`",
            ),
            Self::ReadOnly { .. } => Some(
                "make the file and its directory writable, or name another store with `--store PATH`",
            ),
            Self::DiskFull { .. } => Some(
                "free some space (`strandline runs prune` drops old runs), then `strandline run --resume RUN`",
            ),
            Self::Busy { .. } => Some("wait for the other process, or use another store"),
            Self::Ambiguous { .. } => Some("give more characters of the id"),
            Self::NotFound { .. } => Some("`strandline runs` lists what is stored"),
            Self::RunIsLive { .. } => Some("wait for it to end, or stop that process"),
            Self::UnreadableDocument { .. } => {
                Some("a newer Strandline may read it; the other documents are not affected")
            }
            Self::Io { .. }
            | Self::BadCursor { .. }
            | Self::RunLost { .. }
            | Self::RunNotOpen { .. }
            | Self::InvalidRun { .. }
            | Self::InvalidTrial { .. }
            | Self::NotWritable { .. }
            | Self::Database { .. } => None,
        }
    }

    /// Translates what sqlx reports about the store at `path`.
    pub(crate) fn from_sqlx(path: &Path, error: &sqlx::Error) -> Self {
        let path = path.to_path_buf();
        let database = match error {
            sqlx::Error::Database(database) => database,
            sqlx::Error::Io(io) => {
                return Self::Io {
                    path,
                    detail: io.to_string(),
                };
            }
            other => {
                return Self::Database {
                    path,
                    detail: other.to_string(),
                };
            }
        };
        let detail = database.message().to_owned();
        match primary_code(database.as_ref()) {
            Some(SQLITE_FULL) => Self::DiskFull { path },
            Some(SQLITE_BUSY | SQLITE_LOCKED) => Self::Busy {
                path,
                waited_seconds: crate::schema::BUSY_TIMEOUT.as_secs(),
            },
            Some(SQLITE_READONLY | SQLITE_PERM) => Self::ReadOnly { path, detail },
            Some(SQLITE_CORRUPT) => Self::Damaged { path, detail },
            Some(SQLITE_NOTADB) => Self::NotAStore {
                path,
                reason: "it is no SQLite database".to_owned(),
            },
            Some(SQLITE_IOERR | SQLITE_CANTOPEN) => Self::Io { path, detail },
            _ => Self::Database { path, detail },
        }
    }
}

// Primary result codes of SQLite.
const SQLITE_PERM: i32 = 3;
const SQLITE_BUSY: i32 = 5;
const SQLITE_LOCKED: i32 = 6;
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;

/// The low byte of SQLite's extended result code.
fn primary_code(error: &dyn sqlx::error::DatabaseError) -> Option<i32> {
    let extended: i32 = error.code()?.parse().ok()?;
    Some(extended & 0xff)
}

fn listed(candidates: &[String], more: bool) -> String {
    let mut text = candidates.join(", ");
    if more {
        text.push_str(", …");
    }
    text
}
