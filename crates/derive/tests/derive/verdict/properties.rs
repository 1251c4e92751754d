//! What must hold of every decision.

use proptest::{collection::vec, prelude::*, sample::select, string::string_regex};
use serde_json::{Value, json};
use strandline_contract::{
    run::ExecutionVariant,
    verdict::{CaseInput, Decision, TrialObservation, ValidityPolicy},
    words::Verdict,
};
use strandline_derive::verdict::{
    derive_decision, derive_decision_from_json, derive_trial_statistics, validate_decision,
    validate_trial_statistics,
};

use super::notation::trial;

fn policies() -> impl Strategy<Value = ValidityPolicy> {
    let rate = || prop_oneof![select(vec![0.0, 0.1, 0.5, 0.8, 1.0]), 0.0..=1.0];
    (prop::option::of(1..40_u64), rate(), rate()).prop_map(|(least, completion, evaluator)| {
        ValidityPolicy::resolve(least, Some(completion), Some(evaluator))
    })
}

fn trials() -> impl Strategy<Value = Vec<TrialObservation>> {
    vec(select(b"PPPPFFEtxSrcps".to_vec()), 0..12).prop_map(|letters| {
        letters
            .into_iter()
            .map(|letter| trial(char::from(letter)))
            .collect()
    })
}

fn variants() -> impl Strategy<Value = Vec<Option<ExecutionVariant>>> {
    let variant = |model: &str, provider: Option<&str>| {
        Some(ExecutionVariant {
            model: model.to_owned(),
            provider: provider.map(str::to_owned),
        })
    };
    select(vec![
        vec![None],
        vec![variant("m", None)],
        vec![variant("m", None), variant("m", Some("p"))],
        vec![
            variant("m", Some("p")),
            variant("n", Some("p")),
            variant("n", Some("q")),
        ],
    ])
}

/// Runs that the aggregator decides.
pub(crate) fn decided_runs() -> impl Strategy<Value = (ValidityPolicy, Vec<CaseInput>)> {
    let id = string_regex("[A-Za-z0-9_-]{1,6}").expect("a pattern");
    let row = (trials(), 0..4_u64, 0.0..=1.0);
    let case = (variants(), vec(row, 3));
    let cases = prop::collection::btree_map(id, case, 1..5);
    (policies(), cases).prop_map(|(policy, cases)| {
        let cases = cases
            .into_iter()
            .flat_map(|(case_id, (variants, rows))| {
                variants.into_iter().zip(rows).map(
                    move |(execution_variant, (trials, missing, threshold))| CaseInput {
                        case_id: case_id.clone(),
                        execution_variant,
                        configured_trials: (trials.len() as u64 + missing).max(1),
                        effective_pass_threshold: threshold,
                        trials,
                    },
                )
            })
            .collect();
        (policy, cases)
    })
}

fn decide((policy, cases): &(ValidityPolicy, Vec<CaseInput>)) -> Decision {
    derive_decision(policy, cases).expect("a decision")
}

/// Writes a typed input as JSON.
fn as_json((policy, cases): &(ValidityPolicy, Vec<CaseInput>)) -> Value {
    let cases: Vec<Value> = cases
        .iter()
        .map(|case| {
            let trials: Vec<Value> = case.trials.iter().map(trial_as_json).collect();
            let mut value = json!({"caseId": case.case_id, "trials": trials,
                "configuredTrials": case.configured_trials,
                "effectivePassThreshold": case.effective_pass_threshold});
            if let Some(variant) = &case.execution_variant {
                value["executionVariant"] = json!(variant);
            }
            value
        })
        .collect();
    json!({"policy": policy, "cases": cases})
}

