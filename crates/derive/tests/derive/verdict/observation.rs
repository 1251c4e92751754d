//! Trial observations and evaluator errors (`verdict.md` §3, §12).

use serde_json::{Value, json};
use strandline_contract::{
    verdict::ObservedStatus,
    words::{TaskResult, VerdictRefusal},
};
use strandline_derive::verdict::{derive_trial_observation, has_evaluator_error};

/// Reads `scorer role onError/onSkipped`, `-` for absent.
fn definition(text: &str) -> Value {
    let parts: Vec<&str> = text.split(' ').collect();
    let [scorer, role, on_error, on_skipped] = parts[..] else {
        panic!("four words: {text}");
    };
    let mut definition = json!({"scorerId": scorer});
    for (key, word) in [
        ("role", role),
        ("onError", on_error),
        ("onSkipped", on_skipped),
    ] {
        if word != "-" {
            definition[key] = json!(word);
        }
    }
    definition
}

fn metadata(definitions: &[&str], scores: Option<&[&str]>) -> Value {
    let definitions: Vec<Value> = definitions.iter().map(|text| definition(text)).collect();
    let mut metadata = json!({"evaluationConfig": {"definitions": definitions}});
    if let Some(scores) = scores {
        metadata["scores"] = scores
            .iter()
            .map(|text| {
                let (scorer, status) = text.split_once(' ').expect("two words");
                json!({"scorerId": scorer, "status": status})
            })
            .collect();
    }
    metadata
}

#[test]
fn an_evaluator_error_is_what_the_definitions_make_of_the_scores() {
    type Row = (
        &'static [&'static str],
        Option<&'static [&'static str]>,
        bool,
    );
    let expected: [Row; 16] = [
        (&[], Some(&["a error"]), false),
        (&["a gating fail fail"], Some(&["a scored"]), false),
        (&["a gating fail fail"], Some(&["a error"]), true),
        (&["a gating ignore fail"], Some(&["a error"]), false),
        (&["a gating - -"], Some(&["a error"]), false),
        (&["a gating fail fail"], Some(&["a skipped"]), true),
        (&["a gating fail ignore"], Some(&["a skipped"]), false),
        (&["a gating - -"], Some(&["a skipped"]), false),
        (&["a gating - -"], Some(&[]), true),
        (
            &["a gating fail ignore", "b gating fail fail"],
            Some(&["b scored"]),
            false,
        ),
        (&["a gating fail fail"], None, true),
        (&["a gating fail fail"], Some(&["a not_applicable"]), false),
        (
            &["a gating fail fail", "b advisory fail fail"],
            Some(&["a scored", "b error"]),
            false,
        ),
        (
            &["a gating fail fail"],
            Some(&["a scored", "z error"]),
            false,
        ),
        (&["a required fail fail"], Some(&["a error"]), true),
        (&["a - fail fail"], Some(&["a error"]), false),
    ];
    for (definitions, scores, lost) in expected {
        let metadata = metadata(definitions, scores);
        assert_eq!(has_evaluator_error(Some(&metadata)), lost, "{metadata}");
    }
    // The last definition of a scorer wins.
    let twice = metadata(
        &["a gating fail fail", "a advisory - -"],
        Some(&["a error"]),
    );
    assert!(!has_evaluator_error(Some(&twice)));
    // Several rows of a scorer are all examined.
    let rows = metadata(&["a gating fail fail"], Some(&["a scored", "a error"]));
    assert!(has_evaluator_error(Some(&rows)));
    // Scores that cannot be trusted, with no definition at all.
    let untrusted = json!({"scoreIntegrity": "score_integrity_invalid"});
    assert!(has_evaluator_error(Some(&untrusted)));
    assert!(!has_evaluator_error(Some(&Value::Null)));
    assert!(!has_evaluator_error(None));
}

#[test]
fn metadata_of_any_shape_is_read_without_harm() {
    for metadata in [
        json!([]),
        json!("x"),
        json!({"evaluationConfig": []}),
        json!({"evaluationConfig": {"definitions": {}}}),
        json!({"evaluationConfig": {"definitions": [null, 1, {"scorerId": 5, "role": "gating"}]}}),
        json!({"scores": [{"scorerId": "a", "status": "error"}]}),
    ] {
        assert!(!has_evaluator_error(Some(&metadata)), "{metadata}");
    }
}

#[test]
fn an_unfinished_iteration_says_its_status_and_nothing_else() {
    let observation = derive_trial_observation(&json!({
        "status": "paused", "result": "passed",
        "metadata": {"scoreIntegrity": "score_integrity_invalid"},
    }))
    .expect("an observation");
    assert_eq!(
        observation.status,
        ObservedStatus::Unknown("paused".to_owned())
    );
    assert_eq!(observation.task_verdict, None);
    assert!(!observation.evaluator_error);
}

#[test]
fn an_evaluator_error_wins_over_the_result() {
    let lost = json!({"status": "completed", "result": "passed",
        "metadata": {"scoreIntegrity": "score_integrity_invalid"}});
    let observation = derive_trial_observation(&lost).expect("an observation");
    assert!(observation.evaluator_error);
    assert_eq!(observation.task_verdict, None);

    let graded = json!({"status": "completed", "result": "failed", "metadata": null});
    let observation = derive_trial_observation(&graded).expect("an observation");
    assert_eq!(observation.task_verdict, Some(TaskResult::Failed));
}

#[test]
fn a_completed_iteration_without_a_task_verdict_is_refused() {
    for result in ["pending", "cancelled", "timed_out", "Passed", ""] {
        let iteration = json!({"status": "completed", "result": result});
        let refusal = derive_trial_observation(&iteration).expect_err("refused");
        assert_eq!(refusal.code, VerdictRefusal::CompletedWithoutTaskVerdict);
    }
}
