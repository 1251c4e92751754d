//! Servers reached over HTTP: statuses, sessions, streams and redirects.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use strandline_contract::{
    binding::{Credentials, HttpEndpoint, ServerBinding, Transport},
    trace::Direction,
};
use strandline_engine::mcp::{Attribution, CallOutcome, Captured, PhaseFailure, Session, connect};
use strandline_testkit::{
    http::{End, HttpStub, Reply, Request},
    mcp::http::{answer, ordinary},
};

use crate::support::{call, eventually, lint_codes, object, options, result, text, within};

fn binding(url: &str, headers: &[(&str, &str)]) -> ServerBinding {
    ServerBinding {
        name: "remote".to_owned(),
        id: "remote".to_owned(),
        display: url.to_owned(),
        transport: Transport::Http(HttpEndpoint {
            url: url.to_owned(),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            credentials: None,
        }),
    }
}

async fn open(stub: &HttpStub) -> Session {
    match connect(&binding(&stub.url("/mcp"), &[]), &options()).await {
        Ok(session) => session,
        Err((failure, captured)) => panic!("{failure}\n{captured:#?}"),
    }
}

async fn refusal(binding: &ServerBinding) -> (PhaseFailure, Captured) {
    match connect(binding, &options()).await {
        Ok(_) => panic!("connected"),
        Err(refusal) => refusal,
    }
}

/// Whether a request carries a call of a method.
fn asks(request: &Request, method: &str) -> bool {
    request.json()["method"] == method
}

#[tokio::test]
async fn a_session_runs_on_json_answers_alone() {
    let stub = HttpStub::start(ordinary).await;
    let session = open(&stub).await;
    assert_eq!(session.protocol_version(), "2025-11-25");
    assert_eq!(session.list().await.expect("listed").tools.len(), 1);
    let record = call(&session, "echo", json!({"text": "over HTTP"})).await;
    assert_eq!(text(&record), "over HTTP");
    let captured = session.drain();
    assert_eq!(lint_codes(&captured), Vec::<&str>::new());
    let received: Vec<_> = captured
        .frames
        .iter()
        .filter(|frame| frame.direction == Direction::Received)
        .collect();
    assert_eq!(received[0].transport["status"], 200);
    assert_eq!(received[0].transport["headers"]["mcp-session-id"], "***");
    session.close().await;
    let seen = stub.seen();
    let deleted = seen.last().expect("requests were made");
    assert_eq!(deleted.method, "DELETE");
    assert_eq!(deleted.header("mcp-session-id"), "session-1");
    let listed = seen
        .iter()
        .find(|request| asks(request, "tools/list"))
        .expect("listed");
    assert_eq!(listed.header("mcp-protocol-version"), "2025-11-25");
    assert_eq!(
        listed.header("accept"),
        "application/json, text/event-stream"
    );
}

#[tokio::test]
async fn answers_may_come_on_event_streams() {
    let stub = HttpStub::start(|request: &Request| match answer(&request.json()) {
        Some(answer) => {
            let token = &request.json()["params"]["_meta"]["progressToken"];
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
            let events = [
                "id: 0\ndata:".to_owned(),
                format!("event: message\ndata: {progress}"),
                format!("id: 1\ndata: {answer}"),
            ];
            Reply::events(events.iter().map(|event| (5, event.as_str())), End::Complete)
        }
        None => ordinary(request),
    })
    .await;
    let session = open(&stub).await;
    assert_eq!(session.list().await.expect("listed").tools.len(), 1);
    let record = call(&session, "echo", json!({"text": "streamed"})).await;
    assert_eq!(text(&record), "streamed");
    session.close().await;
}

#[tokio::test]
async fn the_get_stream_is_optional_whatever_the_server_answers() {
    let closing = Reply::events([(0, "retry: 10\ndata:")], End::Complete);
    let table = [
        ("405", Reply::status(405), vec![]),
        ("404", Reply::status(404), vec!["getStreamStatus"]),
        ("406", Reply::status(406), vec!["getStreamStatus"]),
        ("400", Reply::status(400), vec!["getStreamStatus"]),
        (
            "JSON",
            Reply::json(200, &json!({"ok": true})),
            vec!["getStreamType"],
        ),
        ("stream that closes", closing, vec![]),
    ];
    for (name, get, lints) in table {
        let stub = HttpStub::start(move |request: &Request| {
            if request.method == "GET" {
                get.clone()
            } else {
                ordinary(request)
            }
        })
        .await;
        let session = open(&stub).await;
        let record = call(&session, "echo", json!({"text": name})).await;
        assert_eq!(text(&record), name);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(lint_codes(&session.drain()), lints, "{name}");
        session.close().await;
    }
}

