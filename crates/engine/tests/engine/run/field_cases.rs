//! Misbehaviour met in the field, as whole runs: where value stopped, what was
//! decided, and what is noted beside it.

use futures::future::join_all;
use serde_json::{Value, json};
use strandline_contract::words::FailureCategory;

use super::{Ran, asks_for, case, one_case, rows};

/// What a field case must give.
struct Golden {
    id: &'static str,
    mode: &'static str,
    script: Value,
    steps: Value,
    rows: [&'static str; 6],
    category: Option<FailureCategory>,
    verdict: &'static str,
    /// Codes of lints and kinds of adaptations that must be there.
    noted: &'static [&'static str],
}

const HELD: &str = "passed/observed";
const NEVER_RAN: &str = "notReached/earlierStageFailed";
const NO_CHECK: &str = "notApplicable/notAuthored";

fn asks() -> Value {
    json!([{"id": "ask", "kind": "prompt", "prompt": "Go."}])
}

fn calls(tool: &str, arguments: Value) -> Value {
    json!([{"call": [{"tool": tool, "arguments": arguments}]}, {"say": "Done."}])
}

fn goldens() -> Vec<Golden> {
    let served = [HELD, HELD, HELD, HELD, HELD, NO_CHECK];
    vec![
        Golden {
            id: "F01 log lines on stdout",
            mode: "banner",
            script: calls("echo", json!({"text": "x"})),
            steps: asks_for("echo", json!({"text": "x"})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &["stdoutNoise"],
        },
        Golden {
            id: "F02 junk for every message",
            mode: "junk-storm",
            script: calls("echo", json!({"text": "x"})),
            steps: asks_for("echo", json!({"text": "x"})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &["stdoutNoise"],
        },
        Golden {
            id: "F08 slow start within the budget",
            mode: "slow-init 1500",
            script: calls("echo", json!({"text": "x"})),
            steps: asks_for("echo", json!({"text": "x"})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &[],
        },
        Golden {
            id: "F08 slow start over the budget",
            mode: "slow-init 9000",
            script: json!([{"say": "Done."}]),
            steps: asks(),
            rows: [
                "notMeasured/egressUnverified",
                "notMeasured/traceAbsent",
                "notMeasured/setupAborted",
                NO_CHECK,
                NO_CHECK,
                NO_CHECK,
            ],
            category: Some(FailureCategory::Setup),
            verdict: "inconclusive",
            noted: &[],
        },
        Golden {
            id: "F10 listing answered with an error",
            mode: "list-error -32603",
            script: json!([{"say": "I listed everything."}]),
            steps: asks(),
            rows: [
                HELD,
                "failed/toolsListFailed",
                NEVER_RAN,
                NO_CHECK,
                NO_CHECK,
                NO_CHECK,
            ],
            category: Some(FailureCategory::Setup),
            verdict: "inconclusive",
            noted: &[],
        },
        Golden {
            id: "F10 listing never answered",
            mode: "list-hang",
            script: json!([{"say": "Done."}]),
            steps: asks(),
            rows: [
                HELD,
                "failed/toolsListFailed",
                NEVER_RAN,
                NO_CHECK,
                NO_CHECK,
                NO_CHECK,
            ],
            category: Some(FailureCategory::Setup),
            verdict: "inconclusive",
            noted: &[],
        },
        Golden {
            id: "F10 no tools, and a tale of having used one",
            mode: "no-tools",
            script: json!([{"say": "I called `echo` and it said x."}]),
            steps: asks_for("echo", json!({"text": "x"})),
            rows: [
                HELD,
                HELD,
                "notMeasured/noEvidenceCaptured",
                "notMeasured/noEvidenceCaptured",
                "notMeasured/noEvidenceCaptured",
                NO_CHECK,
            ],
            category: None,
            verdict: "failed",
            noted: &["expectedToolNotOffered"],
        },
        Golden {
            // The pages' tools cannot be called; what counts is that the choice
            // of one on page 3 is no selection failure.
            id: "F11 the tool is on the third page",
            mode: "pages 101",
            script: calls("tool_100", json!({})),
            steps: asks_for("tool_100", json!({})),
            rows: [
                HELD,
                HELD,
                HELD,
                "failed/protocolError",
                NEVER_RAN,
                NO_CHECK,
            ],
            category: Some(FailureCategory::ServerData),
            verdict: "failed",
            noted: &[],
        },
        Golden {
            id: "F21 a list written as text is forwarded as it is",
            mode: "normal",
            script: calls("arguments", json!({"tasks": "[{\"a\":1}]"})),
            steps: asks_for("arguments", json!({"tasks": "array"})),
            rows: [HELD, HELD, HELD, "failed/argumentMismatch", HELD, NO_CHECK],
            category: Some(FailureCategory::Arguments),
            verdict: "failed",
            noted: &[],
        },
        Golden {
            id: "F22 no arguments are an empty object",
            mode: "normal",
            script: json!([{"call": [{"tool": "arguments"}]}, {"say": "Done."}]),
            steps: asks_for("arguments", json!({})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &[],
        },
        Golden {
            id: "F26 a failure told as a result",
            mode: "normal",
            script: calls("error_text", json!({})),
            steps: asks_for("error_text", json!({})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &[],
        },
        Golden {
            id: "F26 a failure flagged as one",
            mode: "normal",
            script: calls("is_error", json!({})),
            steps: asks_for("is_error", json!({})),
            rows: [HELD, HELD, HELD, HELD, "failed/toolError", NO_CHECK],
            category: Some(FailureCategory::ServerData),
            verdict: "failed",
            noted: &[],
        },
        Golden {
            id: "F26 a tool failure thrown as a protocol error",
            mode: "normal",
            script: calls("error", json!({"code": -32603})),
            steps: asks_for("error", json!({})),
            rows: [
                HELD,
                HELD,
                HELD,
                "failed/protocolError",
                NEVER_RAN,
                NO_CHECK,
            ],
            category: Some(FailureCategory::ServerData),
            verdict: "failed",
            noted: &[],
        },
        Golden {
            id: "F29 a huge result is cut for the model",
            mode: "normal",
            script: calls("huge", json!({"bytes": 1_000_000})),
            steps: asks_for("huge", json!({})),
            rows: served,
            category: None,
            verdict: "passed",
            noted: &["resultCut"],
        },
    ]
}

#[tokio::test]
async fn field_cases_give_their_golden_decisions() {
    let goldens = goldens();
    let runs = join_all(goldens.iter().map(|golden| {
        one_case(
            golden.mode,
            case(golden.script.clone(), json!({"steps": golden.steps})),
            json!({"execution": {"setupTimeoutMs": 5_000}}),
        )
    }))
    .await;
    for (golden, ran) in goldens.iter().zip(runs) {
        let trial = ran.trial();
        assert_eq!(rows(trial), golden.rows, "{}", golden.id);
        assert_eq!(
            trial.chain.failure_category, golden.category,
            "{}",
            golden.id
        );
        assert_eq!(ran.verdict(), golden.verdict, "{}", golden.id);
        for word in golden.noted {
            assert!(
                notes(&ran).iter().any(|note| note == word),
                "{}: {word}",
                golden.id
            );
        }
    }
}

/// Returns every lint's code and every adaptation's kind of the run.
fn notes(ran: &Ran) -> Vec<String> {
    let trace = ran.trace();
    let of_servers = ran
        .end
        .record
        .servers
        .iter()
        .flat_map(|server| &server.lints);
    trace
        .lints
        .iter()
        .chain(of_servers)
        .map(|lint| lint.code.clone())
        .chain(
            trace
                .adaptations
                .iter()
                .map(|adaptation| adaptation.kind.clone()),
        )
        .collect()
}
