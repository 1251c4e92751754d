//! Who is answered: names, origins, the token.

use axum::http::{Method, StatusCode};

use crate::site::{Listening, Site, TOKEN};

const RUNS: &str = "/api/v1/runs";

#[tokio::test]
async fn a_foreign_name_is_refused_everywhere() {
    let site = Site::with_a_run().await;
    for target in [RUNS, "/", "/runs", "/login", "/api/v1/runs/r1/events"] {
        for host in ["evil.example", "evil.example:7357", "10.0.0.7:7357"] {
            let answer = site.ask(Method::GET, target, &[("host", host)], "").await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{host} {target}");
        }
    }
    for host in ["localhost:7357", "[::1]:7357", "127.0.0.1"] {
        let answer = site.ask(Method::GET, RUNS, &[("host", host)], "").await;
        assert_eq!(answer.status, StatusCode::OK, "{host}");
    }
    let two = [("host", "localhost"), ("host", "evil.example")];
    let answer = site.ask(Method::GET, RUNS, &two, "").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_page_of_another_origin_reaches_neither_api_nor_events() {
    let site = Site::with_a_run().await;
    for target in [RUNS, "/api/v1/runs/r1/events"] {
        for foreign in [
            ("origin", "https://evil.example"),
            ("origin", "http://127.0.0.1:8000"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let answer = site.ask(Method::GET, target, &[foreign], "").await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{foreign:?} {target}");
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
        for own in [
            ("origin", "http://127.0.0.1:7357"),
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-site", "none"),
        ] {
            let answer = site.ask(Method::GET, target, &[own], "").await;
            assert_eq!(answer.status, StatusCode::OK, "{own:?} {target}");
        }
    }
}

#[tokio::test]
async fn every_answer_carries_the_policy() {
    let site = Site::with_a_run().await;
    for target in [RUNS, "/", "/login", "/nothing", "/api/v1/nothing"] {
        let answer = site.get(target).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{target}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{target}");
        assert!(!policy.contains("unsafe"), "{target}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
        assert_eq!(answer.header("access-control-allow-origin"), "");
        assert_ne!(answer.header("cache-control"), "");
    }
}

#[tokio::test]
async fn beyond_loopback_reading_needs_the_token() {
    let site = Site::listening(Listening::Everywhere).await;
    let host = ("host", "192.0.2.7:7357");
    let answer = site.ask(Method::GET, RUNS, &[host], "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.header("www-authenticate").starts_with("Bearer"));
    let bearer = format!("Bearer {TOKEN}");
    for (header, value) in [
        ("authorization", bearer.as_str()),
        ("x-strandline-token", TOKEN),
    ] {
        let headers = [host, (header, value)];
        let answer = site.ask(Method::GET, RUNS, &headers, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{header}");
    }
    let wrong = [host, ("x-strandline-token", "0123456789abcdef0124")];
    let answer = site.ask(Method::GET, RUNS, &wrong, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    // A token in an address is for pages alone.
    let target = format!("{RUNS}?token={TOKEN}");
    let answer = site.ask(Method::GET, &target, &[host], "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_browser_gives_the_token_once() {
    let site = Site::listening(Listening::Everywhere).await;
    let host = ("host", "192.0.2.7:7357");
    let answer = site.ask(Method::GET, "/runs?suite=a", &[host], "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/login?next=%2Fruns%3Fsuite%3Da");
    let page = site
        .ask(Method::GET, answer.header("location"), &[host], "")
        .await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body.contains("value=\"/runs?suite=a\""),
        "{}",
        page.body
    );
    assert!(!page.body.contains(TOKEN));

    let form = |token: &str| format!("token={token}&next=%2Fruns%3Fsuite%3Da");
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let wrong = site
        .ask(Method::POST, "/login", &[host, kind], &form("wrong"))
        .await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    assert_eq!(wrong.header("set-cookie"), "");
    let right = site
        .ask(Method::POST, "/login", &[host, kind], &form(TOKEN))
        .await;
    assert_eq!(right.status, StatusCode::SEE_OTHER);
    assert_eq!(right.header("location"), "/runs?suite=a");
    let cookie = right.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert!(!cookie.contains(TOKEN), "the cookie is not the token");

    let held = cookie.split(';').next().expect("a cookie");
    let headers = [host, ("cookie", held)];
    let answer = site.ask(Method::GET, RUNS, &headers, "").await;
    assert_eq!(answer.status, StatusCode::OK);

    let target = format!("/runs?token={TOKEN}&suite=a");
    let answer = site.ask(Method::GET, &target, &[host], "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/runs?suite=a");
    assert_ne!(answer.header("set-cookie"), "");
}

#[tokio::test]
async fn the_way_in_leads_nowhere_else_and_takes_no_foreign_form() {
    let site = Site::listening(Listening::Everywhere).await;
    let host = ("host", "192.0.2.7:7357");
    let form = format!("token={TOKEN}&next=%2F%2Fevil.example");
    let answer = site.ask(Method::POST, "/login", &[host], &form).await;
    assert_eq!(answer.header("location"), "/");
    let foreign = [host, ("origin", "https://evil.example")];
    let answer = site.ask(Method::POST, "/login", &foreign, &form).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_address_is_bounded() {
    let site = Site::empty().await;
    let target = format!("{RUNS}?suite={}", "a".repeat(9_000));
    let answer = site.get(&target).await;
    assert_eq!(answer.status, StatusCode::URI_TOO_LONG);
}
