//! What holds for every run.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::{
        AnalyticsLatency, AnalyticsMeasurement, AnalyticsMeasurements, AnalyticsRow, AnalyticsRun,
        AnalyticsTrial,
    },
    words::{
        FailureCategory, IterationStatus, LatencyBasis, MaterializationState, Reach,
        SliceDimension, Stage, StageReason, StageState, Vocabulary,
    },
};
use strandline_derive::analytics::{
    Reader, StageAnalyticsAccumulator, latency_mean_ms, measured_pass_rate,
    measurement_coverage_rate, reach_rate, validate_stage_analytics,
};

type Row = (AnalyticsRow, AnalyticsMeasurement);

fn row(stage: Stage) -> impl Strategy<Value = Row> {
    let latency = option::of((0..4_000_u32).prop_map(|value| AnalyticsLatency {
        basis: Some(LatencyBasis::EvidenceSpanUnion),
        value: Some(f64::from(value)),
    }));
    (
        select(StageState::ALL),
        option::of(select(StageReason::ALL)),
        select(Reach::ALL),
        latency,
    )
        .prop_map(move |(state, reason, reach, latency)| {
            let row = AnalyticsRow {
                stage: Some(stage),
                state: Some(state),
                reason,
            };
            let measurement = AnalyticsMeasurement {
                stage: Some(stage),
                reach: Some(reach),
                latency,
            };
            (row, measurement)
        })
}

fn trial() -> impl Strategy<Value = AnalyticsTrial<'static>> {
    let rows: Vec<_> = Stage::ALL.iter().map(|stage| row(*stage)).collect();
    let included = prop::bool::weighted(0.8);
    (
        (rows, select(IterationStatus::ALL), included, 7..10_i64),
        option::of(select(FailureCategory::ALL)),
        option::of("[a-c ]{0,2}"),
        option::of(select(&["p", "q"][..])),
        option::of(select(&["m", "n"][..])),
        option::of(select(&["h", "i"][..])),
    )
        .prop_map(
            |((rows, status, included, version), category, intent, provider, model, host)| {
                let (rows, measured): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
                AnalyticsTrial {
                    status: if included { "completed" } else { status.wire() }.into(),
                    stage_results: rows,
                    stage_analyzer_version: Some(version),
                    failure_category: category,
                    chain_verified: true,
                    measurements: Some(AnalyticsMeasurements {
                        schema_version: Some(1),
                        stage_analyzer_version: Some(version),
                        rows: measured,
                    }),
                    measurements_verified: true,
                    intent: intent.map(Into::into),
                    provider: provider.map(Into::into),
                    model: model.map(Into::into),
                    host_key: host.map(Into::into),
                    ..AnalyticsTrial::default()
                }
            },
        )
}

fn run() -> AnalyticsRun<'static> {
    AnalyticsRun {
        run_id: "r".into(),
        suite_id: "s".into(),
        run_group_id: None,
        config_revision: None,
        case_set_fingerprint: None,
        organization_id: None,
        workspace_id: None,
        project_id: None,
        run_completed_at: None,
        source_max_updated_at: None,
        materialization_state: MaterializationState::Final,
        now: 1,
        created_at: None,
        reader_stage_analyzer_version: 8,
        reader_measurements_schema_version: None,
    }
}

fn count<'a>(
    trials: impl IntoIterator<Item = &'a AnalyticsTrial<'static>>,
) -> StageAnalyticsAccumulator {
    let mut counts = StageAnalyticsAccumulator::new(Reader::of(&run()));
    for trial in trials {
        counts.add(trial);
    }
    counts
}

fn finish(counts: &StageAnalyticsAccumulator) -> StageAnalytics {
    counts.finish(&run())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_trials_does_not_change_counts(
        trials in vec(trial(), 0..12), turn in 0..12_usize,
    ) {
        let mut turned = trials.clone();
        let middle = turn % turned.len().max(1);
        turned.rotate_left(middle);
        prop_assert_eq!(finish(&count(&turned)), finish(&count(&trials)));
    }

    #[test]
    fn counting_in_parts_gives_the_same(trials in vec(trial(), 0..12), at in 0..12_usize) {
        let at = at.min(trials.len());
        let (first, second) = trials.split_at(at);
        let mut merged = count(first);
        merged.merge(count(second));
        prop_assert_eq!(finish(&merged), finish(&count(&trials)));
    }

    #[test]
    fn every_count_adds_up_and_the_validator_accepts(trials in vec(trial(), 0..12)) {
        let row = finish(&count(&trials));
        let excluded: u64 = row.excluded_trials.values().sum();
        prop_assert_eq!(row.included_trials + excluded, row.total_trials);
        prop_assert_eq!(row.total_trials, row.source_iteration_count);
        prop_assert_eq!(row.excluded_trial_detail.values().sum::<u64>(), excluded);
        for slice in &row.slices {
            for tally in &slice.stages {
                prop_assert_eq!(tally.applicable + tally.not_applicable, slice.included_trials);
                prop_assert_eq!(tally.reached + tally.not_reached + tally.reach_unknown, tally.applicable);
                let rates = [
                    measurement_coverage_rate(tally), measured_pass_rate(tally), reach_rate(tally),
                ];
                for rate in rates {
                    prop_assert_eq!(rate.value().is_none(), rate.denominator() == 0);
                    prop_assert!(rate.value().is_none_or(|value| (0.0..=1.0).contains(&value)));
                }
                if let Some(latency) = tally.latency {
                    let mean = latency_mean_ms(Some(&latency)).expect("samples");
                    prop_assert!(latency.min_ms <= mean && mean <= latency.max_ms);
                }
            }
        }
        let by_intent: u64 = row
            .slices_of(SliceDimension::Intent)
            .map(|slice| slice.included_trials)
            .sum();
        prop_assert_eq!(by_intent, row.included_trials);
        let stored = json!(row);
        prop_assert_eq!(validate_stage_analytics(&stored), Ok(row));
    }
}
