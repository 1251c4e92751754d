//! The answer that the `suite-file` vectors compare: a narrow view of the
//! resolved suite, or the codes and pointers of the findings.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use strandline_contract::suite::{ResolvedCase, ResolvedSuite, ResolvedValidity, Step};

use crate::{FailureStage, LoadOptions, load};

/// A suite file as written.
#[derive(Debug, Clone, Deserialize)]
pub struct Input<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    /// `yaml` or `json`; both are read by one reader and it is not looked at.
    #[serde(default)]
    pub format: Option<String>,
}

/// What the normative loader answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The file loads.
    Loaded {
        /// Always true.
        ok: bool,
        /// The narrow view of the resolved suite.
        resolved: Json,
    },
    /// It does not.
    Refused {
        /// Always false.
        ok: bool,
        /// At which stage.
        stage: FailureStage,
        /// Each code once.
        codes: Vec<&'static str>,
        /// Each pointer once, in the order of the findings.
        pointers: Vec<String>,
    },
}

/// Answers as the normative loader does: no short form, no extension beyond §10.
#[must_use]
pub fn derive_suite_file(input: &Input<'_>) -> Answer {
    let failure = match load(&input.text, &LoadOptions::normative()) {
        Ok(loaded) => {
            return Answer::Loaded {
                ok: true,
                resolved: resolved(&loaded.resolved),
            };
        }
        Err(failure) => failure,
    };
    let mut codes = Vec::new();
    let mut pointers = Vec::new();
    for finding in failure.findings {
        codes.push(finding.code.wire());
        pointers.push(finding.pointer);
    }
    codes.sort_unstable();
    codes.dedup();
    pointers.dedup();
    Answer::Refused {
        ok: false,
        stage: failure.stage,
        codes,
        pointers,
    }
}

fn resolved(suite: &ResolvedSuite) -> Json {
    json!({
        "suite": suite.suite.id,
        "cases": suite.cases.iter().map(case).collect::<Vec<_>>(),
        "validity": validity(&suite.defaults.validity),
    })
}

fn case(case: &ResolvedCase) -> Json {
    json!({
        "id": case.id,
        "model": case.model,
        "iterations": case.iterations,
        "passThreshold": case.pass_threshold,
        "isNegativeTest": case.is_negative_test,
        "disabled": case.disabled,
        "steps": case.steps.iter().map(step).collect::<Vec<_>>(),
        "assertions": case.assertions.len(),
    })
}

fn step(step: &Step) -> Json {
    let mut shown = Map::new();
    shown.insert("kind".to_owned(), step.kind().into());
    match step {
        Step::Prompt { prompt, .. } => {
            shown.insert("prompt".to_owned(), prompt.as_str().into());
        }
        Step::ToolCall { arguments, .. } => {
            shown.insert("arguments".to_owned(), Json::Object(arguments.clone()));
        }
        Step::Interact { .. } | Step::Assert { .. } => {}
    }
    Json::Object(shown)
}

/// §4.1: an explicit minimum replaces the coverage rule.
fn validity(validity: &ResolvedValidity) -> Json {
    let coverage = match validity.min_eligible_trials {
        Some(minimum) => json!({"kind": "minEligibleTrials", "minEligibleTrials": minimum}),
        None => json!({"kind": "allConfiguredTrialsAttempted", "minGradeableTrials": 1}),
    };
    json!({
        "coverage": coverage,
        "minCompletionRate": validity.min_completion_rate,
        "maxEvaluatorErrorRate": validity.max_evaluator_error_rate,
    })
}
