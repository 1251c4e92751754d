//! Opening the file: connection settings, format versions, migrations.
//!
//! Rules for a stored format, in force since format 1:
//!
//! 1. Any change of a table, or of a stored document's fields or words, is a
//!    new migration, even an empty one, and raises `schema_version`.
//! 2. `readable_since` names the oldest format knowledge that still reads the
//!    file. It rises only when an old reader would misread, not merely miss,
//!    something.
//! 3. An older build refuses to write a newer file and reads it as far as
//!    rule 2 lets it; a document it cannot read is an error about that
//!    document alone.
//! 4. A landed migration is never edited.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::error::StoreError;

/// How long a writer waits for another process's transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Marks an SQLite file as ours ("STRL").
const APPLICATION_ID: i64 = 1_398_035_020;

/// The migrations of this build.
pub(crate) static MIGRATIONS: Migrator = sqlx::migrate!();

/// The format of a store file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Format {
    schema_version: i64,
    readable_since: i64,
}

/// The state of a file before it is used.
enum Found {
    /// There is nothing in it yet.
    Empty,
    /// A store.
    Store(Format),
}

/// Returns the newest format that a build with these migrations knows.
pub(crate) fn known_format(migrations: &Migrator) -> i64 {
    migrations
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0)
}

/// Returns the settings that every connection shares.
fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .statement_cache_capacity(64)
        .disable_statement_logging()
}

/// Returns the settings of a writing connection.
///
/// With `synchronous = NORMAL` a commit survives the death of the process; the
/// writer raises it to `FULL` where a commit must survive a power cut.
pub(crate) fn writer_options(path: &Path) -> SqliteConnectOptions {
    options(path)
        .create_if_missing(true)
        // Two or three usual trials fit on a page; on smaller ones each would
        // leave most of a page empty.
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
}

/// Returns the settings of a reading connection.
pub(crate) fn reader_options(path: &Path) -> SqliteConnectOptions {
    options(path).read_only(true)
}

/// Returns the settings to read a file on a medium that cannot be written.
///
/// SQLite then takes no locks and reads no write-ahead log.
fn immutable_options(path: &Path) -> SqliteConnectOptions {
    reader_options(path).immutable(true)
}

/// Opens the file for writing, creating or upgrading it.
pub(crate) async fn open_writer(
    path: &Path,
    migrations: &Migrator,
) -> Result<SqliteConnection, StoreError> {
    prepare_directory(path)?;
    let fail = |error: sqlx::Error| opening_error(path, &error);
    if path.exists() {
        // Looked at before WAL mode is set: a foreign file stays untouched.
        let mut probe = connect_reader(path).await?.0;
        let found = inspect(&mut probe, path).await?;
        drop(probe);
        refuse_newer(path, &found, known_format(migrations))?;
    }
    let mut connection = writer_options(path).connect().await.map_err(fail)?;
    upgrade(&mut connection, path, migrations).await?;
    Ok(connection)
}

/// Opens the file for reading, upgrading an older one where that is possible;
/// returns the settings for further connections.
pub(crate) async fn open_reader(
    path: &Path,
    migrations: &Migrator,
) -> Result<SqliteConnectOptions, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing {
            path: path.to_path_buf(),
        });
    }
    let (mut connection, options) = connect_reader(path).await?;
    let known = known_format(migrations);
    match inspect(&mut connection, path).await? {
        Found::Empty => Err(StoreError::NotAStore {
            path: path.to_path_buf(),
            reason: "it is empty".to_owned(),
        }),
        Found::Store(format) if format.readable_since > known => {
            Err(StoreError::UnreadableFormat {
                path: path.to_path_buf(),
                found: format.schema_version,
                needs: format.readable_since,
                known,
            })
        }
        Found::Store(format) if format.schema_version < known => {
            drop(connection);
            open_writer(path, migrations).await?;
            Ok(reader_options(path))
        }
        Found::Store(_) => Ok(options),
    }
}

/// Connects for reading; on a medium that cannot be written, without locks.
async fn connect_reader(
    path: &Path,
) -> Result<(SqliteConnection, SqliteConnectOptions), StoreError> {
    let options = reader_options(path);
    let error = match try_reading(&options).await {
        Ok(connection) => return Ok((connection, options)),
        Err(error) => opening_error(path, &error),
    };
    // A store in WAL mode needs its `-shm` file even for reading. Where that
    // cannot be made and no log waits to be read, the file alone is the store.
    let unwritable = matches!(error, StoreError::Io { .. } | StoreError::ReadOnly { .. });
    if unwritable && !has_log(path) {
        let options = immutable_options(path);
        if let Ok(connection) = try_reading(&options).await {
            return Ok((connection, options));
        }
    }
    Err(error)
}

