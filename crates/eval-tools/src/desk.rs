//! What the tools work on: one project, its store, and the runs that were
//! started here.

use std::path::{Path, PathBuf};

use strandline_store::{Store, StoreError};

/// One project as the tools see it.
#[derive(Debug)]
pub struct Desk {
    /// The project's root, canonical.
    root: PathBuf,
    /// The run store's file.
    store: PathBuf,
}

impl Desk {
    /// Makes a desk for the project at `root`, which must be canonical, with
    /// the run store at `store`.
    #[must_use]
    pub const fn new(root: PathBuf, store: PathBuf) -> Self {
        Self { root, store }
    }

    /// Returns the project's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the run store for reading.
    pub(crate) async fn store(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.store).await
    }
}
