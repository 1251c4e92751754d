//! What must hold of every session verdict, report and wave.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};
use strandline_contract::{
    swarm::session::SessionVerdict,
    words::{
        AttemptStatus, GradingState, IterationStatus, SummaryVerdict, SwarmLifecycle, Vocabulary,
    },
};
use strandline_derive::swarm::{
    derive_findings_from_json, derive_run_report_from_json, derive_session_verdict_from_json,
    start_evidence, validate_findings, validate_run_report, validate_session_verdict,
};

fn attempts() -> impl Strategy<Value = Value> {
    let codes = vec!["canceled", "run_timeout", "spend_cap_exceeded", "other"];
    let attempt = (select(AttemptStatus::ALL), prop::option::of(select(codes)));
    prop::option::weighted(0.95, attempt).prop_map(|attempt| {
        let Some((status, code)) = attempt else {
            return Value::Null;
        };
        match code {
            Some(code) => json!({"status": status, "errorCode": code}),
            None => json!({"status": status}),
        }
    })
}

/// A rubric with what grading made of it.
fn criteria() -> impl Strategy<Value = (Value, Value)> {
    let result = prop::option::of((
        any::<bool>(),
        select(vec![None, Some("scored"), Some("error")]),
    ));
    let criterion = (select(vec!["required", "advisory"]), result);
    let status = prop::option::of(select(vec!["pending", "completed", "completed", "failed"]));
    (vec(criterion, 0..4), status, any::<bool>()).prop_map(|(criteria, status, claimed)| {
        let id = |index: usize| format!("c{index}");
        let rubric: Vec<_> = criteria
            .iter()
            .enumerate()
            .map(|(index, (role, _))| json!({"id": id(index), "role": role}))
            .collect();
        let results: Vec<_> = criteria
            .iter()
            .enumerate()
            .filter_map(|(index, (_, result))| {
                let (passed, status) = result.as_ref()?;
                let mut row = json!({"criterionId": id(index), "passed": passed});
                if let Some(status) = status {
                    row["status"] = json!(status);
                }
                Some(row)
            })
            .collect();
        let Some(status) = status else {
            return (json!(rubric), Value::Null);
        };
        let mut grades = json!({"status": status, "results": results});
        if claimed {
            let ids: Vec<_> = results
                .iter()
                .map(|row| row["criterionId"].clone())
                .collect();
            grades["criterionIds"] = json!(ids);
        }
        (json!(rubric), grades)
    })
}

fn inputs() -> impl Strategy<Value = Value> {
    let goal = select(vec![
        Value::Null,
        json!({"status": "running"}),
        json!({"status": "failed"}),
        json!({"status": "completed", "passed": true}),
        json!({"status": "completed", "passed": false}),
    ]);
    let judge = (
        any::<bool>(),
        select(vec!["required", "advisory"]),
        prop::option::of(any::<bool>()),
    );
    let grading = select(GradingState::ALL);
    (attempts(), any::<bool>(), criteria(), goal, judge, grading).prop_map(
        |(attempt, has_transcript, (rubric, criteria), goal, (automatic, role, requested), state)| {
            let mut judge = json!({"automatic": automatic, "role": role});
            if let Some(requested) = requested {
                judge["requested"] = json!(requested);
            }
            json!({"attempt": attempt, "hasTranscript": has_transcript, "rubric": rubric,
                "criteria": criteria, "goalScore": goal, "judge": judge, "grading": {"state": state}})
        },
    )
}

fn derive(input: &Value) -> SessionVerdict {
    derive_session_verdict_from_json(input).expect("an input")
}

/// Sessions of one run, each with the number of its messages.
fn sessions() -> impl Strategy<Value = Vec<(SessionVerdict, u64)>> {
    vec((inputs().prop_map(|input| derive(&input)), 0..3_u64), 0..6)
}

fn report(sessions: &[(SessionVerdict, u64)], unreported: u64) -> Value {
    let definitions =
        json!([{"evaluatorId": "e", "predicateType": "noToolErrors", "role": "advisory"}]);
    let sessions: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(index, (verdict, messages))| {
            json!({"id": index.to_string(), "verdict": verdict, "observations": [],
                "startEvidence": start_evidence(verdict.lifecycle, *messages)})
        })
        .collect();
    let input = json!({"runId": "r", "executionComplete": true, "verdictSummary": null,
        "configuredSessions": sessions.len() as u64 + unreported,
        "evaluatorDefinitions": definitions, "sessions": sessions});
    json!(derive_run_report_from_json(&input).expect("a report input"))
}

