mod properties;
mod rules;
mod validator;

use serde_json::{Value, json};
use strandline_contract::friction::FrictionSignals;
use strandline_derive::friction::derive_friction_signals_from_json;
use strandline_testkit::vectors;

#[test]
fn signals_are_as_the_vectors_say() {
    vectors::check("friction", |input| {
        let signals =
            derive_friction_signals_from_json(input).map_err(|error| error.to_string())?;
        Ok(json!(signals))
    });
}

/// Derives from calls and results given as JSON.
fn derive(calls: &Value, results: &Value) -> FrictionSignals {
    let input = json!({"toolsCalled": calls, "resultsByToolCallId": results});
    derive_friction_signals_from_json(&input.to_string()).expect("an input")
}