async fn try_reading(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    sqlx::query("SELECT count(*) FROM sqlite_schema")
        .execute(&mut connection)
        .await?;
    Ok(connection)
}

/// Tells whether a write-ahead log with content lies beside the store.
fn has_log(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(PathBuf::from(name)).is_ok_and(|log| log.len() > 0)
}

/// Reads whose file it is and in which format.
async fn inspect(connection: &mut SqliteConnection, path: &Path) -> Result<Found, StoreError> {
    let fail = |error: sqlx::Error| StoreError::from_sqlx(path, &error);
    let application: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await
        .map_err(fail)?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await
        .map_err(fail)?;
    if tables == 0 {
        return Ok(Found::Empty);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::NotAStore {
            path: path.to_path_buf(),
            reason: "it is the SQLite database of another program".to_owned(),
        });
    }
    let (schema_version, readable_since) =
        sqlx::query_as("SELECT schema_version, readable_since FROM store_format")
            .fetch_one(connection)
            .await
            .map_err(fail)?;
    Ok(Found::Store(Format {
        schema_version,
        readable_since,
    }))
}

/// Rule 3: an older build refuses to write a newer file.
fn refuse_newer(path: &Path, found: &Found, known: i64) -> Result<(), StoreError> {
    match found {
        Found::Store(format) if format.schema_version > known => Err(StoreError::NewerFormat {
            path: path.to_path_buf(),
            found: format.schema_version,
            known,
        }),
        Found::Empty | Found::Store(_) => Ok(()),
    }
}

/// Brings the file to this build's format, alone among all processes.
async fn upgrade(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &Migrator,
) -> Result<(), StoreError> {
    let fail = |error: sqlx::Error| opening_error(path, &error);
    let known = known_format(migrations);
    if let Found::Store(format) = inspect(connection, path).await?
        && format.schema_version == known
    {
        return Ok(());
    }
    // Two new processes may both find an old file: the second one to get the
    // lock finds nothing left to do.
    let mut transaction = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(fail)?;
    let found = inspect(&mut transaction, path).await?;
    refuse_newer(path, &found, known)?;
    // `Migrator::run` is generic over what it acquires a connection from, and
    // the compiler cannot see that its future may change threads.
    migrations
        .run_direct(None, &mut *transaction, false)
        .await
        .map_err(|error| migration_error(path, &error))?;
    transaction.commit().await.map_err(fail)
}

fn migration_error(path: &Path, error: &MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
            opening_error(path, error)
        }
        other => StoreError::Database {
            path: path.to_path_buf(),
            detail: format!("its format could not be brought up to date: {other}"),
        },
    }
}

/// Translates an error of opening; a file that cannot be opened is told apart
/// from one that cannot be written.
fn opening_error(path: &Path, error: &sqlx::Error) -> StoreError {
    match StoreError::from_sqlx(path, error) {
        StoreError::Io { path, detail } => {
            let system = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .err();
            match system {
                Some(system)
                    if matches!(
                        system.kind(),
                        std::io::ErrorKind::PermissionDenied
                            | std::io::ErrorKind::ReadOnlyFilesystem
                    ) =>
                {
                    StoreError::ReadOnly {
                        path,
                        detail: system.to_string(),
                    }
                }
                Some(system) => StoreError::Io {
                    path,
                    detail: system.to_string(),
                },
                None => StoreError::Io { path, detail },
            }
        }
        other => other,
    }
}

/// Makes the store's own directory, and nothing above it.
fn prepare_directory(path: &Path) -> Result<(), StoreError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => return Ok(()),
    };
    if directory.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => StoreError::DirectoryMissing {
            path: path.to_path_buf(),
            directory: directory.parent().unwrap_or(directory).to_path_buf(),
        },
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly {
                path: path.to_path_buf(),
                detail: format!("`{}` cannot be created: {error}", directory.display()),
            }
        }
        _ => StoreError::Io {
            path: path.to_path_buf(),
            detail: format!("`{}` cannot be created: {error}", directory.display()),
        },
    })?;
    if directory
        .file_name()
        .is_some_and(|name| name == ".strandline")
    {
        // Keeps the store out of the project's version control. Failing to
        // write it harms nothing.
        let _ = std::fs::write(directory.join(".gitignore"), "*\n");
    }
    Ok(())
}
