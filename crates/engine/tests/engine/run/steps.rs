//! What the steps of a case leave behind.

use serde_json::json;
use strandline_contract::{
    trace::{Part, Role},
    words::{FailureCategory, IterationStatus, Stage, StageReason, StageState, TaskResult},
};

use super::{asks_for, case, one_case, row, rows};

#[tokio::test]
async fn a_served_case_holds_at_every_stage() {
    let ran = one_case(
        "normal",
        case(
            json!([
                {"call": [{"tool": "echo", "arguments": {"text": "hello"}}]},
                {"say": "It says {{last/content/0/text}}."},
            ]),
            json!({"steps": asks_for("echo", json!({"text": "hello"})),
                   "assertions": [{"type": "responseContains", "needle": "says hello"}]}),
        ),
        json!({}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.result, Some(TaskResult::Passed), "{trial:#?}");
    assert_eq!(rows(trial), vec!["passed/observed"; 6]);
    assert_eq!(ran.verdict(), "passed");
    let roles: Vec<Role> = ran.trace().messages.iter().map(|said| said.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
    );
    assert!(
        ran.trace()
            .frames
            .iter()
            .any(|frame| frame.text.contains("tools/call"))
    );
    assert!(ran.end.record.scripted);
    assert_eq!(ran.end.record.servers[0].tool_list_pages, Some(1));
}

#[tokio::test]
async fn other_arguments_stop_at_the_call_and_name_no_server() {
    let ran = one_case(
        "normal",
        case(
            json!([{"call": [{"tool": "echo", "arguments": {"text": 1}}]}, {"say": "Done."}]),
            json!({"steps": asks_for("echo", json!({"text": "1"}))}),
        ),
        json!({}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.chain.first_failed_stage, Some(Stage::Call));
    assert_eq!(
        trial.chain.failure_category,
        Some(FailureCategory::Arguments)
    );
    assert_eq!(ran.verdict(), "failed");
}

#[tokio::test]
async fn a_tool_error_stops_at_the_response_and_a_protocol_error_at_the_call() {
    let table = [
        (
            "is_error",
            json!({}),
            Stage::Response,
            StageReason::ToolError,
            FailureCategory::ServerData,
        ),
        (
            "error",
            json!({"code": -32602}),
            Stage::Call,
            StageReason::ProtocolError,
            FailureCategory::ServerData,
        ),
        (
            "malformed_result",
            json!({}),
            Stage::Call,
            StageReason::ProtocolError,
            FailureCategory::ServerData,
        ),
        (
            "die",
            json!({"code": 3}),
            Stage::Call,
            StageReason::ProtocolError,
            FailureCategory::Setup,
        ),
        (
            "hang",
            json!({}),
            Stage::Call,
            StageReason::ProtocolError,
            FailureCategory::Setup,
        ),
    ];
    for (tool, arguments, stage, reason, category) in table {
        let ran = one_case(
            "normal",
            case(
                json!([{"call": [{"tool": tool, "arguments": arguments}]}, {"say": "Done."}]),
                json!({"steps": asks_for(tool, json!({}))}),
            ),
            json!({"execution": {"toolCallTimeoutMs": 1000}}),
        )
        .await;
        let trial = ran.trial();
        assert_eq!(trial.status, IterationStatus::Completed, "{tool}");
        assert_eq!(trial.result, Some(TaskResult::Failed), "{tool}");
        assert_eq!(
            trial.chain.first_failed_stage,
            Some(stage),
            "{tool}: {:?}",
            rows(trial)
        );
        assert_eq!(row(trial, stage).reason, Some(reason), "{tool}");
        assert_eq!(trial.chain.failure_category, Some(category), "{tool}");
    }
}

#[tokio::test]
async fn an_error_text_without_the_flag_is_no_tool_error() {
    let ran = one_case(
        "normal",
        case(
            json!([{"call": [{"tool": "error_text"}]}, {"say": "Done."}]),
            json!({"steps": asks_for("error_text", json!({}))}),
        ),
        json!({}),
    )
    .await;
    assert_eq!(row(ran.trial(), Stage::Response).state, StageState::Passed);
    assert_eq!(ran.trial().result, Some(TaskResult::Passed));
}

#[tokio::test]
async fn every_call_of_a_turn_has_one_result_in_its_order() {
    let ran = one_case(
        "normal",
        case(
            json!([
                {"call": [
                    {"tool": "slow", "arguments": {"ms": 300, "text": "a"}},
                    {"tool": "echo", "arguments": {"text": "same"}},
                    {"tool": "echo", "arguments": {"text": "same"}},
                    {"tool": "is_error"},
                ]},
                {"say": "Done."},
            ]),
            json!({}),
        ),
        json!({}),
    )
    .await;
    let parts = |role: Role| -> Vec<String> {
        ran.trace()
            .messages
            .iter()
            .filter(|message| message.role == role)
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::ToolCall { tool_call_id, .. } | Part::ToolResult { tool_call_id, .. } => {
                    Some(tool_call_id.clone())
                }
                Part::Text { .. } => None,
            })
            .collect()
    };
    let asked = parts(Role::Assistant);
    assert_eq!(asked.len(), 4);
    assert_eq!(asked, parts(Role::Tool));
    let spans: Vec<_> = ran
        .trace()
        .spans
        .iter()
        .filter(|span| span.category == "tool")
        .collect();
    assert!(spans[1].started_at < spans[0].ended_at, "the calls overlap");
}

