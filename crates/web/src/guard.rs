//! What is checked before any request is looked at, and what every answer says.
//!
//! | against | check |
//! |---|---|
//! | a foreign name that resolves to us (DNS rebinding) | `Host` is one of ours |
//! | a page elsewhere that sends requests here | `Origin` and `Sec-Fetch-Site` on changes, on the API and on live events |
//! | another program that changes something | the token, on every change |
//! | readers on the network | the token on everything, where more than loopback is listened on |
//! | a page elsewhere that shows ours | `frame-ancestors 'none'` |
//! | foreign text that became a script | the content security policy |

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::{app::App, login, pages, problem::Problem};

/// The header that carries the token.
pub(crate) const TOKEN_HEADER: &str = "x-strandline-token";
/// Longest path and query, in bytes.
const MAX_TARGET: usize = 8 * 1024;

/// What every answer says.
const ALWAYS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: the forms of our own pages would then come from nowhere.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// Checks a request and marks its answer.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let mut response = match admit(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(Refusal::Problem(problem)) if api => problem.into_response(),
        Err(Refusal::Problem(problem)) => pages::problem(&problem),
        Err(Refusal::Elsewhere(target)) => Redirect::to(&target).into_response(),
        Err(Refusal::Session(target)) => login::open_session(&app, &target),
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Why a request is not passed on.
enum Refusal {
    Problem(Problem),
    /// The caller has to go somewhere else first.
    Elsewhere(String),
    /// The token stood in the address: it becomes a cookie and leaves it.
    Session(String),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

fn admit(app: &App, request: &Request) -> Result<(), Refusal> {
    let (headers, uri) = (request.headers(), request.uri());
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    if target.len() > MAX_TARGET {
        return Err(Problem::new(
            http::StatusCode::URI_TOO_LONG,
            "too-long",
            "the address is too long",
            &format!("an address has at most {MAX_TARGET} bytes"),
        )
        .into());
    }
    let host = host(headers)?;
    if !app.hosts().knows(host) {
        return Err(Problem::forbidden(&format!(
            "`{host}` is no name of this server, so a page elsewhere may have sent you here"
        ))
        .hint("open the address that `strandline ui` printed")
        .hint("`strandline ui --allow-host NAME` makes a name known")
        .into());
    }
    let api = uri.path().starts_with("/api/");
    let changes = !matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if api || changes {
        same_origin(headers, host)?;
    }
    if changes && api {
        knows_token(app, headers)?;
    }
    if app.reading_needs_token() && !is_open(uri.path()) && !may_read(app, headers) {
        let given = login::token_of(uri.query());
        if given.is_some_and(|given| app.token().is(&given)) && !changes && !api {
            return Err(Refusal::Session(login::without_token(uri)));
        }
        if api || changes {
            return Err(Problem::unauthorized(
                "this server listens on more than loopback, so reading needs the token too",
            )
            .into());
        }
        return Err(Refusal::Elsewhere(login::address(target)));
    }
    Ok(())
}

/// Tells whether a path may be read without the token: the way in, and what
/// that page is drawn with.
fn is_open(path: &str) -> bool {
    path == login::PATH || path.starts_with("/assets/")
}

fn host(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host
            .to_str()
            .map_err(|_| Problem::bad_request("the `Host` header is not ASCII")),
        _ => Err(Problem::bad_request(
            "a request has exactly one `Host` header",
        )),
    }
}

/// Refuses what a page of another origin sends. Programs send neither header.
fn same_origin(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let refused =
        |detail: &str| Err(Problem::forbidden(detail).hint("use the pages of this server"));
    for site in headers.get_all("sec-fetch-site") {
        if site != "same-origin" && site != "none" {
            return refused("a page of another site sent the request");
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let authority = origin.to_str().ok().and_then(|origin| {
            origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"))
        });
        if !authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host)) {
            return refused("a page of another origin sent the request");
        }
    }
    Ok(())
}

/// Returns the token that a program or a script sent.
pub(crate) fn token_header(headers: &HeaderMap) -> Option<&str> {
    let own = headers.get(TOKEN_HEADER).and_then(|own| own.to_str().ok());
    own.or_else(|| {
        let bearer = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = bearer.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    })
}

fn knows_token(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    match token_header(headers) {
        Some(given) if app.token().is(given) => Ok(()),
        Some(_) => Err(Problem::unauthorized(
            "the token is not the one of this server",
        )),
        None => Err(Problem::unauthorized("a change needs the token")),
    }
}

fn may_read(app: &App, headers: &HeaderMap) -> bool {
    token_header(headers).is_some_and(|given| app.token().is(given))
        || login::session_of(headers).is_some_and(|given| app.token().is_session(given))
}
