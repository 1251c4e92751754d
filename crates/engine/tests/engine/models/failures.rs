//! Every way in which a provider fails (field cases F14, F29, F32).

use std::time::{Duration, Instant};

use serde_json::json;
use strandline_engine::models::{Limits, ModelError, ModelErrorKind, RetryPolicy, ToolDefinition};
use strandline_testkit::model::{Answer, FakeModel, Reply};
use tokio_util::sync::CancellationToken;

use super::{
    KEY, PROVIDERS, ask, assistant, call, client, client_with, quick, request, result, results,
    user,
};

/// Asks against these replies, expects an error, and counts the requests.
async fn fail(provider: &str, replies: Vec<Reply>) -> (ModelError, usize) {
    let fake = FakeModel::with_replies(replies).await.expect("a port");
    let error = ask(&*client(provider, &fake)).await.expect_err("an error");
    assert!(!format!("{error} {error:?}").contains(KEY));
    (error, fake.request_count())
}

/// What is not passing is not asked for again.
#[tokio::test]
async fn failures_are_told_apart_by_status_and_code() {
    let cases = [
        (
            Reply::error(400, "invalid_request_error", "no"),
            ModelErrorKind::RequestRefused,
        ),
        (
            Reply::error(401, "authentication_error", "no"),
            ModelErrorKind::CredentialsRejected,
        ),
        (
            Reply::error(403, "permission_error", "no"),
            ModelErrorKind::CredentialsRejected,
        ),
        (
            Reply::error(402, "billing_error", "no"),
            ModelErrorKind::QuotaExhausted,
        ),
        (
            Reply::error(429, "insufficient_quota", "no"),
            ModelErrorKind::QuotaExhausted,
        ),
        (
            Reply::error(404, "not_found_error", "no such model"),
            ModelErrorKind::RequestRefused,
        ),
        (
            Reply::error(413, "request_too_large", "no"),
            ModelErrorKind::ContextTooLong,
        ),
        (
            Reply::error(400, "context_length_exceeded", "no"),
            ModelErrorKind::ContextTooLong,
        ),
        (Reply::withheld(), ModelErrorKind::ContentFiltered),
        (
            Reply::error(400, "content_filter", "no"),
            ModelErrorKind::ContentFiltered,
        ),
        (Reply::empty(), ModelErrorKind::Unreadable),
        (Reply::html(200), ModelErrorKind::Unreadable),
        (
            Reply::raw(200, "application/json", "{\"choices\": ["),
            ModelErrorKind::Unreadable,
        ),
        (
            Reply::raw(200, "application/json", ""),
            ModelErrorKind::Unreadable,
        ),
        (
            Reply::raw(200, "application/json", "[".repeat(10_000)),
            ModelErrorKind::Unreadable,
        ),
        (
            Reply::json(200, json!({"unknown": "shape"})),
            ModelErrorKind::Unreadable,
        ),
        (Reply::json(200, json!(null)), ModelErrorKind::Unreadable),
        (
            Reply::error_in_success("insufficient_quota"),
            ModelErrorKind::QuotaExhausted,
        ),
        (
            Reply::error_in_success("something_else"),
            ModelErrorKind::Unreadable,
        ),
        (
            Reply::raw(302, "text/plain", "").header("location", "http://127.0.0.1:1/"),
            ModelErrorKind::RequestRefused,
        ),
    ];
    for provider in PROVIDERS {
        for (reply, kind) in cases.clone() {
            let (error, requests) = fail(provider, vec![reply.clone()]).await;
            assert_eq!(error.kind, kind, "{provider} {reply:?}: {error}");
            assert_eq!((requests, error.attempts), (1, 1), "{provider} {reply:?}");
        }
    }
}

