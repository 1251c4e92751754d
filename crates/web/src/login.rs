//! The way in where more than loopback is listened on: a browser gives the
//! token once and then holds a cookie that scripts cannot read and that no
//! other site can send along.

use axum::{
    extract::{RawQuery, Request, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, Uri, header};
use url::form_urlencoded;

use crate::{app::App, pages, params::body, problem::Problem};

/// Where the page is.
pub(crate) const PATH: &str = "/login";
/// The cookie's name.
const COOKIE: &str = "strandline_session";
/// What the token is called in addresses and forms.
pub(crate) const FIELD: &str = "token";

/// Returns the address of the page that leads back to `target`.
pub(crate) fn address(target: &str) -> String {
    let next: String = form_urlencoded::byte_serialize(target.as_bytes()).collect();
    format!("{PATH}?next={next}")
}

/// Returns the token that stands in a query.
pub(crate) fn token_of(query: Option<&str>) -> Option<String> {
    field(query?.as_bytes(), FIELD)
}

/// Returns the address without the token.
pub(crate) fn without_token(uri: &Uri) -> String {
    let kept = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .filter(|(name, _)| name != FIELD);
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .finish();
    if query.is_empty() {
        uri.path().to_owned()
    } else {
        format!("{}?{query}", uri.path())
    }
}

/// Returns the cookie that a browser holds.
pub(crate) fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Gives a browser the cookie and sends it on.
pub(crate) fn open_session(app: &App, target: &str) -> Response {
    let mut response = Redirect::to(own(target)).into_response();
    let cookie = format!(
        "{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict",
        app.token().session()
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The page that asks for the token.
pub(crate) async fn page(RawQuery(query): RawQuery) -> Response {
    let next = field(query.unwrap_or_default().as_bytes(), "next");
    pages::login(own(next.as_deref().unwrap_or("/")), None)
}

/// Takes the token from the page.
pub(crate) async fn submit(State(app): State<App>, request: Request) -> Response {
    let body = match body(request.into_body()).await {
        Ok(body) => body,
        Err(problem) => return pages::problem(&problem),
    };
    let next = field(&body, "next").unwrap_or_default();
    let given = field(&body, FIELD).unwrap_or_default();
    if app.token().is(given.trim()) {
        return open_session(&app, &next);
    }
    let problem = Problem::unauthorized("the token is not the one of this server");
    let mut response = pages::login(own(&next), Some("That is not the token of this server."));
    problem.head(&mut response);
    response
}

/// Returns a field of a form or a query.
pub(crate) fn field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form)
        .find(|(field, _)| field == name)
        .map(|(_, value)| value.into_owned())
}

/// Returns a target if it is a path of ours, else the first page: the way in
/// leads nowhere else.
fn own(target: &str) -> &str {
    let rest = target.strip_prefix('/');
    let stays = rest.is_some_and(|rest| !rest.starts_with(['/', '\\']));
    let plain = target.bytes().all(|byte| byte.is_ascii_graphic());
    if stays && plain { target } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_in_leads_only_to_pages_of_ours() {
        assert_eq!(own("/runs/1?a=b"), "/runs/1?a=b");
        for foreign in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "",
            "/\t/e",
        ] {
            assert_eq!(own(foreign), "/", "{foreign}");
        }
    }

    #[test]
    fn the_token_leaves_the_address() {
        let uri: Uri = "/runs?token=abc&suite=x%20y".parse().expect("an address");
        assert_eq!(without_token(&uri), "/runs?suite=x+y");
        assert_eq!(token_of(uri.query()).as_deref(), Some("abc"));
        let uri: Uri = "/?token=abc".parse().expect("an address");
        assert_eq!(without_token(&uri), "/");
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        let cookies = HeaderValue::from_static("a=b; strandline_session=abc");
        headers.insert(header::COOKIE, cookies);
        assert_eq!(session_of(&headers), Some("abc"));
        headers.insert(header::COOKIE, HeaderValue::from_static("a=b"));
        assert_eq!(session_of(&headers), None);
    }
}
