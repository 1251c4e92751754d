//! Servers reached over HTTP: streamable HTTP, and the older HTTP+SSE transport.

mod body;
mod client;
mod legacy;
mod refusal;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use rmcp::transport::{
    common::client_side_sse::ExponentialBackoff,
    streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig},
};
use serde_json::{Map, Value, json};
use strandline_contract::binding::HttpEndpoint;

pub(crate) use self::{client::TappedClient, legacy::LegacySse};
use super::{PhaseFailure, attribution::Cause, tap::Tap};

/// Longest wait for a TCP and TLS connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Redirects followed in a row.
const MOST_REDIRECTS: usize = 5;

/// Headers of an answer that are recorded.
const MOST_HEADERS: usize = 40;

/// Streams that may close at once before we stop opening them.
const MOST_QUICK_CLOSES: u32 = 3;

/// Requests that may be on their way at once in one session.
const MOST_REQUESTS: usize = 4_096;

/// Connections that sessions share.
///
/// Clones share them: give all sessions of a run the same options.
#[derive(Clone, Default)]
pub struct HttpPool {
    near: Arc<OnceLock<reqwest::Client>>,
    far: Arc<OnceLock<reqwest::Client>>,
}

impl HttpPool {
    /// Returns the client for a URL; a server on this machine is never reached
    /// through a proxy.
    pub(crate) fn client(&self, url: &Url) -> Result<reqwest::Client, PhaseFailure> {
        let near = is_loopback(url);
        let cell = if near { &self.near } else { &self.far };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let mut builder = crate::tls::http_client()
            .redirect(same_origin())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("strandline/", env!("CARGO_PKG_VERSION")));
        if near {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            PhaseFailure::new(
                Cause::ControlPlane,
                "http_setup_failed",
                format!("could not set up HTTP: {error}"),
            )
        })?;
        Ok(cell.get_or_init(|| client).clone())
    }
}

impl std::fmt::Debug for HttpPool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HttpPool")
    }
}

/// A server under test at its URL.
pub(crate) struct HttpLink {
    client: reqwest::Client,
    pub(crate) tap: Arc<Tap>,
    url: Url,
    /// Sent with every request, credentials included.
    headers: HeaderMap,
    /// Credentials are among the headers.
    authorized: bool,
    /// We were given OAuth credentials.
    expects_oauth: bool,
    memory: Mutex<Memory>,
    quick_closes: AtomicU32,
}

/// What a session remembers about its transport.
#[derive(Default)]
struct Memory {
    /// Session ids in order of their first use; they are shown by ordinal.
    sessions: Vec<Arc<str>>,
    /// Requests that were sent again after their session had expired.
    replayed: BTreeSet<i64>,
    /// The last thing that went wrong on the wire.
    trouble: Option<String>,
}

