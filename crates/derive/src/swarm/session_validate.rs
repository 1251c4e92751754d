//! Stored session verdicts → accepted or violations (`swarm.md` §4.4).

use serde_json::Value;
use strandline_contract::{
    swarm::{
        SWARM_CONTRACT_VERSION,
        session::{CriteriaCounts, Graders, SessionTrial, SessionVerdict},
    },
    words::{
        IterationStatus, SessionVerdictSource, SummaryVerdict, SwarmLifecycle, TaskResult,
        Vocabulary,
    },
};

use super::{
    InvalidSwarmDocument, invalid::read_checked, session_input::read_grading, verdict::trial_status,
};
use crate::document::{Findings, Node, Path};

/// Reads a stored session verdict.
///
/// # Errors
///
/// Returns every violation of §4.4 (the first 100).
pub fn validate_session_verdict(document: &Value) -> Result<SessionVerdict, InvalidSwarmDocument> {
    Ok(read_checked(document, read_verdict, check_verdict)?)
}

/// Reads the shape of a session verdict.
pub(super) fn read_verdict(node: &Node<'_>) -> Option<SessionVerdict> {
    node.closed_object(&[
        "contractVersion",
        "lifecycle",
        "verdict",
        "reason",
        "verdictSource",
        "grading",
        "graders",
        "counts",
        "trial",
    ])?;
    let version = node.required_with("contractVersion", |node| {
        node.literal_count(SWARM_CONTRACT_VERSION)
    });
    let lifecycle = node.required_with("lifecycle", |node| node.word());
    let verdict = node.required_with("verdict", |node| node.word());
    let reason = node.required_with("reason", |node| node.word());
    let verdict_source = node.required_with("verdictSource", |node| node.word());
    let grading = node.required_with("grading", read_grading);
    let graders = node.required_with("graders", |node| {
        node.closed_object(&["criteria", "judge"])?;
        let criteria = node.required_with("criteria", |node| node.word());
        let judge = node.required_with("judge", |node| node.word());
        Some(Graders {
            criteria: criteria?,
            judge: judge?,
        })
    });
    let counts = node.required_with("counts", read_counts);
    let trial = node.nullable_with("trial", read_trial);
    Some(SessionVerdict {
        contract_version: version?,
        lifecycle: lifecycle?,
        verdict: verdict?,
        reason: reason?,
        verdict_source: verdict_source?,
        grading: grading?,
        graders: graders?,
        counts: counts?,
        trial: trial?,
    })
}

fn read_counts(node: &Node<'_>) -> Option<CriteriaCounts> {
    node.closed_object(&[
        "gating",
        "gatingPassed",
        "gatingFailed",
        "gatingUnmeasured",
        "advisoryFailed",
    ])?;
    let count = |key: &str| node.required_with(key, |node| node.count());
    let gating = count("gating");
    let gating_passed = count("gatingPassed");
    let gating_failed = count("gatingFailed");
    let gating_unmeasured = count("gatingUnmeasured");
    let advisory_failed = count("advisoryFailed");
    Some(CriteriaCounts {
        gating: gating?,
        gating_passed: gating_passed?,
        gating_failed: gating_failed?,
        gating_unmeasured: gating_unmeasured?,
        advisory_failed: advisory_failed?,
    })
}

fn read_trial(node: &Node<'_>) -> Option<SessionTrial> {
    node.closed_object(&["status", "taskVerdict", "evaluatorError"])?;
    let status = node.required_with("status", |node| match node.word::<IterationStatus>()? {
        IterationStatus::TimedOut | IterationStatus::Skipped => {
            node.refuse("is no status of a session's trial")
        }
        status => Some(status),
    });
    let task_verdict = node.optional_with("taskVerdict", |node| node.word());
    let evaluator_error = node.optional_with("evaluatorError", |node| {
        if !node.boolean()? {
            return node.refuse("must be `true` or absent");
        }
        Some(true)
    });
    Some(SessionTrial {
        status: status?,
        task_verdict: task_verdict?,
        evaluator_error: evaluator_error?,
    })
}

/// The rules across fields.
pub(super) fn check_verdict(document: &SessionVerdict, root: &Path<'_>, findings: &Findings) {
    let demand = |holds: bool, key: &str, message: &str| {
        findings.demand(holds, &root.key(key), message);
    };
    let verdict = document.verdict;
    demand(
        document.reason.verdict() == verdict,
        "verdict",
        "is not the verdict of the reason",
    );
    let counts = &document.counts;
    let parts = [
        counts.gating_passed,
        counts.gating_failed,
        counts.gating_unmeasured,
    ];
    let sum = parts
        .iter()
        .try_fold(0_u64, |sum, part| sum.checked_add(*part));
    demand(
        sum == Some(counts.gating),
        "counts",
        "`gating` must be the sum of its three parts",
    );
    let has_source = document.verdict_source != SessionVerdictSource::None;
    demand(
        has_source || !matches!(verdict, SummaryVerdict::Passed | SummaryVerdict::Failed),
        "verdictSource",
        "must say what decided",
    );
    demand(
        !has_source || verdict != SummaryVerdict::NotEstablished,
        "verdictSource",
        "must be `none` where nothing is established",
    );
    check_trial(document, root, findings);
}

fn check_trial(document: &SessionVerdict, root: &Path<'_>, findings: &Findings) {
    let place = root.key("trial");
    let demand = |holds: bool, message: &str| findings.demand(holds, &place, message);
    let ran = document.lifecycle == SwarmLifecycle::Ran;
    let Some(trial) = &document.trial else {
        demand(ran, "must be there: the session did not run to its end");
        demand(
            !ran || document.verdict == SummaryVerdict::NotEstablished,
            "must be there: the session has a verdict",
        );
        return;
    };
    if trial.status != IterationStatus::Completed {
        demand(
            trial.task_verdict.is_none() && trial.evaluator_error.is_none(),
            "must carry no verdict and no evaluator error: it did not complete",
        );
        findings.demand(
            trial_status(document.lifecycle) == Some(trial.status),
            &place,
            format_args!(
                "is not the trial of a session that is `{}`",
                document.lifecycle.wire()
            ),
        );
        return;
    }
    demand(
        ran,
        "must not be completed: the session did not run to its end",
    );
    match (trial.task_verdict, trial.evaluator_error) {
        (Some(task_verdict), None) => demand(
            document.verdict
                == match task_verdict {
                    TaskResult::Passed => SummaryVerdict::Passed,
                    TaskResult::Failed => SummaryVerdict::Failed,
                },
            "`taskVerdict` must be the session's verdict",
        ),
        (None, Some(_)) => demand(
            document.verdict == SummaryVerdict::Inconclusive,
            "`evaluatorError` needs an inconclusive session",
        ),
        (Some(_), Some(_)) | (None, None) => demand(
            false,
            "must carry either `taskVerdict` or `evaluatorError`: it completed",
        ),
    }
}
