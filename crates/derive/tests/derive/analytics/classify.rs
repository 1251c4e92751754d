//! Which trials are counted, which slices they form, and what one adds.

use serde_json::{Value, json};
use strandline_contract::{
    analytics::Slice,
    words::{ExclusionClass, ExclusionDetail, SliceDimension, Stage, Vocabulary},
};

use super::{funnel, run, set, time, trial};

/// One trial per rule of the classification, with the detail it must get.
fn excluded() -> Vec<(Value, ExclusionDetail)> {
    let with = |key: &str, value: Value| {
        let mut trial = trial("t");
        trial[key] = value;
        trial
    };
    let without = |key: &str| {
        let mut trial = trial("t");
        trial.as_object_mut().expect("an object").remove(key);
        trial
    };
    let mut stamped = without("stageAnalyzerVersion");
    stamped["measurements"]["stageAnalyzerVersion"] = json!(9);
    let mut newer = trial("t");
    newer["measurements"]["schemaVersion"] = json!(2);
    let mut mismatched = trial("t");
    mismatched["measurements"]["stageAnalyzerVersion"] = json!(7);
    vec![
        (
            with("evaluatorErrored", json!(true)),
            ExclusionDetail::EvaluatorError,
        ),
        (
            with("status", json!("pending")),
            ExclusionDetail::NotTerminal,
        ),
        (
            with("status", json!("running")),
            ExclusionDetail::NotTerminal,
        ),
        (with("status", json!("skipped")), ExclusionDetail::Skipped),
        (
            with("status", json!("cancelled")),
            ExclusionDetail::Cancelled,
        ),
        (
            with("status", json!("setup_failed")),
            ExclusionDetail::SetupFailed,
        ),
        (
            with("status", json!("timed_out")),
            ExclusionDetail::TimedOut,
        ),
        (
            with("status", json!("exploded")),
            ExclusionDetail::ExecutionFailed,
        ),
        (
            with("stageAnalyzerVersion", json!(9)),
            ExclusionDetail::ChainVersionAhead,
        ),
        (stamped, ExclusionDetail::ChainVersionAhead),
        (newer, ExclusionDetail::MeasurementsVersionAhead),
        (
            with("stageResults", json!([])),
            ExclusionDetail::ChainMissing,
        ),
        (without("chainVerified"), ExclusionDetail::ChainUnverified),
        (
            without("measurements"),
            ExclusionDetail::MeasurementsMissing,
        ),
        (
            with("measurementsVerified", json!(false)),
            ExclusionDetail::MeasurementsInvalid,
        ),
        (mismatched, ExclusionDetail::AnalyzerMismatch),
    ]
}

#[test]
fn every_rule_excludes_under_its_own_name() {
    for (trial, detail) in excluded() {
        let row = funnel(&[trial], &[]);
        assert_eq!(row.included_trials, 0, "{detail}");
        assert_eq!(row.excluded_trial_detail, [(detail, 1)].into(), "{detail}");
        assert_eq!(row.excluded_trials, [(detail.class(), 1)].into());
    }
}

#[test]
fn one_of_each_beside_one_included_adds_up() {
    let mut trials: Vec<Value> = excluded().into_iter().map(|(trial, _)| trial).collect();
    let mut failed = trial("included");
    failed["status"] = json!("failed");
    trials.push(failed);
    let row = funnel(&trials, &[]);
    assert_eq!(row.included_trials, 1);
    let classes = [
        (ExclusionClass::Lifecycle, 8),
        (ExclusionClass::Integrity, 5),
        (ExclusionClass::Version, 3),
    ];
    assert_eq!(row.excluded_trials, classes.into());
}

#[test]
fn an_older_analyzer_counts_and_several_are_told() {
    let mut older = trial("older");
    older["stageAnalyzerVersion"] = json!(7);
    older["measurements"]["stageAnalyzerVersion"] = json!(7);
    let alone = funnel(&[older.clone()], &[]);
    assert_eq!(alone.stage_analyzer_version, 7);
    assert_eq!(alone.source_stage_analyzer_versions, None);
    let both = funnel(&[trial("newer"), older], &[]);
    assert_eq!(both.stage_analyzer_version, 8);
    assert_eq!(both.source_stage_analyzer_versions, Some(vec![7, 8]));
}

