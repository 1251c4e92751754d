//! The examples of `swarm.md` §4.5, and what is refused.

use serde_json::{Value, json};
use strandline_contract::words::Vocabulary;
use strandline_derive::swarm::derive_session_verdict_from_json;

use super::{session_input, verdict};

/// Lifecycle, verdict, reason, source, criteria and judge grader, trial.
fn told(changes: Value) -> String {
    let verdict = verdict(changes);
    let trial = match verdict.trial {
        None => "null".to_owned(),
        Some(trial) => match (trial.task_verdict, trial.evaluator_error) {
            (Some(task), _) => format!("{} {task}", trial.status),
            (None, Some(_)) => format!("{} evaluatorError", trial.status),
            (None, None) => trial.status.to_string(),
        },
    };
    format!(
        "{} {} {} ({}); {}/{}; {trial}",
        verdict.lifecycle,
        verdict.verdict,
        verdict.reason,
        verdict.verdict_source,
        verdict.graders.criteria.wire(),
        verdict.graders.judge.wire(),
    )
}

fn goal(passed: bool) -> Value {
    json!({"status": "completed", "passed": passed})
}

fn one_required(passed: Value) -> (Value, Value) {
    let rubric = json!([{"id": "c1", "role": "required"}]);
    let results = json!([{"criterionId": "c1", "passed": passed}]);
    (rubric, json!({"status": "completed", "results": results}))
}

#[test]
fn a_session_without_criteria_is_decided_by_its_judge() {
    for (changes, expected) in [
        (
            json!({"goalScore": goal(true)}),
            "ran passed judgePassed (goalJudge); notConfigured/scored; completed passed",
        ),
        (
            json!({}),
            "ran inconclusive gradingUnavailable (none); notConfigured/notConfigured; completed evaluatorError",
        ),
        (
            json!({"goalScore": goal(true), "grading": {"state": "queued"}}),
            "ran notEstablished judgePending (none); notConfigured/scored; null",
        ),
        (
            json!({"goalScore": goal(true), "hasTranscript": false}),
            "ran inconclusive gradingUnavailable (none); notConfigured/scored; completed evaluatorError",
        ),
        (
            json!({"judge": {"automatic": false, "role": "advisory"}, "grading": {"state": "unavailable"}}),
            "ran notEstablished ungraded (none); notConfigured/notConfigured; null",
        ),
    ] {
        assert_eq!(told(changes.clone()), expected, "{changes}");
    }
}

#[test]
fn a_session_that_did_not_run_never_becomes_a_verdict_of_the_run() {
    for (changes, expected) in [
        (
            json!({"attempt": {"status": "failed"}, "goalScore": goal(true)}),
            "broke passed judgePassed (goalJudge); notConfigured/scored; failed",
        ),
        (
            json!({"attempt": {"status": "rate_limited"}, "goalScore": goal(false)}),
            "broke failed judgeFailed (goalJudge); notConfigured/scored; failed",
        ),
        (
            json!({"attempt": {"status": "rate_limited"}, "hasTranscript": false, "goalScore": goal(false)}),
            "limited notEstablished notRun (none); notConfigured/scored; setup_failed",
        ),
        (
            json!({"attempt": {"status": "rate_limited", "errorCode": "spend_cap_exceeded"}, "hasTranscript": false}),
            "limited notEstablished spendCapReached (none); notConfigured/notConfigured; setup_failed",
        ),
        (
            json!({"attempt": {"status": "succeeded", "errorCode": "run_timeout"}, "goalScore": goal(true)}),
            "withdrawn notEstablished withdrawn (none); notConfigured/scored; cancelled",
        ),
    ] {
        assert_eq!(told(changes.clone()), expected, "{changes}");
    }
}

#[test]
fn required_criteria_and_a_required_judge_decide_together() {
    let (rubric, holds) = one_required(json!(true));
    let (_, broken) = one_required(json!(false));
    let required_judge = json!({"automatic": true, "role": "required"});
    for (changes, expected) in [
        (
            json!({"rubric": rubric, "criteria": broken, "judge": required_judge,
                "grading": {"state": "queued"}, "hasTranscript": false}),
            "ran failed gatingCriterionFailed (requiredAssertions); scored/pending; completed failed",
        ),
        (
            json!({"rubric": rubric, "criteria": holds, "goalScore": goal(false)}),
            "ran passed allGatingCriteriaPassed (requiredAssertions); scored/silent; completed passed",
        ),
        (
            json!({"rubric": rubric, "criteria": holds, "goalScore": goal(false), "judge": required_judge}),
            "ran failed judgeFailed (goalJudge); scored/scored; completed failed",
        ),
        (
            json!({"rubric": rubric, "criteria": holds, "grading": {"state": "queued"}}),
            "ran notEstablished criteriaPending (none); scored/silent; null",
        ),
        (
            json!({"rubric": rubric, "criteria": {"status": "completed",
                "results": [{"criterionId": "c1", "passed": false, "status": "error"}]}}),
            "ran inconclusive gatingCriterionUnmeasured (none); errored/silent; completed evaluatorError",
        ),
    ] {
        assert_eq!(told(changes.clone()), expected, "{changes}");
    }
}

