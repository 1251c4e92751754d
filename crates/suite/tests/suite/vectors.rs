//! The normative answers: our own examples, and the full set where it is at hand.

use strandline_suite::vector::{Input, derive_suite_file};
use strandline_testkit::vectors;

#[test]
fn suite_files_load_as_the_vectors_say() {
    vectors::check("suite-file", |input| {
        let input: Input<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
        serde_json::to_value(derive_suite_file(&input)).map_err(|error| error.to_string())
    });
}
