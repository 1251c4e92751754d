//! What judges say → chain, result, what is still due (`chain.md` §14.5).

use serde_json::{Value, json};
use strandline_contract::{
    judgement::{ATTRIBUTION_KEY, GOAL_KEY},
    run::TrialRecord,
    words::{FailureCategory, StageReason, StageState, TaskResult, Vocabulary},
};
use strandline_derive::{
    judge::{is_owed, regrade},
    verdict::has_evaluator_error,
};

use super::{settings, trace, trial};

fn user_value(trial: &TrialRecord) -> String {
    let row = &trial.chain.stage_results[5];
    format!(
        "{}/{}",
        row.state.wire(),
        row.reason.map_or("", StageReason::wire)
    )
}

fn regraded(trial: TrialRecord, judge: Value, judgements: &[(&str, Value)]) -> TrialRecord {
    let mut trial = trial;
    for (key, judgement) in judgements {
        trial.metadata.insert((*key).to_owned(), judgement.clone());
    }
    let settings = settings(judge, json!({"expectedOutput": "x"}));
    regrade(&mut trial, &trace("It has shipped."), &settings);
    trial
}

fn judged(verdict: &str, score: f64) -> Value {
    json!({"status": "scored", "verdict": verdict, "score": score, "threshold": 0.7,
        "partialFloor": 0.4, "reasons": [format!("scored {score}")]})
}

fn plain() -> TrialRecord {
    trial(json!({}), json!({}))
}

/// A trial with a required user-value row that held or failed.
fn checked(passed: bool) -> TrialRecord {
    let mut trial = trial(
        json!({"predicateResults": [
            {"passed": passed, "reason": "text", "predicate": {"type": "responseContains"}},
            {"passed": true, "reason": "", "predicate": {"type": "noToolErrors"}}]}),
        json!({}),
    );
    if !passed {
        trial.result = Some(TaskResult::Failed);
    }
    trial
}

#[test]
fn every_state_of_an_advisory_judge_reaches_user_value() {
    for (judge, judgement, expected) in [
        (Value::Null, None, "notMeasured/noEvidenceCaptured"),
        (json!({}), None, "notMeasured/judgePending"),
        (
            json!({"autoRun": false}),
            None,
            "notMeasured/judgeNotRequested",
        ),
        (
            json!({"enabled": false}),
            None,
            "notMeasured/judgeNotRequested",
        ),
        (json!({}), Some(judged("pass", 0.9)), "passed/judgeObserved"),
        (
            json!({}),
            Some(judged("partial", 0.5)),
            "failed/judgePartial",
        ),
        (json!({}), Some(judged("fail", 0.1)), "failed/judgeFailed"),
        (
            json!({}),
            Some(json!({"status": "error", "error": "rate_limited"})),
            "notMeasured/evaluatorError",
        ),
    ] {
        let judgements: Vec<_> = judgement.into_iter().map(|said| (GOAL_KEY, said)).collect();
        let trial = regraded(plain(), judge.clone(), &judgements);
        assert_eq!(user_value(&trial), expected, "{judge}");
        assert_eq!(trial.result, Some(TaskResult::Passed), "advisory: {judge}");
        assert!(!trial.evaluator_error, "{judge}");
        assert_eq!(is_owed(&trial), expected.ends_with("judgePending"));
    }
}

#[test]
fn a_judge_only_fills_silence_unless_it_is_required() {
    let said = [(GOAL_KEY, judged("fail", 0.1))];
    let advisory = regraded(checked(true), json!({}), &said);
    assert_eq!(user_value(&advisory), "passed/observed");
    assert_eq!(advisory.result, Some(TaskResult::Passed));
    let required = regraded(checked(true), json!({"role": "required"}), &said);
    assert_eq!(user_value(&required), "failed/judgeFailed");
    assert_eq!(required.result, Some(TaskResult::Failed));
    assert_eq!(
        required.chain.failure_category,
        Some(FailureCategory::UserValue)
    );
    // A rule that fails still decides first.
    let both = regraded(
        checked(false),
        json!({"role": "required"}),
        &[(GOAL_KEY, judged("pass", 1.0))],
    );
    assert_eq!(user_value(&both), "failed/predicateFailed");
    assert_eq!(both.result, Some(TaskResult::Failed));
}

