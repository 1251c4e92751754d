//! Whether a case passes on an empty answer (`suite-file.md` §8.1).

use std::sync::Arc;

use strandline_contract::{
    suite::{ResolvedCase, Step},
    transcript::{Capture, TokenUsage, Transcript},
    words::{AssertionKind, RuleRole, Vacuity},
};

use super::{evidence::Evidence, expectations::is_expectation, rule::CompiledRule};

/// Grades a case's required rules against an empty transcript.
///
/// `external_check` tells whether something else may fail the case, such as a
/// required judge.
#[must_use]
pub fn vacuity(case: &ResolvedCase, external_check: bool) -> Vacuity {
    if case.is_negative_test {
        return Vacuity::NotApplicable;
    }
    let asserted = || {
        case.steps.iter().filter_map(|step| match step {
            Step::Assert { assertion, .. } => Some(assertion),
            Step::Prompt { .. } | Step::ToolCall { .. } | Step::Interact { .. } => None,
        })
    };
    if asserted().any(is_expectation) {
        return Vacuity::CanFail;
    }
    // Widget assertions, keyed by `kind`, need a live widget.
    let (predicates, widgets): (Vec<_>, Vec<_>) =
        asserted().partition(|assertion| assertion.contains_key("type"));
    let empty = empty_transcript(case);
    let evidence = Evidence::new(&empty);
    let mut undecided = external_check || !widgets.is_empty();
    for rule in case.assertions.iter().chain(predicates) {
        let rule = CompiledRule::compile(rule);
        if rule.role() == RuleRole::Advisory {
            continue;
        }
        let row = rule.evaluate(&evidence, None);
        if rule.kind().is_some_and(is_not_fed) || row.is_error() {
            undecided = true;
        } else if !row.passed {
            return Vacuity::CanFail;
        }
    }
    if undecided {
        Vacuity::CannotTell
    } else {
        Vacuity::Vacuous
    }
}

/// What a trial leaves in which nothing was called and nothing was said.
fn empty_transcript(case: &ResolvedCase) -> Transcript {
    let prompts = case
        .steps
        .iter()
        .filter(|step| matches!(step, Step::Prompt { .. }))
        .count();
    #[expect(clippy::cast_precision_loss, reason = "a case has at most 200 steps")]
    let turn_count = prompts.max(1) as f64;
    Transcript {
        tool_errors: Some(Vec::new()),
        final_assistant_message: Some(String::new()),
        usage: Some(TokenUsage {
            input_tokens: Some(0.0),
            output_tokens: Some(0.0),
            total_tokens: Some(0.0),
        }),
        turn_count: Some(turn_count),
        tool_results: Some(Vec::new()),
        tool_call_timings: Some(Vec::new()),
        tool_inventory: Some(Arc::default()),
        tool_declarations: Some(Arc::default()),
        capture: Some(Capture::COMPLETE),
        ..Transcript::default()
    }
}

/// Kinds that an empty transcript says nothing about.
const fn is_not_fed(kind: AssertionKind) -> bool {
    use AssertionKind as Kind;
    match kind {
        Kind::WidgetRendered
        | Kind::WidgetRenderLatencyUnder
        | Kind::WidgetNoConsoleErrors
        | Kind::ToolLatencyUnder
        | Kind::ArgumentsMatchToolSchema
        | Kind::NoDestructiveToolCalled
        | Kind::NoDeprecatedToolCalled
        | Kind::ToolDescriptionsPresent
        | Kind::ToolAnnotationsPresent
        | Kind::ToolNamesUnique
        | Kind::NoDeprecatedToolExposed
        | Kind::ToolInputSchemasWellFormed
        | Kind::ToolOutputSchemasPresent => true,
        Kind::ToolCalledWith
        | Kind::ToolCalledAtLeastOnce
        | Kind::FirstToolWas
        | Kind::ToolNeverCalled
        | Kind::OnlyToolsCalled
        | Kind::ToolCallCountUnder
        | Kind::ToolCalledBefore
        | Kind::NoRepeatedIdenticalCall
        | Kind::ToolInputMatches
        | Kind::NoToolErrors
        | Kind::ToolResultContains
        | Kind::ToolResultMatches
        | Kind::ToolResultMatchesSchema
        | Kind::ToolResultSizeUnder
        | Kind::ToolErrorNamesInput
        | Kind::FullPageHasContinuation
        | Kind::ResponseCloseTo
        | Kind::ResponseContains
        | Kind::ResponseMatches
        | Kind::FinalAssistantMessageNonEmpty
        | Kind::TokenBudgetUnder
        | Kind::TurnCountUnder
        | Kind::NoEndingQuestion => false,
    }
}
