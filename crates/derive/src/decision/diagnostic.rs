//! One non-passing iteration → its diagnostic (`decision-summary.md` §5).

use std::collections::HashSet;

use serde_json::Value;
use strandline_contract::{
    decision::{Diagnostic, ExpectedTools, Observed},
    verdict::is_opaque_id,
    words::{TaskResult, Vocabulary},
};

use super::{IterationInput, chain, evidence, next_action};

pub(super) fn diagnose(
    project_id: &str,
    run_id: &str,
    iteration: &IterationInput<'_>,
) -> Diagnostic {
    let chain = chain::derive_summary_chain(&iteration.chain);
    let result = iteration.result.as_deref().and_then(TaskResult::from_wire);
    let non_empty = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let observed = Observed {
        tool_names: tool_names(&iteration.actual_tool_calls),
        failure: non_empty(iteration.error.as_deref()),
    };
    Diagnostic {
        iteration_id: iteration.id.to_string(),
        iteration_number: iteration.iteration_number,
        case_id: iteration
            .case_id
            .as_deref()
            .filter(|id| is_opaque_id(id))
            .map(str::to_owned),
        test_case_id: non_empty(iteration.test_case_id.as_deref()),
        title: non_empty(iteration.title.as_deref()),
        status: iteration.status.to_string(),
        result,
        expected: tool_names(&iteration.expected_tool_calls)
            .map(|tool_names| ExpectedTools { tool_names }),
        observed: (observed.tool_names.is_some() || observed.failure.is_some()).then_some(observed),
        evidence: evidence::locate(project_id, run_id, &iteration.id, &chain),
        next_action: next_action::derive_next_action(&chain, result)
            .label()
            .to_owned(),
        chain,
    }
}

/// Returns the distinct tool names of calls, in order of first appearance;
/// `None` when there is none.
fn tool_names(calls: &[Value]) -> Option<Vec<String>> {
    let mut seen = HashSet::new();
    let names: Vec<String> = calls
        .iter()
        .filter_map(tool_name)
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect();
    (!names.is_empty()).then_some(names)
}

fn tool_name(call: &Value) -> Option<&str> {
    ["toolName", "tool", "name"]
        .into_iter()
        .filter_map(|key| call.get(key)?.as_str())
        .find(|name| !name.is_empty())
}