#[tokio::test]
async fn a_get_stream_that_closes_at_once_is_left_after_a_few_tries() {
    let stub = HttpStub::start(|request: &Request| {
        if request.method == "GET" {
            Reply::events([], End::Complete)
        } else {
            ordinary(request)
        }
    })
    .await;
    let session = open(&stub).await;
    eventually("the stream is given up", || {
        lint_codes(&session.drain()) == ["getStreamCloses"]
    })
    .await;
    let gets = stub
        .seen()
        .iter()
        .filter(|request| request.method == "GET")
        .count();
    assert_eq!(gets, 3);
    session.close().await;
}

#[tokio::test]
async fn a_get_stream_carries_what_the_server_says_unasked() {
    let stub = HttpStub::start(|request: &Request| {
        if request.method == "GET" {
            let changed =
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";
            Reply::events([(50, changed)], End::Open)
        } else {
            ordinary(request)
        }
    })
    .await;
    let session = open(&stub).await;
    session.list().await.expect("listed");
    eventually("the change is announced", || session.tools_changed()).await;
    session.close().await;
}

#[tokio::test]
async fn refusals_at_the_handshake_are_named_and_attributed() {
    use Attribution::{Ours, Theirs, Unknown};
    let unauthorized = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_001, "message": "Unauthorized"}});
    let bearer = "Bearer error=\"invalid_token\", error_description=\"audience is not us\", resource_metadata=\"http://a.test/m\"";
    let page = "<html><title>Sign in</title></html>";
    let bad_request = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_000, "message": "Bad Request: no session"}});
    let table: Vec<(Reply, &str, Attribution, Option<i64>, &str)> = vec![
        (
            Reply::status(401).with("www-authenticate", bearer),
            "http_unauthorized",
            Ours,
            None,
            "audience is not us",
        ),
        (
            Reply::status(401),
            "http_unauthorized",
            Ours,
            None,
            "without a `WWW-Authenticate` challenge",
        ),
        (
            Reply::json(401, &unauthorized),
            "http_unauthorized",
            Ours,
            Some(-32_001),
            "Unauthorized",
        ),
        (
            Reply::text(403, "text/html", page),
            "http_forbidden",
            Unknown,
            None,
            "Sign in",
        ),
        (
            Reply::status(403).with(
                "www-authenticate",
                "Bearer error=\"insufficient_scope\", scope=\"tools\"",
            ),
            "http_forbidden",
            Ours,
            None,
            "scope: tools",
        ),
        (
            Reply::status(429).with("retry-after", "17"),
            "http_rate_limited",
            Unknown,
            None,
            "retry after 17",
        ),
        (
            Reply::text(500, "text/plain", "boom"),
            "http_server_error",
            Theirs,
            None,
            "body begins: boom",
        ),
        (
            Reply::status(503),
            "http_server_error",
            Theirs,
            None,
            "HTTP 503",
        ),
        (
            Reply::text(200, "text/html", page),
            "unexpected_content_type",
            Unknown,
            None,
            "`text/html`",
        ),
        (
            Reply::json(400, &bad_request),
            "http_status",
            Ours,
            Some(-32_000),
            "no session",
        ),
        (
            Reply::status(404),
            "http_status",
            Unknown,
            None,
            "`type: sse`",
        ),
        (
            Reply::status(202),
            "connection_closed",
            Unknown,
            None,
            "accepted with HTTP 202",
        ),
        (
            Reply::json(200, &json!({"foo": 1})),
            "initialize_malformed",
            Unknown,
            None,
            "holds nothing",
        ),
        (
            Reply::text(200, "application/json", "{\"broken\": "),
            "initialize_malformed",
            Unknown,
            None,
            "not JSON",
        ),
    ];
    for (reply, code, side, mcp_code, words) in table {
        let shown = format!("{reply:?}");
        let stub = HttpStub::start(move |_: &Request| reply.clone()).await;
        let (failure, captured) = refusal(&binding(&stub.url("/mcp"), &[])).await;
        assert_eq!(failure.code, code, "{shown}: {failure}");
        assert_eq!(failure.attribution, side, "{shown}: {failure}");
        assert_eq!(failure.mcp_code, mcp_code, "{shown}: {failure}");
        assert!(failure.message.contains(words), "{shown}: {failure}");
        assert!(captured.frames.len() >= 2, "{shown}");
    }
}

