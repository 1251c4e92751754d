//! A stored chain → what may be shown of it (`decision-summary.md` §6).

use serde_json::Value;
use strandline_contract::{
    chain::STAGE_ANALYZER_VERSION,
    decision::{
        AbsentChain, SummaryChain, SummaryStage, SummaryStageEvidence, UnverifiedChain,
        VerifiedChain, VersionAhead,
    },
    number,
    words::{FailureCategory, Stage, StageState, Vocabulary},
};

use super::StoredChain;
use crate::document::{Findings, Node};

/// Derives what may be shown of a stored chain.
///
/// A chain that does not validate is withheld with the claims made from it. A
/// newer analyzer only adds a flag; one word this build does not know makes
/// the whole chain unverified.
#[must_use]
pub fn derive_summary_chain(stored: &StoredChain<'_>) -> SummaryChain {
    let reported = stored
        .analyzer_version
        .as_deref()
        .and_then(number::as_count);
    let ahead = reported.and_then(version_ahead);
    if let Some(verified) = verify(stored, reported, ahead) {
        return SummaryChain::Verified(verified);
    }
    if stored.unverified || stored.stage_results.is_some() {
        return SummaryChain::Unverified(UnverifiedChain {
            analyzer_version: reported,
            analyzer_version_ahead: ahead,
        });
    }
    SummaryChain::Absent(AbsentChain {})
}

fn version_ahead(reported: u64) -> Option<VersionAhead> {
    let known = u64::from(STAGE_ANALYZER_VERSION);
    (reported > known).then_some(VersionAhead { reported, known })
}

/// Validates a stored derivation (`chain.md` §11.2); a present `null` fails.
fn verify(
    stored: &StoredChain<'_>,
    reported: Option<u64>,
    ahead: Option<VersionAhead>,
) -> Option<VerifiedChain> {
    let stages = read_stages(stored.stage_results.as_deref()?)?;
    if !stages
        .iter()
        .map(|row| row.stage)
        .eq(Stage::ALL.iter().copied())
    {
        return None;
    }
    let first_failed_stage = read_word::<Stage>(stored.first_failed_stage.as_deref())?;
    let failed = stages.iter().find(|row| row.state == StageState::Failed);
    if first_failed_stage != failed.map(|row| row.stage) {
        return None;
    }
    Some(VerifiedChain {
        failure_category: read_word::<FailureCategory>(stored.failure_category.as_deref())?,
        stages,
        first_failed_stage,
        analyzer_version: reported?,
        analyzer_version_ahead: ahead,
    })
}

/// Reads an optional word: `None` when it is there and no known word.
fn read_word<V: Vocabulary>(value: Option<&Value>) -> Option<Option<V>> {
    match value {
        None => Some(None),
        Some(value) => V::from_wire(value.as_str()?).map(Some),
    }
}

fn read_stages(stages: &Value) -> Option<Vec<SummaryStage>> {
    let findings = Findings::default();
    Node::root(stages, &findings)
        .list(read_stage)
        .filter(|_| findings.is_empty())
}

/// Reads one stage row; unknown keys are dropped, values kept verbatim.
pub(super) fn read_stage(node: &Node<'_>) -> Option<SummaryStage> {
    node.open_object()?;
    let stage = node.required_with("stage", |node| node.word());
    let state = node.required_with("state", |node| node.word());
    let reason = node.optional_with("reason", |node| node.word());
    let evidence = node.optional_with("evidence", read_evidence);
    Some(SummaryStage {
        stage: stage?,
        state: state?,
        reason: reason?,
        evidence: evidence?,
    })
}

fn read_evidence(node: &Node<'_>) -> Option<SummaryStageEvidence> {
    node.open_object()?;
    let texts = |key: &str| {
        node.optional_with(key, |node| node.list(|node| node.text().map(str::to_owned)))
    };
    let span_ids = texts("spanIds");
    let prompt_indexes =
        node.optional_with("promptIndexes", |node| node.list(|node| node.number()));
    let predicate_reasons = texts("predicateReasons");
    Some(SummaryStageEvidence {
        span_ids: span_ids?,
        prompt_indexes: prompt_indexes?,
        predicate_reasons: predicate_reasons?,
    })
}
