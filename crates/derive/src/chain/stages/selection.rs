//! Was the right tool chosen? (`chain.md` §8.3)

use strandline_contract::{
    chain_input::TurnSummary,
    words::{AssertionKind, Stage, StageReason, ToolExpectation},
};

use super::super::{
    facts::{Facts, reasons, some},
    row::Row,
};

pub(in super::super) fn rule(facts: Facts<'_>) -> Row<'_> {
    let evidence = facts.evidence;
    if needs_explicit_evidence(facts) {
        // 1. No trace.
        if evidence.trace_absent {
            return Row::not_measured(StageReason::TraceAbsent);
        }
        // 2. Calls happened, and nothing says whether they were right.
        if some(facts.tool_spans()) {
            return Row::not_measured(StageReason::MatchVerdictUnavailable)
                .citing_spans(facts.tool_spans());
        }
        // 3. Nothing at all.
        return Row::not_measured(StageReason::NoEvidenceCaptured);
    }
    // 4. A required call is missing.
    let missing = facts.turns(|turn| turn.missing);
    if some(missing.clone()) {
        return Row::failed(StageReason::MissingToolCall).citing_turns(missing);
    }
    // 5. An assertion on the choice does not hold.
    if some(facts.failing_rows(Stage::Selection)) {
        let reason = if facts.fails_by(Stage::Selection, AssertionKind::ToolCalledAtLeastOnce) {
            StageReason::MissingToolCall
        } else {
            StageReason::UnexpectedToolCall
        };
        return Row::failed(reason).citing_reasons(reasons(facts.failing_rows(Stage::Selection)));
    }
    // 6. An extra call failed the turn, and nothing else did.
    let adjudged = facts
        .turns(|turn| turn.unexpected && turn.passed == Some(false) && !turn.argument_mismatches);
    if some(adjudged.clone()) {
        return Row::failed(StageReason::UnexpectedToolCall).citing_turns(adjudged);
    }
    // 7. An extra call, and no verdict on the turn.
    let open = facts.turns(|turn| turn.unexpected && turn.passed.is_none());
    if some(open.clone()) {
        return Row::not_measured(StageReason::MatchVerdictUnavailable).citing_turns(open);
    }
    // 8. An extra call that is tolerated.
    if some(facts.turns(|turn| turn.unexpected)) {
        return Row::passed(StageReason::Observed).citing_turns(evidence.prompts.iter());
    }
    // 9. Turns without anything against them. 10. So do assertions.
    if facts.any_turn() || some(facts.rows_judged_at(Stage::Selection)) {
        return Row::passed(StageReason::Observed);
    }
    // 11. No trace.
    if evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    // 12. A trace without spans.
    if evidence.trace_lacks_span_channel {
        return Row::not_measured(StageReason::ExecutorEmitsNoSpans);
    }
    // 13. Nothing at all.
    Row::not_measured(StageReason::NoEvidenceCaptured)
}

/// Calls may happen and none is prescribed: only an authored expectation or an
/// assertion can say what is right.
fn needs_explicit_evidence(facts: Facts<'_>) -> bool {
    let expects = |turn: &TurnSummary| turn.expected_tool_calls;
    facts.authored.tool_expectation == Some(ToolExpectation::Open)
        && !some(facts.rows_judged_at(Stage::Selection))
        && !some(facts.turns(expects))
}