impl HttpLink {
    /// Reads the URL and headers of a binding.
    pub(crate) fn new(
        endpoint: &HttpEndpoint,
        pool: &HttpPool,
        tap: Arc<Tap>,
    ) -> Result<Self, PhaseFailure> {
        let url = Url::parse(&endpoint.url).map_err(|error| {
            PhaseFailure::new(
                Cause::ControlPlane,
                "bad_url",
                format!(
                    "the URL of server `{}` cannot be read: {error}",
                    tap.server()
                ),
            )
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &endpoint.headers {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        let token = endpoint
            .credentials
            .as_ref()
            .and_then(|credentials| credentials.access_token.as_ref());
        if let Some(token) = token
            && !headers.contains_key(AUTHORIZATION)
        {
            let (name, value) = header("authorization", &format!("Bearer {token}"))?;
            headers.insert(name, value);
        }
        Ok(Self {
            client: pool.client(&url)?,
            tap,
            url,
            authorized: headers.contains_key(AUTHORIZATION),
            headers,
            expects_oauth: endpoint.credentials.is_some(),
            memory: Mutex::default(),
            quick_closes: AtomicU32::new(0),
        })
    }

    /// Returns rmcp's streamable HTTP transport over our own client.
    pub(crate) fn streamable(link: &Arc<Self>) -> StreamableHttpClientTransport<TappedClient> {
        let limits = link.tap.limits();
        let mut config = StreamableHttpClientTransportConfig::with_uri(link.url.as_str())
            .max_concurrent_requests(MOST_REQUESTS);
        config.max_sse_event_size = limits.message_bytes;
        config.max_json_response_size = limits.message_bytes;
        let mut backoff = ExponentialBackoff::default();
        backoff.max_times = Some(3);
        config.retry_config = Arc::new(backoff);
        StreamableHttpClientTransport::with_client(TappedClient(Arc::clone(link)), config)
    }

    /// Returns the origin of the URL, for messages.
    fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Returns the last thing that went wrong on the wire.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.memory().trouble.clone()
    }

    fn note_trouble(&self, trouble: impl Into<String>) {
        self.memory().trouble = Some(trouble.into());
    }

    /// Returns the ordinal of a session id, from 1.
    fn session_ordinal(&self, id: &str) -> usize {
        let sessions = &mut self.memory().sessions;
        match sessions.iter().position(|known| &**known == id) {
            Some(index) => index + 1,
            None => {
                sessions.push(Arc::from(id));
                sessions.len()
            }
        }
    }

    /// Whether a request was sent again before; notes that it is now.
    fn note_replay(&self, id: i64) -> bool {
        !self.memory().replayed.insert(id)
    }

    /// Counts a stream that closed at once; says whether it is enough.
    fn note_quick_close(&self) -> bool {
        self.quick_closes.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_QUICK_CLOSES
    }

    fn note_useful_stream(&self) {
        self.quick_closes.store(0, Ordering::Relaxed);
    }

    fn too_many_quick_closes(&self) -> bool {
        self.quick_closes.load(Ordering::Relaxed) >= MOST_QUICK_CLOSES
    }

    /// Returns what is recorded with a request.
    fn request_facts(&self, method: &str, session: Option<&str>) -> Map<String, Value> {
        let mut facts = Map::from_iter([("method".to_owned(), Value::from(method))]);
        if let Some(session) = session {
            facts.insert("session".to_owned(), json!(self.session_ordinal(session)));
        }
        facts
    }

    /// Returns what is recorded with an answer: status and headers, without secrets.
    fn response_facts(&self, status: u16, headers: &HeaderMap) -> Map<String, Value> {
        let redactor = self.tap.redactor();
        let headers: Map<String, Value> = headers
            .iter()
            .take(MOST_HEADERS)
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes());
                let mut shown = redactor.header(name.as_str(), &value).into_owned();
                super::capture::truncate(&mut shown, 300);
                (name.as_str().to_owned(), Value::from(shown))
            })
            .collect();
        Map::from_iter([
            ("status".to_owned(), Value::from(status)),
            ("headers".to_owned(), Value::Object(headers)),
        ])
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), PhaseFailure> {
    let refused = |what: &str| {
        PhaseFailure::new(
            Cause::ControlPlane,
            "bad_header",
            format!("{what} of header `{name}` is not allowed in HTTP"),
        )
    };
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("the name"))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refused("the value"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Follows a redirect only where our headers may go, and only if it keeps the request.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_request = matches!(attempt.status().as_u16(), 307 | 308);
        let same = attempt
            .previous()
            .last()
            .is_some_and(|from| from.origin() == attempt.url().origin());
        if keeps_request && same && attempt.previous().len() <= MOST_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_on_this_machine_are_known() {
        for (url, near) in [
            ("http://localhost:3000/mcp", true),
            ("http://127.0.0.1/mcp", true),
            ("http://[::1]:8080/", true),
            ("https://example.test/mcp", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).expect("a URL")), near, "{url}");
        }
    }
}