fn trial_as_json(trial: &TrialObservation) -> Value {
    let strandline_contract::verdict::ObservedStatus::Known(status) = &trial.status else {
        panic!("the notation has known statuses only");
    };
    let mut value = json!({"status": status});
    if let Some(result) = trial.task_verdict {
        value["taskVerdict"] = json!(result);
    }
    if trial.evaluator_error {
        value["evaluatorError"] = json!(true);
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_validator_accepts_every_decision(run in decided_runs()) {
        let decision = decide(&run);
        let document = serde_json::to_value(&decision).expect("a decision is JSON");
        prop_assert_eq!(validate_decision(&document), Ok(decision.clone()));
        let read: Decision = serde_json::from_value(document).expect("it reads back");
        prop_assert_eq!(&read, &decision);

        let statistics = derive_trial_statistics(&decision);
        let document = serde_json::to_value(&statistics).expect("statistics are JSON");
        let accepted = validate_trial_statistics(&document, Some(&decision));
        prop_assert_eq!(accepted, Ok(statistics));
    }

    #[test]
    fn counts_add_up(run in decided_runs()) {
        let decision = decide(&run);
        for row in &decision.cases {
            prop_assert_eq!(row.eligible_trials, row.passed_trials + row.failed_trials);
            prop_assert!(row.eligible_trials <= row.attempted_trials);
            prop_assert!(row.attempted_trials <= row.configured_trials);
            // Every configured trial is eligible or left out for a reason, and
            // every one is attempted or left out for a reason.
            let left_out: u64 = row.pass_rate.exclusions().values().sum();
            prop_assert_eq!(row.eligible_trials + left_out, row.configured_trials);
            let left_out: u64 = row.completion_rate.exclusions().values().sum();
            prop_assert_eq!(row.attempted_trials + left_out, row.configured_trials);
        }
    }

    #[test]
    fn a_verdict_is_given_exactly_when_the_checks_hold(run in decided_runs()) {
        let decision = decide(&run);
        prop_assert_eq!(decision.validity.holds, decision.verdict != Verdict::Inconclusive);
        let withheld = decision.reasons.iter().all(|reason| reason.is_validity());
        prop_assert_eq!(withheld, !decision.validity.holds);
        prop_assert!(decision.reasons.is_sorted());
    }

    #[test]
    fn the_order_of_trials_and_rows_changes_no_number(
        (run, shuffled) in decided_runs().prop_flat_map(|run| {
            let (policy, cases) = run.clone();
            let cases = cases
                .into_iter()
                .map(|case| {
                    let trials = Just(case.trials.clone()).prop_shuffle();
                    trials.prop_map(move |trials| CaseInput { trials, ..case.clone() })
                })
                .collect::<Vec<_>>()
                .prop_shuffle();
            (Just(run), (Just(policy), cases))
        })
    ) {
        let mut decision = decide(&run);
        let mut other = decide(&shuffled);
        let ids: Vec<_> = shuffled.1.iter().map(|case| case.case_id.clone()).collect();
        let rows: Vec<_> = other.cases.iter().map(|row| row.case_id.clone()).collect();
        prop_assert_eq!(ids, rows, "rows keep input order");
        let key = |row: &strandline_contract::verdict::CaseAggregate| {
            (row.case_id.clone(), row.execution_variant.clone())
        };
        decision.cases.sort_by_key(key);
        other.cases.sort_by_key(key);
        prop_assert_eq!(decision, other);
    }

    #[test]
    fn the_typed_and_the_json_entry_agree(run in decided_runs()) {
        let from_json = derive_decision_from_json(&as_json(&run));
        prop_assert_eq!(from_json, Ok(decide(&run)));
    }

    #[test]
    fn a_changed_verdict_is_never_accepted(run in decided_runs(), other in 0..3_usize) {
        let decision = decide(&run);
        let verdict = [Verdict::Passed, Verdict::Failed, Verdict::Inconclusive][other];
        let mut document = serde_json::to_value(&decision).expect("a decision is JSON");
        document["verdict"] = json!(verdict);
        prop_assert_eq!(validate_decision(&document).is_ok(), verdict == decision.verdict);
    }
}
