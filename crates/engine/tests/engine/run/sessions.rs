//! Fresh and shared sessions, late tools.

use serde_json::{Value, json};
use strandline_contract::words::TaskResult;

use super::{case, plan, ran, suite};
use crate::support::faulty;

fn dying_then_fine() -> Value {
    case(
        json!({"iterations": [
            [{"call": [{"tool": "die", "arguments": {"code": 1}}]}, {"say": "Gone."}],
            [{"call": [{"tool": "echo", "arguments": {"text": "x"}}]}, {"say": "Done."}],
        ]}),
        json!({"iterations": 2}),
    )
}

#[tokio::test]
async fn a_server_that_died_in_one_trial_is_there_again_for_the_next() {
    for session in ["fresh", "shared"] {
        let suite = suite(
            json!([dying_then_fine()]),
            json!({"execution": {"session": session}}),
        );
        let ran = ran(plan(suite, vec![faulty("normal")], None)).await;
        let results: Vec<_> = ran.trials.iter().map(|(trial, _)| trial.result).collect();
        assert_eq!(
            results,
            [Some(TaskResult::Failed), Some(TaskResult::Passed)],
            "{session}"
        );
    }
}

#[tokio::test]
async fn trials_that_share_a_session_keep_their_own_frames() {
    let suite = suite(
        json!([case(
            json!({"iterations": [
                [{"call": [{"tool": "slow", "arguments": {"ms": 50, "text": "first"}}]}, {"say": "1"}],
                [{"call": [{"tool": "slow", "arguments": {"ms": 50, "text": "second"}}]}, {"say": "2"}],
            ]}),
            json!({"iterations": 2}),
        )]),
        json!({"execution": {"session": "shared", "concurrency": 2}}),
    );
    let ran = ran(plan(suite, vec![faulty("normal")], None)).await;
    for (trial, trace) in &ran.trials {
        let (own, other) = if trial.iteration_number == 0 {
            ("first", "second")
        } else {
            ("second", "first")
        };
        let texts: String = trace
            .frames
            .iter()
            .map(|frame| frame.text.as_str())
            .collect();
        assert!(texts.contains(own), "{own}: {texts}");
        assert!(!texts.contains(other), "{own}: {texts}");
    }
}

#[tokio::test]
async fn a_tool_that_arrives_during_a_trial_is_offered_from_then_on() {
    let suite = suite(
        json!([case(
            json!([
                {"say": "Let me wait.", "delayMs": 600},
                {"say": "Done."},
            ]),
            json!({"steps": [
                {"id": "first", "kind": "prompt", "prompt": "What can you do?"},
                {"id": "second", "kind": "prompt", "prompt": "And now?"},
            ]}),
        )]),
        json!({}),
    );
    let ran = ran(plan(suite, vec![faulty("late-tools 200")], None)).await;
    let offered = &ran.trace().offered_tools;
    assert_eq!(offered.len(), 2, "{offered:#?}");
    assert!(offered[1].tool_names.len() > offered[0].tool_names.len());
    assert!(
        ran.trace()
            .adaptations
            .iter()
            .any(|adaptation| adaptation.kind == "toolsListedAgain")
    );
}
