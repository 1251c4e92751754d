//! Records of a plausible size and shape.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use strandline_contract::{
    analytics::StageAnalytics,
    chain::{Chain, STAGE_ANALYZER_VERSION, StageEvidence, StageRow},
    overview::{RUN_OVERVIEW_VERSION, RunOverview},
    run::{ExecutionVariant, PlannedCase, RunRecord, RunStatus, ServerFacts, TrialRecord, Usage},
    trace::{Direction, Frame, Message, OfferedTools, Part, Role, Span, SpanStatus, Trace},
    words::{
        FailureCategory, IterationStatus, Stage, StageReason, StageState, TaskResult, Vocabulary,
    },
};

/// Start of every sample run, ms since the Unix epoch.
pub(crate) const STARTED: i64 = 1_796_083_200_000;

pub(crate) fn variant() -> ExecutionVariant {
    ExecutionVariant {
        model: "small-1".to_owned(),
        provider: Some("openai".to_owned()),
    }
}

/// A run of two cases with `trials` trials each: `orders` under a model, and
/// `ping` without one.
pub(crate) fn run(id: &str, trials: u32) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        status: RunStatus::Running,
        suite_id: "orders".to_owned(),
        suite_name: "Orders server".to_owned(),
        suite_path: "suites/orders.yaml".to_owned(),
        source_hash: "0a".repeat(32),
        resolved_hash: "0b".repeat(32),
        resolved_suite: json!({ "id": "orders", "cases": [{ "id": "orders" }, { "id": "ping" }] }),
        plan: vec![
            PlannedCase {
                case_id: "orders".to_owned(),
                title: "looks an order up".to_owned(),
                variant: Some(variant()),
                configured_trials: trials,
                pass_threshold: 0.8,
            },
            PlannedCase {
                case_id: "ping".to_owned(),
                title: "answers a ping".to_owned(),
                variant: None,
                configured_trials: trials,
                pass_threshold: 1.0,
            },
        ],
        settings: json!({ "concurrency": 8 }),
        servers: vec![ServerFacts {
            name: "shop".to_owned(),
            transport: "stdio".to_owned(),
            tools: vec![json!({ "name": "get_order", "inputSchema": { "type": "object" } })],
            tool_count: Some(1),
            ..ServerFacts::default()
        }],
        started_at: STARTED,
        ended_at: None,
        decision: None,
        integrity_error: None,
        error: None,
        scripted: false,
        strandline_version: "0.1.0".to_owned(),
    }
}

/// The same run at its end.
pub(crate) fn finished(mut run: RunRecord) -> RunRecord {
    run.status = RunStatus::Completed;
    run.ended_at = Some(run.started_at + 41_000);
    run.decision = Some(json!({ "verdictPolicyVersion": 2, "verdict": "passed" }));
    run
}

