//! Calls: every end is told apart.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use strandline_contract::trace::Direction;
use strandline_engine::mcp::{CallOptions, CallOutcome, Capture, CaptureLimits, connect};
use tokio_util::sync::CancellationToken;

use crate::support::{call, eventually, faulty, object, options, result, session, text, within};

#[tokio::test]
async fn results_come_raw() {
    let session = session("normal").await;
    let record = call(&session, "structured", json!({})).await;
    assert_eq!(
        result(&record)["structuredContent"]["list"],
        json!([1.5, null])
    );
    assert_eq!(result(&record)["_meta"]["x-vendor"], "kept");
    assert!(record.started_at <= record.ended_at);
    let record = call(&session, "kinds", json!({})).await;
    assert_eq!(
        result(&record)["content"][5],
        json!({"type": "hologram", "depth": 3})
    );
    let record = call(&session, "empty_result", json!({})).await;
    assert_eq!(result(&record), &json!({}));
    session.close().await;
}

#[tokio::test]
async fn absent_arguments_are_sent_as_an_empty_object() {
    let session = session("normal").await;
    let record = call(&session, "arguments", json!({})).await;
    assert_eq!(text(&record), "{}");
    session.close().await;
}

#[tokio::test]
async fn only_the_flag_makes_a_tool_error() {
    let session = session("normal").await;
    for (tool, expected) in [("is_error", true), ("error_text", false)] {
        let record = call(&session, tool, json!({})).await;
        let CallOutcome::Result { is_error, .. } = record.outcome else {
            panic!("{tool}: {record:?}");
        };
        assert_eq!(is_error, expected, "{tool}");
    }
    session.close().await;
}

