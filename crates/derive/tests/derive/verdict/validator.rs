//! Every rule of the decision validator refuses what breaks it (`verdict.md` §8).

use serde_json::{Value, json};
use strandline_contract::verdict::{CaseInput, ValidityPolicy};
use strandline_derive::verdict::{
    derive_decision, validate_case_aggregate, validate_decision, validate_policy, validate_rate,
};

use super::notation::case;

fn stored() -> Value {
    let cases: Vec<CaseInput> = ["a[4, 0.5] PPPF", "b@m/p[3, 0.8] PFE", "c@n[2, 1] PP"]
        .iter()
        .map(|text| case(text))
        .collect();
    let policy = ValidityPolicy::resolve(Some(2), Some(0.5), Some(0.5));
    let decision = derive_decision(&policy, &cases).expect("a decision");
    serde_json::to_value(decision).expect("a decision is JSON")
}

/// Returns the paths refused after one change.
fn refused(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = stored();
    assert!(validate_decision(&document).is_ok());
    change(&mut document);
    let violations = validate_decision(&document).expect_err("the change is refused");
    violations
        .into_iter()
        .map(|violation| violation.path)
        .collect()
}

#[test]
fn every_field_across_rule_names_the_field_it_refuses() {
    type Change = fn(&mut Value);
    let expected: Vec<(&str, &str, Change)> = vec![
        ("Q1", "cases[0].passRate.numerator", |v| {
            v["cases"][0]["passRate"]["numerator"] = json!(5)
        }),
        ("Q2", "cases[0].passRate.value", |v| {
            v["cases"][0]["passRate"]["value"] = json!(0.750_000_000_000_000_1)
        }),
        ("C1", "cases[0].attemptedTrials", |v| {
            v["cases"][0]["attemptedTrials"] = json!(5)
        }),
        ("C2", "cases[0].eligibleTrials", |v| {
            v["cases"][0]["attemptedTrials"] = json!(3)
        }),
        ("C3", "cases[0].eligibleTrials", |v| {
            v["cases"][0]["failedTrials"] = json!(0)
        }),
        ("C4", "cases[0].mixedVerdict", |v| {
            v["cases"][0]["mixedVerdict"] = json!(false)
        }),
        ("C5", "cases[0].passRate", |v| {
            v["cases"][0]["passRate"]["denominator"] = json!(3)
        }),
        ("C6", "cases[0].passRate", |v| {
            v["cases"][0]["passedTrials"] = json!(2)
        }),
        ("C7", "cases[0].completionRate", |v| {
            v["cases"][0]["completionRate"]["denominator"] = json!(5)
        }),
        ("C8", "cases[0].observedStability", |v| {
            v["cases"][0]["observedStability"]["denominator"] = json!(5)
        }),
        ("C9", "cases[0].observedStability", |v| {
            v["cases"][0]["observedStability"]["numerator"] = json!(1)
        }),
        ("C12", "cases[0].verdict", |v| {
            v["cases"][0]["verdict"] = json!("failed")
        }),
        ("C12", "cases[0].reason", |v| {
            v["cases"][0]["reason"] = json!("casePassRateBelowThreshold")
        }),
        ("D2", "reasons[1]", |v| {
            v["reasons"] = json!(["casePassRateBelowThreshold", "casePassRateBelowThreshold"])
        }),
        ("D3", "cases[2]", |v| v["cases"][2] = v["cases"][1].clone()),
        ("D4", "cases", |v| v["cases"][2]["caseId"] = json!("a")),
        ("D6", "validity.configuredTrials", |v| {
            v["validity"]["configuredTrials"] = json!(10)
        }),
        ("D6", "validity.attemptedTrials", |v| {
            v["validity"]["attemptedTrials"] = json!(8)
        }),
        ("D6", "validity.eligibleTrials", |v| {
            v["validity"]["eligibleTrials"] = json!(9)
        }),
        ("D7", "validity.completionRate", |v| {
            v["validity"]["completionRate"]["denominator"] = json!(10)
        }),
        ("D7", "validity.evaluatorErrorRate.value", |v| {
            v["validity"]["evaluatorErrorRate"]["value"] = json!(0.1)
        }),
        ("D8", "validity.holds", |v| {
            v["validity"]["holds"] = json!(false)
        }),
        ("D9", "verdict", |v| {
            v["validity"]["policy"]["maxEvaluatorErrorRate"] = json!(0)
        }),
        ("D10", "reasons", |v| {
            v["validity"]["policy"]["maxEvaluatorErrorRate"] = json!(0)
        }),
        ("D11", "verdict", |v| v["verdict"] = json!("passed")),
        ("D12", "reasons", |v| {
            v["reasons"] = json!(["allMeasuredCasesMetThreshold"])
        }),
    ];
    for (rule, path, change) in expected {
        let paths = refused(change);
        assert!(paths.iter().any(|found| found == path), "{rule}: {paths:?}");
    }
}