#[tokio::test]
async fn rejected_credentials_are_never_repeated_anywhere() {
    let stub = HttpStub::start(|request: &Request| {
        Reply::text(
            401,
            "text/plain",
            format!("bad: {}", request.header("authorization")),
        )
    })
    .await;
    let bound = binding(
        &stub.url("/mcp?key=k-98765"),
        &[("Authorization", "Bearer tok-12345")],
    );
    let (failure, captured) = refusal(&bound).await;
    assert!(
        failure.message.contains("rejected our credentials"),
        "{failure}"
    );
    let all = format!("{failure:?} {captured:?}");
    assert!(!all.contains("tok-12345"), "{all}");
    assert!(
        stub.seen()
            .iter()
            .all(|request| request.header("authorization") == "Bearer tok-12345")
    );
}

#[tokio::test]
async fn an_oauth_server_that_names_no_challenge_is_of_unknown_fault() {
    let stub = HttpStub::start(|_: &Request| Reply::status(401)).await;
    let mut bound = binding(&stub.url("/mcp"), &[]);
    if let Transport::Http(endpoint) = &mut bound.transport {
        endpoint.credentials = Some(Credentials {
            access_token: Some("tok-12345".to_owned()),
            refresh_token: None,
            client_id: None,
            client_secret: None,
        });
    }
    let (failure, _) = refusal(&bound).await;
    assert_eq!(failure.attribution, Attribution::Unknown);
    assert_eq!(stub.seen()[0].header("authorization"), "Bearer tok-12345");
}

#[tokio::test]
async fn nobody_at_the_address_is_theirs_and_no_such_name_is_ours() {
    let (failure, _) = refusal(&binding("http://127.0.0.1:9/mcp", &[])).await;
    assert_eq!(failure.code, "connection_refused", "{failure}");
    assert_eq!(failure.attribution, Attribution::Theirs);
    let (failure, _) = refusal(&binding("http://no-such-host.invalid/mcp", &[])).await;
    assert_eq!(failure.code, "dns_failed", "{failure}");
    assert_eq!(failure.attribution, Attribution::Ours);
    let (failure, _) = refusal(&binding("not a url", &[])).await;
    assert_eq!(
        (failure.code, failure.attribution),
        ("bad_url", Attribution::Ours)
    );
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let stub = HttpStub::start(ordinary).await;
    let url = stub.url("/mcp").replace("http://", "https://");
    let (failure, _) = refusal(&binding(&url, &[])).await;
    assert_eq!(failure.code, "tls_failed", "{failure}");
    assert_eq!(failure.attribution, Attribution::Theirs);
}

#[tokio::test]
async fn a_silent_server_exceeds_the_setup_budget() {
    let stub = HttpStub::start(|_: &Request| Reply::never()).await;
    let mut options = options();
    options.setup_timeout = Duration::from_millis(300);
    let Err((failure, _)) = connect(&binding(&stub.url("/mcp"), &[]), &options).await else {
        panic!("connected");
    };
    assert_eq!(
        (failure.code, failure.attribution),
        ("timed_out", Attribution::Theirs)
    );
}

#[tokio::test]
async fn a_listing_that_is_refused_is_no_empty_list() {
    for (status, side) in [(401, Attribution::Ours), (500, Attribution::Theirs)] {
        let stub = HttpStub::start(move |request: &Request| {
            if asks(request, "tools/list") {
                Reply::status(status)
            } else {
                ordinary(request)
            }
        })
        .await;
        let session = open(&stub).await;
        let Err(failure) = session.list().await else {
            panic!("{status}: listed");
        };
        assert_eq!(failure.http_status, Some(status));
        assert_eq!(failure.attribution, side, "{failure}");
        session.close().await;
    }
}

#[tokio::test]
async fn an_expired_session_is_restored_once_and_the_trace_says_so() {
    let inits = AtomicUsize::new(0);
    let stub = HttpStub::start(move |request: &Request| {
        if asks(request, "initialize") {
            let n = inits.fetch_add(1, Ordering::Relaxed) + 1;
            return Reply::json(200, &answer(&request.json()).expect("an answer"))
                .with("mcp-session-id", &format!("session-{n}"));
        }
        let stale = request.header("mcp-session-id") == "session-1";
        if stale && asks(request, "tools/call") {
            return Reply::text(404, "text/plain", "Session not found");
        }
        ordinary(request)
    })
    .await;
    let session = open(&stub).await;
    session.list().await.expect("listed");
    let record = call(&session, "echo", json!({"text": "again"})).await;
    assert_eq!(text(&record), "again");
    let captured = session.drain();
    assert_eq!(captured.adaptations[0].kind, "sessionRestored");
    let ordinals: Vec<_> = captured
        .frames
        .iter()
        .filter(|frame| frame.direction == Direction::Sent && frame.text.contains("tools/call"))
        .map(|frame| frame.transport["session"].clone())
        .collect();
    assert_eq!(ordinals, [json!(1), json!(2)]);
    session.close().await;
}