#[test]
fn advisory_criteria_that_were_not_claimed_are_out_of_scope() {
    let rubric = json!([{"id": "a", "role": "advisory"}, {"id": "b", "role": "advisory"}]);
    let results = json!([{"criterionId": "a", "passed": true}]);
    let scope = |ids: Value| {
        let mut criteria = json!({"status": "completed", "results": results});
        if !ids.is_null() {
            criteria["criterionIds"] = ids;
        }
        let changes = json!({"rubric": rubric, "criteria": criteria, "goalScore": goal(true)});
        verdict(changes).graders.criteria.wire()
    };
    assert_eq!(scope(json!(["a"])), "scored");
    assert_eq!(scope(Value::Null), "errored");
    assert_eq!(scope(json!(["a", "b"])), "errored");
}

#[test]
fn what_does_not_hold_together_is_refused_where_it_stands() {
    let rubric = json!([{"id": "c1", "role": "required"}]);
    let twice = json!([{"id": "c1", "role": "required"}, {"id": "c1", "role": "advisory"}]);
    let criteria = |ids: Value, results: Value| json!({"rubric": rubric, "criteria": {"status": "completed", "criterionIds": ids, "results": results}});
    let result = |id: &str| json!({"criterionId": id, "passed": true});
    for (changes, place) in [
        (json!({"rubric": twice}), "rubric[1].id"),
        (
            json!({"rubric": [{"id": "", "role": "required"}]}),
            "rubric[0].id",
        ),
        (
            json!({"rubric": [{"id": "a", "role": "gating"}]}),
            "rubric[0].role",
        ),
        (
            json!({"rubric": [{"id": "a", "role": "required", "predicateType": ""}]}),
            "rubric[0].predicateType",
        ),
        (
            criteria(json!(["c2"]), json!([])),
            "criteria.criterionIds[0]",
        ),
        (
            criteria(json!(["c1", "c1"]), json!([])),
            "criteria.criterionIds[1]",
        ),
        (
            criteria(json!(["c1"]), json!([result("c2")])),
            "criteria.results[0].criterionId",
        ),
        (
            criteria(json!(["c1"]), json!([result("c1"), result("c1")])),
            "criteria.results[1].criterionId",
        ),
        (
            criteria(json!([]), json!([result("c1")])),
            "criteria.results[0].criterionId",
        ),
        (
            json!({"criteria": {"status": "completed", "results": null}}),
            "criteria.results",
        ),
        (
            json!({"goalScore": {"status": "running", "passed": true}}),
            "goalScore.passed",
        ),
        (
            json!({"goalScore": {"status": "completed"}}),
            "goalScore.passed",
        ),
        (
            json!({"grading": {"state": "settled", "reasonCode": ""}}),
            "grading.reasonCode",
        ),
        (
            json!({"judge": {"automatic": true, "role": "advisory", "requested": null}}),
            "judge.requested",
        ),
        (json!({"attempt": {"status": "done"}}), "attempt.status"),
        (json!({"other": 1}), "other"),
    ] {
        let refused = derive_session_verdict_from_json(&session_input(changes)).expect_err(place);
        let places: Vec<_> = refused
            .violations
            .iter()
            .map(|violation| &violation.path)
            .collect();
        assert!(
            places.iter().any(|found| *found == place),
            "{place}: {places:?}"
        );
        assert!(
            refused.to_string().contains(&format!("`{place}`")),
            "{refused}"
        );
    }
    let mut missing = session_input(json!({}));
    missing
        .as_object_mut()
        .expect("an object")
        .remove("attempt");
    assert!(
        derive_session_verdict_from_json(&missing).is_err(),
        "no defaults"
    );
    // The one optional member that may be `null`.
    let null_code = json!({"attempt": {"status": "succeeded", "errorCode": null}});
    assert!(derive_session_verdict_from_json(&session_input(null_code)).is_ok());
}
