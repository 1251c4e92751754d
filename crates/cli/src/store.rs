//! The run store as commands reach it: where it is, how it is opened, and what
//! is said when it cannot be.

use std::path::{Path, PathBuf};

use strandline_contract::exit::ExitCode;
use strandline_service::project::store_of;
use strandline_store::Store;

use crate::ui::CommandError;

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
        Ok(store_of(&here))
    }

    /// Returns the path of the store as seen from a project's directory.
    #[must_use]
    pub fn path_in(&self, project: &Path) -> PathBuf {
        let named = self.store.clone();
        named.unwrap_or_else(|| store_of(project))
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

/// Makes the runtime of a command that does many things at once.
///
/// # Errors
///
/// When its threads cannot be started.
pub fn worker_threads() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(
                ExitCode::NoDecision,
                format_args!("cannot start worker threads: {error}"),
            )
        })
}
