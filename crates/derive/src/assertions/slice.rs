//! Checks of one turn: what they read and which kinds they may be
//! (`assertions.md` §6.3).
//!
//! Suite files have no lists of checks per turn: their assert steps read the
//! trial so far. Sessions that are graded turn by turn read a slice.

use strandline_contract::{
    assertion::{ResultRow, RowScope},
    suite::AuthoredAssertion,
    transcript::{RenderObservation, TokenUsage, ToolCall, ToolError, Transcript},
    words::AssertionKind,
};

use super::{evidence::Evidence, rule::CompiledRule};

/// What checks of one turn read, and nothing else.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnSlice {
    /// Calls of the turn, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Tool errors of the turn.
    pub tool_errors: Vec<ToolError>,
    /// The turn's last assistant message, when it is not blank.
    pub final_assistant_message: Option<String>,
    /// Widgets of the turn.
    pub render_observations: Option<Vec<RenderObservation>>,
    /// Tokens used by the turn.
    pub usage: Option<TokenUsage>,
}

/// Returns whether a kind may stand in a list of checks per turn.
#[must_use]
pub const fn may_check_a_turn(kind: AssertionKind) -> bool {
    use AssertionKind as Kind;
    matches!(
        kind,
        Kind::ToolCalledWith
            | Kind::ToolCalledAtLeastOnce
            | Kind::ToolNeverCalled
            | Kind::OnlyToolsCalled
            | Kind::FirstToolWas
            | Kind::ResponseCloseTo
            | Kind::ResponseContains
            | Kind::ResponseMatches
            | Kind::NoToolErrors
            | Kind::FinalAssistantMessageNonEmpty
            | Kind::WidgetRendered
            | Kind::WidgetRenderLatencyUnder
            | Kind::WidgetNoConsoleErrors
            | Kind::NoEndingQuestion
            | Kind::ToolCallCountUnder
            | Kind::ToolCalledBefore
            | Kind::NoRepeatedIdenticalCall
            | Kind::ToolInputMatches
    )
}

/// Evaluates a list of checks on one turn; kinds that may not check a turn are
/// dropped from the list.
#[must_use]
pub fn grade_slice(
    checks: &[AuthoredAssertion],
    slice: TurnSlice,
    prompt_index: u32,
) -> Vec<ResultRow> {
    let transcript = Transcript {
        tool_calls: slice.tool_calls,
        tool_errors: Some(slice.tool_errors),
        final_assistant_message: slice.final_assistant_message,
        usage: slice.usage,
        render_observations: slice.render_observations,
        ..Transcript::default()
    };
    let evidence = Evidence::new(&transcript);
    let scope = Some(RowScope::Turn { prompt_index });
    checks
        .iter()
        .map(CompiledRule::compile)
        .filter(|rule| rule.kind().is_some_and(may_check_a_turn))
        .map(|rule| rule.evaluate(&evidence, scope))
        .collect()
}
