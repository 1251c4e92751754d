//! What every request can reach.

use std::sync::Arc;

use strandline_service::{
    launch::{Launcher, Phase},
    project::Project,
};
use strandline_store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{hosts::Hosts, token::Token};

/// Pages that follow a run live, at once.
const MAX_FOLLOWERS: usize = 64;

/// How the server is set up.
#[derive(Debug)]
pub struct Settings {
    /// Runs and trials.
    pub store: Store,
    /// Starts runs; absent where the store cannot be written.
    pub launcher: Option<Launcher>,
    /// Directory below which suite files are listed and run.
    pub project: Project,
    /// What a caller must know to change something.
    pub token: Token,
    /// Reading needs the token too: more than loopback is listened on.
    pub reading_needs_token: bool,
    /// The names under which browsers may come.
    pub hosts: Hosts,
}

/// The state of the server; clones share it.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    /// Ends live answers when the server stops.
    stopping: CancellationToken,
    followers: Arc<Semaphore>,
}

impl App {
    /// Sets the server up; `stopping` ends it.
    #[must_use]
    pub fn new(settings: Settings, stopping: CancellationToken) -> Self {
        Self(Arc::new(Inner {
            settings,
            stopping,
            followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
        }))
    }

    /// Tells whether runs that were started here go on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        let runs = self.launcher().map(Launcher::all).unwrap_or_default();
        runs.iter().any(|run| run.phase != Phase::Ended)
    }

    /// Stops the runs that were started here and waits until they are stored.
    pub async fn finish(&self) {
        if let Some(launcher) = self.launcher() {
            launcher.stop_all().await;
        }
    }

    pub(crate) fn launcher(&self) -> Option<&Launcher> {
        self.0.settings.launcher.as_ref()
    }

    pub(crate) fn project(&self) -> &Project {
        &self.0.settings.project
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.settings.store
    }

    pub(crate) fn token(&self) -> &Token {
        &self.0.settings.token
    }

    pub(crate) fn reading_needs_token(&self) -> bool {
        self.0.settings.reading_needs_token
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.0.settings.hosts
    }

    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    pub(crate) fn followers(&self) -> Arc<Semaphore> {
        Arc::clone(&self.0.followers)
    }
}
