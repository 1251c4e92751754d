//! What a suite case says about itself (`chain.md` §14.1).
//!
//! Only required assertions count: an advisory row never decides a stage
//! (`suite-file.md` §6.3).

use strandline_contract::{
    chain_input::AuthoredCase,
    ecma::is_blank,
    suite::{AuthoredAssertion, ResolvedCase, Step},
    words::{AssertionKind, CaseMode, Stage, Vocabulary},
};

use crate::kinds::route_of;

/// Derives the authored facts of a case.
#[must_use]
pub fn authored_case(case: &ResolvedCase) -> AuthoredCase {
    let steps = &case.steps;
    let asserted = || {
        steps.iter().filter_map(|step| match step {
            Step::Assert { assertion, .. } if is_required(assertion) => Some(assertion),
            Step::Assert { .. }
            | Step::Prompt { .. }
            | Step::ToolCall { .. }
            | Step::Interact { .. } => None,
        })
    };
    let case_level = || {
        case.assertions
            .iter()
            .filter(|assertion| is_required(assertion))
    };
    let has_prompt = steps.iter().any(|step| matches!(step, Step::Prompt { .. }));
    let has_pinned_call = steps
        .iter()
        .any(|step| matches!(step, Step::ToolCall { .. }));
    let expects_calls = asserted().any(is_call_expectation);
    let has_positive_call = asserted()
        .chain(case_level())
        .filter(|assertion| !is_widget(assertion))
        .any(|assertion| route_of(kind_of(assertion)).positive_call);
    let at_steps = asserted()
        .filter(|assertion| !is_call_expectation(assertion) && counts(assertion))
        .count();
    let at_case = case_level().filter(|assertion| counts(assertion)).count();
    let expected_output = case
        .expected_output
        .as_deref()
        .is_some_and(|text| !is_blank(text));
    #[expect(
        clippy::cast_precision_loss,
        reason = "a case has at most 250 assertions"
    )]
    let assertion_count = (at_steps + at_case + usize::from(expected_output)) as f64;
    AuthoredCase {
        is_negative_test: case.is_negative_test,
        expects_tool_call: expects_calls || has_pinned_call || has_positive_call,
        expects_widget_render: asserted()
            .chain(case_level())
            .any(|assertion| is_widget(assertion) || is_widget_predicate(assertion)),
        assertion_count,
        ..AuthoredCase::new(if !steps.is_empty() && !has_prompt {
            CaseMode::ModelFree
        } else {
            CaseMode::ModelDriven
        })
    }
}

/// A widget assertion is keyed by `kind`, a predicate by `type`.
fn is_widget(assertion: &AuthoredAssertion) -> bool {
    assertion.contains_key("kind") && !assertion.contains_key("type")
}

fn is_required(assertion: &AuthoredAssertion) -> bool {
    assertion.get("role").and_then(|role| role.as_str()) != Some("advisory")
}

fn kind_of(assertion: &AuthoredAssertion) -> Option<AssertionKind> {
    AssertionKind::from_wire(assertion.get("type")?.as_str()?)
}

fn is_call_expectation(assertion: &AuthoredAssertion) -> bool {
    kind_of(assertion) == Some(AssertionKind::ToolCalledWith)
}

fn is_widget_predicate(assertion: &AuthoredAssertion) -> bool {
    matches!(
        kind_of(assertion),
        Some(
            AssertionKind::WidgetRendered
                | AssertionKind::WidgetRenderLatencyUnder
                | AssertionKind::WidgetNoConsoleErrors
        )
    )
}

/// Whether user value can be judged by the assertion: all but those judged at
/// selection.
fn counts(assertion: &AuthoredAssertion) -> bool {
    is_widget(assertion) || route_of(kind_of(assertion)).judged_at != Stage::Selection
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn case(steps: Value, assertions: Value) -> ResolvedCase {
        serde_json::from_value(json!({
            "id": "c", "title": "t", "steps": steps, "assertions": assertions,
            "isNegativeTest": false, "model": "m", "iterations": 1, "passThreshold": 1.0,
            "disabled": false
        }))
        .expect("a resolved case")
    }

    #[test]
    fn a_required_step_expectation_is_a_turn_expectation_only() {
        let authored = authored_case(&case(
            json!([
                {"kind": "prompt", "id": "1", "prompt": "p"},
                {"kind": "assert", "id": "2", "assertion": {"type": "toolCalledWith", "toolName": "a", "args": {"args": {}}}},
            ]),
            json!([]),
        ));
        assert!(authored.expects_tool_call);
        assert_eq!(authored.assertion_count, 0.0);
        assert_eq!(authored.mode, CaseMode::ModelDriven);
    }

    #[test]
    fn selection_kinds_and_advisory_rules_do_not_count() {
        let authored = authored_case(&case(
            json!([{"kind": "toolCall", "id": "1", "serverName": "s", "toolName": "a", "arguments": {}}]),
            json!([
                {"type": "toolNeverCalled", "toolName": "b"},
                {"type": "noToolErrors"},
                {"type": "responseContains", "needle": "x", "role": "advisory"},
                {"type": "toolCalledWith", "toolName": "a", "args": {"args": {}}},
            ]),
        ));
        assert_eq!(authored.mode, CaseMode::ModelFree);
        assert!(authored.expects_tool_call);
        assert_eq!(authored.assertion_count, 2.0);
    }
}