#[test]
fn a_required_judge_that_is_due_or_broken_leaves_the_trial_ungraded() {
    let due = regraded(checked(true), json!({"role": "required"}), &[]);
    assert_eq!(user_value(&due), "notMeasured/judgePending");
    assert_eq!((due.result, due.evaluator_error), (None, true));
    assert_eq!(due.chain.failure_category, None, "due is not broken");
    let metadata = Value::Object(due.metadata.clone());
    assert!(has_evaluator_error(Some(&metadata)));

    let broken = json!({"status": "error", "error": "malformed"});
    let broken = regraded(
        checked(true),
        json!({"role": "gating"}),
        &[(GOAL_KEY, broken)],
    );
    assert_eq!(user_value(&broken), "notMeasured/evaluatorError");
    assert_eq!((broken.result, broken.evaluator_error), (None, true));
    assert_eq!(
        broken.chain.failure_category,
        Some(FailureCategory::Evaluator)
    );
    assert!(
        broken
            .chain
            .stage_results
            .iter()
            .all(|row| row.state != StageState::Failed),
        "never a server failure"
    );
}

#[test]
fn every_pass_starts_from_what_the_checks_said() {
    let required = json!({"role": "required"});
    let failed = regraded(
        checked(true),
        required.clone(),
        &[(GOAL_KEY, judged("fail", 0.1))],
    );
    let passed = regraded(failed, required.clone(), &[(GOAL_KEY, judged("pass", 0.9))]);
    assert_eq!(passed.result, Some(TaskResult::Passed));
    assert_eq!(user_value(&passed), "passed/judgeObserved");
    let once = regraded(
        checked(true),
        required.clone(),
        &[(GOAL_KEY, judged("pass", 0.9))],
    );
    assert_eq!(passed.chain, once.chain);
    assert_eq!(passed.chain_input, once.chain_input);
    // Deriving again changes nothing.
    assert_eq!(regraded(once.clone(), required, &[]), once);
}

#[test]
fn metadata_is_a_category_only_with_quoted_evidence() {
    let wrong = || {
        trial(
            json!({"prompts": [{"promptIndex": 0, "passed": false, "missing": [{"toolName": "x"}]}]}),
            json!({}),
        )
    };
    let due = regraded(wrong(), json!({}), &[]);
    assert!(is_owed(&due));
    assert_eq!(due.chain.failure_category, Some(FailureCategory::Selection));
    let quoted = json!({"status": "scored", "attributed": true, "reasons": ["`a` says “b”"]});
    let said = regraded(
        wrong(),
        json!({}),
        &[
            (GOAL_KEY, judged("fail", 0.1)),
            (ATTRIBUTION_KEY, quoted.clone()),
        ],
    );
    assert_eq!(said.chain.failure_category, Some(FailureCategory::Metadata));
    let evidence = said.chain.stage_results[2].evidence.as_ref();
    assert_eq!(
        evidence.and_then(|evidence| evidence.predicate_reasons.as_ref()),
        Some(&vec!["`a` says “b”".into()])
    );
    assert!(!is_owed(&said));
    // The judge of the goal is discarded after a failed stage.
    assert_eq!(user_value(&said), "notReached/earlierStageFailed");
    let bare = json!({"status": "scored", "attributed": true, "reasons": [" "]});
    let said = regraded(wrong(), json!({}), &[(ATTRIBUTION_KEY, bare)]);
    assert_eq!(
        said.chain.failure_category,
        Some(FailureCategory::Selection)
    );
}

#[test]
fn a_trial_that_the_provider_ended_is_never_due() {
    let mut lost = plain();
    lost.status = strandline_contract::words::IterationStatus::Failed;
    lost.result = None;
    lost.chain_input["iteration"]["status"] = json!("failed");
    lost.chain_input["evidence"]["stepError"] = json!({"source": "model"});
    lost.error = serde_json::from_value(
        json!({"layer": "model", "code": "rate_limited", "message": "later"}),
    )
    .expect("an error");
    let lost = regraded(lost, json!({}), &[]);
    assert_eq!(user_value(&lost), "notMeasured/providerError");
    assert!(!is_owed(&lost));
}

#[test]
fn a_suite_without_judges_changes_nothing() {
    let before = checked(true);
    assert_eq!(regraded(before.clone(), Value::Null, &[]), before);
}