#[tokio::test]
async fn what_passes_is_asked_for_again_until_the_attempts_are_used_up() {
    let cases = [
        (
            Reply::error(429, "rate_limit_error", "You exceeded your current quota"),
            ModelErrorKind::RateLimited,
        ),
        (
            Reply::error(529, "overloaded_error", "no"),
            ModelErrorKind::Overloaded,
        ),
        (
            Reply::error(503, "overloaded_error", "no"),
            ModelErrorKind::Overloaded,
        ),
        (
            Reply::error(500, "api_error", "no"),
            ModelErrorKind::ServerFault,
        ),
        (Reply::html(502), ModelErrorKind::ServerFault),
        (
            Reply::json(200, json!({"error": {"code": 429, "message": "upstream"}})),
            ModelErrorKind::RateLimited,
        ),
        (Reply::cut_off(), ModelErrorKind::Unreadable),
        (Reply::hang_up(), ModelErrorKind::Transport),
    ];
    for provider in PROVIDERS {
        for (reply, kind) in cases.clone() {
            let (error, requests) = fail(provider, vec![reply.clone(); 6]).await;
            assert_eq!(error.kind, kind, "{provider} {reply:?}: {error}");
            assert_eq!((requests, error.attempts), (4, 4), "{provider} {reply:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_after_failures_counts_its_attempts() {
    for provider in PROVIDERS {
        let fake = FakeModel::with_replies([
            Reply::error(429, "rate_limit_error", "no"),
            Reply::cut_off(),
            Reply::text("Hi."),
        ])
        .await
        .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        assert_eq!((response.attempts, fake.request_count()), (3, 3));
    }
}

#[tokio::test]
async fn a_provider_that_asks_for_time_gets_it() {
    let fake = FakeModel::with_replies([
        Reply::error(429, "rate_limit_error", "no").retry_after("0.3"),
        Reply::text("Hi."),
    ])
    .await
    .expect("a port");
    ask(&*client("openai", &fake)).await.expect("an answer");
    let requests = fake.requests();
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_provider_that_asks_for_too_much_time_is_not_waited_for() {
    let fake =
        FakeModel::with_replies([Reply::error(429, "rate_limit_error", "no").retry_after("3600")])
            .await
            .expect("a port");
    let start = Instant::now();
    let error = ask(&*client("anthropic", &fake))
        .await
        .expect_err("an error");
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert!(error.message.contains("asks to wait 3600s"), "{error}");
}

#[tokio::test]
async fn a_silent_provider_is_left_after_the_timeout() {
    for reply in [
        Reply::silence(),
        Reply::text("late").delayed(Duration::from_secs(60)),
    ] {
        let fake = FakeModel::with_replies([reply]).await.expect("a port");
        let limits = Limits {
            request_timeout: Duration::from_millis(150),
            ..quick()
        };
        let error = ask(&*client_with("google", &fake, limits))
            .await
            .expect_err("an error");
        assert_eq!(error.kind, ModelErrorKind::TimedOut);
        assert_eq!(fake.request_count(), 1);
    }
}

#[tokio::test]
async fn a_cancelled_trial_waits_for_nothing() {
    let slow = Limits {
        retry: RetryPolicy {
            first_delay: Duration::from_secs(30),
            ..RetryPolicy::default()
        },
        ..Limits::default()
    };
    for replies in [
        vec![Reply::silence()],
        vec![Reply::error(500, "api_error", "no"); 2],
        vec![Reply::error(429, "rate_limit_error", "no").retry_after("30"); 2],
    ] {
        let fake = FakeModel::with_replies(replies).await.expect("a port");
        let client = client_with("openai", &fake, slow);
        let cancel = CancellationToken::new();
        let messages = [user("hello")];
        let start = Instant::now();
        let (outcome, ()) =
            tokio::join!(client.complete(request(&messages, &[]), &cancel), async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                cancel.cancel();
            });
        assert_eq!(
            outcome.map_err(|error| error.kind).err(),
            Some(ModelErrorKind::Cancelled)
        );
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn nobody_listening_is_a_transport_fault() {
    let fake = FakeModel::with_replies([]).await.expect("a port");
    let client = client("openai", &fake);
    drop(fake);
    tokio::task::yield_now().await;
    let error = ask(&*client).await.expect_err("an error");
    assert_eq!(
        (error.kind, error.attempts),
        (ModelErrorKind::Transport, 4),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_not_read() {
    let fake = FakeModel::with_replies([Reply::text("x".repeat(100_000))])
        .await
        .expect("a port");
    let limits = Limits {
        max_body_bytes: 10_000,
        ..quick()
    };
    let error = ask(&*client_with("openai", &fake, limits))
        .await
        .expect_err("an error");
    assert_eq!(error.kind, ModelErrorKind::Unreadable);
    assert!(error.message.contains("longer than 10000 bytes"), "{error}");
}

#[tokio::test]
async fn a_key_never_comes_back_out() {
    let starred = format!("{}***{}", &KEY[..12], &KEY[20..]);
    for provider in PROVIDERS {
        for reply in [
            Reply::error(401, KEY, &format!("Incorrect API key provided: {KEY}.")),
            Reply::error(
                401,
                "invalid_api_key",
                &format!("Incorrect API key provided: {starred}"),
            ),
            Reply::raw(500, "text/plain", KEY),
            Reply::raw(200, "text/plain", KEY),
            Reply::json(200, json!({"error": KEY})),
        ] {
            let (error, _) = fail(provider, vec![reply; 4]).await;
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains(&KEY[..12]), "{shown}");
        }
        let fake = FakeModel::with_replies([Reply::text(format!("The key is {KEY}."))])
            .await
            .expect("a port");
        let response = ask(&*client(provider, &fake)).await.expect("an answer");
        assert!(!format!("{response:?}").contains(KEY));
    }
}

#[tokio::test]
async fn a_providers_words_are_one_bounded_line() {
    let prose = format!("first\nsecond\u{1b}[31m {}", "long ".repeat(1_000));
    let (error, _) = fail(
        "openai",
        vec![Reply::error(400, "invalid_request_error", &prose)],
    )
    .await;
    assert!(error.message.chars().count() < 500);
    assert!(!error.message.contains(['\n', '\u{1b}']));
    assert!(
        error
            .message
            .starts_with("HTTP 400 from 127.0.0.1: invalid_request_error: first second"),
        "{error}"
    );
}

#[tokio::test]
async fn a_context_too_long_names_the_result_that_takes_most_room() {
    let messages = [
        user("hello"),
        assistant(vec![
            call("a", "small", json!({})),
            call("b", "read_log", json!({})),
        ]),
        results(vec![
            result("a", "small", "x"),
            result("b", "read_log", &"x".repeat(5_000)),
        ]),
    ];
    let fake = FakeModel::with_replies([Reply::error(400, "context_length_exceeded", "too long")])
        .await
        .expect("a port");
    let error = client("openai", &fake)
        .complete(request(&messages, &[]), &CancellationToken::new())
        .await
        .expect_err("an error");
    assert_eq!(error.kind, ModelErrorKind::ContextTooLong);
    assert!(
        error
            .message
            .ends_with("the largest tool result is one of `read_log` with 5000 bytes"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_request_names_the_tool_and_the_keyword() {
    let tools = [
        ToolDefinition {
            name: "flat".to_owned(),
            description: None,
            input_schema: json!({"type": "object", "properties": {}}),
        },
        ToolDefinition {
            name: "conditional".to_owned(),
            description: None,
            input_schema: json!({"type": "object", "allOf": [{"if": {}, "then": {}}]}),
        },
    ];
    let messages = [user("hello")];
    let fake = FakeModel::with_replies([Reply::error(400, "invalid_request_error", "no")])
        .await
        .expect("a port");
    let error = client("anthropic", &fake)
        .complete(request(&messages, &tools), &CancellationToken::new())
        .await
        .expect_err("an error");
    assert_eq!(error.kind, ModelErrorKind::RequestRefused);
    assert!(
        error
            .message
            .contains("tool `conditional`: anthropic refuses"),
        "{error}"
    );
    assert!(
        error.message.contains("`allOf`") && !error.message.contains("`flat`"),
        "{error}"
    );
}

#[tokio::test]
async fn the_end_of_the_context_window_without_a_word_is_too_long() {
    let answer = Answer {
        finish_reason: Some("model_context_window_exceeded".to_owned()),
        ..Answer::default()
    };
    let (error, _) = fail("anthropic", vec![answer.into()]).await;
    assert_eq!(error.kind, ModelErrorKind::ContextTooLong);
}

#[tokio::test]
async fn a_blocked_prompt_and_a_failed_choice_are_the_providers() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    let (error, _) = fail("google", vec![Reply::json(200, blocked)]).await;
    assert_eq!(
        (error.kind, error.code.as_deref()),
        (ModelErrorKind::ContentFiltered, Some("PROHIBITED_CONTENT"))
    );
    let failed = json!({"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error", "message": {"content": ""}}]});
    let (error, requests) = fail("openrouter", vec![Reply::json(200, failed); 4]).await;
    assert_eq!((error.kind, requests), (ModelErrorKind::ServerFault, 4));
}
