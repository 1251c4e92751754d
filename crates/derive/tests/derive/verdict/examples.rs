//! The worked examples and refusals of `verdict.md` §12.

use serde_json::{Value, json};
use strandline_contract::{
    verdict::{CaseInput, Decision, ObservedStatus, ValidityPolicy},
    words::{VerdictRefusal, Vocabulary},
};
use strandline_derive::verdict::{
    aggregate_case, derive_decision, derive_decision_from_json, derive_trial_statistics,
};

use super::notation::{case, floor, full_coverage};

fn decide(policy: ValidityPolicy, cases: &[&str]) -> Decision {
    let cases: Vec<CaseInput> = cases.iter().map(|text| case(text)).collect();
    derive_decision(&policy, &cases).expect("a decision")
}

/// Says a decision in one line: verdict, reasons, configured/attempted/eligible.
fn told(decision: &Decision) -> String {
    let reasons: Vec<&str> = decision
        .reasons
        .iter()
        .map(|reason| reason.wire())
        .collect();
    let validity = &decision.validity;
    format!(
        "{}: {} {}/{}/{}",
        decision.verdict,
        reasons.join(" "),
        validity.configured_trials,
        validity.attempted_trials,
        validity.eligible_trials
    )
}

#[test]
fn the_worked_examples_decide_as_pinned() {
    let default = ValidityPolicy::default();
    let expected: [(ValidityPolicy, &[&str], &str); 12] = [
        (
            floor(2, 0.25, 0.5),
            &["k1[10, 0.5] PFEtxSrcps"],
            "passed: allMeasuredCasesMetThreshold 10/7/2",
        ),
        (
            default,
            &["k1[10, 0.5] PFEtxSrcps"],
            "inconclusive: configuredTrialsNotAttempted completionRateBelowMinimum \
             evaluatorErrorRateAboveMaximum 10/7/2",
        ),
        (
            default,
            &["k2[5, 0.6] PPF"],
            "inconclusive: configuredTrialsNotAttempted 5/3/3",
        ),
        (
            default,
            &["k3[10, 0.75] PPPPPPFEtx"],
            "passed: allMeasuredCasesMetThreshold 10/10/7",
        ),
        (
            default,
            &["k4[10, 0.5] PPPPPEEttt"],
            "inconclusive: completionRateBelowMinimum evaluatorErrorRateAboveMaximum 10/10/5",
        ),
        (
            default,
            &[
                "k5@m-a/p1[4, 0.75] PPPF",
                "k5@m-a/p2[4, 0.75] PPFF",
                "k6[2, 1] PP",
            ],
            "failed: casePassRateBelowThreshold 10/10/10",
        ),
        (
            default,
            &["k7[2, 0] ps"],
            "inconclusive: configuredTrialsNotAttempted noGradeableTrials \
             completionRateNotMeasured evaluatorErrorRateNotMeasured caseHasNoEligibleTrials 2/0/0",
        ),
        (
            floor(1, 0.8, 0.1),
            &["k7[2, 0] ps"],
            "inconclusive: eligibleTrialsBelowMinimum completionRateNotMeasured \
             evaluatorErrorRateNotMeasured caseHasNoEligibleTrials 2/0/0",
        ),
        (
            full_coverage(0.0, 1.0),
            &["k8[2, 0.5] PF", "k9[2, 0] SE"],
            "inconclusive: caseHasNoEligibleTrials 4/4/2",
        ),
        (
            floor(3, 0.9, 0.1),
            &["ka[5, 0.5] PPPFc"],
            "passed: allMeasuredCasesMetThreshold 5/4/4",
        ),
        (
            default,
            &["kb[3, 0] FFF"],
            "passed: allMeasuredCasesMetThreshold 3/3/3",
        ),
        (
            default,
            &[
                "kc[3, 0.3333333333333333] PFF",
                "kd[3, 0.33333333333333337] PFF",
            ],
            "failed: casePassRateBelowThreshold 6/6/6",
        ),
    ];
    for (policy, cases, text) in expected {
        assert_eq!(told(&decide(policy, cases)), text, "{cases:?}");
    }
}

