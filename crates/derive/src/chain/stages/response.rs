//! Did the server return usable data? (`chain.md` §8.5)

use strandline_contract::words::{RenderStatus, Stage, StageReason};

use super::super::{
    facts::{Facts, reasons, some},
    row::Row,
};

pub(in super::super) fn rule(facts: Facts<'_>) -> Row<'_> {
    let evidence = facts.evidence;
    // 1. A tool answered with an error.
    if facts.tool_failure_seen() {
        return Row::failed(StageReason::ToolError).citing_spans(facts.domain_failed_spans());
    }
    // 2. An assertion on the response does not hold.
    if some(facts.failing_rows(Stage::Response)) {
        return Row::failed(StageReason::PredicateFailed)
            .citing_reasons(reasons(facts.failing_rows(Stage::Response)));
    }
    if facts.authored.expects_widget_render {
        let observations = &evidence.render_observations;
        // 3. No widget was watched.
        if observations.is_empty() {
            return Row::not_measured(StageReason::NoEvidenceCaptured);
        }
        // 4. Some widget did not render.
        if observations
            .iter()
            .any(|observation| observation.status != Some(RenderStatus::Rendered))
        {
            return Row::failed(StageReason::RenderFailed);
        }
        // 5. Every widget rendered.
        return Row::passed(StageReason::Observed);
    }
    // 6. A call ended well.
    if some(facts.usable_spans()) {
        return Row::passed(StageReason::Observed).citing_spans(facts.usable_spans());
    }
    // 7. Assertions on the response hold.
    if some(facts.rows_judged_at(Stage::Response)) {
        return Row::passed(StageReason::Observed);
    }
    // 8. No trace.
    if evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    // 9. A trace without spans.
    if evidence.trace_lacks_span_channel {
        return Row::not_measured(StageReason::ExecutorEmitsNoSpans);
    }
    // 10. Nothing at all.
    Row::not_measured(StageReason::NoEvidenceCaptured)
}