#[test]
fn labels_are_ordered_by_code_units_with_the_unlabelled_last() {
    let labels = [
        Some("b"),
        Some("a"),
        Some("Z"),
        Some("😀"),
        Some("ﬁ"),
        Some("é"),
        None,
        Some(" \u{feff}"),
    ];
    let trials: Vec<Value> = labels
        .iter()
        .map(|label| {
            let mut trial = trial("t");
            trial["intent"] = json!(label);
            trial
        })
        .collect();
    let row = funnel(&trials, &[]);
    let order: Vec<_> = row
        .slices_of(SliceDimension::Intent)
        .map(|row| match &row.slice {
            Slice::Intent { intent } => (intent.clone(), row.included_trials),
            _ => unreachable!("a slice by intent"),
        })
        .collect();
    let expected = [
        Some("Z"),
        Some("a"),
        Some("b"),
        Some("é"),
        Some("😀"),
        Some("ﬁ"),
    ];
    let mut expected: Vec<_> = expected
        .iter()
        .map(|label| (label.map(str::to_owned), 1))
        .collect();
    expected.push((None, 2));
    assert_eq!(order, expected);
}

#[test]
fn models_are_ordered_by_the_text_of_the_pair() {
    let pairs = [
        ("a b", "c"),
        ("a", "b c"),
        ("a", "b"),
        ("a\"", "x"),
        ("ä", "x"),
        ("A", "z"),
    ];
    let trials: Vec<Value> = pairs
        .iter()
        .map(|(provider, model)| {
            let mut trial = trial("t");
            trial["provider"] = json!(provider);
            trial["model"] = json!(model);
            trial
        })
        .collect();
    let row = funnel(&trials, &[]);
    let order: Vec<String> = row
        .slices_of(SliceDimension::Model)
        .map(|row| match &row.slice {
            Slice::Model { provider, model } => format!("{provider}/{model}"),
            _ => unreachable!("a slice by model"),
        })
        .collect();
    assert_eq!(order, ["A/z", "a b/c", "a/b c", "a/b", "a\"/x", "ä/x"]);
}

