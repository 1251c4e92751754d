//! A session with one server under test.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
    },
};
use serde_json::{Map, Value};
use strandline_contract::binding::{HttpEndpoint, ServerBinding, Transport};
use strandline_derive::surface::output::OutputContract;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Capture, Captured, ConnectOptions, Lifecycle, PhaseFailure, Redactor,
    attribution::Cause,
    clock::now_ms,
    failure::millis,
    http::{HttpLink, LegacySse},
    rpc_error::{read_error, shown},
    slot::Answer,
    stdio::{ServerProcess, StdioTransport, describe},
    tap::Tap,
};

/// Revisions that we speak after `initialize`.
const SPOKEN_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The revision that has `server/discover` in place of `initialize`.
const DISCOVER_VERSION: &str = "2026-07-28";

/// How long a better answer to the handshake is waited for.
const SUSPICION_GRACE: Duration = Duration::from_secs(1);

/// How long the exit status is waited for once the output ended.
const STATUS_PATIENCE: Duration = Duration::from_millis(500);

/// A session with one server under test.
///
/// It may be used by one trial or shared by many at once: every method takes
/// `&self`. What of the recording is shared is said at [`Capture`].
///
/// Dropping a session kills the server's process group; [`Session::close`] ends
/// it politely.
pub struct Session {
    service: RunningService<RoleClient, ClientConfig>,
    tap: Arc<Tap>,
    link: Link,
    options: ConnectOptions,
    handshake: Handshake,
    timing: SetupTiming,
    /// What the listed tools promise of their results, by name.
    promises: RwLock<BTreeMap<String, Arc<OutputContract>>>,
}

/// What carries the session.
enum Link {
    Process(Arc<ServerProcess>),
    Http(Arc<HttpLink>),
}

/// What the server said about itself.
#[derive(Debug, Clone, Default)]
struct Handshake {
    protocol_version: String,
    raw: Value,
}

/// When the parts of the setup happened, ms since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetupTiming {
    /// The process was started, or the first request sent.
    pub started_at: f64,
    /// The server showed the first sign of life; what lies before is the time
    /// of its launcher (an `npx` that installs) and of its own start.
    pub first_output_at: Option<f64>,
    /// The handshake was complete.
    pub initialized_at: f64,
}

/// Connects to a server and shakes hands.
///
/// # Errors
///
/// Fails with the phase failure and with what was recorded until then. A failed
/// attempt leaves no process behind.
pub async fn connect(
    binding: &ServerBinding,
    options: &ConnectOptions,
) -> Result<Session, (PhaseFailure, Captured)> {
    let redactor = Redactor::for_binding(binding).and(&options.redactor);
    let capture = Capture::new(options.limits.capture);
    let tap = Arc::new(Tap::new(
        binding.name.clone(),
        capture.clone(),
        redactor.clone(),
        options.limits,
    ));
    let result = match &binding.transport {
        Transport::Stdio { .. } => connect_stdio(binding, options, &tap).await,
        Transport::Http(endpoint) => connect_http(endpoint, options, &tap).await,
        Transport::Sse(endpoint) => connect_sse(endpoint, options, &tap).await,
    };
    result.map_err(|failure| (failure.redacted(&redactor), capture.drain()))
}

async fn connect_stdio(
    binding: &ServerBinding,
    options: &ConnectOptions,
    tap: &Arc<Tap>,
) -> Result<Session, PhaseFailure> {
    let (process, pipes) = ServerProcess::start(binding, tap)?;
    let process = Arc::new(process);
    let transport = StdioTransport::new(Arc::clone(tap), Arc::clone(&process), pipes);
    let started_at = process.started_at;
    match shake_hands(transport, tap, options).await {
        Ok(service) => {
            let timing = SetupTiming {
                started_at,
                first_output_at: process.first_output_at(),
                initialized_at: now_ms(),
            };
            Session::admit(service, tap, Link::Process(process), options, timing).await
        }
        Err(failure) => {
            // The transport is gone, and with it the server's input.
            let detail = match failure.code {
                "connection_closed" => process.end_detail(STATUS_PATIENCE).await,
                "timed_out" => process.end_detail(Duration::ZERO).await,
                _ => String::new(),
            };
            process
                .end(options.limits.close_grace.min(STATUS_PATIENCE))
                .await;
            let exited = failure.code == "connection_closed" && process.exit_status().is_some();
            let mut failure = failure.with_detail(&detail);
            if exited {
                failure.code = "exited";
            }
            Err(failure)
        }
    }
}

async fn connect_http(
    endpoint: &HttpEndpoint,
    options: &ConnectOptions,
    tap: &Arc<Tap>,
) -> Result<Session, PhaseFailure> {
    let started_at = now_ms();
    let link = Arc::new(HttpLink::new(endpoint, &options.http, Arc::clone(tap))?);
    let transport = HttpLink::streamable(&link);
    let service = shake_hands(transport, tap, options)
        .await
        .map_err(|failure| match (failure.http_status, link.trouble()) {
            (Some(404 | 405), _) => failure
                .with_detail("hint: a server of the older HTTP+SSE transport needs `type: sse`"),
            (None, Some(trouble)) if failure.code == "connection_closed" => {
                failure.with_detail(&trouble)
            }
            _ => failure,
        })?;
    let timing = SetupTiming {
        started_at,
        first_output_at: None,
        initialized_at: now_ms(),
    };
    Session::admit(service, tap, Link::Http(link), options, timing).await
}

