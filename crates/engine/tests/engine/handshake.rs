//! Connecting: every way in which it can fail is named and attributed.

use std::time::{Duration, Instant};

use strandline_contract::trace::Direction;
use strandline_engine::mcp::{Attribution, connect};

use crate::support::{eventually, faulty, lint_codes, options, refusal, session, stdio};

#[tokio::test]
async fn a_server_introduces_itself_with_everything_it_said() {
    let session = session("normal").await;
    assert_eq!(session.protocol_version(), "2025-11-25");
    assert_eq!(session.instructions(), Some("Made to go wrong."));
    let info = session.server_info().expect("the server sends its info");
    assert_eq!(info["name"], "faulty");
    assert_eq!(info["x-vendor"]["kept"], true);
    let timing = session.setup_timing();
    let first_output_at = timing.first_output_at.expect("the server wrote something");
    assert!(timing.started_at <= first_output_at);
    assert!(first_output_at <= timing.initialized_at);
    let frames = session.drain().frames;
    let directions: Vec<_> = frames.iter().map(|frame| frame.direction).collect();
    assert_eq!(
        directions,
        [Direction::Sent, Direction::Received, Direction::Sent]
    );
    assert!(
        frames[0].text.contains("\"method\":\"initialize\""),
        "{}",
        frames[0].text
    );
    session.close().await;
}

#[tokio::test]
async fn failures_are_named_and_attributed() {
    use Attribution::{Ours, Theirs, Unknown};
    let table: &[(&str, &str, Attribution, &[&str])] = &[
        (
            "exit 3",
            "exited",
            Unknown,
            &["exit code 3", "the planted reason"],
        ),
        (
            "exit-on-init 0",
            "exited",
            Unknown,
            &["exit code 0", "nothing to stderr"],
        ),
        (
            "init-error -32603",
            "initialize_error",
            Theirs,
            &["JSON-RPC error -32603: not today"],
        ),
        ("init-error -32000", "initialize_error", Ours, &["-32000"]),
        (
            "init-string-code",
            "initialize_malformed",
            Unknown,
            &["not an integer: \"E_INIT\""],
        ),
        ("init-null-id", "initialize_error", Theirs, &["-32700"]),
        (
            "init-wrong-id",
            "initialize_malformed",
            Unknown,
            &["id 4711"],
        ),
        (
            "init-bad-shape",
            "initialize_malformed",
            Unknown,
            &["{\"hello\":\"world\"}"],
        ),
        (
            "init-half",
            "exited",
            Unknown,
            &["cut off after", "exit code 3"],
        ),
        (
            "version 1999-01-01",
            "unsupported_protocol_version",
            Unknown,
            &["\"1999-01-01\""],
        ),
        (
            "version 2026-07-28",
            "unsupported_protocol_version",
            Unknown,
            &["2026-07-28"],
        ),
        (
            "silent",
            "timed_out",
            Theirs,
            &["`initialize`", "1000 ms", "was running"],
        ),
    ];
    for (mode, code, side, words) in table {
        let mut options = options();
        options.setup_timeout =
            Duration::from_millis(if *mode == "silent" { 1_000 } else { 10_000 });
        let Err((failure, captured)) = connect(&faulty(mode), &options).await else {
            panic!("{mode}: connected");
        };
        assert_eq!(failure.code, *code, "{mode}: {failure}");
        assert_eq!(failure.attribution, *side, "{mode}: {failure}");
        for word in *words {
            assert!(
                failure.message.contains(word),
                "{mode}: {failure} lacks {word}"
            );
        }
        assert!(!captured.frames.is_empty(), "{mode}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_ours() {
    let binding = stdio("/nonexistent/server", &["--stdio"]);
    let Err((failure, _)) = connect(&binding, &options()).await else {
        panic!("connected");
    };
    assert_eq!(failure.code, "spawn_failed");
    assert_eq!(failure.attribution, Attribution::Ours);
    assert!(
        failure.message.contains("`/nonexistent/server`"),
        "{failure}"
    );
}

#[tokio::test]
async fn known_older_versions_are_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let session = session(&format!("version {version}")).await;
        assert_eq!(session.protocol_version(), version);
        session.close().await;
    }
}

