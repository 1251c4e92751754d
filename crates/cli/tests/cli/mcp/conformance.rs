//! The server scenarios of the official MCP conformance suite.
//!
//! Most of its scenarios call tools, read resources or get prompts with names
//! of the suite's own, which only a test server has. What is left applies to
//! every server, and all of it must pass. A scenario that is in neither list
//! fails the test, so that a newer suite is looked at.

use std::{collections::BTreeMap, path::Path, process::Command};

use super::{Project, inspector::Served};

/// Scenarios that every server can be asked.
const APPLY: [&str; 9] = [
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
];

/// Scenarios that do not apply, and why.
const DO_NOT_APPLY: [(&str, &[&str]); 4] = [
    (
        "they need tools of the suite's own (`test_simple_text` and others)",
        &[
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-with-logging",
            "tools-call-error",
            "tools-call-with-progress",
            "tools-call-sampling",
            "tools-call-elicitation",
            "json-schema-2020-12",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
        ],
    ),
    (
        "they need resources of the suite's own (`test://static-text` and others)",
        &[
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "they need prompts of the suite's own (`test_simple_prompt` and others)",
        &[
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
    ),
    (
        "the server sends no log messages and does not declare the capability, which is deprecated",
        &["logging-set-level"],
    ),
];

#[test]
fn every_scenario_that_applies_passes() {
    let project = Project::new();
    let served = Served::start(&project, "127.0.0.1:0", None, &[]);
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/servers/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let output = Command::new("node")
        .arg(conformance)
        .args(["server", "--url", &served.url, "--suite", "all"])
        .current_dir(project.home())
        .env("HOME", project.home())
        .output()
        .expect("node starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary = said.split("=== SUMMARY ===").nth(1).unwrap_or_default();
    let results: BTreeMap<&str, &str> = summary
        .lines()
        .filter_map(|line| {
            line.trim()
                .trim_start_matches(['✓', '✗', ' '])
                .split_once(": ")
        })
        .filter(|(_, result)| result.contains("passed, "))
        .collect();
    for scenario in APPLY {
        let result = results.get(scenario).copied().unwrap_or("not run");
        assert!(
            result.ends_with(" 0 failed") && !result.starts_with('0'),
            "{scenario}: {result}\n{said}"
        );
    }
    let known = |name: &str| {
        let others = DO_NOT_APPLY.iter().flat_map(|(_, names)| names.iter());
        APPLY.iter().chain(others).any(|known| *known == name)
    };
    let unknown: Vec<&&str> = results
        .keys()
        .filter(|name| !known(name) && **name != "Total")
        .collect();
    assert!(
        unknown.is_empty(),
        "decide whether these apply: {unknown:?}"
    );
}