#[test]
fn every_shape_rule_names_the_field_it_refuses() {
    type Change = fn(&mut Value);
    let expected: Vec<(&str, Change)> = vec![
        ("", |v| *v = json!(null)),
        ("x", |v| v["x"] = json!(1)),
        ("verdictPolicyVersion", |v| {
            v["verdictPolicyVersion"] = json!("2")
        }),
        ("verdictPolicyVersion", |v| {
            v["verdictPolicyVersion"] = json!(1)
        }),
        ("verdict", |v| v["verdict"] = json!("notEstablished")),
        ("reasons", |v| v["reasons"] = json!([])),
        ("reasons[0]", |v| v["reasons"] = json!(["because"])),
        ("cases", |v| v["cases"] = json!([])),
        ("validity.x", |v| v["validity"]["x"] = json!(1)),
        ("validity.holds", |v| v["validity"]["holds"] = json!(1)),
        ("validity.policy.coverage.kind", |v| {
            v["validity"]["policy"]["coverage"]["kind"] = json!("some")
        }),
        ("validity.policy.coverage.minEligibleTrials", |v| {
            v["validity"]["policy"]["coverage"]["minEligibleTrials"] = json!(0)
        }),
        ("validity.policy.coverage.minGradeableTrials", |v| {
            v["validity"]["policy"]["coverage"]["minGradeableTrials"] = json!(1)
        }),
        ("validity.policy.minCompletionRate", |v| {
            v["validity"]["policy"]["minCompletionRate"] = json!(80)
        }),
        ("cases[0].caseId", |v| {
            v["cases"][0]["caseId"] = json!("a b")
        }),
        ("cases[0].executionVariant", |v| {
            v["cases"][0]["executionVariant"] = json!(null)
        }),
        ("cases[1].executionVariant.provider", |v| {
            v["cases"][1]["executionVariant"]["provider"] = json!(null)
        }),
        ("cases[1].executionVariant.model", |v| {
            v["cases"][1]["executionVariant"]["model"] = json!("m".repeat(201))
        }),
        ("cases[1].executionVariant.selectionKey", |v| {
            v["cases"][1]["executionVariant"]["selectionKey"] = json!("")
        }),
        ("cases[0].configuredTrials", |v| {
            v["cases"][0]["configuredTrials"] = json!(101)
        }),
        ("cases[0].effectivePassThreshold", |v| {
            v["cases"][0]["effectivePassThreshold"] = json!(1.5)
        }),
        ("cases[0].passRate.state", |v| {
            v["cases"][0]["passRate"]["state"] = json!("unknown")
        }),
        ("cases[0].passRate.denominator", |v| {
            v["cases"][0]["passRate"]["denominator"] = json!(0)
        }),
        ("cases[0].passRate.exclusions.because", |v| {
            v["cases"][0]["passRate"]["exclusions"]["because"] = json!(1)
        }),
        ("cases[0].passRate.exclusions.skipped", |v| {
            v["cases"][0]["passRate"]["exclusions"]["skipped"] = json!(-1)
        }),
        ("cases[0].passRate.value", |v| {
            v["cases"][0]["passRate"]
                .as_object_mut()
                .expect("a rate")
                .remove("value");
        }),
        ("cases[0].mixedVerdict", |v| {
            v["cases"][0]
                .as_object_mut()
                .expect("a row")
                .remove("mixedVerdict");
        }),
    ];
    for (path, change) in expected {
        let paths = refused(change);
        assert!(paths.iter().any(|found| found == path), "{path}: {paths:?}");
    }
}

