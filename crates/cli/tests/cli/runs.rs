use serde_json::Value;

use crate::stored::{Stored, stderr, stdout};

#[test]
fn runs_are_listed_newest_first() {
    let stored = Stored::new();
    insta::assert_snapshot!(stdout(&stored.strandline(&["runs"]).success()));
}

#[test]
fn a_cut_list_says_how_to_go_on() {
    let stored = Stored::new();
    let first = stored.strandline(&["runs", "--limit", "2"]).success();
    let hint = stderr(&first);
    let cursor = hint
        .split_once("--cursor ")
        .and_then(|(_, rest)| rest.split_once('`'))
        .map(|(cursor, _)| cursor)
        .expect("a cursor");
    let json = stored
        .strandline(&["runs", "--json", "--cursor", cursor])
        .success();
    let list: Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert_eq!(list["complete"], false);
    assert_eq!(list["runs"].as_array().map(Vec::len), Some(1));
    let run = &list["runs"][0];
    assert_eq!(run["verdict"], "passed");
    assert_eq!(run["counts"]["passed"], 1);
    assert_eq!(run["activity"], "ended");
}

#[test]
fn a_project_without_runs_is_no_error() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let list = |arguments: &[&str]| {
        assert_cmd::Command::cargo_bin("strandline")
            .expect("the binary is built")
            .env_remove("STRANDLINE_STORE")
            .current_dir(directory.path())
            .args(arguments)
            .assert()
            .success()
    };
    let talk = stderr(&list(&["runs"]));
    assert!(talk.contains("no runs are stored here"), "{talk}");
    let list: Value = serde_json::from_str(&stdout(&list(&["runs", "--json"]))).expect("JSON");
    assert_eq!(list["runs"], serde_json::json!([]));
    assert_eq!(list["complete"], true);
}

#[test]
fn deleting_asks_for_confirmation() {
    let stored = Stored::new();
    let count = || {
        stdout(&stored.strandline(&["runs"]).success())
            .matches("019ad2b")
            .count()
    };
    // The killed run's line names it twice.
    assert_eq!(count(), 4);
    let asked = stderr(&stored.strandline(&["runs", "delete", "last"]).success());
    assert!(
        asked.contains("nothing was done") && asked.contains("--yes"),
        "{asked}"
    );
    assert_eq!(count(), 4);
    let done = stderr(
        &stored
            .strandline(&["runs", "delete", "last", "--yes"])
            .success(),
    );
    assert!(done.contains("1 run, 1 trial, 1 trace"), "{done}");
    assert_eq!(count(), 2);
    let gone = stderr(&stored.strandline(&["runs", "delete", "019ad2b5"]).code(2));
    assert!(gone.contains("no run `019ad2b5`"), "{gone}");
}

#[test]
fn pruning_needs_a_bound_and_a_confirmation() {
    let stored = Stored::new();
    let unbounded = stderr(&stored.strandline(&["runs", "prune", "--yes"]).code(2));
    assert!(unbounded.contains("--keep"), "{unbounded}");
    let done = stored.strandline(&["runs", "prune", "--keep", "1", "--frames", "--yes"]);
    let done = stderr(&done.success());
    assert!(done.contains("deleted: 4 traces"), "{done}");
    let done = stored.strandline(&["runs", "prune", "--keep", "1", "--yes"]);
    let done = stderr(&done.success());
    assert!(done.contains("2 runs, 4 trials, 4 traces"), "{done}");
    let again = stored.strandline(&["runs", "prune", "--keep", "1", "--yes"]);
    assert!(stderr(&again.success()).contains("nothing to prune"));
}