/// A trial of `run`'s case `orders`: it passed, or failed at the call.
pub(crate) fn trial(run_id: &str, iteration: u32, result: TaskResult) -> TrialRecord {
    let passed = result == TaskResult::Passed;
    let rows = Stage::ALL
        .iter()
        .map(|stage| StageRow {
            stage: *stage,
            state: match stage {
                Stage::Call if !passed => StageState::Failed,
                Stage::Response if !passed => StageState::NotReached,
                _ => StageState::Passed,
            },
            reason: Some(match stage {
                Stage::Call if !passed => StageReason::ArgumentMismatch,
                Stage::Response if !passed => StageReason::EarlierStageFailed,
                _ => StageReason::Observed,
            }),
            evidence: Some(StageEvidence {
                span_ids: Some(vec!["s1".into(), "s2".into()]),
                prompt_indexes: Some(vec![0]),
                predicate_reasons: None,
            }),
        })
        .collect();
    let call = json!({ "toolName": "get_order", "arguments": { "id": 4711 }, "toolCallId": "c1" });
    TrialRecord {
        id: format!("{run_id}-t{iteration:04}"),
        run_id: run_id.to_owned(),
        case_id: "orders".to_owned(),
        title: "looks an order up".to_owned(),
        variant: Some(variant()),
        iteration_number: iteration,
        status: IterationStatus::Completed,
        result: Some(result),
        evaluator_error: false,
        error: None,
        started_at: STARTED + i64::from(iteration),
        ended_at: STARTED + i64::from(iteration) + 812,
        expected_tool_calls: vec![json!({ "toolName": "get_order", "arguments": { "id": 4711 } })],
        actual_tool_calls: vec![call.clone()],
        prompts: vec![json!({ "promptIndex": 0, "matched": 1, "missing": 0, "unexpected": 0 })],
        predicate_results: vec![
            json!({ "kind": "answerContains", "passed": passed, "expected": "shipped", "role": "required" }),
        ],
        chain_input: json!({
            "status": "completed",
            "expectedToolCalls": [{ "toolName": "get_order", "arguments": { "id": 4711 } }],
            "actualToolCalls": [call],
            "spans": [
                { "id": "s1", "category": "llm", "status": "ok", "startedAt": 1_796_083_200_000.25 },
                { "id": "s2", "category": "tool", "status": "ok", "toolName": "get_order", "promptIndex": 0 },
            ],
            "toolResults": [{ "toolCallId": "c1", "isError": false }],
        }),
        chain: Chain {
            stage_results: rows,
            first_failed_stage: (!passed).then_some(Stage::Call),
            failure_category: (!passed).then_some(FailureCategory::Arguments),
            stage_analyzer_version: STAGE_ANALYZER_VERSION,
        },
        stage_measurements: json!({
            "version": 1,
            "stages": Stage::ALL.iter().map(|stage| json!({ "stage": stage.wire(), "durationMs": 3.5, "calls": 1 })).collect::<Vec<_>>(),
        }),
        stage_setup_audit: Some(json!({ "signals": [], "egress": { "state": "verified" } })),
        usage: Usage {
            input_tokens: Some(812),
            output_tokens: Some(96),
            total_tokens: Some(908),
            ..Usage::default()
        },
        policy_blocks: Vec::new(),
        skipped_steps: Vec::new(),
        model_requests: 2,
        model_wait_ms: 640.125,
        server_wait_ms: 12.5,
        metadata: Map::new(),
    }
}

/// A trial of `run`'s case `ping`.
pub(crate) fn ping(run_id: &str, iteration: u32, status: IterationStatus) -> TrialRecord {
    TrialRecord {
        id: format!("{run_id}-p{iteration:04}-{}", status.wire()),
        case_id: "ping".to_owned(),
        title: "answers a ping".to_owned(),
        variant: None,
        status,
        result: (status == IterationStatus::Completed).then_some(TaskResult::Passed),
        ..trial(run_id, iteration, TaskResult::Passed)
    }
}

