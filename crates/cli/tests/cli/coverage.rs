//! `strandline coverage` on the example suite and on a real run of it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A private directory with the example suite in it.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(TempDir::new().expect("a temporary directory"));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders.yaml");
        fs::copy(example, desk.0.path().join("orders.yaml")).expect("the example is copied");
        desk
    }

    fn strandline(&self, arguments: &[&str]) -> (String, String, i32) {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(env!("CARGO_BIN_EXE_strandline"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .env("COLUMNS", "100")
            .output()
            .expect("the binary starts");
        (
            String::from_utf8(stdout).expect("stdout is text"),
            String::from_utf8(stderr).expect("stderr is text"),
            status.code().expect("an exit code"),
        )
    }

    fn json(&self, subject: &str) -> Value {
        let (out, err, code) = self.strandline(&["coverage", subject, "--json"]);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("one JSON document")
    }
}

fn tally<'a>(coverage: &'a Value, kind: &str) -> &'a Value {
    let rows = coverage["kinds"].as_array().expect("rows");
    rows.iter().find(|row| row["kind"] == kind).expect("a row")
}

#[test]
fn the_example_suite_alone_says_what_only_a_run_can_show() {
    let desk = Desk::new();
    let coverage = desk.json("orders.yaml");
    assert_eq!(coverage["version"], 1);
    assert!(coverage.get("run").is_none());
    assert_eq!(tally(&coverage, "stageNeverDecided")["reason"], "noRun");
    assert_eq!(
        tally(&coverage, "argumentNeverAsserted")["reason"],
        "noListing"
    );
    assert_eq!(tally(&coverage, "toolNeverExpected")["state"], "measured");
    let (_, told, code) =
        desk.strandline(&["coverage", "orders.yaml", "--gate", "stageNeverDecided"]);
    assert_eq!(code, 5);
    assert_eq!(
        told,
        "gate: stage that no case could decide: not measured: only a stored run can show it\n"
    );
}

#[test]
fn a_real_run_of_the_example_shows_what_it_left_unproved() {
    let desk = Desk::new();
    let (_, err, code) = desk.strandline(&["run", "orders.yaml", "--quiet", "--iterations", "1"]);
    assert_eq!(code, 1, "the example has planted defects: {err}");
    let coverage = desk.json("last");
    let run = &coverage["run"];
    assert_eq!(run["toolsListed"], true);
    assert_eq!(run["trials"], run["chains"]);
    for row in coverage["kinds"].as_array().expect("rows") {
        let count = |key: &str| row[key].as_u64().expect("a count");
        assert_eq!(row["state"], "measured", "{row}");
        assert_eq!(
            count("total"),
            count("proved") + count("unproved") + count("undecided")
        );
    }
    let (text, _, code) = desk.strandline(&["coverage", "last"]);
    assert_eq!(code, 0);
    let id = run["runId"].as_str().expect("an id");
    let short = text
        .split_once("run ")
        .and_then(|(_, rest)| rest.split(' ').next())
        .expect("the run is named");
    assert!(id.starts_with(short));
    insta::assert_snapshot!(text.replace(short, "RUN"));
}

#[test]
fn a_gate_that_does_not_hold_says_by_how_much() {
    let desk = Desk::new();
    let suite = json!({"server": "uvx mcp-server-time", "model": "scripted/x", "cases": [
        {"prompt": "Say nothing.", "neverCalls": ["get_current_time"]}]});
    fs::write(desk.0.path().join("weak.json"), suite.to_string()).expect("written");
    let gate = |gates: &[&str]| {
        let mut arguments = vec!["coverage", "weak.json"];
        arguments.extend(gates.iter().flat_map(|gate| ["--gate", *gate]));
        let (_, err, code) = desk.strandline(&arguments);
        (err, code)
    };
    let (err, code) = gate(&["emptyAnswerPasses"]);
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains(
            "gate: case that passes on an empty answer: 1 of 1 case, and the gate allows 0"
        ),
        "{err}"
    );
    assert_eq!(gate(&["emptyAnswerPasses=1"]).1, 0);
    // Of two gates on one kind the strictest counts.
    assert_eq!(gate(&["emptyAnswerPasses=5", "all=0"]).1, 2);
    let (err, code) = gate(&["tools"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("no such kind of gap; known are: toolNeverExpected"),
        "{err}"
    );
    let (err, code) = gate(&["all=some"]);
    assert_eq!(code, 2);
    assert!(err.contains("no whole number"), "{err}");
}

#[test]
fn what_is_neither_a_suite_nor_a_run_is_told() {
    let desk = Desk::new();
    let (_, err, code) = desk.strandline(&["coverage", "nowhere.yaml"]);
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("there is no suite file `nowhere.yaml` either"),
        "{err}"
    );
}
