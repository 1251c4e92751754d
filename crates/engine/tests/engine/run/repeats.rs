//! Repeating until decided: trials are added only where they decide something.

use serde_json::{Value, json};
use strandline_contract::{run::RunStatus, sequential::SequentialSettings};
use strandline_engine::run::{RunPlan, TrialKey};

use super::{case, plan, ran, suite};
use crate::support::faulty;

/// A case whose scripted trials pass (`true`) and fail in this order, over and
/// over.
fn repeated(id: &str, trials: &[bool], more: Value) -> Value {
    let iterations: Vec<Value> = trials
        .iter()
        .map(|passes| json!([{"say": if *passes { "yes" } else { "no" }}]))
        .collect();
    let mut case = case(json!({"iterations": iterations}), more);
    case["id"] = json!(id);
    case["assertions"] = json!([{"type": "responseContains", "needle": "yes"}]);
    case
}

fn until_decided(cases: Value, more: Value) -> RunPlan {
    let mut plan = plan(suite(cases, more), vec![faulty("normal")], None);
    plan.until_decided = Some(SequentialSettings::default());
    plan
}

/// Returns configured trials per case, as decided and as stored.
fn configured(record: &strandline_contract::run::RunRecord) -> Vec<(String, u64)> {
    let decision = record.decision.as_ref().expect("a decision");
    let decided: Vec<(String, u64)> = decision["cases"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let id = row["caseId"].as_str().expect("an id").to_owned();
            (id, row["configuredTrials"].as_u64().expect("a count"))
        })
        .collect();
    let planned: Vec<(String, u64)> = record
        .plan
        .iter()
        .map(|case| (case.case_id.clone(), case.configured_trials.into()))
        .collect();
    assert_eq!(decided, planned);
    decided
}

#[tokio::test]
async fn plain_cases_stop_early_and_close_ones_go_on_to_the_maximum() {
    let cases = json!([
        repeated("good", &[true], json!({"iterations": 5})),
        repeated("bad", &[false], json!({"iterations": 2})),
        repeated(
            "close",
            &[true, true, true, true, false],
            json!({"iterations": 5})
        ),
    ]);
    let more = json!({"defaults": {"passThreshold": 0.8}, "execution": {"concurrency": 4, "session": "shared"}});
    let ran = ran(until_decided(cases, more)).await;
    assert_eq!(ran.end.record.status, RunStatus::Completed);
    let expected = [("good", 12), ("bad", 3), ("close", 50)];
    let expected = expected.map(|(id, count)| (id.to_owned(), count));
    assert_eq!(configured(&ran.end.record), expected);
    assert_eq!(ran.trials.len(), 12 + 3 + 50);
    // The verdict is policy v2's, over every trial that ran.
    assert_eq!(ran.verdict(), "failed");
}

#[tokio::test]
async fn without_being_told_nothing_is_repeated() {
    let cases = json!([repeated("good", &[true], json!({"iterations": 2}))]);
    let mut plan = until_decided(cases, json!({}));
    plan.until_decided = None;
    let ran = ran(plan).await;
    assert_eq!(configured(&ran.end.record), [("good".to_owned(), 2)]);
}

#[tokio::test]
async fn trials_that_cannot_be_graded_are_not_repeated() {
    // The second model turn is missing: no trial of the case can be graded.
    let mut broken = case(
        json!([{"call": [{"tool": "echo", "arguments": {"text": "{{9}}"}}]}]),
        json!({"iterations": 3}),
    );
    broken["assertions"] = json!([{"type": "responseContains", "needle": "yes"}]);
    let ran = ran(until_decided(json!([broken]), json!({}))).await;
    assert!(ran.trials.iter().all(|(trial, _)| trial.result.is_none()));
    assert_eq!(ran.trials.len(), 3);
}

#[tokio::test]
async fn a_resumed_run_goes_on_where_its_trials_are_undecided() {
    let cases = || json!([repeated("good", &[true], json!({"iterations": 5}))]);
    let more = || json!({"defaults": {"passThreshold": 0.8}});
    let first = ran({
        let mut plan = until_decided(cases(), more());
        plan.until_decided = None;
        plan
    })
    .await;
    let mut plan = until_decided(cases(), more());
    plan.finished = first
        .trials
        .iter()
        .map(|(trial, _)| (TrialKey::of(trial), trial.into()))
        .collect();
    let resumed = ran(plan).await;
    assert_eq!(resumed.trials.len(), 7);
    let numbers: Vec<u32> = resumed
        .trials
        .iter()
        .map(|(trial, _)| trial.iteration_number)
        .collect();
    assert_eq!(numbers, [5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(configured(&resumed.end.record), [("good".to_owned(), 12)]);
}
