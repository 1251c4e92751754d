//! Sessions with the servers under test, and what setting them up showed.
//!
//! Every trial has its own sessions by default; a suite may choose one shared
//! set. The first set is opened before any trial, so that a server that cannot
//! be reached costs no tokens, and is handed to the first trial.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use futures::future::join_all;
use serde_json::Value;
use strandline_contract::{
    binding::ServerBinding,
    canonical::sha256_canonical,
    chain_input::SetupSignals,
    run::ServerFacts,
    suite::{SessionMode, ToolPolicy},
    telemetry::MCP_METHOD_NAME,
    trace::{Adaptation, Span, SpanStatus},
    words::{self, SetupPhase},
};
use strandline_derive::{
    chain::setup::{
        EgressCanary, SetupAttempt, SetupFault, derive_setup_signals, setup_audit, setup_span_id,
    },
    policy,
};
use tokio::{net::TcpStream, sync::OnceCell};

use super::catalog::{Catalog, NameConflict};
use crate::mcp::{
    self, Attribution, Captured, ConnectOptions, Listing, PhaseFailure, Session, now_ms,
};

/// How long the egress canary may take to connect.
const CANARY_BUDGET: Duration = Duration::from_secs(5);

/// One phase of setting one server up.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// Connecting, or listing tools.
    pub(super) phase: SetupPhase,
    /// The server's id in the suite.
    pub(super) server_id: String,
    /// Start, ms since the Unix epoch.
    pub(super) started_at: f64,
    /// End, ms since the Unix epoch.
    pub(super) ended_at: f64,
    /// Why it failed, if it did.
    pub(super) failure: Option<PhaseFailure>,
}

/// What setting all servers up showed.
#[derive(Debug, Clone, Default)]
pub(super) struct Setup {
    /// Every attempt, per server: connection, then discovery.
    pub(super) attempts: Vec<Attempt>,
    /// What the egress canary showed, when it ran.
    pub(super) egress: Option<EgressCanary>,
    /// The servers that were to be set up, by id.
    pub(super) expected_server_ids: Vec<String>,
}

impl Setup {
    /// Returns the synthetic spans of the attempts (`chain.md` §14.3).
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        self.attempts.iter().map(|attempt| {
            let (name, category) = match attempt.phase {
                SetupPhase::Connection => ("initialize", "connection"),
                SetupPhase::Discovery => ("tools/list", "discovery"),
            };
            Span {
                id: setup_span_id(attempt.phase, &attempt.server_id),
                parent_id: None,
                name: name.to_owned(),
                category: category.to_owned(),
                status: if attempt.failure.is_some() {
                    SpanStatus::Error
                } else {
                    SpanStatus::Ok
                },
                tool_name: None,
                tool_call_id: None,
                prompt_index: None,
                mcp_error_code: attempt
                    .failure
                    .as_ref()
                    .and_then(|failure| failure.mcp_code),
                started_at: attempt.started_at,
                ended_at: attempt.ended_at,
                attributes: [(MCP_METHOD_NAME.into(), name.into())].into(),
            }
        })
    }

    /// Folds the attempts into one signal per phase.
    #[must_use]
    pub(super) fn signals(&self) -> SetupSignals<'static> {
        let expected: Vec<&str> = self
            .expected_server_ids
            .iter()
            .map(String::as_str)
            .collect();
        derive_setup_signals(
            &expected,
            &self.observed(),
            self.egress.map(|canary| canary.ok),
        )
    }

    /// Returns the stored audit, when there was anything to set up.
    #[must_use]
    pub(super) fn audit(&self) -> Option<Value> {
        (!self.attempts.is_empty())
            .then(|| setup_audit(&self.signals(), &self.observed(), self.egress))
    }

    fn observed(&self) -> Vec<SetupAttempt<'_>> {
        self.attempts
            .iter()
            .map(|attempt| SetupAttempt {
                phase: attempt.phase,
                server_id: &attempt.server_id,
                started_at: attempt.started_at,
                ended_at: attempt.ended_at,
                failure: attempt.failure.as_ref().map(|failure| SetupFault {
                    attribution: match failure.attribution {
                        Attribution::Ours => words::Attribution::Ours,
                        Attribution::Theirs => words::Attribution::Theirs,
                        Attribution::Unknown => words::Attribution::Unknown,
                    },
                    reason: failure.message.as_str().into(),
                }),
            })
            .collect()
    }
}

