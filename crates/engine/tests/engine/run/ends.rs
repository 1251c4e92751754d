//! How runs end: setup refused, stopped, out of time, resumed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strandline_contract::{
    run::RunStatus,
    words::{IterationStatus, Stage, StageReason, StageState, TaskResult},
};
use strandline_engine::run::{Stop, TrialKey};

use super::{case, one_case, plan, ran, ran_until, row, rows, suite};
use crate::support::faulty;

fn harmless() -> Value {
    case(json!([{"say": "Done."}]), json!({}))
}

#[tokio::test]
async fn a_server_that_never_starts_costs_no_model_request_and_is_not_blamed_unproven() {
    let ran = one_case("exit 3", harmless(), json!({})).await;
    let trial = ran.trial();
    assert_eq!(trial.status, IterationStatus::SetupFailed);
    assert_eq!(trial.model_requests, 0);
    assert_eq!(rows(trial)[0], "notMeasured/egressUnverified");
    assert_eq!(ran.verdict(), "inconclusive");
    let (code, message) = ran.end.setup_failure.expect("a setup failure");
    assert_eq!(code, "SERVER_CONNECT_FAILED");
    assert!(message.contains("the planted reason"), "{message}");
}

#[tokio::test]
async fn a_listing_that_fails_is_a_failed_discovery_and_no_agent_runs() {
    let ran = one_case("list-error -32603", harmless(), json!({})).await;
    let trial = ran.trial();
    assert_eq!(trial.chain.first_failed_stage, Some(Stage::Discovery));
    assert_eq!(
        row(trial, Stage::Discovery).reason,
        Some(StageReason::ToolsListFailed)
    );
    assert_eq!(row(trial, Stage::Connection).state, StageState::Passed);
    assert_eq!((trial.model_requests, trial.result), (0, None));
    assert_eq!(ran.verdict(), "inconclusive");
    assert_eq!(
        ran.end.setup_failure.expect("refused").0,
        "TOOL_CATALOG_FAILED"
    );
}

#[tokio::test]
async fn a_policy_that_denies_an_unlisted_tool_is_refused() {
    let ran = one_case(
        "normal",
        harmless(),
        json!({"defaults": {"toolPolicy": {"mode": "default", "deny": ["drop_everything"]}}}),
    )
    .await;
    let (code, message) = ran.end.setup_failure.expect("refused");
    assert_eq!(code, "TOOL_POLICY_INVALID");
    assert!(message.contains("drop_everything"), "{message}");
}

#[tokio::test]
async fn two_servers_with_one_tool_name_are_refused() {
    let mut second = faulty("normal");
    second.name = "other".to_owned();
    second.id = "other".to_owned();
    let suite = suite(
        json!([harmless()]),
        json!({"target": {"servers": [{"name": "under-test"}, {"name": "other"}]}}),
    );
    let ran = ran(plan(suite, vec![faulty("normal"), second], None)).await;
    assert_eq!(
        ran.end.setup_failure.expect("refused").0,
        "TOOL_NAME_CONFLICT"
    );
}

#[tokio::test]
async fn stopping_cancels_trials_in_flight_and_stores_what_they_have() {
    let stop = Stop::new();
    let suite = suite(
        json!([case(
            json!([{"call": [{"tool": "hang"}]}]),
            json!({"iterations": 3})
        )]),
        json!({"execution": {"toolCallTimeoutMs": 60_000}}),
    );
    let plan = plan(suite, vec![faulty("normal")], None);
    let stopper = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(700)).await;
        stopper.cancel();
    });
    let started = Instant::now();
    let ran = ran_until(plan, stop).await;
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(ran.end.record.status, RunStatus::Cancelled);
    assert_eq!(ran.trials.len(), 1, "the others never started");
    let trial = ran.trial();
    assert_eq!(trial.status, IterationStatus::Cancelled);
    assert_eq!(rows(trial)[0], "notMeasured/lifecycleStopped");
    assert_eq!(ran.verdict(), "inconclusive");
    assert!(ran.reasons().contains(&"configuredTrialsNotAttempted"));
}

#[tokio::test]
async fn fail_fast_starts_nothing_after_the_first_failure() {
    let failing = case(
        json!([{"say": "No."}]),
        json!({"iterations": 4, "assertions": [{"type": "responseContains", "needle": "yes"}]}),
    );
    let mut plan = plan(
        suite(json!([failing]), json!({})),
        vec![faulty("normal")],
        None,
    );
    plan.fail_fast = true;
    let ran = ran(plan).await;
    assert_eq!(ran.trials.len(), 1);
    assert_eq!(ran.end.record.status, RunStatus::Cancelled);
    assert_eq!(ran.verdict(), "inconclusive");
}

#[tokio::test]
async fn a_resumed_run_runs_only_what_is_missing() {
    let three = case(json!([{"say": "Done."}]), json!({"iterations": 3}));
    let suite = suite(json!([three]), json!({}));
    let first = ran(plan(suite.clone(), vec![faulty("normal")], None)).await;
    assert_eq!(first.trials.len(), 3);
    let mut again = plan(suite, vec![faulty("normal")], None);
    again.finished = first
        .trials
        .iter()
        .take(2)
        .map(|(trial, _)| (TrialKey::of(trial), trial.into()))
        .collect();
    let second = ran(again).await;
    assert_eq!(second.trials.len(), 1);
    assert_eq!(second.trials[0].0.iteration_number, 2);
    assert_eq!(second.verdict(), "passed");
    let decision = second.end.record.decision.expect("a decision");
    assert_eq!(decision["validity"]["eligibleTrials"], 3);
}

#[tokio::test]
async fn trials_run_side_by_side_and_all_are_counted() {
    let many = case(
        json!([{"call": [{"tool": "slow", "arguments": {"ms": 100}}]}, {"say": "Done."}]),
        json!({"iterations": 12}),
    );
    let suite = suite(json!([many]), json!({"execution": {"concurrency": 6}}));
    let ran = ran(plan(suite, vec![faulty("normal")], None)).await;
    assert_eq!(ran.trials.len(), 12);
    assert!(
        ran.trials
            .iter()
            .all(|(trial, _)| trial.result == Some(TaskResult::Passed))
    );
    assert_eq!(ran.verdict(), "passed");
}
