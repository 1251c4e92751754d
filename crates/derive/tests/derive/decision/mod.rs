mod break_line;
mod examples;
mod properties;
mod validator;

use serde_json::{Map, Value, json};
use strandline_derive::decision::{conformance_form, derive_decision_summary_from_json};
use strandline_testkit::vectors;

#[test]
fn summaries_are_as_the_vectors_say() {
    vectors::check("decision-summary", |input| {
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let summary =
            derive_decision_summary_from_json(&input).map_err(|error| error.to_string())?;
        Ok(conformance_form(&summary))
    });
}

/// Derives the summary of a run without iterations.
fn summarize(run: Value, iterations: Value) -> Value {
    let input = json!({"projectId": "p", "run": run, "iterations": iterations,
        "page": {"complete": true}});
    let summary = derive_decision_summary_from_json(&input).expect("a summary");
    serde_json::to_value(summary).expect("a summary is JSON")
}

/// Returns six stage rows from `stage state reason`-like texts, passed where
/// nothing is said.
fn stages(told: &[(&str, &str)]) -> Vec<Value> {
    [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ]
    .into_iter()
    .map(|stage| {
        let state = told.iter().find(|(name, _)| *name == stage);
        json!({"stage": stage, "state": state.map_or("passed", |(_, state)| state)})
    })
    .collect()
}

/// Returns a failed iteration that carries these chain fields.
fn iteration(chain: &Value) -> Value {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!("i"));
    fields.insert("iterationNumber".to_owned(), json!(1));
    fields.insert("status".to_owned(), json!("completed"));
    fields.insert("result".to_owned(), json!("failed"));
    fields.extend(chain.as_object().cloned().unwrap_or_default());
    Value::Object(fields)
}