#[test]
fn a_rate_carries_what_was_left_out_of_it() {
    let decision = decide(floor(2, 0.25, 0.5), &["k1[10, 0.5] PFEtxSrcps"]);
    let row = serde_json::to_value(&decision.cases[0]).expect("a row is JSON");
    assert_eq!(
        row["passRate"],
        json!({"state": "measured", "value": 0.5, "numerator": 1, "denominator": 2,
            "exclusions": {"notTerminal": 2, "skipped": 1, "setupFailed": 1, "cancelled": 1,
                "timedOut": 1, "executionFailed": 1, "evaluatorError": 1}})
    );
    assert_eq!(
        row["completionRate"],
        json!({"state": "measured", "value": 0.428_571_428_571_428_55, "numerator": 3,
            "denominator": 7,
            "exclusions": {"notTerminal": 1, "skipped": 1, "cancelled": 1}})
    );
    assert_eq!(row["mixedVerdict"], true);
    let validity = &decision.validity;
    assert_eq!(
        validity.evaluator_error_rate.value(),
        Some(0.142_857_142_857_142_85)
    );
}

#[test]
fn keys_are_written_in_the_order_of_the_tables_and_integers_without_fraction() {
    let decision = decide(floor(3, 0.9, 0.1), &["ka[5, 0.5] PPPFc"]);
    let text = serde_json::to_string(&decision).expect("a decision is JSON");
    assert_eq!(
        text,
        r#"{"verdictPolicyVersion":2,"verdict":"passed","reasons":["allMeasuredCasesMetThreshold"],"validity":{"policy":{"coverage":{"kind":"minEligibleTrials","minEligibleTrials":3},"minCompletionRate":0.9,"maxEvaluatorErrorRate":0.1},"holds":true,"configuredTrials":5,"attemptedTrials":4,"eligibleTrials":4,"completionRate":{"state":"measured","value":1,"numerator":4,"denominator":4,"exclusions":{"cancelled":1}},"evaluatorErrorRate":{"state":"measured","value":0,"numerator":0,"denominator":4,"exclusions":{"cancelled":1}}},"cases":[{"caseId":"ka","configuredTrials":5,"attemptedTrials":4,"eligibleTrials":4,"passedTrials":3,"failedTrials":1,"effectivePassThreshold":0.5,"passRate":{"state":"measured","value":0.75,"numerator":3,"denominator":4,"exclusions":{"cancelled":1}},"completionRate":{"state":"measured","value":1,"numerator":4,"denominator":4,"exclusions":{"cancelled":1}},"observedStability":{"state":"measured","value":0.75,"numerator":3,"denominator":4,"exclusions":{"cancelled":1}},"mixedVerdict":true,"verdict":"passed","reason":"casePassRateMetThreshold"}]}"#
    );
    let statistics = derive_trial_statistics(&decision);
    let row = &statistics.cases[0];
    assert_eq!(
        (row.k, row.pass_at_k, row.pass_hat_k),
        (4, Some(1.0), Some(0.0))
    );
    let interval = row.pass_rate_interval.expect("four trials");
    assert_eq!(
        (interval.lower, interval.upper),
        (0.300_641_842_582_401_84, 0.954_412_739_190_299_5)
    );
}

/// Returns the refusal of one change to an input that would otherwise decide.
fn refusal(change: impl FnOnce(&mut Value)) -> VerdictRefusal {
    let mut input = json!({
        "policy": {
            "coverage": {"kind": "allConfiguredTrialsAttempted", "minGradeableTrials": 1},
            "minCompletionRate": 0.8, "maxEvaluatorErrorRate": 0.1,
        },
        "cases": [{
            "caseId": "r1", "configuredTrials": 1, "effectivePassThreshold": 1,
            "trials": [{"status": "completed", "taskVerdict": "passed"}],
        }],
    });
    derive_decision_from_json(&input).expect("the unchanged input decides");
    change(&mut input);
    derive_decision_from_json(&input)
        .expect_err("the change is refused")
        .code
}

fn second_case(input: &mut Value, change: impl FnOnce(&mut Value)) {
    let mut case = input["cases"][0].clone();
    change(&mut case);
    input["cases"].as_array_mut().expect("a list").push(case);
}