async fn connect_sse(
    endpoint: &HttpEndpoint,
    options: &ConnectOptions,
    tap: &Arc<Tap>,
) -> Result<Session, PhaseFailure> {
    let started = Instant::now();
    let started_at = now_ms();
    let link = Arc::new(HttpLink::new(endpoint, &options.http, Arc::clone(tap))?);
    let transport = tokio::select! {
        opened = LegacySse::open(Arc::clone(&link)) => opened?,
        () = options.cancel.cancelled() => return Err(PhaseFailure::cancelled("connecting")),
        () = sleep_until(started + options.setup_timeout) => {
            return Err(PhaseFailure::timed_out(
                "GET",
                options.setup_timeout,
                started.elapsed(),
            ));
        }
    };
    let service = shake_hands(transport, tap, options).await?;
    let timing = SetupTiming {
        started_at,
        first_output_at: None,
        initialized_at: now_ms(),
    };
    Session::admit(service, tap, Link::Http(link), options, timing).await
}

/// Runs the handshake within its budget.
async fn shake_hands<T>(
    transport: T,
    tap: &Arc<Tap>,
    options: &ConnectOptions,
) -> Result<RunningService<RoleClient, ClientConfig>, PhaseFailure>
where
    T: rmcp::transport::Transport<RoleClient> + 'static,
{
    let started = Instant::now();
    let deadline = started + options.setup_timeout;
    let us = Implementation::new(&*options.client_name, &*options.client_version);
    let config = ClientConfig::new(ClientCapabilities::default(), us)
        .with_protocol_version(ProtocolVersion::V_2025_11_25);
    let lifecycle = match options.lifecycle {
        Lifecycle::Initialize => ClientLifecycleMode::Initialize,
        Lifecycle::Auto => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    };
    let serving = config.serve_with_lifecycle(transport, lifecycle);
    tokio::pin!(serving);
    let doubtful = async {
        while !tap.handshake.suspected() {
            tap.handshake.woken().await;
        }
        sleep(SUSPICION_GRACE).await;
    };
    tokio::select! {
        biased;
        served = &mut serving => served.map_err(|error| handshake_failure(&error, tap)),
        () = options.cancel.cancelled() => Err(PhaseFailure::cancelled("connecting")),
        () = doubtful => Err(answer_failure(tap.handshake.take_suspicion())),
        () = sleep_until(deadline) => Err(match tap.handshake.take_suspicion() {
            Some(suspicion) => answer_failure(Some(suspicion)),
            None => PhaseFailure::timed_out("initialize", options.setup_timeout, started.elapsed()),
        }),
    }
}

/// Says why rmcp gave up the handshake.
fn handshake_failure(error: &ClientInitializeError, tap: &Tap) -> PhaseFailure {
    if let Some(answer) = tap.handshake.take_answer() {
        return answer_failure(Some(answer));
    }
    if let Some(bytes) = tap.cut_off_bytes() {
        return PhaseFailure::new(
            Cause::Other,
            "connection_closed",
            format!("the answer to `initialize` was cut off after {bytes} bytes"),
        );
    }
    match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => PhaseFailure::new(
            Cause::Other,
            "connection_closed",
            "the connection was closed before `initialize` was answered",
        ),
        other => PhaseFailure::new(Cause::Other, "initialize_malformed", other.to_string()),
    }
}

/// Says what was wrong with an answer to the handshake.
fn answer_failure(answer: Option<Answer>) -> PhaseFailure {
    match answer {
        Some(Answer::Error(error)) => match read_error(&error) {
            Ok(error) => PhaseFailure::new(
                Cause::McpCode(error.code),
                "initialize_error",
                format!("`initialize` was answered with {error}"),
            ),
            Err(message) => PhaseFailure::new(
                Cause::Other,
                "initialize_malformed",
                format!("`initialize` was answered unreadably: {message}"),
            ),
        },
        Some(Answer::Result(result)) => PhaseFailure::new(
            Cause::Other,
            "initialize_malformed",
            format!(
                "the answer to `initialize` is no initialize result: {}",
                shown(&result)
            ),
        ),
        Some(Answer::Malformed { message, .. }) => PhaseFailure::new(
            Cause::Other,
            "initialize_malformed",
            format!("`initialize` was answered unreadably: {message}"),
        ),
        Some(Answer::Failed { failure, .. }) => failure,
        None => PhaseFailure::new(
            Cause::Other,
            "initialize_malformed",
            "`initialize` was answered unreadably",
        ),
    }
}

