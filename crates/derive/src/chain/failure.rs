//! The bucket of a failed trial (`chain.md` §9.4, §9.5); never a cause.

use strandline_contract::{
    chain_input::MetadataAttribution,
    words::{FailureCategory, JudgeStatus, Stage, StageReason},
};

use super::{
    branches::STAGES,
    facts::Facts,
    row::{Row, reasons_of},
};

/// Returns the failure category, given the index of the first failed row.
pub(super) fn category(
    facts: Facts<'_>,
    rows: &[Row<'_>; 6],
    first_failed: Option<usize>,
) -> Option<FailureCategory> {
    let Some(index) = first_failed else {
        if facts.evidence.evaluator_errored {
            return Some(FailureCategory::Evaluator);
        }
        return facts.provider_failed().then_some(FailureCategory::Setup);
    };
    Some(match STAGES[index] {
        Stage::Connection | Stage::Discovery => FailureCategory::Setup,
        Stage::Selection if blaming_metadata(facts).is_some() => FailureCategory::Metadata,
        Stage::Selection => FailureCategory::Selection,
        Stage::Call if rows[index].reason == StageReason::ArgumentMismatch => {
            FailureCategory::Arguments
        }
        Stage::Call if facts.has_transport_local_code() => FailureCategory::Setup,
        Stage::Call | Stage::Response => FailureCategory::ServerData,
        Stage::UserValue => FailureCategory::UserValue,
    })
}

/// Replaces the selection row's explanations by the judge's (§9.5).
pub(super) fn merge_metadata<'a>(facts: Facts<'a>, rows: &mut [Row<'a>; 6]) {
    let Some(attribution) = blaming_metadata(facts) else {
        return;
    };
    let reasons = reasons_of(attribution.reasons.iter().map(|reason| &**reason));
    for (stage, row) in STAGES.into_iter().zip(rows) {
        if stage == Stage::Selection {
            row.evidence.get_or_insert_default().predicate_reasons = Some(reasons);
            return;
        }
    }
}

/// Returns an attribution that blames the metadata and says why.
fn blaming_metadata<'a>(facts: Facts<'a>) -> Option<&'a MetadataAttribution<'a>> {
    facts
        .evidence
        .metadata_attribution
        .as_ref()
        .filter(|attribution| {
            attribution.status == JudgeStatus::Scored
                && attribution.attributed == Some(true)
                && !reasons_of(attribution.reasons.iter().map(|reason| &**reason)).is_empty()
        })
}
