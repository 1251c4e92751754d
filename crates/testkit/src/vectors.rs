//! Replays the vectors of a derivation, one JSON object per line.
//!
//! A family's own examples live in `conformance/FAMILY.jsonl`; the full set is
//! used as well where the folder `../shared/vectors` exists beside the
//! workspace. A line is `{"id", "input", "expect"}`, or
//! `{"id", "input", "expectRefused": true}`.
//!
//! ```ignore
//! #[test]
//! fn chains_are_as_the_vectors_say() {
//!     vectors::check("chain", |input| {
//!         let input: ChainInput = serde_json::from_str(input).map_err(|e| e.to_string())?;
//!         Ok(serde_json::to_value(derive_chain(&input)).expect("a chain is JSON"))
//!     });
//! }
//! ```

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Failures that are printed in full; the rest are counted.
const SHOWN_FAILURES: usize = 5;
/// Differences that are printed per failure.
const SHOWN_DIFFERENCES: usize = 20;
/// Bytes of an input or a value that are printed.
const SHOWN_BYTES: usize = 4_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    id: String,
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(default)]
    expect: Option<Value>,
    #[serde(default)]
    expect_refused: bool,
}

/// Checks every vector of a family: our own examples, which must exist, and
/// the full set where it is there.
///
/// `derive` gets the input as the JSON text of the line and gives the output,
/// or why it refuses. Drop from the output what the vectors leave out.
///
/// # Panics
///
/// Panics with the id, the input and the differences of the first failures, or
/// when there are no examples.
pub fn check(family: &str, derive: impl Fn(&str) -> Result<Value, String>) {
    let root = workspace_root();
    let own = root.join("conformance").join(format!("{family}.jsonl"));
    check_file(&own, &derive);
    let full = root
        .join("../shared/vectors")
        .join(format!("{family}.jsonl"));
    if full.exists() {
        check_file(&full, &derive);
    }
}

/// Checks every vector of one file, as [`check`] does.
///
/// # Panics
///
/// Panics as [`check`] does.
pub fn check_file(path: &Path, derive: impl Fn(&str) -> Result<Value, String>) {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read vectors {}: {error}", path.display()));
    let mut checked = 0_usize;
    let mut failed = 0_usize;
    let mut report = String::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line<'_> = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), index + 1));
        checked += 1;
        let Some(problem) = problem(&line, derive(line.input.get())) else {
            continue;
        };
        failed += 1;
        if failed <= SHOWN_FAILURES {
            let _ = write!(
                report,
                "\n{}:{} {}\n  input: {}\n{problem}",
                path.display(),
                index + 1,
                line.id,
                cut(line.input.get()),
            );
        }
    }
    assert!(checked > 0, "{} holds no vectors", path.display());
    assert!(
        failed == 0,
        "{failed} of {checked} vectors do not hold in {}{report}",
        path.display(),
    );
}

/// Returns the root of the workspace.
#[must_use]
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns what is wrong with an answer, or nothing.
fn problem(line: &Line<'_>, answer: Result<Value, String>) -> Option<String> {
    match (answer, &line.expect) {
        (Err(_), _) if line.expect_refused => None,
        (Err(reason), _) => Some(format!("  refused: {reason}\n")),
        (Ok(output), _) if line.expect_refused => Some(format!(
            "  answered what must be refused: {}\n",
            cut(&output.to_string())
        )),
        (Ok(_), None) => Some("  the line has neither `expect` nor `expectRefused`\n".to_owned()),
        (Ok(output), Some(expected)) => {
            let differences = differences(expected, &output);
            if differences.is_empty() {
                return None;
            }
            let mut text = String::new();
            for difference in differences.iter().take(SHOWN_DIFFERENCES) {
                let _ = writeln!(text, "  {difference}");
            }
            if differences.len() > SHOWN_DIFFERENCES {
                let more = differences.len() - SHOWN_DIFFERENCES;
                let _ = writeln!(text, "  … and {more} more differences");
            }
            Some(text)
        }
    }
}

/// Returns every difference between two JSON values, each with its pointer.
///
/// Objects agree when they have the same keys in any order, arrays item by
/// item, numbers by value (`1` = `1.0`), everything else exactly.
#[must_use]
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(&mut String::new(), expected, actual, &mut found);
    found
}

fn compare(pointer: &mut String, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (key, value) in expected {
                at(pointer, key, |pointer| match actual.get(key) {
                    Some(other) => compare(pointer, value, other, found),
                    None => found.push(format!("{pointer}: missing, expected {}", shown(value))),
                });
            }
            for (key, value) in actual
                .iter()
                .filter(|(key, _)| !expected.contains_key(*key))
            {
                at(pointer, key, |pointer| {
                    found.push(format!("{pointer}: not expected, got {}", shown(value)));
                });
            }
        }
        (Value::Array(expected), Value::Array(actual)) => {
            for (index, value) in expected.iter().enumerate() {
                at(pointer, &index.to_string(), |pointer| {
                    match actual.get(index) {
                        Some(other) => compare(pointer, value, other, found),
                        None => {
                            found.push(format!("{pointer}: missing, expected {}", shown(value)));
                        }
                    }
                });
            }
            for (index, value) in actual.iter().enumerate().skip(expected.len()) {
                at(pointer, &index.to_string(), |pointer| {
                    found.push(format!("{pointer}: not expected, got {}", shown(value)));
                });
            }
        }
        (expected, actual) if equal_scalars(expected, actual) => {}
        (expected, actual) => found.push(format!(
            "{pointer}: expected {}, got {}",
            shown(expected),
            shown(actual)
        )),
    }
}

fn at(pointer: &mut String, token: &str, look: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    look(pointer);
    pointer.truncate(length);
}

fn equal_scalars(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (left, right) => left == right,
    }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string()).to_owned()
}

/// Cuts a text to what a report can bear, at a character boundary.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN_BYTES)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_agree_by_value_and_exactly() {
        assert!(differences(&json!([1, 0.1]), &json!([1.0, 0.1])).is_empty());
        assert_eq!(
            differences(&json!(0.3), &json!(0.1 + 0.2)),
            [": expected 0.3, got 0.30000000000000004"]
        );
        assert_eq!(differences(&json!(1), &json!("1")).len(), 1);
    }

    #[test]
    fn an_absent_key_is_not_null() {
        let found = differences(&json!({"a/b": null}), &json!({"c": []}));
        assert_eq!(
            found,
            ["/a~1b: missing, expected null", "/c: not expected, got []"]
        );
    }

    #[test]
    fn a_wrong_answer_fails_with_id_and_pointer() {
        let line: Line<'_> =
            serde_json::from_str(r#"{"id":"x","input":{},"expect":{"rows":[{"a":1}]}}"#)
                .expect("a line");
        assert_eq!(problem(&line, Ok(json!({"rows": [{"a": 1}]}))), None);
        assert_eq!(
            problem(&line, Ok(json!({"rows": [{"a": 2}]}))).as_deref(),
            Some("  /rows/0/a: expected 1, got 2\n")
        );
        assert!(problem(&line, Err("no".to_owned())).is_some());
    }

    #[test]
    fn a_refusal_is_wanted_only_where_the_line_says_so() {
        let line: Line<'_> =
            serde_json::from_str(r#"{"id":"x","input":1,"expectRefused":true}"#).expect("a line");
        assert_eq!(problem(&line, Err("no".to_owned())), None);
        assert!(problem(&line, Ok(json!(1))).is_some());
    }
}