#[test]
fn every_refusal_has_its_own_code() {
    use VerdictRefusal as R;
    type Change = fn(&mut Value);
    let floor = json!({"kind": "minEligibleTrials", "minEligibleTrials": 1});
    let expected: Vec<(R, Change)> = vec![
        (R::PolicyNotObject, |v| v["policy"] = json!(null)),
        (R::PolicyNotObject, |v| v["policy"] = json!([])),
        (R::PolicyUnknownField, |v| v["policy"]["x"] = json!(1)),
        (R::RateNotFinite, |v| {
            v["policy"]["minCompletionRate"] = json!("0.8")
        }),
        (R::RateOutOfRange, |v| {
            v["policy"]["minCompletionRate"] = json!(80)
        }),
        (R::RateOutOfRange, |v| {
            v["policy"]["maxEvaluatorErrorRate"] = json!(-0.1)
        }),
        (R::CoverageNotObject, |v| {
            v["policy"]["coverage"] = json!("all")
        }),
        (R::CoverageUnknownField, |v| {
            v["policy"]["coverage"]["minEligibleTrials"] = json!(1)
        }),
        (R::MinGradeableNotOne, |v| {
            v["policy"]["coverage"]["minGradeableTrials"] = json!(2)
        }),
        (R::CoverageUnknownKind, |v| {
            v["policy"]["coverage"]["kind"] = json!("some")
        }),
        (R::NoCases, |v| v["cases"] = json!([])),
        (R::DuplicateIdentity, |v| second_case(v, |_| {})),
        (R::MixedIdentity, |v| {
            second_case(v, |case| case["executionVariant"] = json!({"model": "m"}))
        }),
        (R::ConfiguredTrialsOutOfRange, |v| {
            v["cases"][0]["configuredTrials"] = json!(0)
        }),
        (R::ConfiguredTrialsOutOfRange, |v| {
            v["cases"][0]["configuredTrials"] = json!(101)
        }),
        (R::ThresholdNotFinite, |v| {
            v["cases"][0]["effectivePassThreshold"] = json!(null)
        }),
        (R::ThresholdOutOfRange, |v| {
            v["cases"][0]["effectivePassThreshold"] = json!(80)
        }),
        // The status is refused before the trials are counted.
        (
            R::UnknownStatus,
            |v| {
                v["cases"][0]["trials"] =
                    json!([{"status": "completed", "taskVerdict": "passed"}, {"status": "paused"}])
            },
        ),
        (R::CompletedWithoutVerdict, |v| {
            v["cases"][0]["trials"] = json!([{"status": "completed"}])
        }),
        (R::TooManyTrials, |v| {
            v["cases"][0]["trials"] = json!([{"status": "failed"}, {"status": "failed"}])
        }),
        (R::CaseIdInvalid, |v| {
            v["cases"][0]["caseId"] = json!("no:colon")
        }),
        (R::CaseIdInvalid, |v| {
            v["cases"][0]["caseId"] = json!("newline\n")
        }),
        (R::VariantNotObject, |v| {
            v["cases"][0]["executionVariant"] = json!("m")
        }),
        (R::VariantUnknownField, |v| {
            v["cases"][0]["executionVariant"] = json!({"model": "m", "selectionKey": "s"})
        }),
        (R::ModelEmpty, |v| {
            v["cases"][0]["executionVariant"] = json!({"model": ""})
        }),
        (R::ModelEmpty, |v| {
            v["cases"][0]["executionVariant"] = json!({"provider": "p"})
        }),
        (R::ModelTooLong, |v| {
            v["cases"][0]["executionVariant"] = json!({"model": "😀".repeat(101)})
        }),
        (R::ProviderEmpty, |v| {
            v["cases"][0]["executionVariant"] = json!({"model": "m", "provider": null})
        }),
        (R::ProviderTooLong, |v| {
            v["cases"][0]["executionVariant"] = json!({"model": "m", "provider": "p".repeat(201)})
        }),
        (R::MalformedInput, |v| v["cases"] = json!({})),
        (R::MalformedInput, |v| {
            v["cases"][0]["trials"][0]["taskVerdict"] = json!("maybe")
        }),
    ];
    for (code, change) in expected {
        assert_eq!(refusal(change), code);
    }
    for (least, code) in [
        (json!(0), R::MinEligibleBelowOne),
        (json!(1.5), R::MinEligibleNotCount),
        (json!(-1), R::MinEligibleNotCount),
        (json!(9_007_199_254_740_992_u64), R::SelfCheckFailed),
        (json!(1e300), R::SelfCheckFailed),
    ] {
        let coverage = |least| json!({"kind": "minEligibleTrials", "minEligibleTrials": least});
        assert_eq!(refusal(|v| v["policy"]["coverage"] = coverage(least)), code);
    }
    let with_gradeable = |v: &mut Value| {
        v["policy"]["coverage"] = floor;
        v["policy"]["coverage"]["minGradeableTrials"] = json!(1);
    };
    assert_eq!(refusal(with_gradeable), R::CoverageUnknownField);
}

