mod examples;
mod notation;
mod observation;
mod properties;
mod statistics;
mod validator;

pub(crate) use properties::decided_runs;

use serde_json::{Value, json};
use strandline_derive::verdict::derive_verdict_from_json;
use strandline_testkit::vectors;

#[test]
fn decisions_are_as_the_vectors_say() {
    vectors::check("verdict", |input| {
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let decided = derive_verdict_from_json(&input).map_err(|refusal| refusal.to_string())?;
        Ok(json!(decided))
    });
}