#[test]
fn the_cap_drops_the_slices_with_the_fewest_included_trials() {
    let mut trials: Vec<Value> = (0..28)
        .map(|number| {
            let mut trial = trial("t");
            trial["provider"] = json!("p");
            trial["model"] = json!(format!("m{number:02}"));
            if number == 3 {
                trial["status"] = json!("cancelled");
            }
            trial
        })
        .collect();
    trials.push(trials[27].clone());
    let row = funnel(&trials, &[]);
    let truncation = row.slice_truncation.clone().expect("slices were dropped");
    assert_eq!(
        json!(truncation),
        json!([{"dimension": "model", "distinctValues": 28, "retained": 25}])
    );
    let kept: Vec<String> = row
        .slices_of(SliceDimension::Model)
        .map(|row| {
            json!(row.slice)["model"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let expected: Vec<String> = (0..28)
        .filter(|number| ![3, 25, 26].contains(number))
        .map(|number| format!("m{number:02}"))
        .collect();
    assert_eq!(kept, expected);
}

#[test]
fn the_first_trial_of_a_host_names_it() {
    let hosted = |name: Option<&str>| {
        let mut trial = trial("t");
        trial["hostKey"] = json!("h");
        if let Some(name) = name {
            trial["hostName"] = json!(name);
        }
        trial
    };
    let row = funnel(&[hosted(None), hosted(Some("later"))], &[]);
    let slice = row.slices_of(SliceDimension::Host).next().expect("a host");
    assert_eq!(
        json!(slice.slice),
        json!({"dimension": "host", "hostKey": "h"})
    );
    assert_eq!(slice.included_trials, 2);
}

/// Returns what one trial adds at `selection`: the counts that are not 0, the
/// exclusions, and the latency as count and sum.
fn adds(change: impl FnOnce(&mut Value)) -> (Vec<&'static str>, Vec<&'static str>, bool) {
    let mut trial = trial("t");
    change(&mut trial);
    let row = funnel(&[trial], &[]);
    assert_eq!(row.included_trials, 1);
    let tally = &row.overall().expect("a slice").stages[Stage::Selection as usize];
    let counts = [
        ("applicable", tally.applicable),
        ("reached", tally.reached),
        ("notReached", tally.not_reached),
        ("reachUnknown", tally.reach_unknown),
        ("measured", tally.measured),
        ("passed", tally.passed),
        ("failed", tally.failed),
        ("notMeasured", tally.not_measured),
        ("notApplicable", tally.not_applicable),
    ];
    (
        counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, _)| *name)
            .collect(),
        tally.excluded.keys().map(|class| class.wire()).collect(),
        tally.latency.is_some(),
    )
}

#[test]
fn a_trial_adds_what_its_state_and_its_measurement_agree_on() {
    let passed = ["applicable", "reached", "measured", "passed"];
    let row = |state: &'static str, reach: &'static str| {
        move |trial: &mut Value| {
            set(trial, Stage::Selection, state, None, reach);
            time(trial, Stage::Selection, 120.0);
        }
    };
    let none: [&str; 0] = [];
    assert_eq!(
        adds(row("passed", "reached")),
        (passed.into(), none.into(), true)
    );
    assert_eq!(
        adds(row("passed", "unknown")),
        (passed.into(), none.into(), false)
    );
    assert_eq!(
        adds(|trial| {
            row("passed", "reached")(trial);
            trial["measurements"]["rows"][2]["stage"] = json!("call");
        }),
        (passed.into(), none.into(), false)
    );
    let unknown = (
        vec!["applicable", "reachUnknown"],
        vec!["reachUnknown"],
        false,
    );
    assert_eq!(adds(row("notMeasured", "unknown")), unknown);
    assert_eq!(adds(row("notMeasured", "notReached")), unknown);
    assert_eq!(
        adds(row("notMeasured", "reached")),
        (
            vec!["applicable", "reached", "notMeasured"],
            vec!["notMeasured"],
            true
        )
    );
    assert_eq!(
        adds(row("notReached", "reached")),
        (vec!["applicable", "notReached"], none.into(), false)
    );
    for reach in ["reached", "notReached", "unknown", "notApplicable"] {
        assert_eq!(
            adds(row("notApplicable", reach)),
            (vec!["notApplicable"], vec!["notApplicable"], false)
        );
    }
    assert_eq!(
        adds(|trial| trial["stageResults"][2]["stage"] = json!("call")),
        (none.into(), none.into(), false)
    );
}

#[test]
fn words_and_figures_that_we_do_not_know_are_not_counted() {
    let mut odd = trial("t");
    odd["failureCategory"] = json!("weather");
    odd["stageResults"][2]["reason"] = json!("moonPhase");
    odd["measurements"]["rows"][2]["latency"] =
        json!({"unit": "ms", "basis": "evidence_span_union", "value": -1});
    odd["measurements"]["rows"][3]["latency"] =
        json!({"unit": "ms", "basis": "setup_phase_wall", "value": 1});
    let row = funnel(&[odd], &[]);
    let overall = row.overall().expect("a slice");
    assert!(overall.failure_categories.is_empty());
    for tally in &overall.stages {
        assert!(tally.reasons.is_empty() && tally.latency.is_none());
    }
}

#[test]
fn the_reader_defaults_to_the_current_measurements_schema() {
    let row = funnel(&[], &[]);
    assert_eq!(row.measurements_schema_version, 1);
    let mut newer = run();
    newer["readerMeasurementsSchemaVersion"] = json!(3);
    let mut trial = trial("t");
    trial["measurements"]["schemaVersion"] = json!(2);
    let row = super::funnel_of(&newer, &[trial], &[]);
    assert_eq!(
        (row.included_trials, row.measurements_schema_version),
        (1, 2)
    );
}
