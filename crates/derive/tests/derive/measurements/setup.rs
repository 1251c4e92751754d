//! Setup tallies and aggregates (`measurements.md` §7, §8, §9.1).

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{
    measurements::{LatencyAggregate, SignalCopy, StageMeasurement},
    words::{LatencyBasis, Reach, Stage, StageState},
};
use strandline_derive::measurements::{
    aggregate_latency, derive_setup_tallies, is_valid_aggregate, mean_ms, stage_sample,
};
use strandline_testkit::vectors::{check_file, workspace_root};

#[test]
fn setup_tallies_are_as_the_examples_say() {
    let file = workspace_root().join("conformance/setup-tallies.jsonl");
    check_file(&file, |copies| {
        let copies: Vec<SignalCopy<'_>> =
            serde_json::from_str(copies).map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(derive_setup_tallies(&copies)).expect("tallies are JSON"))
    });
}

#[test]
fn copies_of_another_phase_are_ignored() {
    let copies = r#"[{"phase":"teardown","outcome":"failed","trialKey":"t"}]"#;
    let copies: Vec<SignalCopy<'_>> = serde_json::from_str(copies).expect("copies");
    assert_eq!(derive_setup_tallies(&copies), []);
}

const SPANS: LatencyBasis = LatencyBasis::EvidenceSpanUnion;

#[test]
fn samples_add_up_within_their_bounds() {
    assert_eq!(aggregate_latency(SPANS, []), None);
    let sum = aggregate_latency(SPANS, [40.0, 10.0, 25.0]).expect("an aggregate");
    assert_eq!(
        (sum.sample_count, sum.total_ms, sum.min_ms, sum.max_ms),
        (3, 75.0, 10.0, 40.0)
    );
    assert_eq!(mean_ms(Some(&sum)), Some(25.0));
    assert!(is_valid_aggregate(&sum, SPANS));
    // Ten times 0.1 adds up to one ulp less than 1.
    let tenths = aggregate_latency(SPANS, [0.1; 10]).expect("an aggregate");
    assert_eq!(tenths.total_ms, 1.0);
    assert!(is_valid_aggregate(&tenths, SPANS));
}

#[test]
fn impossible_aggregates_are_told() {
    let valid = aggregate_latency(SPANS, [40.0, 10.0]).expect("an aggregate");
    let invalid = [
        LatencyAggregate {
            sample_count: 0,
            ..valid
        },
        LatencyAggregate {
            total_ms: 81.0,
            ..valid
        },
        LatencyAggregate {
            total_ms: 19.0,
            ..valid
        },
        LatencyAggregate {
            min_ms: 41.0,
            ..valid
        },
        LatencyAggregate {
            min_ms: -1.0,
            ..valid
        },
        LatencyAggregate {
            max_ms: f64::INFINITY,
            ..valid
        },
    ];
    for aggregate in invalid {
        assert!(!is_valid_aggregate(&aggregate, SPANS), "{aggregate:?}");
    }
    assert!(!is_valid_aggregate(&valid, LatencyBasis::SetupPhaseWall));
    assert_eq!(mean_ms(None), None);
}

fn row(row: Value) -> StageMeasurement {
    StageMeasurement::deserialize(row).expect("a row")
}

#[test]
fn a_sample_needs_a_row_that_agrees_with_the_chain() {
    let reached = row(serde_json::json!({
        "stage": "call", "reach": "reached",
        "latency": {"unit": "ms", "basis": "evidence_span_union", "value": 7},
    }));
    let sample = |state, row| stage_sample(Stage::Call, state, row);
    assert_eq!(
        sample(Some(StageState::Passed), Some(&reached)),
        (Reach::Reached, Some(7.0))
    );
    assert_eq!(
        sample(Some(StageState::NotMeasured), Some(&reached)),
        (Reach::Reached, Some(7.0))
    );
    // Inconsistent, missing, or about another stage: the state alone decides.
    assert_eq!(
        sample(Some(StageState::NotReached), Some(&reached)),
        (Reach::NotReached, None)
    );
    assert_eq!(
        sample(Some(StageState::Passed), None),
        (Reach::Reached, None)
    );
    assert_eq!(
        stage_sample(
            Stage::Response,
            Some(StageState::NotMeasured),
            Some(&reached)
        ),
        (Reach::Unknown, None)
    );
    assert_eq!(sample(None, Some(&reached)), (Reach::Unknown, None));
}
