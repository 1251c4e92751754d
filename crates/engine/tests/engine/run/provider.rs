//! The provider's faults are the provider's (field case F32).

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use strandline_contract::{
    run::ErrorLayer,
    words::{FailureCategory, IterationStatus, StageReason, StageState, TaskResult},
};
use strandline_engine::models::{Limits, ModelClient, ModelFactory, ModelSettings, RetryPolicy};
use strandline_testkit::model::{FakeModel, Reply};

use super::{Ran, asks_for, plan, ran, suite};
use crate::support::faulty;

/// Runs one case under a fake provider that gives these replies.
async fn under(replies: Vec<Reply>, iterations: u32, validity: Value) -> (Ran, usize) {
    let endpoint = FakeModel::with_replies(replies).await.expect("a free port");
    let settings = ModelSettings {
        base_url: Some(endpoint.base_url()),
        limits: Limits {
            retry: RetryPolicy {
                max_attempts: 2,
                first_delay: Duration::from_millis(5),
                ..RetryPolicy::default()
            },
            ..Limits::default()
        },
    };
    let model: Arc<dyn ModelClient> = ModelFactory::new(settings)
        .client("openai", "gpt-test", &|name| {
            (name == "OPENAI_API_KEY").then(|| "sk-test-0123456789".to_owned())
        })
        .expect("a client");
    let suite = suite(
        json!([{
            "id": "c", "title": "Case", "iterations": iterations,
            "steps": asks_for("echo", json!({"text": "x"})),
            "assertions": [{"type": "responseContains", "needle": "x"}],
        }]),
        json!({"defaults": {"model": "openai/gpt-test", "validity": validity}}),
    );
    let ran = ran(plan(suite, vec![faulty("normal")], Some(&model))).await;
    (ran, endpoint.request_count())
}

fn served() -> [Reply; 2] {
    [
        Reply::call("echo", &json!({"text": "x"})),
        Reply::text("It says x."),
    ]
}

#[tokio::test]
async fn exhausted_retries_are_a_provider_error_and_fail_no_stage() {
    for reply in [
        Reply::error(429, "rate_limit_exceeded", "your quota of requests"),
        Reply::error(529, "overloaded_error", "busy"),
        Reply::error(402, "insufficient_quota", "pay"),
        Reply::html(502),
        Reply::cut_off(),
        Reply::empty(),
        Reply::error_in_success("server_error"),
        Reply::hang_up(),
    ] {
        let (ran, _) = under(
            vec![reply.clone(), reply.clone(), reply.clone()],
            1,
            json!({}),
        )
        .await;
        let trial = ran.trial();
        assert_eq!(trial.status, IterationStatus::Failed, "{reply:?}");
        let error = trial.error.as_ref().expect("an error");
        assert_eq!(error.layer, ErrorLayer::Model);
        assert!(
            trial
                .chain
                .stage_results
                .iter()
                .all(|row| row.state != StageState::Failed),
            "{reply:?}: {:#?}",
            trial.chain
        );
        assert!(
            trial
                .chain
                .stage_results
                .iter()
                .any(|row| row.reason == Some(StageReason::ProviderError))
        );
        assert_eq!(trial.chain.failure_category, Some(FailureCategory::Setup));
        assert_eq!(ran.verdict(), "inconclusive");
        assert!(ran.reasons().contains(&"completionRateBelowMinimum"));
    }
}

#[tokio::test]
async fn a_passing_fault_is_retried_and_leaves_no_mark() {
    let [call, text] = served();
    let (ran, requests) = under(
        vec![Reply::error(503, "unavailable", "later"), call, text],
        1,
        json!({}),
    )
    .await;
    assert_eq!(requests, 3);
    assert_eq!(
        ran.trial().result,
        Some(TaskResult::Passed),
        "{:#?}",
        ran.trial()
    );
    assert_eq!(ran.trial().model_requests, 3);
    assert_eq!(ran.verdict(), "passed");
}

#[tokio::test]
async fn trials_that_the_provider_lost_never_lower_the_pass_rate() {
    let mut replies: Vec<Reply> = Vec::new();
    for _ in 0..2 {
        replies.push(Reply::error(529, "overloaded_error", "busy"));
    }
    for _ in 0..4 {
        replies.extend(served());
    }
    let (ran, _) = under(replies, 5, json!({"minEligibleTrials": 4})).await;
    assert_eq!(ran.verdict(), "passed");
    let decision = ran.end.record.decision.expect("a decision");
    assert_eq!(decision["cases"][0]["passRate"]["denominator"], 4);
    assert_eq!(
        decision["cases"][0]["passRate"]["exclusions"]["executionFailed"],
        1
    );
}

#[tokio::test]
async fn rejected_credentials_end_the_run_at_once_and_the_key_is_nowhere() {
    let replies = vec![Reply::error(401, "invalid_api_key", "wrong key sk-test-0123456789"); 5];
    let (ran, requests) = under(replies, 5, json!({})).await;
    assert_eq!(requests, 1);
    assert!(ran.end.credentials_rejected.is_some());
    let everything = format!("{:?}{:?}", ran.end, ran.trials);
    assert!(!everything.contains("sk-test-0123456789"));
}

#[tokio::test]
async fn arguments_that_are_no_json_are_the_models_finding() {
    let bad = Reply::call_with_text("echo", "{\"text\": ");
    let (ran, _) = under(vec![bad, Reply::text("x")], 1, json!({})).await;
    let trial = ran.trial();
    assert_eq!(trial.status, IterationStatus::Completed);
    assert_eq!(
        trial.chain.failure_category,
        Some(FailureCategory::Arguments)
    );
    assert!(
        !ran.trace()
            .frames
            .iter()
            .any(|frame| frame.text.contains("tools/call"))
    );
}
