//! The client scenarios of the official MCP conformance suite: servers that
//! nobody here wrote, some of them odd on purpose.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs a scenario against a suite that makes one call; gives what the
/// conformance suite says.
fn scenario(name: &str, tool_name: &str, arguments: &Value) -> String {
    let home = TempDir::new().expect("a temporary directory");
    let suite = json!({
        "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
        "suite": {"id": "s_conformance", "name": "Conformance"},
        "target": {"servers": [{"name": "peer"}]},
        "defaults": {"model": "scripted/none", "iterations": 1, "passThreshold": 1, "validity": {}},
        "cases": [{
            "id": "calls", "title": "Calls a tool",
            "steps": [{
                "id": "call", "kind": "toolCall",
                "serverName": "peer", "toolName": tool_name, "arguments": arguments,
            }],
            "assertions": [{"type": "noToolErrors"}],
        }],
    });
    fs::write(home.path().join("suite.json"), suite.to_string()).expect("the suite is written");
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/servers/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    // The suite appends its server's URL to the client's command.
    let client = format!("{} run suite.json --url", env!("CARGO_BIN_EXE_strandline"));
    let output = Command::new("node")
        .arg(conformance)
        .args(["client", "--scenario", name, "--command", &client])
        .current_dir(home.path())
        .env("HOME", home.path())
        .output()
        .expect("node starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a check of the conformance suite succeeded.
fn succeeded(said: &str, check: &str) -> bool {
    let mut lines = said.lines().filter(|line| line.contains(check));
    lines.any(|line| line.contains("SUCCESS"))
}

#[test]
fn a_session_opens_as_the_protocol_says() {
    let said = scenario("initialize", "none", &json!({}));
    assert!(succeeded(&said, "mcp-client-initialization"), "{said}");
}

#[test]
fn a_tool_is_called_as_the_protocol_says() {
    let said = scenario("tools_call", "add_numbers", &json!({"a": 1, "b": 2}));
    assert!(succeeded(&said, "tool-add-numbers"), "{said}");
}

/// The answer comes only on another stream, after the first was closed.
#[test]
fn a_closed_answer_stream_is_taken_up_again() {
    let said = scenario("sse-retry", "test_reconnection", &json!({}));
    for check in ["client-sse-graceful-reconnect", "client-sse-last-event-id"] {
        assert!(succeeded(&said, check), "{check}: {said}");
    }
}
