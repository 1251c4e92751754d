mod findings;
mod properties;
mod report;
mod validator;
mod verdict;

use serde_json::{Value, json};
use strandline_contract::swarm::{
    findings::SwarmFindings, report::RunReport, session::SessionVerdict,
};
use strandline_derive::swarm::{
    derive_findings_from_json, derive_run_report_from_json, derive_session_verdict_from_json,
};
use strandline_testkit::vectors;

#[test]
fn session_verdicts_are_as_the_vectors_say() {
    vectors::check("swarm-verdict", |input| {
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let verdict =
            derive_session_verdict_from_json(&input).map_err(|error| error.to_string())?;
        Ok(json!(verdict))
    });
}

#[test]
fn run_reports_are_as_the_examples_say() {
    vectors::check("swarm-report", |input| {
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let report = derive_run_report_from_json(&input).map_err(|error| error.to_string())?;
        Ok(json!(report))
    });
}

#[test]
fn findings_are_as_the_examples_say() {
    vectors::check("swarm-findings", |input| {
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let findings = derive_findings_from_json(&input).map_err(|error| error.to_string())?;
        Ok(json!(findings))
    });
}

/// A session that ran, with nothing to grade it but an automatic advisory
/// judge whose grading is over; `changes` are laid over it.
fn session_input(changes: Value) -> Value {
    let mut input = json!({
        "attempt": {"status": "succeeded"},
        "hasTranscript": true,
        "rubric": [],
        "criteria": null,
        "goalScore": null,
        "judge": {"automatic": true, "role": "advisory"},
        "grading": {"state": "settled"},
    });
    let Value::Object(changes) = changes else {
        panic!("changes are members");
    };
    for (key, value) in changes {
        input[key] = value;
    }
    input
}

fn verdict(changes: Value) -> SessionVerdict {
    derive_session_verdict_from_json(&session_input(changes)).expect("a session")
}

fn passed() -> SessionVerdict {
    verdict(json!({"goalScore": {"status": "completed", "passed": true}}))
}

fn failed() -> SessionVerdict {
    verdict(json!({"goalScore": {"status": "completed", "passed": false}}))
}

fn report(input: &Value) -> RunReport {
    derive_run_report_from_json(input).expect("a report input")
}

fn findings(input: &Value) -> SwarmFindings {
    derive_findings_from_json(input).expect("a wave")
}
