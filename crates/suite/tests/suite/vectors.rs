//! The normative answers: our own examples, and the full set where it is at hand.

use std::{fs, path::Path};

use serde_json::{Value, json};
use strandline_suite::vector::{Input, derive_suite_file};

/// Returns where two values first differ; numbers compare by value.
fn difference(expected: &Value, got: &Value, at: &str) -> Option<String> {
    match (expected, got) {
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => None,
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(index, (left, right))| difference(left, right, &format!("{at}[{index}]"))),
        (Value::Object(left), Value::Object(right)) if left.keys().eq(right.keys()) => left
            .iter()
            .find_map(|(key, value)| difference(value, &right[key], &format!("{at}.{key}"))),
        (left, right) if left == right => None,
        (left, right) => Some(format!("at {at}: expected {left}, got {right}")),
    }
}

fn check(path: &Path) -> usize {
    let lines = fs::read_to_string(path).expect("a readable file of examples");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        count += 1;
        let vector: Value = serde_json::from_str(line).expect("one JSON object per line");
        let input: Input =
            serde_json::from_value(vector["input"].clone()).expect("text and format");
        let output = json!(derive_suite_file(&input));
        if let Some(difference) = difference(&vector["expect"], &output, "") {
            wrong.push(format!("{} {difference:.400}", vector["id"]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} examples differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    count
}

#[test]
fn the_shared_vectors_hold() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/suite-file.jsonl");
    if path.exists() {
        assert!(check(&path) > 0);
    }
}
