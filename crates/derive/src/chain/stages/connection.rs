//! Was the server reached? (`chain.md` §8.1)

use strandline_contract::words::{Attribution, SetupOutcome, StageReason};

use super::super::{
    facts::{Facts, some},
    row::Row,
};

pub(in super::super) fn rule(facts: Facts<'_>) -> Row<'_> {
    let signal = facts.evidence.setup_signals.connection.as_ref();
    // 1. Seen to succeed.
    if let Some(signal) = signal.filter(|signal| signal.outcome == SetupOutcome::Ok) {
        return Row::passed(StageReason::Observed).citing_signal(signal);
    }
    // 2. A call that reached the server implies a session.
    if some(facts.reaching_spans()) {
        return Row::passed(StageReason::ImpliedByLaterEvidence)
            .citing_spans(facts.reaching_spans());
    }
    // 3. So does a listed tool.
    if facts.tools_listed() {
        return Row::passed(StageReason::ImpliedByLaterEvidence);
    }
    if let Some(signal) = signal {
        return match (signal.attribution, signal.egress_verified) {
            // 4. Their fault, and our own egress was seen to work.
            (Some(Attribution::Theirs), Some(true)) => Row::failed(StageReason::ConnectFailed),
            // 5. Nothing shows that our egress works.
            (Some(Attribution::Theirs | Attribution::Unknown) | None, _) => {
                Row::not_measured(StageReason::EgressUnverified)
            }
            // 6. Our own fault.
            (Some(Attribution::Ours), _) => Row::not_measured(StageReason::SetupAborted),
        }
        .citing_signal(signal);
    }
    // 7. No trace.
    if facts.evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    // 8. Nothing at all.
    Row::not_measured(StageReason::NoEvidenceCaptured)
}

/// Returns whether a session is proven: rule 1, 2 or 3 holds.
pub(super) fn is_proven(facts: Facts<'_>) -> bool {
    facts
        .evidence
        .setup_signals
        .connection
        .as_ref()
        .is_some_and(|signal| signal.outcome == SetupOutcome::Ok)
        || some(facts.reaching_spans())
        || facts.tools_listed()
}
