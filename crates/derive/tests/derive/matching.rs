//! Flat tool-call matching.

use strandline_derive::assertions::matching::{MatchInput, derive_matching};
use strandline_testkit::vectors;

#[test]
fn flat_matches_are_as_the_vectors_say() {
    vectors::check("matching", |input| {
        let input: MatchInput = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let result = derive_matching(input).map_err(|error| error.to_string())?;
        serde_json::to_value(result).map_err(|error| error.to_string())
    });
}
