//! Times how long the funnel of a large run takes and how much memory, one
//! trial at a time and in two parts that are merged:
//! `cargo run --release -p strandline-derive --example aggregate_trials [TRIALS]`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measuring program reads the clock and its own memory, and prints its figures"
)]

use std::{env, fs, time::Instant};

use strandline_contract::{
    analytics_input::{
        AnalyticsLatency, AnalyticsMeasurement, AnalyticsMeasurements, AnalyticsRow, AnalyticsRun,
        AnalyticsTrial,
    },
    measurements::SignalCopy,
    words::{
        Attribution, FailureCategory, LatencyBasis, MaterializationState, Reach, SetupOutcome,
        SetupPhase, Stage, StageReason, StageState, Vocabulary,
    },
};
use strandline_derive::analytics::{Reader, StageAnalyticsAccumulator, validate_stage_analytics};

/// Distinct intents, so that the cap has work to do.
const INTENTS: u64 = 200;
const MODELS: u64 = 40;
const HOSTS: u64 = 10;

fn main() {
    let trials: u64 = env::args().nth(1).map_or(1_000_000, |count| {
        count.parse().expect("a number of trials")
    });
    let run = run();
    let start = Instant::now();
    let mut counts = StageAnalyticsAccumulator::new(Reader::of(&run));
    count(&mut counts, 0, trials);
    let row = counts.finish(&run);
    let whole = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let (first, second) = std::thread::scope(|scope| {
        let part = |from, to| {
            let run = &run;
            scope.spawn(move || {
                let mut counts = StageAnalyticsAccumulator::new(Reader::of(run));
                count(&mut counts, from, to);
                counts
            })
        };
        let (first, second) = (part(0, trials / 2), part(trials / 2, trials));
        (first.join(), second.join())
    });
    let (mut first, second) = (
        first.expect("the first half"),
        second.expect("the second half"),
    );
    first.merge(second);
    let merged = first.finish(&run);
    let parts = start.elapsed().as_secs_f64();

    assert_eq!(merged, row, "both ways give the same row");
    let stored = serde_json::to_value(&row).expect("JSON");
    validate_stage_analytics(&stored).expect("a valid row");
    println!(
        "{trials} trials, {} included, {} slices",
        row.included_trials,
        row.slices.len()
    );
    println!("one thread: {whole:.2} s; two halves merged: {parts:.2} s");
    if let Some(peak) = peak_mib() {
        println!("peak memory of the process: {peak:.1} MiB");
    }
}

/// Makes and counts trials, one at a time, as a reader of a store would.
fn count(counts: &mut StageAnalyticsAccumulator, from: u64, to: u64) {
    for number in from..to {
        let dice = mix(number);
        let key = format!("trial-{number:09}");
        counts.add_setup_signal(&SignalCopy {
            phase: Some(SetupPhase::Connection),
            outcome: Some(SetupOutcome::Ok),
            attribution: Some(Attribution::Unknown),
            egress_verified: None,
            duration_ms: Some(40.0),
            trial_key: Some(key.as_str().into()),
        });
        counts.add(&trial(dice, &key));
    }
}

fn trial<'a>(dice: u64, key: &'a str) -> AnalyticsTrial<'a> {
    let pick = |shift: u32, of: u64| (dice >> shift) % of;
    let failed = pick(3, 4) == 0;
    let broken_at = pick(5, 6);
    let (rows, measured) = Stage::ALL
        .iter()
        .zip(0..)
        .map(|(stage, index)| {
            let (state, reach) = match (failed, u64::cmp(&index, &broken_at)) {
                (true, std::cmp::Ordering::Equal) => (StageState::Failed, Reach::Reached),
                (true, std::cmp::Ordering::Greater) => (StageState::NotReached, Reach::NotReached),
                _ => (StageState::Passed, Reach::Reached),
            };
            let latency = (reach == Reach::Reached).then(|| AnalyticsLatency {
                basis: Some(LatencyBasis::EvidenceSpanUnion),
                value: u32::try_from(pick(8, 5_000)).ok().map(f64::from),
            });
            let reasons = StageReason::ALL;
            let row = AnalyticsRow {
                stage: Some(*stage),
                state: Some(state),
                reason: reasons
                    .get((dice as usize + index as usize) % reasons.len())
                    .copied(),
            };
            let measurement = AnalyticsMeasurement {
                stage: Some(*stage),
                reach: Some(reach),
                latency,
            };
            (row, measurement)
        })
        .unzip();
    AnalyticsTrial {
        trial_key: Some(key.into()),
        status: if pick(20, 50) == 0 {
            "timed_out"
        } else {
            "completed"
        }
        .into(),
        stage_results: rows,
        stage_analyzer_version: Some(12),
        failure_category: failed.then_some(FailureCategory::Arguments),
        chain_verified: true,
        measurements: Some(AnalyticsMeasurements {
            schema_version: Some(1),
            stage_analyzer_version: Some(12),
            rows: measured,
        }),
        measurements_verified: true,
        intent: Some(format!("intent {}", pick(24, INTENTS)).into()),
        provider: Some("provider".into()),
        model: Some(format!("model-{}", pick(32, MODELS)).into()),
        host_key: Some(format!("host-{}", pick(40, HOSTS)).into()),
        ..AnalyticsTrial::default()
    }
}

fn run() -> AnalyticsRun<'static> {
    AnalyticsRun {
        run_id: "run".into(),
        suite_id: "suite".into(),
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
        reader_stage_analyzer_version: 12,
        reader_measurements_schema_version: None,
    }
}

/// Scatters a number over 64 bits (SplitMix64's finalizer).
const fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn peak_mib() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