/// A connected server.
#[derive(Debug)]
pub(super) struct Connected {
    binding: ServerBinding,
    session: Session,
    listing: RwLock<Listing>,
}

impl Connected {
    /// Returns the server's name in the suite.
    #[must_use]
    pub(super) fn name(&self) -> &str {
        &self.binding.name
    }

    /// Returns the server's id in the suite.
    #[must_use]
    pub(super) fn id(&self) -> &str {
        &self.binding.id
    }

    /// Returns `stdio`, `http` or `sse`.
    #[must_use]
    pub(super) const fn transport(&self) -> &'static str {
        self.binding.transport.kind()
    }

    /// Returns the session.
    #[must_use]
    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    /// Returns what a run stores about the server.
    #[must_use]
    pub(super) fn facts(&self) -> ServerFacts {
        let listing = self.listing.read().unwrap_or_else(PoisonError::into_inner);
        let count = |entries: &Vec<Value>| entries.len() as u64;
        let redactor = self.session.redactor();
        let mut tools = listing.tools.clone();
        tools.iter_mut().for_each(|tool| redactor.value(tool));
        ServerFacts {
            name: self.binding.name.clone(),
            transport: self.transport().to_owned(),
            server_info: self.session.server_info().cloned().map(|mut info| {
                redactor.object(&mut info);
                Value::Object(info)
            }),
            protocol_version: Some(self.session.protocol_version().to_owned()),
            tool_count: Some(count(&listing.tools)),
            prompt_count: listing.prompts.as_ref().map(count),
            resource_count: listing.resources.as_ref().map(count),
            tool_list_pages: Some(listing.tool_pages),
            surface_hash: Some(sha256_canonical(&Value::Array(tools.clone()))),
            tools,
            lints: listing.lints.clone(),
        }
    }
}

/// Every server of the suite, connected and listed.
#[derive(Debug)]
pub(super) struct ServerSet {
    servers: Vec<Connected>,
    catalog: RwLock<Arc<Catalog>>,
    /// What setting them up showed.
    pub(super) setup: Setup,
    policy: Option<ToolPolicy>,
}

impl ServerSet {
    /// Returns the servers in target order.
    #[must_use]
    pub(super) fn servers(&self) -> &[Connected] {
        &self.servers
    }

    /// Returns a server by id or, failing that, by name.
    #[must_use]
    pub(super) fn server(&self, name: &str, id: Option<&str>) -> Option<&Connected> {
        match id {
            Some(id) => self.servers.iter().find(|server| server.id() == id),
            None => self.servers.iter().find(|server| server.name() == name),
        }
    }

    /// Returns the catalog as it stands.
    #[must_use]
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lists tools again where a server said that they changed, and returns
    /// the catalog. A listing that fails leaves the catalog as it was and says so.
    pub(super) async fn refreshed_catalog(&self) -> (Arc<Catalog>, Vec<Adaptation>) {
        let mut notes = Vec::new();
        let mut changed = false;
        for server in &self.servers {
            if !server.session.tools_changed() {
                continue;
            }
            match server.session.list().await {
                Ok(listing) => {
                    notes.push(Adaptation {
                        kind: "toolsListedAgain".to_owned(),
                        subject: server.name().to_owned(),
                        detail: format!(
                            "the server said that its tools changed; it now lists {} tools",
                            listing.tools.len()
                        ),
                    });
                    *server
                        .listing
                        .write()
                        .unwrap_or_else(PoisonError::into_inner) = listing;
                    changed = true;
                }
                Err(failure) => notes.push(Adaptation {
                    kind: "toolsNotListedAgain".to_owned(),
                    subject: server.name().to_owned(),
                    detail: format!(
                        "the server said that its tools changed, and listing them failed: {failure}"
                    ),
                }),
            }
        }
        if changed {
            match build_catalog(&self.servers, self.policy.as_ref()) {
                Ok(catalog) => {
                    *self.catalog.write().unwrap_or_else(PoisonError::into_inner) =
                        Arc::new(catalog);
                }
                Err(refusal) => notes.push(Adaptation {
                    kind: "changedToolsIgnored".to_owned(),
                    subject: "tools".to_owned(),
                    detail: refusal.message,
                }),
            }
        }
        (self.catalog(), notes)
    }

