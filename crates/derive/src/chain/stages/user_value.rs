//! Was the user's request satisfied? (`chain.md` §8.6)

use strandline_contract::{
    chain_input::JudgeEvidence,
    words::{JudgeStatus, JudgeVerdict, PendingKind, Stage, StageReason},
};

use super::super::{
    facts::{Facts, reasons, some},
    row::Row,
};

/// The judge only fills silence: any row, an evaluator error or an absent
/// trace decides first.
pub(in super::super) fn rule<'a>(
    facts: Facts<'a>,
    judge: Option<&'a JudgeEvidence<'a>>,
) -> Row<'a> {
    // 1. The grader broke.
    if facts.evidence.evaluator_errored {
        return Row::not_measured(StageReason::EvaluatorError);
    }
    // 2. An assertion on the outcome does not hold.
    if some(facts.failing_rows(Stage::UserValue)) {
        return Row::failed(StageReason::PredicateFailed)
            .citing_reasons(reasons(facts.failing_rows(Stage::UserValue)));
    }
    // 3. Assertions on the outcome hold.
    if some(facts.rows_judged_at(Stage::UserValue)) {
        return Row::passed(StageReason::Observed);
    }
    // 4. No trace.
    if facts.evidence.trace_absent {
        return Row::not_measured(StageReason::TraceAbsent);
    }
    let Some((judge, row)) = judge.and_then(|judge| Some((judge, judged(judge)?))) else {
        // 11. Nothing at all.
        return Row::not_measured(StageReason::NoEvidenceCaptured);
    };
    row.citing_reasons(judge.reasons.iter().map(|reason| &**reason))
}

/// Rules 5–10; `None` when the judge says nothing.
fn judged<'a>(judge: &JudgeEvidence<'_>) -> Option<Row<'a>> {
    match judge.status {
        JudgeStatus::Scored => Some(match judge.verdict? {
            JudgeVerdict::Pass => Row::passed(StageReason::JudgeObserved),
            JudgeVerdict::Partial => Row::failed(StageReason::JudgePartial),
            JudgeVerdict::Fail => Row::failed(StageReason::JudgeFailed),
        }),
        JudgeStatus::Error => Some(Row::not_measured(StageReason::EvaluatorError)),
        JudgeStatus::Pending => Some(Row::not_measured(match judge.pending_kind {
            Some(PendingKind::NotRequested) => StageReason::JudgeNotRequested,
            Some(PendingKind::Scheduled) | None => StageReason::JudgePending,
        })),
        JudgeStatus::Skipped | JudgeStatus::NotApplicable => None,
    }
}
