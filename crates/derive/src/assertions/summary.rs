//! One summary per turn, and the trial's roll-up (`assertions.md` §4).

use strandline_contract::{
    assertion::{MatchRollUp, PromptSummary},
    transcript::ToolCall,
};

use super::{expectations::Turn, matching::within, turn::TurnGrade};

/// Summarizes one graded turn.
///
/// `expected_output` belongs to the last prompt turn of the case.
#[must_use]
pub fn summarize_turn(
    turn: &Turn,
    grade: &TurnGrade,
    calls: &[ToolCall],
    expected_output: Option<&str>,
) -> PromptSummary {
    let pick = |indexes: &[usize]| -> Vec<ToolCall> {
        indexes.iter().map(|&index| calls[index].clone()).collect()
    };
    let mut summary = PromptSummary {
        prompt_index: turn.turn_index,
        prompt: turn.prompt.clone(),
        expected_tool_calls: Vec::new(),
        actual_tool_calls: calls.to_vec(),
        expected_output: expected_output.map(str::to_owned),
        missing: Vec::new(),
        unexpected: Vec::new(),
        argument_mismatches: Vec::new(),
        passed: true,
        pinned: turn.pinned,
    };
    if turn.pinned {
        // Expectations placed on it are reported as rows, not here.
    } else if turn.negative {
        summary.unexpected = pick(&grade.matchable);
        summary.passed = grade.matchable.is_empty();
    } else if turn.expectations.is_empty() {
        summary.passed = within(grade.matchable.len(), turn.extras_cap);
        if !summary.passed {
            summary.unexpected = pick(&grade.matchable);
        }
    } else {
        summary.expected_tool_calls.clone_from(&grade.expected);
        summary.missing.clone_from(&grade.missing);
        summary
            .argument_mismatches
            .clone_from(&grade.argument_mismatches);
        summary.unexpected = pick(&grade.unexpected);
        summary.passed = grade.passed;
    }
    summary
}

/// Rolls the turn summaries of one trial up.
#[must_use]
pub fn roll_up(summaries: &[PromptSummary], negative: bool) -> MatchRollUp {
    let asserted = |summary: &&PromptSummary| {
        negative || !summary.expected_tool_calls.is_empty() || !summary.passed
    };
    let mut roll_up = MatchRollUp {
        expected_tool_calls: Vec::new(),
        tools_called: Vec::new(),
        missing: Vec::new(),
        unexpected: Vec::new(),
        argument_mismatches: Vec::new(),
        passed: true,
        turn_count: u32::try_from(summaries.len()).unwrap_or(u32::MAX),
        failed_turn_count: 0,
        first_failed_turn_index: None,
    };
    for summary in summaries {
        roll_up
            .tools_called
            .extend_from_slice(&summary.actual_tool_calls);
    }
    for summary in summaries.iter().filter(asserted) {
        roll_up
            .expected_tool_calls
            .extend_from_slice(&summary.expected_tool_calls);
        roll_up.missing.extend_from_slice(&summary.missing);
        roll_up.unexpected.extend_from_slice(&summary.unexpected);
        roll_up
            .argument_mismatches
            .extend_from_slice(&summary.argument_mismatches);
        if !summary.passed {
            roll_up.passed = false;
            roll_up.failed_turn_count += 1;
            roll_up
                .first_failed_turn_index
                .get_or_insert(summary.prompt_index);
        }
    }
    roll_up
}
