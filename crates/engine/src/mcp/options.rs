//! What bounds a session and a call.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Capture, CaptureLimits, HttpPool, Redactor};

/// How a session is opened and bounded.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Budget from the start of the process (or the first request) to the end
    /// of the handshake.
    pub setup_timeout: Duration,
    /// Budget of one whole listing, all its pages included.
    pub list_timeout: Duration,
    /// How long a server may add tools after the first listing; zero means not
    /// at all.
    pub settle: Duration,
    /// Which handshake is offered.
    pub lifecycle: Lifecycle,
    /// What is kept and read at most.
    pub limits: Limits,
    /// Name that we introduce ourselves with.
    pub client_name: String,
    /// Version that we introduce ourselves with.
    pub client_version: String,
    /// HTTP connections, shared by all sessions opened with clones of these
    /// options.
    pub http: HttpPool,
    /// Secrets that are masked beside those of the server's own binding.
    pub redactor: Redactor,
    /// Ends the attempt, or the whole session, from outside.
    pub cancel: CancellationToken,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            setup_timeout: Duration::from_secs(30),
            list_timeout: Duration::from_secs(30),
            settle: Duration::ZERO,
            lifecycle: Lifecycle::Initialize,
            limits: Limits::default(),
            client_name: "strandline".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            http: HttpPool::default(),
            redactor: Redactor::default(),
            cancel: CancellationToken::new(),
        }
    }
}

/// Which handshake is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifecycle {
    /// `initialize`, understood by every server.
    #[default]
    Initialize,
    /// `server/discover` first, `initialize` when the server does not know it.
    ///
    /// Costs up to ten seconds on a server that stays silent.
    Auto,
}

/// What a session keeps and reads at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest message that is read; a longer one is counted, hashed and dropped.
    pub message_bytes: usize,
    /// Most pages of one listing.
    pub pages: u64,
    /// About how many bytes of entries one listing may have.
    pub listing_bytes: usize,
    /// Most requests of the server that we answer in one session.
    pub server_requests: u64,
    /// How long a server may take to end by itself after its input was closed,
    /// and again after it was asked to end.
    pub close_grace: Duration,
    /// What is kept of the wire.
    pub capture: CaptureLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
            pages: 200,
            listing_bytes: 64 * 1024 * 1024,
            server_requests: 10_000,
            close_grace: Duration::from_secs(2),
            capture: CaptureLimits::default(),
        }
    }
}

/// How one tool call is bounded and recorded.
#[derive(Debug, Clone)]
pub struct CallOptions {
    /// Budget for the answer.
    pub timeout: Duration,
    /// Start the budget again whenever the server reports progress; the call
    /// then ends after ten budgets at the latest.
    pub reset_on_progress: bool,
    /// Ends the call from outside.
    pub cancel: CancellationToken,
    /// Where the frames of this call go; the session's own capture otherwise.
    pub capture: Option<Capture>,
}

impl CallOptions {
    /// Returns options with a budget and a way to cancel.
    #[must_use]
    pub const fn new(timeout: Duration, cancel: CancellationToken) -> Self {
        Self {
            timeout,
            reset_on_progress: false,
            cancel,
            capture: None,
        }
    }

    /// Sends the frames of this call to `capture`.
    #[must_use]
    pub fn with_capture(mut self, capture: Capture) -> Self {
        self.capture = Some(capture);
        self
    }
}