#[tokio::test]
async fn protocol_errors_keep_code_message_and_data() {
    let session = session("normal").await;
    for code in [-32_000, -32_001, -32_602, -32_603, 42] {
        let record = call(&session, "error", json!({"code": code})).await;
        let CallOutcome::ProtocolError {
            code: seen,
            message,
            data,
        } = record.outcome
        else {
            panic!("{code}: {record:?}");
        };
        assert_eq!(seen, code);
        assert_eq!(message, "the planted error");
        assert_eq!(data, Some(json!({"hint": "planted"})));
    }
    session.close().await;
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_only_call() {
    let session = session("normal").await;
    let record = call(&session, "error_null_id", json!({})).await;
    let CallOutcome::ProtocolError {
        code: -32_001,
        message,
        ..
    } = &record.outcome
    else {
        panic!("{record:?}");
    };
    assert_eq!(message, "unauthorized");
    assert!(record.ended_at - record.started_at < 3_000.0);
    let record = call(&session, "null_id_then_answer", json!({})).await;
    assert_eq!(text(&record), "in the end");
    session.close().await;
}

#[tokio::test]
async fn answers_that_are_none_say_why() {
    let session = session("normal").await;
    for (tool, words) in [
        ("error_string_code", "not an integer: \"E_FAIL\""),
        ("error_no_code", "no code"),
        ("wrong_id", "id 4711, which we never sent"),
        ("broken_answer", "not JSON"),
        ("malformed_result", "not an object: \"just a text\""),
        ("malformed_content", "`content` is not a list"),
        ("null_result", "not an object: null"),
    ] {
        let record = call(&session, tool, json!({})).await;
        let CallOutcome::Malformed { message, .. } = &record.outcome else {
            panic!("{tool}: {record:?}");
        };
        assert!(message.contains(words), "{tool}: {message}");
        assert!(record.ended_at - record.started_at < 3_000.0, "{tool}");
    }
    let record = call(&session, "echo", json!({"text": "still here"})).await;
    assert_eq!(text(&record), "still here");
    session.close().await;
}

#[tokio::test]
async fn a_dying_server_is_told_with_status_and_stderr() {
    for (tool, words) in [
        ("die", &["exit code 7", "fatal: the planted reason"][..]),
        ("half_line", &["inside an answer", "exit code 3"]),
        ("close_stdout", &["closed its output and kept running"]),
    ] {
        let session = session("normal").await;
        let record = call(&session, tool, json!({"code": 7})).await;
        let CallOutcome::TransportLost { message } = &record.outcome else {
            panic!("{tool}: {record:?}");
        };
        for word in words {
            assert!(message.contains(word), "{tool}: {message}");
        }
        assert!(!session.is_alive(), "{tool}");
        let record = call(&session, "echo", json!({})).await;
        assert!(
            matches!(record.outcome, CallOutcome::TransportLost { .. }),
            "{record:?}"
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_call_without_an_answer_times_out_and_is_cancelled_on_the_wire() {
    let session = session("normal").await;
    let record = session.call("hang", object(json!({})), within(200)).await;
    assert!(
        matches!(record.outcome, CallOutcome::TimedOut { .. }),
        "{record:?}"
    );
    let frames = session.drain().frames;
    let last = frames
        .iter()
        .rfind(|frame| frame.direction == Direction::Sent);
    let last = &last.expect("something was sent").text;
    assert!(last.contains("notifications/cancelled"), "{last}");
    let record = call(&session, "echo", json!({"text": "next"})).await;
    assert_eq!(text(&record), "next");
    session.close().await;
}

#[tokio::test]
async fn a_late_answer_disturbs_nobody() {
    let session = session("normal").await;
    let record = session
        .call(
            "slow",
            object(json!({"ms": 300, "text": "late"})),
            within(100),
        )
        .await;
    assert!(matches!(record.outcome, CallOutcome::TimedOut { .. }));
    let record = call(&session, "slow", json!({"ms": 400, "text": "own"})).await;
    assert_eq!(text(&record), "own");
    let record = call(&session, "twice", json!({})).await;
    assert_eq!(text(&record), "first");
    let record = call(&session, "echo", json!({"text": "own"})).await;
    assert_eq!(text(&record), "own");
    session.close().await;
}

#[tokio::test]
async fn cancelling_and_dropping_tell_the_server() {
    let session = Arc::new(session("normal").await);
    let cancel = CancellationToken::new();
    let call_options = CallOptions::new(Duration::from_secs(5), cancel.clone());
    let running = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.call("hang", object(json!({})), call_options).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    cancel.cancel();
    let record = running.await.expect("the call ends");
    assert!(
        matches!(record.outcome, CallOutcome::Cancelled),
        "{record:?}"
    );

    let dropped = tokio::time::timeout(
        Duration::from_millis(100),
        session.call("hang", object(json!({})), within(5_000)),
    );
    assert!(dropped.await.is_err());
    let mut cancelled = 0;
    eventually("both are cancelled on the wire", || {
        let frames = session.drain().frames;
        cancelled += frames
            .iter()
            .filter(|frame| frame.text.contains("notifications/cancelled"))
            .count();
        cancelled == 2
    })
    .await;
}

#[tokio::test]
async fn parallel_calls_each_get_their_own_answer() {
    let session = session("normal").await;
    let started = Instant::now();
    let records = futures::future::join_all((0..20).map(|n| {
        let arguments = object(json!({"ms": 300 - n * 10, "text": n.to_string()}));
        session.call("slow", arguments, within(5_000))
    }))
    .await;
    assert!(started.elapsed() < Duration::from_secs(3));
    for (n, record) in records.iter().enumerate() {
        assert_eq!(text(record), n.to_string());
    }
    session.close().await;
}

#[tokio::test]
async fn progress_can_stretch_the_budget() {
    let session = session("normal").await;
    let arguments = || object(json!({"count": 5, "ms": 150}));
    let mut stretched = within(400);
    stretched.reset_on_progress = true;
    let record = session.call("progress", arguments(), stretched).await;
    assert_eq!(text(&record), "done");
    let record = session.call("progress", arguments(), within(400)).await;
    assert!(
        matches!(record.outcome, CallOutcome::TimedOut { .. }),
        "{record:?}"
    );
    session.close().await;
}

#[tokio::test]
async fn a_result_that_breaks_its_promise_is_a_finding_and_stays_a_result() {
    let session = session("normal").await;
    session.list().await.expect("listed");
    let own = Capture::new(CaptureLimits::default());
    let call_options = within(5_000).with_capture(own.clone());
    let record = session
        .call("broken_promise", object(json!({})), call_options)
        .await;
    assert_eq!(result(&record)["structuredContent"]["n"], "one");
    let lints = own.drain().lints;
    assert_eq!(lints[0].code, "outputSchemaViolated");
    assert_eq!(lints[0].tool_name.as_deref(), Some("broken_promise"));
    assert!(
        lints[0].message.contains("`/structuredContent/n`"),
        "{lints:?}"
    );
    call(&session, "broken_promise", json!({"code": 1})).await;
    assert!(session.drain().lints.is_empty());
    session.close().await;
}

#[tokio::test]
async fn frames_go_to_the_capture_of_their_call() {
    let session = session("normal").await;
    let _ = session.drain();
    let captures: Vec<_> = (0..2)
        .map(|_| Capture::new(CaptureLimits::default()))
        .collect();
    let records = futures::future::join_all(captures.iter().enumerate().map(|(n, capture)| {
        session.call(
            "progress",
            object(json!({"count": 2, "ms": 20 * (n + 1)})),
            within(5_000).with_capture(capture.clone()),
        )
    }))
    .await;
    assert_eq!(records.len(), 2);
    for capture in &captures {
        let frames = capture.drain().frames;
        assert_eq!(
            frames.len(),
            4,
            "request, two notifications, answer: {frames:?}"
        );
    }
    assert!(session.drain().frames.is_empty());

    let alone = Capture::new(CaptureLimits::default());
    session
        .call(
            "stderr",
            object(json!({"text": "to whom"})),
            within(5_000).with_capture(alone.clone()),
        )
        .await;
    let frames = alone.drain().frames;
    assert!(
        frames
            .iter()
            .any(|frame| frame.direction == Direction::Stderr && frame.text == "to whom"),
        "{frames:?}"
    );
    session.close().await;
}

#[tokio::test]
async fn noise_during_a_slow_call_is_no_answer() {
    let session = session("normal").await;
    let record = call(&session, "noisy", json!({"ms": 1_500})).await;
    assert_eq!(text(&record), "quiet again");
    session.close().await;
}

#[tokio::test]
async fn a_flood_of_notifications_stays_within_bounds() {
    let mut options = options();
    options.limits.capture.frames = 1_000;
    let session = connect(&faulty("normal"), &options)
        .await
        .expect("connects");
    let record = call(&session, "flood", json!({"count": 3_000})).await;
    assert_eq!(text(&record), "flooded");
    let captured = session.drain();
    assert_eq!(captured.frames.len(), 1_000);
    assert!(
        captured.frames_dropped >= 2_000,
        "{}",
        captured.frames_dropped
    );
    session.close().await;
}

#[tokio::test]
async fn a_huge_answer_is_hashed_and_dropped() {
    let mut options = options();
    options.limits.message_bytes = 1024 * 1024;
    let session = connect(&faulty("normal"), &options)
        .await
        .expect("connects");
    let record = call(&session, "huge", json!({"bytes": 500_000})).await;
    assert_eq!(text(&record).len(), 500_000);
    let record = call(&session, "huge", json!({"bytes": 4_000_000})).await;
    let CallOutcome::Malformed { message, .. } = &record.outcome else {
        panic!("{record:?}");
    };
    assert!(
        message.contains("at most 1048576 are read (SHA-256 "),
        "{message}"
    );
    let frames = session.drain().frames;
    let last = frames
        .iter()
        .max_by_key(|frame| frame.bytes)
        .expect("frames were kept");
    assert!(last.bytes > 4_000_000);
    assert_eq!(last.text.len(), 64 * 1024);
    let record = call(&session, "echo", json!({"text": "still here"})).await;
    assert_eq!(text(&record), "still here");
    session.close().await;
}

#[tokio::test]
async fn a_bottomless_answer_is_malformed() {
    let session = session("normal").await;
    let record = call(&session, "deep", json!({"count": 100_000})).await;
    let CallOutcome::Malformed { message, .. } = &record.outcome else {
        panic!("{record:?}");
    };
    assert!(message.contains("recursion limit"), "{message}");
    session.close().await;
}
