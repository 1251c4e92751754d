//! The tools over streamable HTTP.
//!
//! Two things stand before every request. The `Host` must be a name of this
//! machine's own or an address, so that a page whose name was rebound to
//! loopback is refused; and an `Origin`, which browsers send, must be the
//! server's own. A token, where one is set, must come with each request.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{desk::Desk, server::EvalServer};

/// Where the endpoint lies.
pub const PATH: &str = "/mcp";
/// Largest request, bytes.
const MAX_REQUEST: usize = 1024 * 1024;

/// Who may come in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Must come with every request as a bearer token.
    pub token: Option<String>,
    /// Host names beside loopback's own and plain addresses.
    pub hosts: Vec<String>,
}

/// Serves until `stop` is cancelled.
///
/// # Errors
///
/// What the listener reports.
pub async fn serve_http(
    desk: Arc<Desk>,
    listener: TcpListener,
    guard: Guard,
    stop: CancellationToken,
) -> io::Result<()> {
    let config = StreamableHttpServerConfig::default()
        // `admit` checks both, by rules that also fit other addresses.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(MAX_REQUEST)
        .with_cancellation_token(stop.child_token());
    let sessions = Arc::new(LocalSessionManager::default());
    let shared = Arc::clone(&desk);
    let service = StreamableHttpService::new(
        move || Ok(EvalServer::new(Arc::clone(&shared))),
        sessions,
        config,
    );
    let router = Router::new()
        .nest_service(PATH, service)
        .layer(middleware::from_fn_with_state(Arc::new(guard), admit));
    // Small answers would otherwise wait for the client's acknowledgement.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let served = axum::serve(listener, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await;
    desk.close().await;
    served
}

/// Returns whether only this machine reaches an address.
#[must_use]
pub const fn is_local(address: &SocketAddr) -> bool {
    address.ip().is_loopback()
}

async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.refusal(request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

impl Guard {
    /// Returns the answer to a request that may not come in.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let text = |name| {
            headers
                .get(name)
                .and_then(|value: &header::HeaderValue| value.to_str().ok())
        };
        let host = text(header::HOST).unwrap_or_default();
        if !self.is_known(host) {
            return Some(refuse(
                "the Host of the request is not one of this server's",
            ));
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = text(header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) {
                return Some(refuse("the Origin of the request is not this server's own"));
            }
        }
        let token = self.token.as_deref()?;
        let given = text(header::AUTHORIZATION)
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map_or("", |(_, given)| given.trim());
        if same(given, token) {
            return None;
        }
        let mut response = (
            StatusCode::UNAUTHORIZED,
            "this server needs the token that it was started with: `Authorization: Bearer TOKEN`",
        )
            .into_response();
        let challenge = header::HeaderValue::from_static("Bearer realm=\"strandline\"");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
        Some(response)
    }

    /// Returns whether a `Host` is loopback's, a plain address (no name that
    /// could be rebound), or one of the names that were given.
    fn is_known(&self, host: &str) -> bool {
        let Some(name) = host_name(host) else {
            return false;
        };
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Returns the name or address in a `Host`, without port and brackets.
fn host_name(host: &str) -> Option<&str> {
    let is_port = |port: &str| {
        let digits = port.strip_prefix(':').unwrap_or("x");
        port.is_empty() || digits.parse::<u16>().is_ok()
    };
    if let Some(rest) = host.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        return (is_port(port) && address.contains(':')).then_some(address);
    }
    let end = host.find(':').unwrap_or(host.len());
    let (name, port) = host.split_at(end);
    (is_port(port) && !name.is_empty()).then_some(name)
}

fn refuse(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, why).into_response()
}

/// Compares without telling by its time where two texts differ.
fn same(given: &str, expected: &str) -> bool {
    let pairs = given.bytes().zip(expected.bytes());
    let differences = pairs.fold(0, |all, (left, right)| all | (left ^ right));
    given.len() == expected.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn status(guard: &Guard, headers: &[(header::HeaderName, &str)]) -> Option<u16> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let value = HeaderValue::from_str(value).expect("a header value");
                (name.clone(), value)
            })
            .collect();
        guard
            .refusal(&headers)
            .map(|response| response.status().as_u16())
    }

    #[test]
    fn a_name_that_could_be_rebound_is_refused() {
        let guard = Guard {
            hosts: vec!["evals.example".to_owned()],
            ..Guard::default()
        };
        for host in [
            "localhost",
            "LOCALHOST:8000",
            "127.0.0.1:8000",
            "[::1]:8000",
            "192.168.1.5",
            "evals.example:443",
        ] {
            assert_eq!(status(&guard, &[(header::HOST, host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "[::1",
            "[localhost]:80",
            "localhost:80:80",
            "localhost:x",
            "localhost@evil.example",
            ":80",
        ] {
            assert_eq!(status(&guard, &[(header::HOST, host)]), Some(403), "{host}");
        }
        assert_eq!(status(&guard, &[]), Some(403), "no Host at all");
    }

    #[test]
    fn an_origin_must_be_the_servers_own() {
        let guard = Guard::default();
        let from = |origin: &str| {
            status(
                &guard,
                &[(header::HOST, "127.0.0.1:8000"), (header::ORIGIN, origin)],
            )
        };
        assert_eq!(from("http://127.0.0.1:8000"), None);
        for origin in [
            "null",
            "http://evil.example",
            "http://127.0.0.1:9000",
            "https://127.0.0.1:8000",
            "http://localhost:8000",
            "http://127.0.0.1:8000.evil.example",
            "",
        ] {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
    }

    #[test]
    fn a_token_must_come_with_every_request() {
        let guard = Guard {
            token: Some("0123456789".to_owned()),
            ..Guard::default()
        };
        let with = |value: &str| {
            status(
                &guard,
                &[(header::HOST, "localhost"), (header::AUTHORIZATION, value)],
            )
        };
        assert_eq!(with("Bearer 0123456789"), None);
        assert_eq!(with("bearer 0123456789"), None);
        for value in [
            "Bearer 0123456788",
            "Bearer 012345678",
            "Bearer",
            "0123456789",
            "Basic 0123456789",
            "",
        ] {
            assert_eq!(with(value), Some(401), "{value}");
        }
        assert_eq!(status(&guard, &[(header::HOST, "localhost")]), Some(401));
    }
}
