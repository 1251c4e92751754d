//! Where a run's verdict comes from (`decision-summary.md` §4).

use serde_json::Value;
use strandline_contract::{
    decision::{SummaryCounts, Undecided},
    number,
    verdict::Decision,
    words::{SummaryVerdict, UndecidedReason, Verdict, VerdictSource},
};

use super::RunInput;
use crate::verdict::validate_decision;

/// A verdict with everything that is said about it.
pub(super) struct Resolution {
    pub(super) verdict: SummaryVerdict,
    pub(super) source: VerdictSource,
    pub(super) undecided: Option<Undecided>,
    pub(super) counts: Option<SummaryCounts>,
    pub(super) decision: Option<Decision>,
}

impl Resolution {
    fn undecided(reason: UndecidedReason, detail: Option<String>) -> Self {
        Self {
            verdict: SummaryVerdict::NotEstablished,
            source: VerdictSource::None,
            undecided: Some(Undecided { reason, detail }),
            counts: None,
            decision: None,
        }
    }
}

/// Resolves the verdict; first match wins.
pub(super) fn resolve(run: &RunInput<'_>) -> Resolution {
    // 1. Not terminal, or a status that we do not know.
    if !matches!(
        &*run.status,
        "completed" | "failed" | "cancelled" | "timed_out"
    ) {
        return Resolution::undecided(UndecidedReason::RunNotTerminal, None);
    }
    // 2, 3. Policy v2: the stored decision or none; never the legacy result.
    if run.policy_v2 {
        let stored = run.decision.as_deref().unwrap_or(&Value::Null);
        return match validate_decision(stored) {
            Err(_) => Resolution::undecided(
                UndecidedReason::VerdictSummaryUnavailable,
                run.integrity_error.as_deref().map(str::to_owned),
            ),
            Ok(decision) => Resolution {
                verdict: decision.verdict.into(),
                source: VerdictSource::PolicyV2,
                undecided: None,
                counts: Some(tally(&decision)),
                decision: Some(decision),
            },
        };
    }
    // 4. Ended early.
    if &*run.status != "completed" {
        return Resolution::undecided(UndecidedReason::RunStatusNotAVerdict, None);
    }
    // 5, 6. The recorded result, if it is a verdict.
    let verdict = match run.result.as_deref() {
        Some("passed") => SummaryVerdict::Passed,
        Some("failed") => SummaryVerdict::Failed,
        _ => return Resolution::undecided(UndecidedReason::RunResultNotAVerdict, None),
    };
    Resolution {
        verdict,
        source: VerdictSource::Legacy,
        undecided: None,
        counts: recorded_counts(run.summary.as_deref()),
        decision: None,
    }
}

/// Counts the case variants of a decision by their verdict.
pub(super) fn tally(decision: &Decision) -> SummaryCounts {
    let count = |verdict| {
        decision
            .cases
            .iter()
            .filter(|case| case.verdict == verdict)
            .count() as u64
    };
    SummaryCounts::CaseVariant {
        total: decision.cases.len() as u64,
        passed: count(Verdict::Passed),
        failed: count(Verdict::Failed),
        inconclusive: count(Verdict::Inconclusive),
    }
}

/// Copies what an older run counted; nothing is defaulted or added up.
fn recorded_counts(summary: Option<&Value>) -> Option<SummaryCounts> {
    let count = |key: &str| summary?.get(key).and_then(number::as_count);
    let (total, passed, failed) = (count("total"), count("passed"), count("failed"));
    total.or(passed).or(failed)?;
    Some(SummaryCounts::Trial {
        total,
        passed,
        failed,
    })
}
