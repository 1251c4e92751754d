use std::{fs, path::Path};

use assert_cmd::{Command, assert::Assert};
use strandline_suite::{LoadOptions, load};

fn strandline(folder: &Path, arguments: &[&str]) -> Assert {
    Command::cargo_bin("strandline")
        .expect("the binary is built")
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("STRANDLINE_EXE")
        .args(arguments)
        .assert()
}

fn stderr(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_strandline")
}

#[test]
fn without_a_server_the_example_is_written_and_loads() {
    let folder = folder();
    let said = stderr(&strandline(folder.path(), &["init"]).success());
    assert!(
        said.contains("next: strandline run strandline.yaml"),
        "{said}"
    );
    let text = fs::read_to_string(folder.path().join("strandline.yaml")).expect("written");
    assert!(text.contains("strandline run strandline.yaml"));
    assert!(!text.contains("cargo run"));
    assert!(load(&text, &LoadOptions::authored()).is_ok());
}

#[test]
fn a_server_gives_one_case_per_tool() {
    let folder = folder();
    let said = stderr(
        &strandline(
            folder.path(),
            &[
                "init",
                "--name",
                "orders",
                "-o",
                "desk.yaml",
                "--",
                binary(),
                "demo-server",
            ],
        )
        .success(),
    );
    assert!(
        said.contains("6 cases; 5 run as they are, held back until you have looked: 1"),
        "{said}"
    );
    let text = fs::read_to_string(folder.path().join("desk.yaml")).expect("written");
    let loaded = load(&text, &LoadOptions::authored()).expect("the suite loads");
    let cases: Vec<(&str, bool)> = loaded
        .resolved
        .cases
        .iter()
        .map(|case| (case.id.as_str(), case.disabled))
        .collect();
    assert_eq!(
        cases,
        [
            ("search_orders", false),
            ("find_customer", false),
            ("get_order", false),
            ("list_orders", false),
            ("get_invoice", false),
            ("refund_order", true),
        ]
    );
    insta::assert_snapshot!(text.replace(binary(), "strandline"));
}

#[test]
fn a_server_of_mcp_json_is_not_copied_into_the_suite() {
    let folder = folder();
    let config = serde_json::json!({"mcpServers": {"orders": {
        "command": "${STRANDLINE_EXE}", "args": ["demo-server"]
    }}});
    fs::write(folder.path().join("mcp.json"), config.to_string()).expect("written");
    strandline(folder.path(), &["init", "--server", "orders"]).success();
    let text = fs::read_to_string(folder.path().join("strandline.yaml")).expect("written");
    assert!(!text.contains("mcpServers"), "{text}");
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder();
    fs::write(folder.path().join("strandline.yaml"), "mine").expect("written");
    for arguments in [&["init"][..], &["init", "--", binary(), "demo-server"]] {
        let said = stderr(&strandline(folder.path(), arguments).code(2));
        assert!(said.contains("exists and is not overwritten"), "{said}");
    }
    let text = fs::read_to_string(folder.path().join("strandline.yaml")).expect("still there");
    assert_eq!(text, "mine");
}

#[test]
fn a_server_that_does_not_work_leaves_no_file_and_says_why() {
    let folder = folder();
    let fails = |arguments: &[&str]| {
        let said = stderr(&strandline(folder.path(), arguments).code(4));
        assert!(!folder.path().join("strandline.yaml").exists());
        said
    };
    let exits = fails(&[
        "init",
        "--",
        binary(),
        "demo-server",
        "--fail",
        "connection",
    ]);
    assert!(exits.contains("not reachable"), "{exits}");
    let unlisted = fails(&["init", "--", binary(), "demo-server", "--fail", "discovery"]);
    assert!(
        unlisted.contains("the tool registry is being rebuilt"),
        "{unlisted}"
    );
    let missing = fails(&["init", "--", "./no-such-server"]);
    assert!(missing.contains("our side"), "{missing}");
    assert!(
        missing.contains("hint: check that the command exists"),
        "{missing}"
    );
}
