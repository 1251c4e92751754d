//! The run store as commands reach it: where it is, how it is opened, and what
//! is said when it cannot be.

use std::path::{Path, PathBuf};

use strandline_contract::exit::ExitCode;
use strandline_report::escape;
use strandline_store::{Store, StoreError};

use crate::ui::CommandError;

/// Directory of a project's own files.
const PROJECT_DIRECTORY: &str = ".strandline";
/// The store's file name in it.
const FILE: &str = "strandline.db";
/// Longest error text shown, characters.
const MAX_TEXT: usize = 2_000;

/// Names the run store.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StoreArguments {
    /// Store file [default: `.strandline/strandline.db` in this directory, or in
    /// the nearest one above that has it]
    #[arg(long, value_name = "FILE", env = VARIABLE)]
    store: Option<PathBuf>,
}

/// The variable that names the store where `--store` does not.
const VARIABLE: &str = "STRANDLINE_STORE";

impl StoreArguments {
    /// Returns whether `--store` itself names the store, not the environment.
    #[must_use]
    pub fn is_on_command_line(&self) -> bool {
        let inherited = std::env::var_os(VARIABLE).map(PathBuf::from);
        self.store.is_some() && self.store != inherited
    }

    /// Returns the path of the store.
    ///
    /// # Errors
    ///
    /// When the working directory cannot be read.
    pub fn path(&self) -> Result<PathBuf, CommandError> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        let here = std::env::current_dir().map_err(|error| {
            CommandError::new(
                ExitCode::Setup,
                format_args!("cannot read the working directory: {error}"),
            )
        })?;
        Ok(default_path(&here))
    }

    /// Opens the store for reading.
    ///
    /// # Errors
    ///
    /// Says why it cannot be read and what to do.
    pub async fn open_read_only(&self) -> Result<Store, CommandError> {
        Store::open_read_only(&self.path()?)
            .await
            .map_err(CommandError::from)
    }

    /// Opens the store for writing, making it where there is none.
    ///
    /// # Errors
    ///
    /// Says why it cannot be written and what to do.
    pub async fn open(&self) -> Result<Store, CommandError> {
        Store::open(&self.path()?).await.map_err(CommandError::from)
    }
}

/// Returns the store of the project that a directory belongs to: the nearest
/// one above, else a new one in the directory itself.
fn default_path(here: &Path) -> PathBuf {
    let project = here
        .ancestors()
        .find(|directory| directory.join(PROJECT_DIRECTORY).join(FILE).is_file())
        .unwrap_or(here);
    project.join(PROJECT_DIRECTORY).join(FILE)
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Missing { .. }
            | StoreError::NotFound { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::BadCursor { .. }
            | StoreError::RunIsLive { .. } => ExitCode::Usage,
            _ => ExitCode::Setup,
        };
        let message = escape::block(&error.to_string(), MAX_TEXT);
        let command = Self::new(exit, message);
        match error.hint() {
            Some(hint) => command.hint(hint),
            None => command,
        }
    }
}

/// Runs a command's asynchronous part.
///
/// # Errors
///
/// Those of the command; also when no runtime can be made.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(
                ExitCode::Setup,
                format_args!("cannot start the asynchronous runtime: {error}"),
            )
        })?;
    runtime.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_store_above_is_the_projects_own() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let below = directory.path().join("suites/more");
        std::fs::create_dir_all(&below).expect("makes directories");
        let own = |project: &Path| project.join(PROJECT_DIRECTORY).join(FILE);
        assert_eq!(default_path(&below), own(&below));
        let above = own(directory.path());
        std::fs::create_dir(directory.path().join(PROJECT_DIRECTORY)).expect("makes a directory");
        std::fs::write(&above, "").expect("writes");
        assert_eq!(default_path(&below), above);
    }
}
