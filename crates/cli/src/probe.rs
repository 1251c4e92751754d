//! Connects to a server once, lists what it offers and leaves again.

use std::time::Duration;

use serde_json::Value;
use strandline_contract::{binding::ServerBinding, trace::Lint};
use strandline_engine::mcp::{
    Attribution, ConnectOptions, Listing, PhaseFailure, Redactor, connect,
};
use strandline_service::environment;
use tokio::signal;

/// What one visit to a server showed.
#[derive(Debug)]
pub struct Probe {
    /// The server's name in the suite.
    pub server: String,
    /// What became of the handshake.
    pub connected: Result<Connected, PhaseFailure>,
    /// What became of the listing; absent when there was no session.
    pub listing: Option<Result<Listing, PhaseFailure>>,
    /// Findings about the wire and the listing, each once.
    pub lints: Vec<Lint>,
}

/// What a server said when it was connected to.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The protocol version agreed on.
    pub protocol_version: String,
    /// `serverInfo` as the server gave it.
    pub server_info: Option<Value>,
    /// From the start to the end of the handshake, ms.
    pub took_ms: f64,
}

impl Connected {
    /// Returns the server's own name and version, as far as it tells them.
    #[must_use]
    pub fn called(&self) -> Option<String> {
        let info = self.server_info.as_ref()?;
        let text = |key: &str| info.get(key).and_then(Value::as_str);
        let name = text("title").or_else(|| text("name"))?;
        Some(match text("version") {
            Some(version) => format!("{name} {version}"),
            None => name.to_owned(),
        })
    }
}

/// Visits a server; Ctrl-C ends the visit and the server with it.
pub async fn probe(binding: &ServerBinding, setup_timeout: Duration) -> Probe {
    let options = ConnectOptions {
        setup_timeout,
        list_timeout: setup_timeout,
        redactor: Redactor::for_run(&[], &environment::secrets()),
        ..ConnectOptions::default()
    };
    let cancel = options.cancel.clone();
    let watching = tokio::spawn(async move {
        if signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    let probe = visit(binding, &options).await;
    watching.abort();
    probe
}

async fn visit(binding: &ServerBinding, options: &ConnectOptions) -> Probe {
    let server = binding.name.clone();
    let session = match connect(binding, options).await {
        Ok(session) => session,
        Err((failure, captured)) => {
            return Probe {
                server,
                connected: Err(failure),
                listing: None,
                lints: distinct(captured.lints),
            };
        }
    };
    let timing = session.setup_timing();
    let connected = Connected {
        protocol_version: session.protocol_version().to_owned(),
        server_info: session.server_info().cloned().map(Value::Object),
        took_ms: timing.initialized_at - timing.started_at,
    };
    let listing = session.list().await;
    let mut lints = session.drain().lints;
    if let Ok(listing) = &listing {
        lints.extend(listing.lints.iter().cloned());
    }
    session.close().await;
    Probe {
        server,
        connected: Ok(connected),
        listing: Some(listing),
        lints: distinct(lints),
    }
}

fn distinct(lints: Vec<Lint>) -> Vec<Lint> {
    let mut kept: Vec<Lint> = Vec::new();
    for lint in lints {
        if !kept.contains(&lint) {
            kept.push(lint);
        }
    }
    kept
}

/// Returns a failure in one line; the first words say at whose side it lies.
#[must_use]
pub fn failure_line(failure: &PhaseFailure) -> String {
    let side = match failure.attribution {
        Attribution::Ours => "our side",
        Attribution::Theirs => "server",
        Attribution::Unknown => "either side",
    };
    format!("{side}: {} ({})", failure.message, failure.code)
}

/// Returns what to do about a failed connection or listing.
#[must_use]
pub fn failure_next(failure: &PhaseFailure) -> &'static str {
    match (failure.code, failure.http_status) {
        (_, Some(401 | 403)) => {
            "give the server's credentials in `headers` or `credentialsFile` of its entry"
        }
        ("spawn_failed", _) => "check that the command exists and may be run",
        ("timed_out", _) => "start the server by hand, or allow more time with `--timeout`",
        _ => "start the server by hand and read what it says",
    }
}