    /// Takes what the sessions recorded for themselves since the last time.
    #[must_use]
    pub(super) fn drain(&self) -> Vec<Captured> {
        self.servers
            .iter()
            .map(|server| server.session.drain())
            .collect()
    }

    /// Ends every session, all at once.
    pub(super) async fn close(self) {
        join_all(
            self.servers
                .into_iter()
                .map(|server| server.session.close()),
        )
        .await;
    }
}

/// Why the servers of a suite could not be set up.
#[derive(Debug, Clone)]
pub(super) struct SetupRefusal {
    /// Wire code (`suite-file.md` §9.5).
    pub(super) code: &'static str,
    /// What happened, one line per finding, without secrets.
    pub(super) message: String,
    /// What setting up showed until then.
    pub(super) setup: Setup,
    /// What was recorded on the wire until then.
    pub(super) captured: Vec<Captured>,
    /// Facts about the servers that could be reached.
    pub(super) facts: Vec<ServerFacts>,
}

/// The servers of one run.
pub(super) struct Servers {
    bindings: Vec<ServerBinding>,
    options: ConnectOptions,
    mode: SessionMode,
    policy: Option<ToolPolicy>,
    canary: Option<String>,
    canary_result: OnceCell<EgressCanary>,
    /// Opened before the run and not yet given to a trial.
    warm: Mutex<Option<ServerSet>>,
    shared: tokio::sync::Mutex<Option<Arc<ServerSet>>>,
}

/// The sessions that one trial uses.
#[derive(Debug)]
pub(super) enum Lease {
    /// The trial's own, ended after it.
    Own(Box<ServerSet>),
    /// One set for all trials.
    Shared(Arc<ServerSet>),
}

impl Lease {
    /// Returns the servers.
    #[must_use]
    pub(super) fn set(&self) -> &ServerSet {
        match self {
            Self::Own(set) => set,
            Self::Shared(set) => set,
        }
    }

    /// Ends the sessions if they are the trial's own.
    pub(super) async fn release(self) {
        match self {
            Self::Own(set) => set.close().await,
            Self::Shared(_) => {}
        }
    }
}

impl Servers {
    /// Names the servers of a run; nothing is started yet.
    #[must_use]
    pub(super) fn new(
        bindings: Vec<ServerBinding>,
        options: ConnectOptions,
        mode: SessionMode,
        policy: Option<ToolPolicy>,
        canary: Option<String>,
    ) -> Self {
        Self {
            bindings,
            options,
            mode,
            policy,
            canary,
            canary_result: OnceCell::new(),
            warm: Mutex::new(None),
            shared: tokio::sync::Mutex::new(None),
        }
    }

    /// Connects once before any trial (`suite-file.md` §9.4, steps 7 and 8) and
    /// keeps the sessions for the first one.
    ///
    /// # Errors
    ///
    /// Fails when a server cannot be reached or listed, when two servers list
    /// one tool name, or when the tool policy denies a tool that nobody lists.
    pub(super) async fn preflight(&self) -> Result<Vec<ServerFacts>, SetupRefusal> {
        let set = self.open().await?;
        let facts = set.servers.iter().map(Connected::facts).collect();
        match self.mode {
            SessionMode::Fresh => {
                *self.warm.lock().unwrap_or_else(PoisonError::into_inner) = Some(set);
            }
            SessionMode::Shared => *self.shared.lock().await = Some(Arc::new(set)),
        }
        Ok(facts)
    }

