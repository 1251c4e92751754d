//! A real run, kept: a small local model on the everything and filesystem
//! servers. What was decided then is what today's rules decide from its record.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::{Value, json};
use strandline_contract::{
    canonical::sha256_canonical,
    chain_input::ChainInput,
    measurements::MeasurementsInput,
    run::{LOCAL_PROJECT, RunRecord, TrialRecord},
    trace::Trace,
    verdict::{CaseInput, TrialObservation, ValidityPolicy},
    words::{Stage, Vocabulary},
};
use strandline_derive::{
    chain::derive_chain,
    decision::{Page, summarize_run},
    measurements::derive_measurements,
    overview::run_overview,
    verdict::derive_decision,
};

/// A run with its trials and traces.
#[derive(Deserialize)]
struct Recorded {
    run: RunRecord,
    trials: Vec<(TrialRecord, Trace)>,
}

fn recorded() -> Recorded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/recorded/two-servers-one-small-model.json");
    let text = fs::read_to_string(path).expect("the fixture is there");
    serde_json::from_str(&text).expect("the fixture is a recorded run")
}

#[test]
fn chains_and_measurements_come_out_as_recorded() {
    for (trial, trace) in recorded().trials {
        let input = ChainInput::deserialize(&trial.chain_input).expect("a chain input");
        let chain = derive_chain(&input);
        assert_eq!(
            chain, trial.chain,
            "{} {}",
            trial.title, trial.iteration_number
        );
        let spans: Vec<Value> = trace
            .spans
            .iter()
            .map(|span| json!({"id": span.id, "startedAt": span.started_at, "endedAt": span.ended_at}))
            .collect();
        let input = json!({
            "stageResults": chain.stage_results,
            "stageAnalyzerVersion": chain.stage_analyzer_version,
            "spans": spans,
        });
        let input = MeasurementsInput::deserialize(&input).expect("a measurements input");
        let measured = serde_json::to_value(derive_measurements(&input)).expect("JSON");
        assert_eq!(measured, trial.stage_measurements, "{}", trial.title);
        let typed = derive_measurements(&MeasurementsInput::of_trial(&chain, &trace.spans));
        assert_eq!(serde_json::to_value(typed).expect("JSON"), measured);
    }
}

#[test]
fn the_decision_comes_out_as_recorded() {
    let Recorded { run, trials } = recorded();
    let mut observed: BTreeMap<&str, Vec<TrialObservation>> = BTreeMap::new();
    for (trial, _) in &trials {
        observed
            .entry(&trial.case_id)
            .or_default()
            .push(trial.into());
    }
    let cases: Vec<CaseInput> = run
        .plan
        .iter()
        .map(|planned| CaseInput {
            trials: observed
                .remove(planned.case_id.as_str())
                .unwrap_or_default(),
            case_id: planned.case_id.clone(),
            execution_variant: planned.variant.clone(),
            configured_trials: u64::from(planned.configured_trials),
            effective_pass_threshold: planned.pass_threshold,
        })
        .collect();
    let decision = derive_decision(&ValidityPolicy::default(), &cases).expect("a decision");
    assert_eq!(
        Some(serde_json::to_value(decision).expect("JSON")),
        run.decision
    );
    assert_eq!(run.resolved_hash, sha256_canonical(&run.resolved_suite));
}

#[test]
fn the_summary_says_where_value_stopped_and_nothing_about_a_cause() {
    let Recorded { run, trials } = recorded();
    let records: Vec<TrialRecord> = trials.into_iter().map(|(record, _)| record).collect();
    let page = Page {
        complete: true,
        next_cursor: None,
    };
    let summary = summarize_run(LOCAL_PROJECT, &run, &records, page);
    let stopped: BTreeMap<&str, usize> = records
        .iter()
        .filter_map(|trial| trial.chain.first_failed_stage)
        .fold(BTreeMap::new(), |mut stopped, stage: Stage| {
            *stopped.entry(stage.wire()).or_default() += 1;
            stopped
        });
    assert_eq!(stopped, [("response", 1), ("selection", 5)].into());
    assert_eq!(summary.diagnostics.items.len(), 6);
}

#[test]
fn the_overview_counts_every_trial_once() {
    let recorded = recorded();
    let trials: Vec<&TrialRecord> = recorded.trials.iter().map(|(trial, _)| trial).collect();
    let overview = run_overview(&recorded.run, trials.iter().copied());
    assert_eq!(overview.trials, trials.len() as u64);
    assert_eq!(overview.cases.len(), recorded.run.plan.len());
    for case in &overview.cases {
        let stopped: u64 = case
            .groups
            .iter()
            .filter(|group| !group.passed)
            .map(|group| group.trials)
            .sum();
        assert_eq!(case.passed + stopped, case.trials, "{}", case.case_id);
        for counts in &case.strip {
            assert_eq!(counts.total(), case.trials, "{}", case.case_id);
        }
    }
    let groups: Vec<_> = overview
        .cases
        .iter()
        .flat_map(|case| &case.groups)
        .collect();
    let selection = groups
        .iter()
        .filter(|group| group.stage == Some(Stage::Selection));
    for group in selection {
        let [wanted, made, ..] = group.evidence.as_slice() else {
            panic!(
                "what was expected and what was called: {:?}",
                group.evidence
            );
        };
        assert!(wanted.starts_with("expected "), "{wanted}");
        assert!(
            made.starts_with("called ") || made.starts_with("expected "),
            "{made}"
        );
    }
    let told: Vec<_> = groups
        .iter()
        .map(|group| {
            (
                group.stage.map(Stage::wire),
                group.trials,
                group.first.len(),
            )
        })
        .collect();
    insta::assert_debug_snapshot!(told);
}
