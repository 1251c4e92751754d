//! Assertion rules on transcripts.

use serde_json::Value;
use strandline_derive::assertions::{AssertionsInput, derive_assertions};
use strandline_testkit::vectors;

/// Derives the rows of one input; the wording of reasons is ours, so the
/// vectors leave them out.
fn rows_without_reasons(input: &str) -> Result<Value, String> {
    let input: AssertionsInput = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let mut output =
        serde_json::to_value(derive_assertions(&input)).map_err(|error| error.to_string())?;
    for row in output["rows"].as_array_mut().into_iter().flatten() {
        let reason = row.as_object_mut().and_then(|row| row.remove("reason"));
        assert!(
            reason.is_some_and(|reason| reason.as_str().is_some_and(|text| !text.is_empty())),
            "a row without a reason: {row}"
        );
    }
    Ok(output)
}

#[test]
fn rows_are_as_the_vectors_say() {
    vectors::check("assertions", rows_without_reasons);
}