/// What a one-call trial leaves behind: two model turns, one call, its frames.
pub(crate) fn trace() -> Trace {
    let at = 1_796_083_200_000.25;
    let text = |role, text: &str| Message {
        role,
        prompt_index: 0,
        parts: vec![Part::Text {
            text: text.to_owned(),
        }],
    };
    let span = |id: &str, name: &str, category: &str, start: f64, end: f64| Span {
        id: id.to_owned(),
        parent_id: Some("s0".to_owned()),
        name: name.to_owned(),
        category: category.to_owned(),
        status: SpanStatus::Ok,
        tool_name: (category == "tool").then(|| "get_order".to_owned()),
        tool_call_id: (category == "tool").then(|| "c1".to_owned()),
        prompt_index: Some(0),
        mcp_error_code: None,
        started_at: at + start,
        ended_at: at + end,
        attributes: BTreeMap::from([
            ("gen_ai.operation.name".into(), json!("chat")),
            ("gen_ai.request.model".into(), json!("small-1")),
            ("gen_ai.usage.input_tokens".into(), json!(406)),
            ("gen_ai.usage.output_tokens".into(), json!(48)),
        ]),
    };
    let frame = |direction, text: String, after: f64| Frame {
        at: at + after,
        server: "shop".to_owned(),
        direction,
        bytes: text.len() as u64,
        text,
        sha256: None,
        transport: Map::new(),
    };
    let result = json!({ "content": [{ "type": "text", "text": "{\"id\":4711,\"state\":\"shipped\",\"items\":[{\"sku\":\"A-1\",\"count\":2}]}" }], "isError": false });
    Trace {
        messages: vec![
            text(Role::System, "You help customers of a shop with their orders."),
            text(Role::User, "Where is my order 4711?"),
            Message {
                role: Role::Assistant,
                prompt_index: 0,
                parts: vec![Part::ToolCall {
                    tool_call_id: "c1".to_owned(),
                    tool_name: "get_order".to_owned(),
                    arguments: json!({ "id": 4711 }),
                    raw_arguments: None,
                    provider_state: None,
                }],
            },
            Message {
                role: Role::Tool,
                prompt_index: 0,
                parts: vec![Part::ToolResult {
                    tool_call_id: "c1".to_owned(),
                    tool_name: "get_order".to_owned(),
                    result: Some(result.clone()),
                    model_text: result.to_string(),
                    is_error: false,
                    policy_block: false,
                    error: None,
                }],
            },
            text(Role::Assistant, "Your order 4711 has been shipped."),
        ],
        spans: vec![
            span("s0", "step prompt", "step", 0.0, 812.0),
            span("s1", "chat small-1", "llm", 1.0, 402.5),
            span("s2", "tools/call get_order", "tool", 403.0, 415.5),
            span("s3", "chat small-1", "llm", 416.0, 811.0),
        ],
        frames: vec![
            frame(Direction::Sent, json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "strandline", "version": "0.1.0" } } }).to_string(), 0.1),
            frame(Direction::Received, json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "shop", "version": "1.2.3" } } }).to_string(), 0.4),
            frame(Direction::Sent, json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string(), 0.5),
            frame(Direction::Received, json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [{ "name": "get_order", "description": "Returns an order by its number.", "inputSchema": { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] } }] } }).to_string(), 0.9),
            frame(Direction::Sent, json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "get_order", "arguments": { "id": 4711 } } }).to_string(), 403.1),
            frame(Direction::Received, json!({ "jsonrpc": "2.0", "id": 3, "result": result }).to_string(), 415.4),
        ],
        frames_dropped: 0,
        offered_tools: vec![OfferedTools {
            prompt_index: 0,
            tool_names: vec!["get_order".to_owned()],
            aliases: BTreeMap::new(),
        }],
        adaptations: Vec::new(),
        lints: Vec::new(),
    }
}

/// An overview of `trials` trials of `run` without its cases.
pub(crate) fn overview(run_id: &str, trials: u64) -> RunOverview {
    RunOverview {
        version: RUN_OVERVIEW_VERSION,
        run_id: run_id.to_owned(),
        trials,
        cases: Vec::new(),
        friction: Vec::new(),
    }
}

/// A funnel of `run`'s `trials` trials, none of which was counted.
pub(crate) fn funnel(run_id: &str, trials: u64) -> StageAnalytics {
    let stages: Vec<_> = Stage::ALL
        .iter()
        .map(|stage| {
            json!({
                "stage": stage, "applicable": 0, "reached": 0, "notReached": 0, "reachUnknown": 0,
                "measured": 0, "passed": 0, "failed": 0, "notMeasured": 0, "notApplicable": 0,
                "excluded": {}, "reasons": [],
            })
        })
        .collect();
    let excluded = json!({ "integrity": trials });
    serde_json::from_value(json!({
        "schemaVersion": 1, "measurementUnit": "trial", "runId": run_id, "suiteId": "orders",
        "sourceIterationCount": trials, "stageAnalyzerVersion": STAGE_ANALYZER_VERSION,
        "measurementsSchemaVersion": 1, "materializationState": "final",
        "createdAt": STARTED, "updatedAt": STARTED, "includedTrials": 0,
        "excludedTrials": excluded, "totalTrials": trials,
        "excludedTrialDetail": { "chainMissing": trials },
        "slices": [{
            "slice": { "dimension": "overall" }, "includedTrials": 0, "excludedTrials": excluded,
            "failureCategories": [], "stages": stages,
        }],
        "setup": [],
    }))
    .expect("a funnel")
}
