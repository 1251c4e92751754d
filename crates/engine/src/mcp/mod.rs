//! MCP sessions with everything on the wire recorded.

mod attribution;
mod call;
mod capture;
mod clock;
mod discovery;
mod failure;
mod http;
mod long;
mod options;
mod redact;
mod rpc_error;
mod session;
mod slot;
mod stdio;
mod tap;

use std::time::Duration;

use serde_json::{Map, Value};
use strandline_contract::trace::{Adaptation, Frame, Lint};

pub use self::{
    attribution::{Cause, HttpRefusal, attribute},
    capture::{Capture, CaptureLimits},
    clock::now_ms,
    http::HttpPool,
    options::{CallOptions, ConnectOptions, Lifecycle, Limits},
    redact::Redactor,
    session::{Session, SetupTiming, connect},
    stdio::kill_all_servers,
};

/// Why connecting or listing failed, and at whose side the fault lies
/// (`chain.md` §14.3).
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct PhaseFailure {
    /// At whose side the fault lies.
    pub attribution: Attribution,
    /// Short stable word: `spawn_failed`, `initialize_error`, `timed_out`, …
    pub code: &'static str,
    /// What happened, in one line, without secrets.
    pub message: String,
    /// HTTP status, when there was one.
    pub http_status: Option<u16>,
    /// JSON-RPC error code, when there was one.
    pub mcp_code: Option<i64>,
}

/// At whose side a failure lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// Our machine, our network, our credentials.
    Ours,
    /// The server.
    Theirs,
    /// Not known.
    Unknown,
}

/// Everything that a server showed while being listed.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Raw `tools/list` entries of all pages, in order.
    pub tools: Vec<Value>,
    /// Pages read.
    pub tool_pages: u64,
    /// Prompts, when the server serves them.
    pub prompts: Option<Vec<Value>>,
    /// Resources, when the server serves them.
    pub resources: Option<Vec<Value>>,
    /// Findings about the surface.
    pub lints: Vec<Lint>,
}

/// How a tool call ended.
#[derive(Debug, Clone)]
pub enum CallOutcome {
    /// The server sent a result.
    Result {
        /// The raw `CallToolResult` object.
        raw: Value,
        /// Its `isError` is true.
        is_error: bool,
    },
    /// The server answered with a JSON-RPC error.
    ProtocolError {
        /// JSON-RPC error code.
        code: i64,
        /// The server's message.
        message: String,
        /// The server's data.
        data: Option<Value>,
    },
    /// The answer was no `CallToolResult`.
    Malformed {
        /// What was wrong with it.
        message: String,
        /// The raw answer.
        raw: Option<Value>,
    },
    /// The session ended before the answer.
    TransportLost {
        /// What is known about the end.
        message: String,
    },
    /// No answer within the budget; a cancellation was sent.
    TimedOut {
        /// The budget.
        budget: Duration,
    },
    /// We gave up because the trial was cancelled.
    Cancelled,
}

/// A finished call with its times.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// How it ended.
    pub outcome: CallOutcome,
    /// Start, ms since the Unix epoch.
    pub started_at: f64,
    /// End, ms since the Unix epoch.
    pub ended_at: f64,
}

/// What a session recorded since it was last drained.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// Raw frames, bounded.
    pub frames: Vec<Frame>,
    /// Frames that no longer fit.
    pub frames_dropped: u64,
    /// Findings about the server.
    pub lints: Vec<Lint>,
    /// What we tolerated or repaired.
    pub adaptations: Vec<Adaptation>,
}

/// Arguments of a call; an absent object is sent as `{}`.
pub type Arguments = Map<String, Value>;
