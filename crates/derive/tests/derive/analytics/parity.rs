//! Which funnels may be shown side by side.

use strandline_contract::{
    analytics::StageAnalytics,
    words::{MaterializationState, MeasurementUnit, ParityBlocker},
};
use strandline_derive::analytics::{case_set_fingerprint, parity_blockers};

use super::{funnel, trial};

fn full() -> StageAnalytics {
    funnel(&[trial("t")], &[])
}

#[test]
fn the_same_full_final_row_compares_with_itself() {
    assert_eq!(parity_blockers(&full(), &full()), []);
}

#[test]
fn everything_that_differs_is_named_in_check_order() {
    let other = StageAnalytics {
        run_group_id: Some("g2".to_owned()),
        config_revision: Some("cfg2".to_owned()),
        case_set_fingerprint: Some("cs2".to_owned()),
        stage_analyzer_version: 7,
        measurements_schema_version: 2,
        source_measurements_schema_versions: Some(vec![1, 2]),
        measurement_unit: MeasurementUnit::CaseVariant,
        materialization_state: MaterializationState::Provisional,
        ..full()
    };
    let expected = [
        ParityBlocker::DifferentRunGroup,
        ParityBlocker::DifferentConfigIdentity,
        ParityBlocker::DifferentCaseSetIdentity,
        ParityBlocker::MixedSourceVersions,
        ParityBlocker::DifferentAnalyzerVersion,
        ParityBlocker::DifferentMeasurementsVersion,
        ParityBlocker::DifferentMeasurementUnit,
        ParityBlocker::Provisional,
    ];
    assert_eq!(parity_blockers(&full(), &other), expected);
    assert_eq!(parity_blockers(&other, &full()), expected);
}

#[test]
fn an_absent_identity_is_missing_and_never_equal() {
    let bare = StageAnalytics {
        run_group_id: None,
        config_revision: None,
        case_set_fingerprint: None,
        ..full()
    };
    let missing = [
        ParityBlocker::MissingRunGroup,
        ParityBlocker::MissingConfigIdentity,
        ParityBlocker::MissingCaseSetIdentity,
    ];
    assert_eq!(parity_blockers(&bare, &bare), missing);
    assert_eq!(parity_blockers(&full(), &bare), missing);
}

#[test]
fn a_row_that_moves_or_mixes_does_not_even_compare_with_itself() {
    let moving = StageAnalytics {
        materialization_state: MaterializationState::Provisional,
        ..full()
    };
    assert_eq!(
        parity_blockers(&moving, &moving),
        [ParityBlocker::Provisional]
    );
    let mixed = StageAnalytics {
        source_stage_analyzer_versions: Some(vec![7, 8]),
        ..full()
    };
    assert_eq!(
        parity_blockers(&mixed, &mixed),
        [ParityBlocker::MixedSourceVersions]
    );
}

#[test]
fn a_case_set_is_told_by_its_distinct_ids_alone() {
    let one = case_set_fingerprint(["b", "a", "b", "😀", "ﬁ"]);
    assert_eq!(one, case_set_fingerprint(["ﬁ", "😀", "a", "b"]));
    assert_ne!(one, case_set_fingerprint(["a", "b"]));
    assert_eq!(case_set_fingerprint([]), None);
}
