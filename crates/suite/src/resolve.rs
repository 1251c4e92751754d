//! Authored to resolved: per-case defaults applied (`suite-file.md` §8).

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use strandline_contract::{
    ecma,
    suite::{Execution, ResolvedCase, ResolvedDefaults, ResolvedSuite, ResolvedValidity, Step},
};

use crate::{
    rules::Dialect,
    yaml::{Node, Value},
};

/// Resolves a document that broke no rule.
pub(crate) fn resolve(root: &Node, dialect: Dialect) -> Result<ResolvedSuite, Unresolved> {
    let defaults = defaults(member(root, "defaults")?, dialect)?;
    let cases = member(root, "cases")?
        .items()
        .iter()
        .map(|item| case(&item.node, dialect, &defaults))
        .collect::<Result<_, _>>()?;
    Ok(ResolvedSuite {
        schema_version: dialect.wire().to_owned(),
        suite: decode(root, "suite")?,
        target: decode(root, "target")?,
        defaults,
        cases,
        provenance: json(root, "provenance"),
        execution: execution(root)?,
    })
}

/// §10: a default that is larger than a lowered enclosing limit is capped by it.
fn execution(root: &Node) -> Result<Execution, Unresolved> {
    let Some(authored) = root.get("execution") else {
        return Ok(Execution::default());
    };
    let mut execution: Execution = decode(root, "execution")?;
    let cap = |key: &str, value: &mut u64, limit: u64| {
        if authored.get(key).is_none() {
            *value = (*value).min(limit);
        }
    };
    let limit = execution.run_timeout_ms;
    cap(
        "iterationTimeoutMs",
        &mut execution.iteration_timeout_ms,
        limit,
    );
    let limit = execution.iteration_timeout_ms;
    cap("turnTimeoutMs", &mut execution.turn_timeout_ms, limit);
    let limit = execution.turn_timeout_ms;
    cap(
        "toolCallTimeoutMs",
        &mut execution.tool_call_timeout_ms,
        limit,
    );
    Ok(execution)
}

fn defaults(node: &Node, dialect: Dialect) -> Result<ResolvedDefaults, Unresolved> {
    let validity = member(node, "validity")?;
    Ok(ResolvedDefaults {
        model: decode(node, "model")?,
        provider: optional(node, "provider")?,
        system_prompt: optional(node, "systemPrompt")?,
        temperature: optional(node, "temperature")?,
        iterations: decode(node, dialect.trials_key())?,
        pass_threshold: decode(node, "passThreshold")?,
        // §4.1: an absent minimum stays absent, because its absence says
        // which coverage rule applies.
        validity: ResolvedValidity {
            min_eligible_trials: optional(validity, "minEligibleTrials")?,
            min_completion_rate: optional(validity, "minCompletionRate")?.unwrap_or(0.8),
            max_evaluator_error_rate: optional(validity, "maxEvaluatorErrorRate")?.unwrap_or(0.1),
        },
        tool_policy: optional(node, "toolPolicy")?,
        judge: node.get("judge").map(|judge| trimmed_judge(judge)),
        capture_level: "full".to_owned(),
        match_options: optional(node, "matchOptions")?,
    })
}

/// §4.3: `judge.model`, labels and instructions are read trimmed.
fn trimmed_judge(node: &Node) -> Json {
    fn trim(value: Option<&mut Json>) {
        if let Some(Json::String(text)) = value {
            *text = ecma::trim(text).to_owned();
        }
    }
    let mut judge = node.to_json();
    trim(judge.get_mut("model"));
    trim(judge.pointer_mut("/rubric/instructions"));
    if let Some(Json::Array(criteria)) = judge.pointer_mut("/rubric/criteria") {
        for criterion in criteria {
            trim(criterion.get_mut("label"));
        }
    }
    judge
}

fn case(
    node: &Node,
    dialect: Dialect,
    defaults: &ResolvedDefaults,
) -> Result<ResolvedCase, Unresolved> {
    let text = |key: &str| node.get(key).and_then(|node| node.as_str());
    let authored_list = match dialect {
        Dialect::One => node.get("checks").or_else(|| node.get("assertions")),
        Dialect::Two => node.get("assertions"),
    };
    let mut suppressed: Vec<String> =
        optional(node, "suppressedSuiteStandardCheckIds")?.unwrap_or_default();
    suppressed.sort_unstable();
    suppressed.dedup();
    Ok(ResolvedCase {
        id: decode(node, "id")?,
        title: decode(node, "title")?,
        intent: text("intent").map(str::to_owned),
        kind: text("kind").map(str::to_owned),
        steps: decode::<Vec<Step>>(node, "steps")?,
        assertions: match authored_list {
            Some(list) => from_json(list.to_json(), "assertions")?,
            None => Vec::new(),
        },
        suppressed_suite_standard_check_ids: suppressed,
        judge: json(node, "judge"),
        expected_output: text("expectedOutput")
            .filter(|text| !ecma::is_blank(text))
            .map(str::to_owned),
        is_negative_test: optional(node, "isNegativeTest")?.unwrap_or(false),
        model: text("model").unwrap_or(&defaults.model).to_owned(),
        provider: defaults.provider.clone(),
        iterations: optional(node, dialect.trials_key())?.unwrap_or(defaults.iterations),
        pass_threshold: optional(node, "passThreshold")?.unwrap_or(defaults.pass_threshold),
        disabled: optional(node, "disabled")?.unwrap_or(false),
        import: json(node, "import"),
        match_options: optional(node, "matchOptions")?,
        script: json(node, "script"),
    })
}

fn json(node: &Node, key: &str) -> Option<Json> {
    node.get(key).map(|node| node.to_json())
}

fn member<'a>(node: &'a Node, key: &str) -> Result<&'a Node, Unresolved> {
    node.get(key)
        .map(AsRef::as_ref)
        .ok_or_else(|| unresolved(key, "it is missing"))
}

fn decode<T: DeserializeOwned>(node: &Node, key: &str) -> Result<T, Unresolved> {
    from_json(member(node, key)?.to_json(), key)
}

fn optional<T: DeserializeOwned>(node: &Node, key: &str) -> Result<Option<T>, Unresolved> {
    match node.get(key) {
        None => Ok(None),
        Some(node) if node.value == Value::Null => Ok(None),
        Some(node) => from_json(node.to_json(), key).map(Some),
    }
}

fn from_json<T: DeserializeOwned>(value: Json, key: &str) -> Result<T, Unresolved> {
    serde_json::from_value(value).map_err(|error| unresolved(key, &error.to_string()))
}

/// Why a document that broke no rule still has no resolved form.
///
/// The rules accept less than the resolved types hold; should that ever be
/// untrue, the file is refused and nothing else happens.
#[derive(Debug)]
pub(crate) struct Unresolved(pub(crate) String);

fn unresolved(key: &str, why: &str) -> Unresolved {
    Unresolved(format!(
        "`{key}` passed every rule but could not be resolved: {why}"
    ))
}