#[tokio::test]
async fn what_the_model_got_wrong_never_reaches_the_server() {
    let ran = one_case(
        "normal",
        case(
            json!([
                {"call": [{"tool": "no_such_tool"}, {"tool": "echo", "arguments": "not an object"}]},
                {"say": "Done."},
            ]),
            json!({"steps": asks_for("echo", json!({"text": "x"}))}),
        ),
        json!({}),
    )
    .await;
    let sent = ran
        .trace()
        .frames
        .iter()
        .filter(|frame| frame.text.contains("tools/call"))
        .count();
    assert_eq!(sent, 0);
    let trial = ran.trial();
    assert_eq!(trial.actual_tool_calls.len(), 2);
    assert_eq!(
        row(trial, Stage::Response).state,
        StageState::NotReached,
        "{:?}",
        rows(trial)
    );
    assert_eq!(
        trial.chain.failure_category,
        Some(FailureCategory::Arguments)
    );
}

#[tokio::test]
async fn a_tool_that_nobody_listed_is_no_selection_failure() {
    let ran = one_case(
        "normal",
        case(
            json!([{"say": "I cannot."}]),
            json!({"steps": asks_for("tool_of_another_server", json!({}))}),
        ),
        json!({}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.result, Some(TaskResult::Failed));
    assert_eq!(row(trial, Stage::Selection).state, StageState::NotMeasured);
    assert!(
        ran.trace()
            .lints
            .iter()
            .any(|lint| lint.code == "expectedToolNotOffered")
    );
}

#[tokio::test]
async fn a_negative_case_fails_on_any_call() {
    let negative = |script| {
        case(
            script,
            json!({"isNegativeTest": true,
            "assertions": [{"type": "finalAssistantMessageNonEmpty"}]}),
        )
    };
    let quiet = one_case(
        "normal",
        negative(json!([{"say": "Nothing to do."}])),
        json!({}),
    )
    .await;
    assert_eq!(quiet.verdict(), "passed");
    let busy = one_case(
        "normal",
        negative(json!([{"call": [{"tool": "echo"}]}, {"say": "Done."}])),
        json!({}),
    )
    .await;
    assert_eq!(
        busy.trial().chain.first_failed_stage,
        Some(Stage::Selection)
    );
    assert_eq!(
        row(busy.trial(), Stage::Selection).reason,
        Some(StageReason::UnexpectedToolCall)
    );
}

#[tokio::test]
async fn a_pinned_call_needs_no_model_and_is_told_to_the_next_turn() {
    let ran = one_case(
        "normal",
        case(
            json!([{"say": "The echo said hi."}]),
            json!({"steps": [
                {"id": "pin", "kind": "toolCall", "serverName": "under-test", "toolName": "echo", "arguments": {"text": "hi"}},
                {"id": "check", "kind": "assert", "assertion": {"type": "toolResultContains", "needle": "hi"}},
                {"id": "ask", "kind": "prompt", "prompt": "What did it say?"},
            ]}),
        ),
        json!({}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.result, Some(TaskResult::Passed), "{trial:#?}");
    assert_eq!(trial.prompts.len(), 2);
    assert_eq!(trial.predicate_results.len(), 1);
}

#[tokio::test]
async fn a_required_check_that_fails_skips_the_rest() {
    let ran = one_case(
        "normal",
        case(
            json!([{"say": "No."}]),
            json!({"steps": [
                {"id": "ask", "kind": "prompt", "prompt": "Say yes."},
                {"id": "advisory", "kind": "assert", "assertion": {"type": "responseContains", "needle": "maybe", "role": "advisory"}},
                {"id": "yes", "kind": "assert", "assertion": {"type": "responseContains", "needle": "yes"}},
                {"id": "again", "kind": "prompt", "prompt": "Again."},
            ]}),
        ),
        json!({}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.status, IterationStatus::Completed);
    assert_eq!(trial.skipped_steps.len(), 1);
    assert_eq!(trial.skipped_steps[0].step_id, "again");
    assert_eq!(trial.chain.first_failed_stage, Some(Stage::UserValue));
}

#[tokio::test]
async fn a_denied_call_never_reaches_the_server_and_is_no_call() {
    let ran = one_case(
        "normal",
        case(
            json!([{"call": [{"tool": "echo", "arguments": {"text": "x"}}]}, {"say": "Blocked."}]),
            json!({}),
        ),
        json!({"defaults": {"toolPolicy": {"mode": "default", "deny": ["echo"]}}}),
    )
    .await;
    let trial = ran.trial();
    assert_eq!(trial.policy_blocks.len(), 1);
    assert!(trial.actual_tool_calls.is_empty());
    assert_eq!(rows(trial)[0], "notMeasured/blockedByPolicy");
    assert!(
        !ran.trace()
            .frames
            .iter()
            .any(|frame| frame.text.contains("tools/call"))
    );
}
