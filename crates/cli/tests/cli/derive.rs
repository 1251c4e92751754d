use std::{fs, process::Stdio};

use assert_cmd::Command;
use serde_json::{Value, json};
use strandline_testkit::vectors::{differences, workspace_root};

/// A whole chain input, as short as it can be.
const MINIMAL: &str =
    r#"{"authored":{"mode":"model_driven"},"evidence":{},"iteration":{"status":"completed"}}"#;

fn derive(arguments: &[&str], input: impl Into<Vec<u8>>) -> (Vec<Value>, String, i32) {
    let output = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .arg("derive")
        .args(arguments)
        .write_stdin(input)
        .output()
        .expect("the binary runs");
    let stdout = String::from_utf8(output.stdout).expect("stdout is UTF-8");
    let rows = stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line of stdout is JSON"))
        .collect();
    let stderr = String::from_utf8(output.stderr).expect("stderr is UTF-8");
    (rows, stderr, output.status.code().expect("an exit code"))
}

fn ids(rows: &[Value]) -> Vec<&Value> {
    rows.iter().map(|row| &row["id"]).collect()
}

#[test]
fn a_line_with_an_id_and_a_bare_line_are_answered_in_order() {
    let input = format!(r#"{{"id":7,"input":{MINIMAL}}}"#) + "\n" + MINIMAL + "\n";
    let (rows, stderr, code) = derive(&["chain"], input);
    assert_eq!((stderr.as_str(), code), ("", 0));
    assert_eq!(ids(&rows), [&json!(7), &json!("stdin:2")]);
    assert_eq!(rows[0]["output"], rows[1]["output"]);
    assert_eq!(rows[0]["output"]["stageAnalyzerVersion"], 12);
}

#[test]
fn key_order_and_unknown_keys_do_not_matter() {
    let input = format!(r#"{{"expect":{{"input":1}},"input":{MINIMAL},"id":"x"}}"#);
    let (rows, ..) = derive(&["chain"], input);
    assert_eq!(rows[0]["id"], "x");
    assert!(rows[0]["output"].is_object(), "{}", rows[0]);
}

#[test]
fn a_malformed_line_is_reported_with_its_place_and_does_not_stop_the_rest() {
    let input = format!("{MINIMAL}\n{{\"id\":1,\n\n{MINIMAL}\n");
    let (rows, stderr, code) = derive(&["chain"], input);
    assert_eq!(code, 0);
    assert_eq!(
        ids(&rows),
        [&json!("stdin:1"), &json!("stdin:2"), &json!("stdin:4")]
    );
    assert_eq!(rows[1]["refused"]["code"], "malformedLine");
    assert!(stderr.starts_with("stdin:2:8: "), "{stderr}");
    assert_eq!(rows[1]["refused"]["message"], stderr.trim_end());
    assert!(rows[2]["output"].is_object());
}

#[test]
fn strict_stops_at_the_first_malformed_line() {
    let input = format!("{MINIMAL}\nnonsense\n{MINIMAL}\n");
    for jobs in ["1", "3"] {
        let (rows, stderr, code) = derive(&["chain", "--strict", "--jobs", jobs], input.clone());
        assert_eq!(code, 2);
        assert_eq!(ids(&rows), [&json!("stdin:1")]);
        assert!(stderr.contains("error: stdin:2:"), "{stderr}");
    }
}

#[test]
fn an_input_of_the_wrong_form_is_refused_under_its_own_id() {
    let bad = MINIMAL.replace("model_driven", "self_driven");
    let input = format!(r#"{{"input":{bad},"id":"k"}}"#);
    let (rows, stderr, code) = derive(&["chain", "--strict"], input);
    assert_eq!((stderr.as_str(), code), ("", 0));
    assert_eq!(rows[0]["id"], "k");
    assert_eq!(rows[0]["refused"]["code"], "invalidInput");
    assert_eq!(
        rows[0]["refused"]["message"],
        "stdin:1:42: unknown case mode `self_driven`: known are `model_driven`, `model_free`"
    );
}

#[test]
fn what_follows_a_wrong_word_is_still_checked_to_be_json() {
    let input = r#"{"id":1,"input":{"authored":{"mode":"x"},oops}}"#;
    let (rows, _, _) = derive(&["chain"], input);
    assert_eq!(rows[0]["refused"]["code"], "malformedLine");
}

#[test]
fn windows_line_ends_blank_lines_and_a_byte_order_mark_are_tolerated() {
    let input = format!("\u{feff}{MINIMAL}\r\n \t\r\n{MINIMAL}");
    let (rows, stderr, code) = derive(&["chain"], input);
    assert_eq!((stderr.as_str(), code), ("", 0));
    assert_eq!(ids(&rows), [&json!("stdin:1"), &json!("stdin:3")]);
    assert!(rows.iter().all(|row| row["output"].is_object()));
}

#[test]
fn bytes_that_are_not_text_are_refused_line_by_line() {
    let mut input = format!("{MINIMAL}\n\"").into_bytes();
    input.extend_from_slice(b"\xff\"\n");
    input.extend_from_slice(MINIMAL.as_bytes());
    let (rows, stderr, code) = derive(&["chain"], input);
    assert_eq!(code, 0);
    assert_eq!(stderr, "stdin:2:2: the line is not UTF-8\n");
    assert_eq!(rows[1]["refused"]["code"], "malformedLine");
    assert!(rows[0]["output"].is_object() && rows[2]["output"].is_object());
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let twice = MINIMAL.replace(r#""evidence":{}"#, r#""evidence":{},"evidence":{}"#);
    let (rows, ..) = derive(&["chain"], twice);
    assert_eq!(rows[0]["refused"]["code"], "invalidInput");
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    // Several megabytes, so that many chunks are under way at once, with lines
    // longer than one read.
    let long = "x".repeat(600_000);
    let line = |index| {
        let reason = if index % 1_500 == 0 { &*long } else { "short" };
        let row = json!({"passed": false, "reason": reason});
        let input = json!({
            "authored": {"mode": "model_driven", "assertionCount": 1},
            "evidence": {"predicateResults": [row]},
            "iteration": {"status": "completed"},
        });
        json!({"id": index, "input": input}).to_string() + "\n"
    };
    let input: String = (0..6_000).map(line).collect();
    let run = |jobs| {
        Command::cargo_bin("strandline")
            .expect("the binary is built")
            .args(["derive", "chain", "--jobs", jobs])
            .write_stdin(input.clone())
            .output()
            .expect("the binary runs")
            .stdout
    };
    let one = run("1");
    assert_eq!(one.iter().filter(|byte| **byte == b'\n').count(), 6_000);
    assert!(one == run("2"), "two jobs answer differently");
    assert!(one == run("7"), "seven jobs answer differently");
}

#[test]
fn files_are_read_in_order_and_named_in_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = folder.path().join("one.jsonl");
    let two = folder.path().join("two.jsonl");
    fs::write(&one, MINIMAL).expect("a file");
    fs::write(&two, format!("{MINIMAL}\n?")).expect("a file");
    let (one, two) = (one.display().to_string(), two.display().to_string());
    let (rows, stderr, code) = derive(&["chain", &two, "-", &one], MINIMAL);
    assert_eq!(code, 0);
    assert!(stderr.starts_with(&format!("{two}:2:1: ")), "{stderr}");
    assert_eq!(
        ids(&rows),
        [
            &json!(format!("{two}:1")),
            &json!(format!("{two}:2")),
            &json!("stdin:1"),
            &json!(format!("{one}:1")),
        ]
    );
}

#[test]
fn a_missing_file_is_named_before_anything_is_derived() {
    let (rows, stderr, code) = derive(&["chain", "-", "no/such/file.jsonl"], MINIMAL);
    assert_eq!((rows.len(), code), (0, 2));
    assert!(stderr.contains("`no/such/file.jsonl`"), "{stderr}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("many.jsonl");
    fs::write(&file, format!("{MINIMAL}\n").repeat(50_000)).expect("a file");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("strandline"))
        .args(["derive", "chain"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn every_family_is_in_the_help_and_an_unknown_one_is_refused() {
    let (_, stderr, code) = derive(&["nope"], "");
    assert_eq!(code, 2);
    for family in [
        "chain",
        "measurements",
        "verdict",
        "decision-summary",
        "friction",
    ] {
        assert!(stderr.contains(family), "{stderr}");
    }
}

/// The binary answers the examples as the library does, and each family has
/// examples.
#[test]
fn examples_hold_through_the_binary() {
    for family in [
        "chain",
        "measurements",
        "verdict",
        "decision-summary",
        "friction",
    ] {
        let file = workspace_root().join(format!("conformance/{family}.jsonl"));
        let text = fs::read_to_string(&file).expect("the examples are there");
        let (rows, _, code) = derive(&[family], text.clone());
        assert_eq!(code, 0);
        assert_eq!(rows.len(), text.lines().count());
        for (line, row) in text.lines().zip(rows) {
            let line: Value = serde_json::from_str(line).expect("an example is JSON");
            assert_eq!(row["id"], line["id"]);
            if line["expectRefused"] == true {
                assert!(row["refused"]["code"].is_string(), "{row}");
                continue;
            }
            assert!(
                differences(&line["expect"], &row["output"]).is_empty(),
                "{row}"
            );
        }
    }
}