#[tokio::test]
async fn a_slow_server_is_waited_for_within_the_budget() {
    let session = session("slow-init 400").await;
    let timing = session.setup_timing();
    assert!(timing.initialized_at - timing.started_at >= 400.0);
    session.close().await;
}

#[tokio::test]
async fn noise_is_kept_named_and_never_answered() {
    let session = session("banner").await;
    let listing = session.list().await.expect("the list is answered");
    assert!(!listing.tools.is_empty());
    let captured = session.drain();
    assert_eq!(lint_codes(&captured), ["stdoutNoise"]);
    assert!(
        captured.lints[0]
            .message
            .contains("`Starting faulty server"),
        "{}",
        captured.lints[0].message
    );
    let noise: Vec<_> = captured
        .frames
        .iter()
        .filter(|frame| frame.direction == Direction::Noise)
        .map(|frame| frame.text.as_str())
        .collect();
    assert!(noise.contains(&""), "{noise:?}");
    assert!(noise.contains(&"INFO handling a message"), "{noise:?}");
    let sent = captured
        .frames
        .iter()
        .filter(|frame| frame.direction == Direction::Sent);
    assert_eq!(sent.count(), 3, "initialize, initialized and tools/list");
    session.close().await;
}

#[tokio::test]
async fn junk_for_every_line_does_not_grow_the_traffic() {
    let session = session("junk-storm").await;
    session.list().await.expect("the list is answered");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let captured = session.drain();
    let count = |direction| {
        captured
            .frames
            .iter()
            .filter(|frame| frame.direction == direction)
            .count()
    };
    assert_eq!(count(Direction::Sent), 3);
    assert_eq!(count(Direction::Noise), 15);
    session.close().await;
}

#[tokio::test]
async fn deviations_that_do_no_harm_are_tolerated_and_listed() {
    for (mode, kind) in [
        ("bom", "byteOrderMark"),
        ("batch", "batchSplit"),
        ("no-version-member", "jsonrpcVersion"),
        ("string-ids", "answerIdType"),
    ] {
        let session = session(mode).await;
        session
            .list()
            .await
            .unwrap_or_else(|failure| panic!("{mode}: {failure}"));
        let captured = session.drain();
        assert!(
            captured
                .adaptations
                .iter()
                .any(|adaptation| adaptation.kind == kind),
            "{mode}: {:?}",
            captured.adaptations
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_ping_storm_is_answered_within_a_limit() {
    let mut options = options();
    options.limits.server_requests = 50;
    let session = connect(&faulty("ping-storm"), &options)
        .await
        .expect("connects");
    session.list().await.expect("the list is answered");
    let mut sent = 0;
    eventually("the limit is reached", || {
        let captured = session.drain();
        sent += captured
            .frames
            .iter()
            .filter(|frame| frame.direction == Direction::Sent)
            .count();
        lint_codes(&captured).contains(&"tooManyServerRequests")
    })
    .await;
    assert!(sent <= 53, "{sent} messages were sent");
    session.close().await;
}

#[tokio::test]
async fn standard_error_is_recorded_within_bounds() {
    let mut options = options();
    options.limits.capture.frames = 500;
    let session = connect(&faulty("stderr-flood"), &options)
        .await
        .expect("connects");
    let (mut kept, mut dropped) = (0, 0);
    eventually("everything is read", || {
        let captured = session.drain();
        assert!(captured.frames.len() <= 500);
        kept += captured.frames.len() as u64;
        dropped += captured.frames_dropped;
        kept + dropped == 20_003
    })
    .await;
    assert!(dropped > 0);
    session.close().await;
}

#[tokio::test]
async fn cancelling_ends_a_connection_attempt_at_once() {
    let options = options();
    let cancel = options.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    let Err((failure, _)) = connect(&faulty("silent"), &options).await else {
        panic!("connected");
    };
    assert_eq!(failure.code, "cancelled");
    assert_eq!(failure.attribution, Attribution::Ours);
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_refused_attempt_keeps_what_the_server_wrote() {
    let (_, captured) = refusal("exit 3").await;
    assert!(
        captured
            .frames
            .iter()
            .any(|frame| frame.direction == Direction::Stderr && frame.text.contains("planted")),
        "{:?}",
        captured.frames
    );
}