    /// Returns the sessions of one trial.
    ///
    /// A shared set whose sessions ended is opened again for the trials to come.
    ///
    /// # Errors
    ///
    /// As [`Servers::preflight`].
    pub(super) async fn acquire(&self) -> Result<Lease, SetupRefusal> {
        match self.mode {
            SessionMode::Fresh => {
                let warm = self
                    .warm
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                let set = match warm {
                    Some(set) => set,
                    None => self.open().await?,
                };
                Ok(Lease::Own(Box::new(set)))
            }
            SessionMode::Shared => {
                let mut shared = self.shared.lock().await;
                if let Some(set) = shared.as_ref()
                    && set.servers.iter().all(|server| server.session.is_alive())
                {
                    return Ok(Lease::Shared(Arc::clone(set)));
                }
                let set = Arc::new(self.open().await?);
                *shared = Some(Arc::clone(&set));
                Ok(Lease::Shared(set))
            }
        }
    }

    /// Ends what no trial holds.
    pub(super) async fn close(&self) {
        let warm = self
            .warm
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(set) = warm {
            set.close().await;
        }
        if let Some(set) = self.shared.lock().await.take()
            && let Some(set) = Arc::into_inner(set)
        {
            set.close().await;
        }
    }

    /// Connects and lists every server at the same time.
    async fn open(&self) -> Result<ServerSet, SetupRefusal> {
        let opened = join_all(
            self.bindings
                .iter()
                .map(|binding| open_one(binding, &self.options)),
        )
        .await;
        let mut setup = Setup {
            expected_server_ids: self
                .bindings
                .iter()
                .map(|binding| binding.id.clone())
                .collect(),
            ..Setup::default()
        };
        let mut servers = Vec::new();
        let mut captured = Vec::new();
        let mut refusal: Option<(&'static str, Vec<String>)> = None;
        for (binding, outcome) in self.bindings.iter().zip(opened) {
            setup.attempts.extend(outcome.attempts);
            match outcome.server {
                Ok(server) => servers.push(server),
                Err(failed) => {
                    captured.push(failed.captured);
                    let (code, lines) = refusal.get_or_insert((failed.code, Vec::new()));
                    if failed.code == CONNECT_FAILED {
                        *code = CONNECT_FAILED;
                    }
                    lines.push(format!("server `{}`: {}", binding.name, failed.failure));
                }
            }
        }
        setup.egress = self.egress(&setup).await;
        if let Some((code, lines)) = refusal {
            return Err(refuse(code, lines.join("\n"), setup, captured, servers).await);
        }
        match build_catalog(&servers, self.policy.as_ref()) {
            Ok(catalog) => Ok(ServerSet {
                servers,
                catalog: RwLock::new(Arc::new(catalog)),
                setup,
                policy: self.policy.clone(),
            }),
            Err(problem) => {
                Err(refuse(problem.code, problem.message, setup, captured, servers).await)
            }
        }
    }

    /// Runs the egress canary, at most once per run, and only when a server is
    /// to blame for not being reached.
    async fn egress(&self, setup: &Setup) -> Option<EgressCanary> {
        let blamed = setup.attempts.iter().any(|attempt| {
            attempt.phase == SetupPhase::Connection
                && attempt
                    .failure
                    .as_ref()
                    .is_some_and(|failure| failure.attribution == Attribution::Theirs)
        });
        let target = self.canary.as_ref().filter(|_| blamed)?;
        let result = self
            .canary_result
            .get_or_init(|| async {
                let connected =
                    tokio::time::timeout(CANARY_BUDGET, TcpStream::connect(target.as_str())).await;
                EgressCanary {
                    ok: matches!(connected, Ok(Ok(_))),
                    at: now_ms(),
                }
            })
            .await;
        Some(*result)
    }
}

const CONNECT_FAILED: &str = "SERVER_CONNECT_FAILED";
const LISTING_FAILED: &str = "TOOL_CATALOG_FAILED";

struct Opened {
    attempts: Vec<Attempt>,
    server: Result<Connected, OpenFailure>,
}

struct OpenFailure {
    code: &'static str,
    failure: PhaseFailure,
    captured: Captured,
}

async fn open_one(binding: &ServerBinding, options: &ConnectOptions) -> Opened {
    let attempt = |phase, started_at, failure: Option<&PhaseFailure>| Attempt {
        phase,
        server_id: binding.id.clone(),
        started_at,
        ended_at: now_ms(),
        failure: failure.cloned(),
    };
    let started_at = now_ms();
    let session = match mcp::connect(binding, options).await {
        Ok(session) => session,
        Err((failure, captured)) => {
            return Opened {
                attempts: vec![attempt(SetupPhase::Connection, started_at, Some(&failure))],
                server: Err(OpenFailure {
                    code: CONNECT_FAILED,
                    failure,
                    captured,
                }),
            };
        }
    };
    let connected = attempt(SetupPhase::Connection, started_at, None);
    let started_at = now_ms();
    match session.list().await {
        Ok(listing) => Opened {
            attempts: vec![connected, attempt(SetupPhase::Discovery, started_at, None)],
            server: Ok(Connected {
                binding: binding.clone(),
                session,
                listing: RwLock::new(listing),
            }),
        },
        Err(failure) => {
            let discovery = attempt(SetupPhase::Discovery, started_at, Some(&failure));
            let captured = session.drain();
            session.close().await;
            Opened {
                attempts: vec![connected, discovery],
                server: Err(OpenFailure {
                    code: LISTING_FAILED,
                    failure,
                    captured,
                }),
            }
        }
    }
}

async fn refuse(
    code: &'static str,
    message: String,
    setup: Setup,
    mut captured: Vec<Captured>,
    servers: Vec<Connected>,
) -> SetupRefusal {
    let facts = servers.iter().map(Connected::facts).collect();
    captured.extend(servers.iter().map(|server| server.session.drain()));
    join_all(servers.into_iter().map(|server| server.session.close())).await;
    SetupRefusal {
        code,
        message,
        setup,
        captured,
        facts,
    }
}

/// A catalog that cannot be used.
struct CatalogProblem {
    code: &'static str,
    message: String,
}

fn build_catalog(
    servers: &[Connected],
    policy: Option<&ToolPolicy>,
) -> Result<Catalog, CatalogProblem> {
    let listings: Vec<(String, Vec<Value>)> = servers
        .iter()
        .map(|server| {
            let listing = server
                .listing
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            (server.name().to_owned(), listing.tools.clone())
        })
        .collect();
    let mut catalog = Catalog::new(
        listings
            .iter()
            .map(|(name, tools)| (name.as_str(), tools.as_slice())),
    )
    .map_err(|conflicts| CatalogProblem {
        code: "TOOL_NAME_CONFLICT",
        message: conflicts
            .iter()
            .map(conflict_line)
            .collect::<Vec<_>>()
            .join("\n"),
    })?;
    if let Some(policy) = policy {
        let freeze =
            policy::freeze(policy, &catalog.inventory).map_err(|invalid| CatalogProblem {
                code: "TOOL_POLICY_INVALID",
                message: invalid.to_string(),
            })?;
        for name in freeze.unmatched_allow {
            catalog.adaptations.push(Adaptation {
                kind: "policyNameUnmatched".to_owned(),
                subject: name,
                detail: "`toolPolicy.allow` names a tool that no server lists".to_owned(),
            });
        }
        catalog.policy = Some(freeze.policy);
    }
    Ok(catalog)
}

fn conflict_line(conflict: &NameConflict) -> String {
    format!(
        "tool `{}` is listed by servers `{}` and `{}`; bind one of them, or run them as two suites",
        conflict.tool_name, conflict.servers[0], conflict.servers[1]
    )
}