/// A wave of one run, its sessions spread over two personas and two targets.
fn wave(sessions: &[(SessionVerdict, u64)], loaded: bool) -> Value {
    let slots: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(index, (verdict, messages))| {
            json!({"sessionId": format!("s{index}"), "sessionIndex": index,
                "persona": {"personaRefId": null, "name": if index % 3 == 0 { "Ana" } else { "Bo" }},
                "goal": {"runId": "r", "journeyRefId": "j", "title": "t"},
                "target": {"kind": "host", "id": format!("h{}", index % 2), "label": "", "modelId": null},
                "verdict": verdict, "chain": null, "friction": null, "messageCount": messages,
                "transcriptLoaded": loaded || index % 2 == 0,
                "facts": {"toolCatalog": null, "agentTurns": 1, "outputTruncated": index % 2 == 0,
                    "calls": [], "turnCapReached": true, "erroredResultMessage": null,
                    "lastAssistantMessage": 0}})
        })
        .collect();
    json!({"waveId": "w", "generatedAt": 0, "reports": [report(sessions, 0)], "sessions": slots})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_validator_accepts_every_verdict(input in inputs()) {
        let verdict = derive(&input);
        let stored = json!(verdict);
        prop_assert_eq!(validate_session_verdict(&stored), Ok(verdict.clone()));
        let read: SessionVerdict = serde_json::from_value(stored).expect("it reads back");
        prop_assert_eq!(read, verdict);
    }

    #[test]
    fn only_a_session_that_ran_becomes_a_graded_trial(input in inputs()) {
        let verdict = derive(&input);
        match verdict.trial {
            Some(trial) => prop_assert_eq!(
                trial.status == IterationStatus::Completed,
                verdict.lifecycle == SwarmLifecycle::Ran
            ),
            None => {
                prop_assert_eq!(verdict.lifecycle, SwarmLifecycle::Ran);
                prop_assert_eq!(verdict.verdict, SummaryVerdict::NotEstablished);
            }
        }
    }

    /// A queued or running regrade withholds an old pass.
    #[test]
    fn no_session_passes_while_its_grading_goes_on(input in inputs()) {
        let mut input = input;
        input["grading"]["state"] = json!("queued");
        prop_assert_ne!(derive(&input).verdict, SummaryVerdict::Passed);
    }

    #[test]
    fn the_order_of_criteria_and_results_does_not_matter(input in inputs()) {
        let mut reversed = input.clone();
        for place in ["/rubric", "/criteria/results", "/criteria/criterionIds"] {
            if let Some(Value::Array(items)) = reversed.pointer_mut(place) {
                items.reverse();
            }
        }
        prop_assert_eq!(derive(&reversed), derive(&input));
    }

    #[test]
    fn counts_of_a_report_add_up(sessions in sessions(), unreported in 0..3_u64) {
        let report = report(&sessions, unreported);
        prop_assert!(validate_run_report(&report).is_ok(), "{report}");
    }

    #[test]
    fn findings_hold_together_and_count_every_session_once(sessions in sessions(), loaded: bool) {
        let input = wave(&sessions, loaded);
        let findings = json!(derive_findings_from_json(&input).expect("a wave"));
        prop_assert!(validate_findings(&findings).is_ok(), "{findings}");
        let mut shuffled = input;
        shuffled["sessions"].as_array_mut().expect("sessions").reverse();
        let again = json!(derive_findings_from_json(&shuffled).expect("a wave"));
        prop_assert_eq!(&again, &findings, "order of input");
        let rows = findings["findings"].as_array().expect("rows");
        let total = |scope: &str| -> u64 {
            rows.iter()
                .filter(|row| row["scopeLevel"] == scope && row.get("signal").is_none())
                .map(|row| row["population"]["total"].as_u64().expect("a count"))
                .sum()
        };
        prop_assert_eq!(total("goal"), total("session"));
        for row in rows {
            let population = &row["population"];
            prop_assert!(population["count"].as_u64() <= population["total"].as_u64());
            prop_assert!(population["count"] != 0);
        }
    }
}