#[tokio::test]
async fn a_session_that_expires_for_ever_ends_the_call() {
    let stub = HttpStub::start(|request: &Request| {
        if asks(request, "tools/call") {
            Reply::status(404)
        } else {
            ordinary(request)
        }
    })
    .await;
    let session = open(&stub).await;
    let record = call(&session, "echo", json!({})).await;
    let CallOutcome::TransportLost { message } = &record.outcome else {
        panic!("{record:?}");
    };
    assert!(message.contains("HTTP 404"), "{message}");
    let calls = stub
        .seen()
        .iter()
        .filter(|request| asks(request, "tools/call"))
        .count();
    assert_eq!(calls, 2);
    session.close().await;
}

#[tokio::test]
async fn an_expired_session_with_another_status_is_an_error_and_a_finding() {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_000, "message": "No valid session ID"}});
    let with_status = |status| {
        let error = error.clone();
        move |request: &Request| {
            if asks(request, "tools/call") {
                Reply::json(status, &error)
            } else {
                ordinary(request)
            }
        }
    };
    for (status, lints) in [
        (400, vec!["sessionExpiredStatus"]),
        (200, vec!["answerIdMismatch"]),
    ] {
        let stub = HttpStub::start(with_status(status)).await;
        let session = open(&stub).await;
        let record = call(&session, "echo", json!({})).await;
        let CallOutcome::ProtocolError {
            code: -32_000,
            message,
            ..
        } = &record.outcome
        else {
            panic!("{status}: {record:?}");
        };
        assert_eq!(message, "No valid session ID");
        assert_eq!(lint_codes(&session.drain()), lints, "{status}");
        let calls = stub
            .seen()
            .iter()
            .filter(|request| asks(request, "tools/call"))
            .count();
        assert_eq!(calls, 1, "{status}");
        session.close().await;
    }
}

#[tokio::test]
async fn calls_end_with_what_went_wrong_on_the_wire() {
    let table: Vec<(&str, Reply, &str)> = vec![
        (
            "page",
            Reply::text(200, "text/html", "<html>"),
            "`text/html`",
        ),
        (
            "502",
            Reply::text(502, "text/html", "<html>Bad gateway"),
            "HTTP 502",
        ),
        (
            "broken stream",
            Reply::events([(0, "data:")], End::Broken),
            "the stream broke",
        ),
        (
            "empty stream",
            Reply::events([], End::Complete),
            "ended before the answer",
        ),
    ];
    for (name, reply, words) in table {
        let stub = HttpStub::start(move |request: &Request| {
            if asks(request, "tools/call") {
                reply.clone()
            } else {
                ordinary(request)
            }
        })
        .await;
        let session = open(&stub).await;
        let record = call(&session, "echo", json!({})).await;
        let CallOutcome::TransportLost { message } = &record.outcome else {
            panic!("{name}: {record:?}");
        };
        assert!(message.contains(words), "{name}: {message}");
        assert!(session.is_alive(), "{name}");
        session.close().await;
    }
}

#[tokio::test]
async fn a_call_without_an_answer_times_out_and_is_cancelled() {
    let stub = HttpStub::start(|request: &Request| {
        if asks(request, "tools/call") {
            Reply::never()
        } else {
            ordinary(request)
        }
    })
    .await;
    let session = open(&stub).await;
    let record = session.call("echo", object(json!({})), within(200)).await;
    assert!(
        matches!(record.outcome, CallOutcome::TimedOut { .. }),
        "{record:?}"
    );
    eventually("the call is cancelled on the wire", || {
        stub.seen()
            .iter()
            .any(|request| asks(request, "notifications/cancelled"))
    })
    .await;
    session.close().await;
}

#[tokio::test]
async fn long_answers_are_bounded_in_bodies_and_in_events() {
    let long = || json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "x".repeat(3_000_000)}]}});
    for streamed in [false, true] {
        let stub = HttpStub::start(move |request: &Request| {
            if !asks(request, "tools/call") {
                ordinary(request)
            } else if streamed {
                Reply::events([(0, format!("data: {}", long()).as_str())], End::Complete)
            } else {
                Reply::json(200, &long())
            }
        })
        .await;
        let mut options = options();
        options.limits.message_bytes = 1024 * 1024;
        let session = connect(&binding(&stub.url("/mcp"), &[]), &options)
            .await
            .expect("connects");
        let record = call(&session, "echo", json!({})).await;
        let CallOutcome::Malformed { message, .. } = &record.outcome else {
            panic!("{streamed}: {record:?}");
        };
        assert!(message.contains("1048576"), "{message}");
        session.close().await;
    }
}

