//! Was the call made with usable arguments? (`chain.md` §8.4)

use strandline_contract::words::{Stage, StageReason, ToolErrorKind};

use super::super::{
    facts::{Facts, reasons, some},
    row::Row,
};

pub(in super::super) fn rule(facts: Facts<'_>) -> Row<'_> {
    let evidence = facts.evidence;
    // 1. Other arguments than required.
    let mismatched = facts.turns(|turn| turn.argument_mismatches);
    if some(mismatched.clone()) {
        return Row::failed(StageReason::ArgumentMismatch).citing_turns(mismatched);
    }
    // 2. An assertion on the arguments does not hold.
    if some(facts.failing_rows(Stage::Call)) {
        return Row::failed(StageReason::ArgumentMismatch)
            .citing_reasons(reasons(facts.failing_rows(Stage::Call)));
    }
    // 3. A call ended without a result.
    if some(facts.protocol_failed_spans()) || facts.has_tool_error(ToolErrorKind::ProtocolError) {
        return Row::failed(StageReason::ProtocolError).citing_spans(facts.protocol_failed_spans());
    }
    // 4. A call was made, whatever the tool answered.
    if some(facts.tool_spans()) {
        return Row::passed(StageReason::Observed).citing_spans(facts.tool_spans());
    }
    // 5. No call was made, and none was wanted.
    if facts.authored.is_negative_test && facts.any_turn() {
        return Row::passed(StageReason::Observed).citing_turns(evidence.prompts.iter());
    }
    // 6. Assertions on the arguments hold.
    if some(facts.rows_judged_at(Stage::Call)) {
        return Row::passed(StageReason::Observed);
    }
    // 7. No trace.
    if evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    // 8. A trace without spans.
    if evidence.trace_lacks_span_channel {
        return Row::not_measured(StageReason::ExecutorEmitsNoSpans);
    }
    // 9. Nothing at all.
    Row::not_measured(StageReason::NoEvidenceCaptured)
}
