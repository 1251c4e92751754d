//! May two funnels be shown side by side? (`analytics.md` §9, §12)

use serde_json::json;
use strandline_contract::{
    analytics::StageAnalytics,
    canonical::{by_code_units, sha256_canonical},
    words::{MaterializationState, ParityBlocker},
};

/// Returns why two funnels must not be shown side by side, in check order;
/// showing them with an empty list already asserts that they compare.
#[must_use]
pub fn parity_blockers(left: &StageAnalytics, right: &StageAnalytics) -> Vec<ParityBlocker> {
    let either = |holds: fn(&StageAnalytics) -> bool| holds(left) || holds(right);
    // 1–3. Identities; both absent is missing, never equal.
    let identities = [
        identity(
            left.run_group_id.as_deref(),
            right.run_group_id.as_deref(),
            ParityBlocker::MissingRunGroup,
            ParityBlocker::DifferentRunGroup,
        ),
        identity(
            left.config_revision.as_deref(),
            right.config_revision.as_deref(),
            ParityBlocker::MissingConfigIdentity,
            ParityBlocker::DifferentConfigIdentity,
        ),
        identity(
            left.case_set_fingerprint.as_deref(),
            right.case_set_fingerprint.as_deref(),
            ParityBlocker::MissingCaseSetIdentity,
            ParityBlocker::DifferentCaseSetIdentity,
        ),
    ];
    let mut blockers: Vec<_> = identities.into_iter().flatten().collect();
    let mut block = |holds: bool, blocker| {
        if holds {
            blockers.push(blocker);
        }
    };
    // 4. Presence alone blocks.
    block(
        either(|row| {
            row.source_stage_analyzer_versions.is_some()
                || row.source_measurements_schema_versions.is_some()
        }),
        ParityBlocker::MixedSourceVersions,
    );
    // 5–7. Versions and unit.
    block(
        left.stage_analyzer_version != right.stage_analyzer_version,
        ParityBlocker::DifferentAnalyzerVersion,
    );
    block(
        left.measurements_schema_version != right.measurements_schema_version,
        ParityBlocker::DifferentMeasurementsVersion,
    );
    block(
        left.measurement_unit != right.measurement_unit,
        ParityBlocker::DifferentMeasurementUnit,
    );
    // 8. Counts that still move.
    block(
        either(|row| row.materialization_state == MaterializationState::Provisional),
        ParityBlocker::Provisional,
    );
    blockers
}

fn identity(
    left: Option<&str>,
    right: Option<&str>,
    missing: ParityBlocker,
    different: ParityBlocker,
) -> Option<ParityBlocker> {
    match (left, right) {
        (Some(left), Some(right)) => (left != right).then_some(different),
        (None, _) | (_, None) => Some(missing),
    }
}

/// Returns the digest of the distinct ids of cases whose trials are included,
/// sorted by UTF-16 code units; none without any, since two runs that count
/// nothing do not count the same.
#[must_use]
pub fn case_set_fingerprint<'a>(case_ids: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut ids: Vec<&str> = case_ids.into_iter().collect();
    ids.sort_by(|left, right| by_code_units(left, right));
    ids.dedup();
    (!ids.is_empty()).then(|| sha256_canonical(&json!(ids)))
}