#[tokio::test]
async fn redirects_are_followed_only_within_the_origin() {
    let away = HttpStub::start(ordinary).await;
    let target = away.url("/mcp");
    let stub = HttpStub::start(move |request: &Request| match request.path.as_str() {
        "/near" => Reply::status(307).with("location", "/mcp"),
        "/far" => Reply::status(307).with("location", &target),
        "/moved" => Reply::status(301).with("location", "/mcp"),
        _ => ordinary(request),
    })
    .await;
    let headers = [("Authorization", "Bearer tok-12345")];
    let session = connect(&binding(&stub.url("/near"), &headers), &options()).await;
    session
        .map_err(|(failure, _)| failure)
        .expect("connects")
        .close()
        .await;
    for path in ["/far", "/moved"] {
        let (failure, _) = refusal(&binding(&stub.url(path), &headers)).await;
        assert_eq!(failure.code, "http_redirect", "{path}: {failure}");
    }
    assert!(away.seen().is_empty());
}

#[tokio::test]
async fn a_header_that_http_does_not_allow_is_ours() {
    let (failure, _) = refusal(&binding("http://127.0.0.1:9/mcp", &[("X-Bad", "a\nb")])).await;
    assert_eq!(
        (failure.code, failure.attribution),
        ("bad_header", Attribution::Ours)
    );
    assert!(!failure.message.contains("a\nb"));
}

// ---- the older HTTP+SSE transport ----

fn legacy(stub: &HttpStub) -> ServerBinding {
    ServerBinding {
        transport: Transport::Sse(HttpEndpoint {
            url: stub.url("/sse"),
            headers: BTreeMap::new(),
            credentials: None,
        }),
        ..binding(&stub.url("/sse"), &[])
    }
}

#[tokio::test]
async fn the_older_transport_must_name_an_address_of_its_own_origin() {
    let table: Vec<(Reply, &str, &str)> = vec![
        (
            Reply::events(
                [(0, "event: endpoint\ndata: http://other.test/m")],
                End::Open,
            ),
            "bad_endpoint",
            "`http://other.test`",
        ),
        (
            Reply::events([(0, "data: hello")], End::Complete),
            "connection_closed",
            "before it named",
        ),
        (Reply::status(404), "http_status", "HTTP 404"),
        (
            Reply::json(200, &json!({})),
            "unexpected_content_type",
            "`application/json`",
        ),
    ];
    for (reply, code, words) in table {
        let stub = HttpStub::start(move |_: &Request| reply.clone()).await;
        let (failure, _) = refusal(&legacy(&stub)).await;
        assert_eq!(failure.code, code, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[tokio::test]
async fn the_older_transport_carries_a_handshake_and_loses_calls_with_a_cause() {
    let stub = HttpStub::start(|request: &Request| {
        if request.method == "GET" {
            let hello = json!({"jsonrpc": "2.0", "id": 0, "result": {
                "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "old", "version": "0"},
            }});
            let hello = format!("event: message\ndata: {hello}");
            Reply::events([(0, "event: endpoint\ndata: /messages?sessionId=s-123456"), (100, &hello)], End::Open)
        } else if asks(request, "tools/call") {
            Reply::text(500, "text/plain", "boom")
        } else {
            Reply::status(202)
        }
    })
    .await;
    let session = match connect(&legacy(&stub), &options()).await {
        Ok(session) => session,
        Err((failure, captured)) => panic!("{failure}\n{captured:#?}"),
    };
    assert_eq!(session.protocol_version(), "2024-11-05");
    let record = call(&session, "echo", json!({})).await;
    let CallOutcome::TransportLost { message } = &record.outcome else {
        panic!("{record:?}");
    };
    assert!(message.contains("HTTP 500"), "{message}");
    assert!(
        stub.seen().iter().all(
            |request| request.method == "GET" || request.path == "/messages?sessionId=s-123456"
        )
    );
    assert!(!format!("{:?}", session.drain()).contains("s-123456"));
    session.close().await;
}

#[tokio::test]
async fn results_are_raw_over_http_too() {
    let stub = HttpStub::start(|request: &Request| {
        if asks(request, "tools/call") {
            let id = &request.json()["id"];
            Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "x-vendor": {"kept": [1]}}}))
        } else {
            ordinary(request)
        }
    })
    .await;
    let session = open(&stub).await;
    let record = call(&session, "echo", json!({})).await;
    assert_eq!(result(&record)["x-vendor"]["kept"], json!([1]));
    session.close().await;
}
