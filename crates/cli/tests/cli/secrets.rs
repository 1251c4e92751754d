//! What the binary knows to be secret never leaves it, even when a real server
//! hands out its whole environment.

use std::{fs, path::Path, process::Command};

use serde_json::json;
use tempfile::TempDir;

/// A key that the server inherits.
const INHERITED: &str = "sk-inherited-4f1d8a2b";
/// A value that the suite takes from the environment by `${NAME}`.
const EXPANDED: &str = "expanded-71c0 \"quoted\"";

fn strandline(home: &TempDir, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_strandline"))
        .args(arguments)
        .current_dir(home.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("OPENAI_API_KEY", INHERITED)
        .env("PLAIN_NAME", EXPANDED)
        .output()
        .expect("the binary starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_server_that_prints_its_environment_does_not_put_secrets_into_the_record() {
    let home = TempDir::new().expect("a temporary directory");
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join(
        "../../tests/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    );
    let suite = json!({
        "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
        "suite": {"id": "s_secrets", "name": "Secrets"},
        "target": {"servers": [{"name": "everything"}]},
        "mcpServers": {"everything": {
            "command": "node", "args": [server, "stdio"], "env": {"GIVEN": "${PLAIN_NAME}"}
        }},
        "defaults": {"model": "scripted/test", "iterations": 1, "passThreshold": 1, "validity": {}},
        "cases": [{
            "id": "prints", "title": "Prints its environment",
            "steps": [
                {"id": "call", "kind": "toolCall", "serverName": "everything", "toolName": "get-env", "arguments": {}},
                {"id": "ask", "kind": "prompt", "prompt": "Which variables are there?"},
            ],
            // The answer quotes what the server inherited, and a demand on it fails.
            "script": [{"call": [{"tool": "get-env", "arguments": {}}]}, {"say": format!("OPENAI_API_KEY={INHERITED}")}],
            "assertions": [{"type": "responseContains", "needle": "nothing"}],
        }],
    });
    fs::write(home.path().join("secrets.json"), suite.to_string()).expect("the suite is written");

    let mut shown = strandline(&home, &["run", "secrets.json", "--json", "summary.json"]);
    let summary = fs::read_to_string(home.path().join("summary.json"));
    shown += &summary.unwrap_or_else(|error| panic!("no summary: {error}: {shown}"));
    shown += &strandline(&home, &["show", "last"]);
    for more in [
        &["--json"][..],
        &["--trace"],
        &["--frames", "--trace", "--json"],
    ] {
        shown += &strandline(
            &home,
            &[&["show", "last", "--case", "prints"], more].concat(),
        );
    }

    assert!(
        shown.contains("OPENAI_API_KEY"),
        "the server printed it: {shown}"
    );
    assert!(shown.contains("GIVEN"), "the server printed it: {shown}");
    for secret in [INHERITED, EXPANDED, "71c0"] {
        let at = shown.find(secret);
        assert_eq!(
            at,
            None,
            "`{secret}` is shown: {:?}",
            at.map(|at| &shown[at.saturating_sub(300)..at + 60])
        );
    }
}
