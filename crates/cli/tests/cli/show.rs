use serde_json::Value;

use crate::stored::{Stored, stderr, stdout};

const FAILED: &str = "019ad2b4-0000-7000-8000-000000000002";

#[test]
fn a_run_is_shown_with_its_verdict_and_what_failed() {
    let stored = Stored::new();
    let report = stdout(&stored.strandline(&["show", FAILED]).success());
    assert!(report.contains("FAILED"), "{report}");
    assert!(report.contains("stopped at Tool call"), "{report}");
    // The command that the report recommends works as it stands.
    let (_, look) = report.split_once("strandline show ").expect("a command");
    let arguments: Vec<&str> = look.lines().next().unwrap_or_default().split(' ').collect();
    let trial = stored.strandline(&[&["show"], arguments.as_slice()].concat());
    assert!(stdout(&trial.success()).contains("trial 2 of 2"));
}

#[test]
fn json_of_a_run_is_its_whole_decision_summary() {
    let stored = Stored::new();
    let shown = stored.strandline(&["show", FAILED, "--json"]).success();
    let summary: Value = serde_json::from_str(&stdout(&shown)).expect("JSON");
    assert_eq!(summary["verdict"], "failed");
    assert_eq!(summary["diagnostics"]["complete"], true);
    assert_eq!(summary["diagnostics"]["scannedIterations"], 2);
    assert_eq!(
        summary["diagnostics"]["items"][0]["evidence"]["tracePath"],
        format!("/projects/local/eval-runs/{FAILED}/iterations/{FAILED}-1/trace")
    );
    let read = strandline_derive::decision::validate_decision_summary(&summary);
    assert!(read.is_ok(), "{read:?}");
}

#[test]
fn a_killed_run_has_no_verdict_and_can_be_resumed() {
    let stored = Stored::new();
    let shown = stored.strandline(&["show", "last"]).success();
    assert!(stdout(&shown).contains("NO VERDICT"), "{}", stdout(&shown));
    let talk = stderr(&shown);
    assert!(
        talk.contains("is gone") && talk.contains("--resume"),
        "{talk}"
    );
}

#[test]
fn a_trial_is_shown_with_its_chain_and_timeline() {
    let stored = Stored::new();
    let trial = format!("{FAILED}-1");
    insta::assert_snapshot!(stdout(&stored.strandline(&["show", &trial]).success()));
    let full = stored.strandline(&["show", &trial, "--trace", "--frames"]);
    let full = stdout(&full.success());
    assert!(full.contains("stderr   shop"), "{full}");
}

#[test]
fn json_of_a_trial_has_its_trace_when_asked_for() {
    let stored = Stored::new();
    let trial = format!("{FAILED}-1");
    let json = |arguments: &[&str]| {
        let arguments = [&["show", trial.as_str(), "--json"], arguments].concat();
        let text = stdout(&stored.strandline(&arguments).success());
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let plain = json(&[]);
    assert_eq!(plain["trial"]["chain"]["firstFailedStage"], "call");
    assert_eq!(plain.get("trace"), None);
    assert_eq!(json(&["--trace"])["trace"]["frames"], serde_json::json!([]));
    assert_eq!(json(&["--frames"])["trace"]["frames"][0]["text"], "ready");
}

#[test]
fn what_cannot_be_found_is_named_with_a_hint() {
    let stored = Stored::new();
    let talk =
        |arguments: &[&str]| stderr(&stored.strandline(&[&["show"], arguments].concat()).code(2));
    assert!(talk(&["019ad2b4"]).contains("names more than one run"));
    assert!(talk(&["0300"]).contains("hint: `strandline runs`"));
    assert!(talk(&["last", "--case", "nothing"]).contains("its cases: refunds"));
    assert!(talk(&["last", "--case", "refunds", "--trial", "2"]).contains("not stored"));
    assert!(talk(&[FAILED, "--case", "refunds"]).contains("add `--trial N`"));
    assert!(talk(&[FAILED, "--case", "refunds", "--model", "x"]).contains("openai/small-1"));
    assert!(talk(&["last", "--trace"]).contains("--case ID --trial N"));
}

#[test]
fn a_missing_store_is_named() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("none.db");
    let shown = assert_cmd::Command::cargo_bin("strandline")
        .expect("the binary is built")
        .args(["show", "last", "--store"])
        .arg(&path)
        .assert()
        .code(2);
    let talk = stderr(&shown);
    assert!(
        talk.contains("none.db") && talk.contains("hint: run a suite first"),
        "{talk}"
    );
}
