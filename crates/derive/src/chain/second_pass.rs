//! A judge that answers after the chain was derived (`chain.md` §14.5).

use strandline_contract::{
    chain::Chain,
    chain_input::{ChainInput, JudgeEvidence, MetadataAttribution, StepError},
    words::{IterationStatus, StageReason, StepErrorSource},
};

/// What arrived since the chain was derived; the rest stays as stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LateEvidence<'a> {
    /// The goal judge's answer.
    pub judge: Option<JudgeEvidence<'a>>,
    /// The answer about tool metadata.
    pub attribution: Option<MetadataAttribution<'a>>,
}

/// Returns the input of the second pass: the stored one with what arrived.
/// Derive a whole chain from it; rows are never patched.
///
/// `None` unless the trial completed or failed. A provider failure is
/// recovered from the stored source, or from a stored row that names it.
#[must_use]
pub fn second_pass<'a>(
    mut stored_input: ChainInput<'a>,
    stored_chain: &Chain<'_>,
    stored_source: Option<StepErrorSource>,
    late: LateEvidence<'a>,
) -> Option<ChainInput<'a>> {
    match stored_input.iteration.status {
        IterationStatus::Completed | IterationStatus::Failed => {}
        IterationStatus::Pending
        | IterationStatus::Running
        | IterationStatus::Cancelled
        | IterationStatus::TimedOut
        | IterationStatus::SetupFailed
        | IterationStatus::Skipped => return None,
    }
    let evidence = &mut stored_input.evidence;
    let withdrawn = stored_chain
        .stage_results
        .iter()
        .any(|row| row.reason == Some(StageReason::ProviderError));
    if withdrawn || stored_source == Some(StepErrorSource::Model) {
        evidence.step_error = Some(StepError {
            source: Some(StepErrorSource::Model),
        });
    }
    if late.judge.is_some() {
        evidence.judge_evidence = late.judge;
    }
    if late.attribution.is_some() {
        evidence.metadata_attribution = late.attribution;
    }
    Some(stored_input)
}
