//! Were usable tools listed? (`chain.md` §8.2)

use strandline_contract::words::{Attribution, SetupOutcome, Stage, StageReason};

use super::{
    super::{
        facts::{Facts, reasons, some},
        row::Row,
    },
    connection,
};

pub(in super::super) fn rule(facts: Facts<'_>) -> Row<'_> {
    let signal = facts.evidence.setup_signals.discovery.as_ref();
    if let Some(signal) = signal.filter(|signal| signal.outcome == SetupOutcome::Failed) {
        // A failed listing beats tool spans and assertions.
        return match signal.attribution {
            // 1. Their fault, over a proven session.
            Some(Attribution::Theirs) if connection::is_proven(facts) => {
                Row::failed(StageReason::ToolsListFailed)
            }
            // 2. Our own fault.
            Some(Attribution::Ours) => Row::not_measured(StageReason::SetupAborted),
            // 3. Nobody's known fault.
            Some(Attribution::Theirs | Attribution::Unknown) | None => {
                Row::not_measured(StageReason::EgressUnverified)
            }
        }
        .citing_signal(signal);
    }
    // 4. An assertion on the listing does not hold.
    if some(facts.failing_rows(Stage::Discovery)) {
        return Row::failed(StageReason::PredicateFailed)
            .citing_reasons(reasons(facts.failing_rows(Stage::Discovery)));
    }
    // 5. Seen to succeed.
    if let Some(signal) = signal {
        return Row::passed(StageReason::Observed).citing_signal(signal);
    }
    // 6. Tools were listed, or an assertion on the listing holds.
    if facts.tools_listed() || some(facts.rows_judged_at(Stage::Discovery)) {
        return Row::passed(StageReason::Observed);
    }
    // 7. A call implies a listing, whatever its code.
    if some(facts.tool_spans()) {
        return Row::passed(StageReason::ImpliedByLaterEvidence).citing_spans(facts.tool_spans());
    }
    // 8. No trace.
    if facts.evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    // 9. Nothing at all.
    Row::not_measured(StageReason::NoEvidenceCaptured)
}
