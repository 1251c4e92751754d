//! What the tools work on: one project, its store, the runs that were started
//! here, and what may be started.

use std::path::{Path, PathBuf};

use strandline_service::{
    Failure as ServiceFailure,
    launch::{Launcher, Phase},
    project::Project,
    suite_file::{self, SuiteFile},
};
use strandline_store::{Store, StoreError, StoredRun};
use strandline_suite::render::Look;
use tokio::sync::OnceCell;

use crate::{confine::SuitePath, failure::Failure, trust::Trust};

/// What a server of eval tools is started with.
#[derive(Debug, Clone)]
pub struct DeskOptions {
    /// The project; suites outside of it are refused. Its root must be the
    /// working directory, in which servers without one of their own start.
    pub project: Project,
    /// The run store's file.
    pub store: PathBuf,
    /// Servers may be started and reached without asking.
    pub trust_servers: bool,
    /// Where the user's trust is remembered, outside every project; nowhere
    /// when absent.
    pub trust_file: Option<PathBuf>,
}

/// One project as the tools see it.
#[derive(Debug)]
pub struct Desk {
    project: Project,
    store: PathBuf,
    trust: Trust,
    /// Made with the first run: until then nothing is written.
    launcher: OnceCell<(Launcher, Store)>,
}

impl Desk {
    /// Makes a desk.
    #[must_use]
    pub fn new(options: DeskOptions) -> Self {
        // A file that the project itself could bring along trusts nothing.
        let trust_file = options
            .trust_file
            .filter(|file| !file.starts_with(options.project.root()));
        Self {
            trust: Trust::new(options.trust_servers, trust_file),
            project: options.project,
            store: options.store,
            launcher: OnceCell::new(),
        }
    }

    /// Returns the project.
    pub(crate) const fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the project's root.
    pub(crate) fn root(&self) -> &Path {
        self.project.root()
    }

    /// Returns what the user trusts.
    pub(crate) const fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Opens the run store for reading.
    pub(crate) async fn store(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.store).await
    }

    /// Reads a stored run, whole.
    ///
    /// # Errors
    ///
    /// As the store; one that was started here and is not stored is said so.
    pub(crate) async fn run(&self, store: &Store, reference: &str) -> Result<StoredRun, Failure> {
        let error = match store.run(reference).await {
            Ok(run) => return Ok(run),
            Err(error) => error,
        };
        let started = self.started().map(Launcher::all).unwrap_or_default();
        let here = started.iter().find(|run| run.run_id.starts_with(reference));
        let Some(run) = here.filter(|_| matches!(error, StoreError::NotFound { .. })) else {
            return Err(error.into());
        };
        let id = &run.run_id;
        let setup = run
            .end
            .as_ref()
            .and_then(|end| end.setup_failure.as_deref());
        Err(match (run.phase, setup) {
            (Phase::Ended, setup) => Failure::new(format!(
                "run `{id}` ended before anything was stored: {}",
                setup.unwrap_or("no trial was started")
            ))
            .hint("`validate_suite` says what the suite would start; then run it again"),
            _ => Failure::new(format!(
                "run `{id}` was asked for a moment ago and is not stored yet"
            ))
            .hint("`wait_run` waits for it"),
        })
    }

    /// Returns what starts runs; opens the run store for writing.
    pub(crate) async fn launcher(&self) -> Result<&Launcher, StoreError> {
        let made = self
            .launcher
            .get_or_try_init(|| async {
                let store = Store::open(&self.store).await?;
                Ok::<_, StoreError>((Launcher::new(store.clone()), store))
            })
            .await?;
        Ok(&made.0)
    }

    /// Returns what started runs, if any was started here.
    pub(crate) fn started(&self) -> Option<&Launcher> {
        self.launcher.get().map(|(launcher, _)| launcher)
    }

    /// Reads and loads a suite file.
    pub(crate) fn suite(&self, path: &SuitePath) -> Result<SuiteFile, ServiceFailure> {
        let mut file = suite_file::read(&path.file, Look::PLAIN)?;
        file.name.clone_from(&path.shown);
        Ok(file)
    }

    /// Stops every run that was started here and stores what there is of it.
    pub async fn close(&self) {
        let Some((launcher, store)) = self.launcher.get() else {
            return;
        };
        launcher.stop_all().await;
        // What could not be written was told with each run.
        let _ = store.clone().close().await;
    }
}