#[test]
fn what_the_rules_do_not_tie_is_accepted() {
    let mut document = stored();
    // An explicit zero among exclusions survives, numbers compare by value.
    document["cases"][0]["passRate"]["exclusions"]["skipped"] = json!(0);
    document["verdictPolicyVersion"] = json!(2.0);
    document["cases"][1]["executionVariant"]["selectionKey"] = json!("k");
    // Exclusion tallies and the completion numerator are tied to nothing.
    document["cases"][0]["passRate"]["exclusions"]["cancelled"] = json!(77);
    document["cases"][2]["completionRate"]["numerator"] = json!(1);
    document["cases"][2]["completionRate"]["value"] = json!(0.5);
    let decision = validate_decision(&document).expect("accepted");
    let written = serde_json::to_value(&decision).expect("JSON");
    assert_eq!(written["cases"][0]["passRate"]["exclusions"]["skipped"], 0);
    assert_eq!(written["cases"][1]["executionVariant"]["selectionKey"], "k");
}

#[test]
fn a_selection_key_is_part_of_the_identity() {
    let two_rows = |first: Option<&str>, second: &str| {
        let mut document = stored();
        document["cases"][2] = document["cases"][1].clone();
        document["validity"]["configuredTrials"] = json!(10);
        document["validity"]["attemptedTrials"] = json!(10);
        document["validity"]["eligibleTrials"] = json!(8);
        document["validity"]["completionRate"]["numerator"] = json!(10);
        document["validity"]["completionRate"]["denominator"] = json!(10);
        document["validity"]["evaluatorErrorRate"] = json!({"state": "measured", "value": 0.2,
            "numerator": 2, "denominator": 10, "exclusions": {}});
        if let Some(first) = first {
            document["cases"][1]["executionVariant"]["selectionKey"] = json!(first);
        }
        document["cases"][2]["executionVariant"]["selectionKey"] = json!(second);
        validate_decision(&document).is_ok()
    };
    assert!(two_rows(None, "k"));
    assert!(two_rows(Some("j"), "k"));
    assert!(!two_rows(Some("k"), "k"));
}

#[test]
fn rates_rows_and_policies_stand_alone() {
    let document = stored();
    assert!(validate_rate(&document["cases"][0]["passRate"]).is_ok());
    assert!(validate_case_aggregate(&document["cases"][0]).is_ok());
    assert!(validate_policy(&document["validity"]["policy"]).is_ok());
    let not_measured = |value: Value, numerator: u64| {
        json!({"state": "notMeasured", "value": value, "numerator": numerator, "denominator": 0,
            "exclusions": {"skipped": 1}})
    };
    assert!(validate_rate(&not_measured(json!(null), 0)).is_ok());
    assert!(validate_rate(&not_measured(json!(0), 0)).is_err());
    assert!(validate_rate(&not_measured(json!(null), 1)).is_err());
    let empty = json!({"state": "measured", "value": 0, "numerator": 0, "denominator": 0,
        "exclusions": {}});
    assert!(validate_rate(&empty).is_err());
}

#[test]
fn a_hostile_document_gets_a_bounded_answer() {
    let rows: Vec<Value> = (0..5_000)
        .map(|index| json!({"x".repeat(500): index}))
        .collect();
    let document = json!({"cases": rows});
    let violations = validate_decision(&document).expect_err("refused");
    assert_eq!(violations.len(), 100);
    assert!(
        violations
            .iter()
            .all(|violation| violation.to_string().len() < 300)
    );
}