#[test]
fn a_null_variant_is_none_and_numbers_compare_by_value() {
    let input: Value = serde_json::from_str(
        r#"{"policy":{"coverage":{"kind":"allConfiguredTrialsAttempted","minGradeableTrials":1.0},
            "minCompletionRate":0,"maxEvaluatorErrorRate":1e0},
            "cases":[{"caseId":"a","executionVariant":null,"configuredTrials":1e0,
            "effectivePassThreshold":1.0,"extra":[],
            "trials":[{"status":"completed","taskVerdict":"passed","evaluatorError":false}]}]}"#,
    )
    .expect("valid JSON");
    let decision = derive_decision_from_json(&input).expect("a decision");
    assert_eq!(decision.cases[0].execution_variant, None);
    assert_eq!(
        told(&decision),
        "passed: allMeasuredCasesMetThreshold 1/1/1"
    );
}

#[test]
fn limits_are_inclusive() {
    let cases: Vec<CaseInput> = (0..500)
        .map(|index| case(&format!("c{index}[1, 1] P")))
        .collect();
    let default = ValidityPolicy::default();
    assert!(derive_decision(&default, &cases).is_ok());
    let more: Vec<CaseInput> = (0..501)
        .map(|index| case(&format!("c{index}[1, 1] P")))
        .collect();
    let refused = derive_decision(&default, &more).expect_err("too many");
    assert_eq!(refused.code, VerdictRefusal::TooManyCases);
    let rows = vec![case("a[1, 1] P"); 50_001];
    let refused = derive_decision(&default, &rows).expect_err("too many");
    assert_eq!(refused.code, VerdictRefusal::TooManyRows);
}

#[test]
fn a_single_case_is_rolled_up_without_identity_checks() {
    let mut odd = case("no:colon@[2, 0.5] PF");
    assert!(aggregate_case(&odd).is_ok());
    odd.trials[1].status = ObservedStatus::Unknown("paused".to_owned());
    let refused = aggregate_case(&odd).expect_err("an unknown status");
    assert_eq!(refused.code, VerdictRefusal::UnknownStatus);
}

/// Case 1 is wholly read before case 2; names are checked after all cases.
#[test]
fn refusals_come_in_the_order_of_the_table() {
    let policy = ValidityPolicy::default();
    let refused = |cases: &[&str]| {
        let cases: Vec<CaseInput> = cases.iter().map(|text| case(text)).collect();
        derive_decision(&policy, &cases).expect_err("refused").code
    };
    assert_eq!(
        refused(&["a[1, 1] PP", "b[0, 80] P"]),
        VerdictRefusal::TooManyTrials
    );
    assert_eq!(
        refused(&["b[0, 80] P"]),
        VerdictRefusal::ConfiguredTrialsOutOfRange
    );
    assert_eq!(
        refused(&["no:colon[1, 1] P", "b[1, 1] PP"]),
        VerdictRefusal::TooManyTrials
    );
    assert_eq!(
        refused(&["a@[1, 1] P", "a@[1, 1] P"]),
        VerdictRefusal::DuplicateIdentity
    );
}