impl Session {
    /// Lets a session in whose protocol version we speak.
    async fn admit(
        service: RunningService<RoleClient, ClientConfig>,
        tap: &Arc<Tap>,
        link: Link,
        options: &ConnectOptions,
        timing: SetupTiming,
    ) -> Result<Self, PhaseFailure> {
        let raw = match tap.handshake.take_answer() {
            Some(Answer::Result(raw)) => raw,
            _ => Value::Null,
        };
        let protocol_version = service
            .peer_info()
            .map(|info| info.protocol_version.to_string())
            .unwrap_or_default();
        let spoken = SPOKEN_VERSIONS.contains(&protocol_version.as_str())
            || (options.lifecycle == Lifecycle::Auto && protocol_version == DISCOVER_VERSION);
        let session = Self {
            service,
            tap: Arc::clone(tap),
            link,
            options: options.clone(),
            handshake: Handshake {
                protocol_version,
                raw,
            },
            timing,
            promises: RwLock::default(),
        };
        if spoken {
            return Ok(session);
        }
        let failure = PhaseFailure::new(
            Cause::Other,
            "unsupported_protocol_version",
            format!(
                "the server speaks protocol version {}, and we speak {}",
                shown(&Value::from(session.protocol_version())),
                SPOKEN_VERSIONS.join(", ")
            ),
        );
        session.close().await;
        Err(failure)
    }

    /// Returns the server's `serverInfo` as it came.
    #[must_use]
    pub fn server_info(&self) -> Option<&Map<String, Value>> {
        self.handshake.raw.get("serverInfo")?.as_object()
    }

    /// Returns the server's `capabilities` as they came.
    #[must_use]
    pub fn capabilities(&self) -> Option<&Map<String, Value>> {
        self.handshake.raw.get("capabilities")?.as_object()
    }

    /// Returns the protocol version agreed on.
    #[must_use]
    pub fn protocol_version(&self) -> &str {
        &self.handshake.protocol_version
    }

    /// Returns the server's instructions.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.handshake.raw.get("instructions")?.as_str()
    }

    /// Returns when the parts of the setup happened.
    #[must_use]
    pub const fn setup_timing(&self) -> SetupTiming {
        self.timing
    }

    /// Returns the server's name in the suite.
    #[must_use]
    pub fn server(&self) -> &str {
        self.tap.server()
    }

    /// Returns what removes this server's secrets from text.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        self.tap.redactor()
    }

    /// Returns the session's own capture.
    #[must_use]
    pub fn capture(&self) -> &Capture {
        self.tap.capture()
    }

    /// Takes what the session's own capture recorded since the last time.
    #[must_use]
    pub fn drain(&self) -> Captured {
        self.tap.capture().drain()
    }

    /// Whether the server said that its tools changed since they were last listed.
    #[must_use]
    pub fn tools_changed(&self) -> bool {
        self.tap.tools_changed()
    }

    /// Whether the session can still be used.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.service.peer().is_transport_closed()
    }

    /// Returns how the server process ended, if the server is one and it did.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        match &self.link {
            Link::Process(process) => process.exit_status().map(describe),
            Link::Http(_) => None,
        }
    }

    /// Ends the session: closes the server's input, waits, asks, kills.
    pub async fn close(mut self) {
        let grace = self.options.limits.close_grace;
        let _ = self.service.close_with_timeout(grace).await;
        match &self.link {
            Link::Process(process) => process.end(grace).await,
            Link::Http(_) => {}
        }
    }

    /// Notes what listed tools promise of their results.
    pub(crate) fn note_promises(&self, tools: &[Value]) {
        let promises = tools
            .iter()
            .filter_map(|tool| {
                let name = tool.get("name")?.as_str()?.to_owned();
                Some((name, Arc::new(OutputContract::of(tool)?)))
            })
            .collect();
        *self
            .promises
            .write()
            .unwrap_or_else(PoisonError::into_inner) = promises;
    }

    /// Returns what a tool promises of its results.
    pub(crate) fn promise(&self, tool: &str) -> Option<Arc<OutputContract>> {
        let promises = self.promises.read().unwrap_or_else(PoisonError::into_inner);
        promises.get(tool).cloned()
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(crate) const fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    pub(crate) const fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// Says why the session ended under a request.
    pub(crate) async fn lost(&self, detail: Option<String>) -> String {
        let mut message = match self.tap.cut_off_bytes() {
            Some(bytes) => format!("the connection ended inside an answer, after {bytes} bytes"),
            None => "the connection ended before the answer".to_owned(),
        };
        if let Some(detail) = detail {
            message = format!("{message}: {detail}");
        }
        match &self.link {
            Link::Process(process) => {
                format!("{message}; {}", process.end_detail(STATUS_PATIENCE).await)
            }
            Link::Http(link) => match link.trouble() {
                Some(trouble) => format!("{message}; {trouble}"),
                None => message,
            },
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        match &self.link {
            Link::Process(process) => process.kill(),
            Link::Http(_) => {}
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("server", &self.server())
            .field("protocol_version", &self.protocol_version())
            .field("limits", &millis(self.options.setup_timeout))
            .finish()
    }
}
