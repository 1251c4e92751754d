use std::{fs, path::Path};

use assert_cmd::{Command, assert::Assert};
use serde_json::Value;

fn doctor(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("strandline").expect("the binary is built");
    command
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env_remove("STRANDLINE_EXE")
        .env_remove("OPENAI_API_KEY")
        .arg("doctor")
        .args(arguments)
        .assert()
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Returns the checks as `(check, verdict)`.
fn verdicts(assert: &Assert) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&stdout(assert)).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    document["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|check| (text(&check["check"]), text(&check["verdict"])))
        .collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_strandline")
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(check, verdict): &(&str, &str)| ((*check).to_owned(), (*verdict).to_owned());
    expected.iter().map(owned).collect()
}

#[test]
fn a_working_server_is_checked_one_by_one() {
    let folder = folder();
    let assert = doctor(folder.path(), &["--", binary(), "demo-server"]).success();
    let text = stdout(&assert);
    // How long the handshake took differs.
    let start = text.find("initialized in ").expect("connected") + "initialized in ".len();
    let end = start + text[start..].find(", protocol").expect("a time");
    let text = format!("{}N{}", &text[..start], &text[end..]);
    insta::assert_snapshot!(text);
}

#[test]
fn what_cannot_be_checked_is_said_to_be_unchecked() {
    let folder = folder();
    let failing = [
        "--json",
        "--",
        binary(),
        "demo-server",
        "--fail",
        "connection",
    ];
    let assert = doctor(folder.path(), &failing).code(4);
    assert_eq!(
        verdicts(&assert),
        pairs(&[
            ("connect", "failed"),
            ("list", "notChecked"),
            ("names", "notChecked"),
            ("describe", "notChecked"),
            ("schemas", "notChecked"),
            ("hints", "notChecked"),
            ("provider", "notChecked"),
            ("provider", "notChecked"),
            ("provider", "notChecked"),
            ("wire", "notChecked"),
        ])
    );
    let failing = [
        "--json",
        "--",
        binary(),
        "demo-server",
        "--fail",
        "discovery",
    ];
    let found = verdicts(&doctor(folder.path(), &failing).code(4));
    assert_eq!(found[..2], pairs(&[("connect", "ok"), ("list", "failed")]));
}

#[test]
fn a_suite_is_checked_with_its_models_and_servers() {
    let folder = folder();
    let suite = r#"
schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: { id: s, name: Orders }
target: { servers: [{ name: orders }, { name: billing }] }
mcpServers:
  orders: { command: "${STRANDLINE_EXE}", args: [demo-server] }
  billing: { command: "${STRANDLINE_EXE}", args: [demo-server, --fail, connection] }
defaults: { model: openai/gpt-5-mini, iterations: 1, passThreshold: 1, validity: {} }
cases:
  - { id: a, title: asks, steps: [{ id: p, kind: prompt, prompt: hello }], assertions: [{ type: responseContains, needle: x }] }
"#;
    fs::write(folder.path().join("strandline.yaml"), suite).expect("written");
    // A server that fails outweighs a missing key only by the table of §9.5.
    let found = verdicts(&doctor(folder.path(), &["--json"]).code(3));
    assert_eq!(found[..2], pairs(&[("load", "ok"), ("key", "failed")]));
    let connects: Vec<_> = found
        .iter()
        .filter(|(check, _)| check == "connect")
        .collect();
    assert_eq!(connects.len(), 2);
    let only = doctor(folder.path(), &["--json", "--server", "orders"]).code(3);
    assert!(!stdout(&only).contains("billing"));
    doctor(folder.path(), &["--server", "nobody"]).code(2);
}

#[test]
fn unset_variables_are_named_and_nothing_is_started() {
    let folder = folder();
    let config = r#"{"mcpServers": {"orders": {"command": "${NO_SUCH_VARIABLE_HERE}"}}}"#;
    fs::write(folder.path().join("mcp.json"), config).expect("written");
    let assert = doctor(folder.path(), &["--server", "orders"]).code(4);
    assert!(stdout(&assert).contains("NO_SUCH_VARIABLE_HERE"));
}

#[test]
fn a_provider_that_would_refuse_the_tools_is_a_failure_when_it_is_named() {
    let folder = folder();
    let arguments = [
        "--json",
        "--provider",
        "scripted",
        "--",
        binary(),
        "demo-server",
    ];
    let found = verdicts(&doctor(folder.path(), &arguments).success());
    assert!(
        found.contains(&("provider".to_owned(), "ok".to_owned())),
        "{found:?}"
    );
    doctor(
        folder.path(),
        &["--provider", "nobody", "--", binary(), "demo-server"],
    )
    .code(2);
}

#[test]
fn nothing_to_check_is_a_usage_error() {
    let folder = folder();
    let assert = doctor(folder.path(), &[]).code(2);
    assert_eq!(stdout(&assert), "");
}
