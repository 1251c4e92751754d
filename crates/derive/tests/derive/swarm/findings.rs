//! Findings without a model (`swarm.md` §9).

use serde_json::{Value, json};
use strandline_contract::{
    swarm::session::SessionVerdict,
    trace::{Message, Part, Role, Trace},
    words::{RecordedSignal, Stage, Vocabulary},
};
use strandline_derive::swarm::{
    derive_findings_from_json, facts_from_trace, recorded_signals, validate_findings,
};

use super::{failed, findings, passed, report, verdict};

/// A chain of six rows: passed up to `failed`, not reached after it.
fn chain(failed: Option<Stage>) -> Value {
    let mut rows = Vec::new();
    for stage in Stage::ALL {
        let state = match failed {
            Some(broken) if *stage == broken => "failed",
            Some(broken) if *stage > broken => "notReached",
            _ => "passed",
        };
        rows.push(json!({"stage": stage, "state": state}));
    }
    let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12});
    if let Some(failed) = failed {
        chain["firstFailedStage"] = json!(failed);
    }
    chain
}

/// A friction document with one signal.
fn friction(kind: &str, after_error: bool) -> Value {
    let mut signal = json!({"kind": kind, "callIndex": 1, "priorCallIndex": 0, "toolName": "t"});
    if kind == "paginationContinuation" {
        signal["paginationKeys"] = json!(["page"]);
    } else {
        signal["afterError"] = json!(after_error);
    }
    json!({"version": 1, "state": "measured", "callCount": 2, "resultAvailableCount": 2,
        "timedCallCount": 0, "identifierSignals": {"state": "measured"}, "signals": [signal]})
}

/// A session of `persona` in run `run`, the `index`-th of its target, that
/// left four messages.
fn session(persona: &str, run: &str, index: u64, verdict: &SessionVerdict) -> Value {
    json!({
        "sessionId": format!("{run}s{index}"),
        "sessionIndex": index,
        "persona": {"personaRefId": null, "name": persona},
        "goal": {"runId": run, "journeyRefId": "j1", "title": "Find a ship"},
        "target": {"kind": "host", "id": "host:h1", "label": "Host one", "modelId": null},
        "verdict": verdict,
        "chain": chain(None),
        "friction": null,
        "messageCount": 4,
        "transcriptLoaded": true,
        "facts": {"toolCatalog": ["t"], "agentTurns": 1, "calls": [{"toolName": "t", "errored": false}],
            "outputTruncated": false, "turnCapReached": false, "erroredResultMessage": null,
            "lastAssistantMessage": 3},
    })
}

fn with(mut session: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        panic!("changes are members");
    };
    for (key, value) in changes {
        session[key] = value;
    }
    session
}

/// A session that a limit stopped before it claimed a session.
fn slot(persona: &str, run: &str, index: u64) -> Value {
    let limited = verdict(json!({"attempt": {"status": "rate_limited"}, "hasTranscript": false}));
    with(
        session(persona, run, index, &limited),
        json!({"sessionId": null, "chain": null, "messageCount": 0, "transcriptLoaded": false,
            "facts": {"toolCatalog": null, "agentTurns": 0, "calls": [], "outputTruncated": false,
                "turnCapReached": false, "erroredResultMessage": null, "lastAssistantMessage": null}}),
    )
}

fn wave(sessions: Vec<Value>) -> Value {
    let mut runs: Vec<&str> = sessions
        .iter()
        .filter_map(|session| session["goal"]["runId"].as_str())
        .collect();
    runs.sort_unstable();
    runs.dedup();
    let reports: Vec<_> = runs.iter().map(|run| run_report(run, &sessions)).collect();
    json!({"waveId": "w1", "generatedAt": 1000, "reports": reports, "sessions": sessions})
}

fn run_report(run: &str, sessions: &[Value]) -> Value {
    let own: Vec<Value> = sessions
        .iter()
        .filter(|session| session["goal"]["runId"] == run)
        .map(|session| {
            let started = session["messageCount"] != 0 || session["verdict"]["lifecycle"] == "ran";
            json!({"id": format!("{run}/{}", session["sessionIndex"]),
                "startEvidence": if started { "started" } else { "notStarted" },
                "verdict": session["verdict"], "observations": []})
        })
        .collect();
    let input = json!({"runId": run, "executionComplete": true, "configuredSessions": own.len(),
        "verdictSummary": null, "evaluatorDefinitions": [], "sessions": own});
    json!(report(&input))
}

fn derived(sessions: Vec<Value>) -> Value {
    let findings = json!(findings(&wave(sessions)));
    assert!(validate_findings(&findings).is_ok());
    findings
}

/// `disposition/tone` of every persona, by name.
fn personas(findings: &Value) -> Vec<String> {
    let rows = findings["personas"].as_array().expect("personas");
    let told = |row: &Value| {
        let text = |key: &str| row[key].as_str().expect("a word").to_owned();
        let name = row["persona"]["name"].as_str().expect("a name");
        format!("{name} {}/{}", text("disposition"), text("tone"))
    };
    rows.iter().map(told).collect()
}

fn ids(findings: &Value) -> Vec<&str> {
    let rows = findings["findings"].as_array().expect("rows");
    rows.iter()
        .map(|row| row["id"].as_str().expect("an id"))
        .collect()
}

/// The first wave of §9.5: Ana fails at the response, then passes; Bo passes.
fn broken_wave() -> Vec<Value> {
    let mut broken = session("Ana", "r1", 1, &failed());
    broken["sessionId"] = json!("s1");
    broken["chain"] = chain(Some(Stage::Response));
    broken["facts"]["calls"] = json!([{"toolName": "t", "errored": true}]);
    broken["facts"]["turnCapReached"] = json!(true);
    broken["facts"]["erroredResultMessage"] = json!(2);
    vec![
        with(
            session("Bo", "r2", 1, &passed()),
            json!({"sessionId": "s3"}),
        ),
        with(
            session("Ana", "r1", 2, &passed()),
            json!({"sessionId": "s2"}),
        ),
        broken,
    ]
}

#[test]
fn one_broken_session_makes_the_wave_broken_and_is_counted_once() {
    let findings = derived(broken_wave());
    assert_eq!(findings["summaryKind"], "broken");
    assert_eq!(
        personas(&findings),
        ["Ana blockedByResponse/fail", "Bo goalMet/ok"]
    );
    let cell =
        |kind: &str, name: &str, run: &str| format!(r#"{kind}:[null,"{name}","{run}","host:h1"]"#);
    assert_eq!(
        ids(&findings),
        [
            &cell("goal", "Ana", "r1"),
            &cell("goal", "Bo", "r2"),
            &cell("signal:toolErrored", "Ana", "r1"),
            "session:s1",
            "session:s2",
            "session:s3",
        ]
    );
    assert_eq!(
        serde_json::to_string(&super::findings(&wave(broken_wave())).findings[0]).expect("JSON"),
        r#"{"id":"goal:[null,\"Ana\",\"r1\",\"host:h1\"]","basis":"populationFact","scopeLevel":"goal","persona":{"personaRefId":null,"name":"Ana"},"goal":{"runId":"r1","journeyRefId":"j1","title":"Find a ship"},"target":{"kind":"host","id":"host:h1","label":"Host one","modelId":null},"population":{"count":1,"total":2,"unit":"sessions"},"sessionIds":["s1"],"citations":["s1/m:2","s1/m:3"],"verdictSeen":"failed","chainStage":"response","chainStageState":"failed","chainStageBasis":"derived","disposition":"blockedByResponse","tone":"fail","coverageNotes":[],"outcomePhrase":"the response could not be used","mechanismPhrase":null,"fixPhrase":null,"reportExcerpt":null,"mechanismId":null}"#
    );
    let signal = &findings["findings"][2];
    assert_eq!(
        signal["population"],
        json!({"count": 1, "total": 2, "unit": "sessions"})
    );
    assert_eq!(
        (
            &signal["chainStage"],
            &signal["chainStageState"],
            &signal["chainStageBasis"]
        ),
        (&json!("response"), &Value::Null, &json!("reported"))
    );
    assert_eq!(signal["outcomePhrase"], "a tool call failed");
    assert_eq!(
        findings["findings"][3]["reportExcerpt"],
        json!({"actual": "failed (judgeFailed); chain: response failed", "account": null,
            "citations": ["s1/m:2", "s1/m:3"]})
    );
}

#[test]
fn friction_warns_and_never_misses_a_goal() {
    let mut first = session("Ana", "r1", 1, &passed());
    first["friction"] = friction("identicalRetry", false);
    let findings = derived(vec![first, session("Ana", "r1", 2, &passed())]);
    assert_eq!(findings["summaryKind"], "friction");
    assert_eq!(personas(&findings), ["Ana goalMetWithFriction/warn"]);
    let goal = &findings["findings"][0];
    assert_eq!(
        goal["population"],
        json!({"count": 1, "total": 2, "unit": "sessions"})
    );
}

#[test]
fn landed_speaks_for_measured_goals_only() {
    let ungraded = verdict(json!({"judge": {"automatic": false, "role": "advisory"}}));
    let findings = derived(vec![
        session("Ana", "r1", 1, &passed()),
        session("Ana", "r1", 2, &passed()),
        with(session("Ana", "r2", 1, &ungraded), json!({"chain": null})),
    ]);
    assert_eq!(findings["summaryKind"], "landed");
    assert_eq!(
        findings["coverageNotes"],
        json!(["chainUnmeasured", "judgeNotRun"])
    );
    assert_eq!(personas(&findings), ["Ana notMeasured/muted"]);
    assert_eq!(findings["personas"][0]["goalRunIds"], json!(["r1", "r2"]));
}

#[test]
fn a_wave_that_never_launched_says_only_that() {
    let findings = derived(vec![slot("Ana", "r1", 0), slot("Ana", "r1", 1)]);
    assert_eq!(findings["summaryKind"], "notLaunched");
    assert_eq!(findings["coverageNotes"], json!(["sessionsRateLimited"]));
    assert_eq!(personas(&findings), ["Ana notRun/muted"]);
    assert_eq!(
        ids(&findings)[1..],
        ["slot:r1:host:h1:0", "slot:r1:host:h1:1"]
    );
    assert_eq!(
        findings["findings"][0]["sessionIds"],
        json!(["slot:r1:host:h1:0", "slot:r1:host:h1:1"])
    );
    assert_eq!(findings["findings"][1]["reportExcerpt"], Value::Null);
}

#[test]
fn missing_reads_outrank_good_news() {
    let unread = json!({"transcriptLoaded": false});
    let findings = derived(vec![
        with(session("Ana", "r1", 1, &failed()), unread.clone()),
        with(session("Ana", "r1", 2, &passed()), unread),
        session("Ana", "r1", 3, &passed()),
    ]);
    assert_eq!(findings["summaryKind"], "unread");
    assert_eq!(
        findings["coverageNotes"],
        json!(["transcriptMissing", "partialRead"])
    );
    assert_eq!(personas(&findings), ["Ana goalMet/ok"]);
    assert_eq!(
        findings["population"],
        json!({"configured": 3, "started": 3, "read": 1, "unread": 2, "withdrawn": 0,
            "limited": 0, "graded": 3})
    );
}

#[test]
fn sessions_end_up_where_the_table_says() {
    let broke = |passed: bool| {
        let goal = json!({"status": "completed", "passed": passed});
        verdict(json!({"attempt": {"status": "failed"}, "goalScore": goal}))
    };
    let inconclusive = verdict(json!({"goalScore": {"status": "failed"}}));
    let withdrawn = verdict(json!({"attempt": {"status": "failed", "errorCode": "canceled"}}));
    let silent = json!({"messageCount": 0, "transcriptLoaded": false});
    for (disposition, verdict, changes) in [
        ("goalMet", passed(), json!({})),
        (
            "goalMet",
            passed(),
            json!({"friction": friction("paginationContinuation", false)}),
        ),
        (
            "goalMet",
            passed(),
            json!({"friction": friction("changedRetry", false)}),
        ),
        (
            "goalMetWithFriction",
            passed(),
            json!({"friction": friction("changedRetry", true)}),
        ),
        ("goalMetWithFriction", broke(true), json!({})),
        (
            "goalMetWithFriction",
            passed(),
            json!({"chain": chain(Some(Stage::Response))}),
        ),
        (
            "blockedByResponse",
            failed(),
            json!({"chain": chain(Some(Stage::Response))}),
        ),
        (
            "blockedCallingTool",
            failed(),
            json!({"chain": chain(Some(Stage::Call))}),
        ),
        (
            "lostFindingTool",
            failed(),
            json!({"chain": chain(Some(Stage::Selection))}),
        ),
        (
            "blockedConnecting",
            failed(),
            json!({"chain": chain(Some(Stage::Connection))}),
        ),
        (
            "goalMissed",
            failed(),
            json!({"chain": chain(Some(Stage::UserValue))}),
        ),
        ("goalMissed", failed(), json!({"chain": null})),
        (
            "notMeasured",
            inconclusive.clone(),
            json!({"chain": chain(Some(Stage::Response))}),
        ),
        (
            "lostFindingTool",
            inconclusive.clone(),
            json!({"chain": chain(Some(Stage::Discovery))}),
        ),
        ("notMeasured", inconclusive, json!({})),
        (
            "notMeasured",
            withdrawn.clone(),
            json!({"chain": chain(Some(Stage::Connection))}),
        ),
        ("notRun", withdrawn, silent.clone()),
        ("notRun", broke(true), silent),
    ] {
        let findings = derived(vec![with(
            session("Ana", "r1", 0, &verdict),
            changes.clone(),
        )]);
        assert_eq!(
            findings["findings"][0]["disposition"], disposition,
            "{changes}"
        );
    }
}

#[test]
fn a_session_is_filed_under_the_first_signal_only() {
    let facts = |changes: Value| {
        let mut session = session("Ana", "r1", 0, &passed());
        session["facts"] = with(session["facts"].clone(), changes);
        derived(vec![session])
    };
    let all = json!({"outputTruncated": true, "turnCapReached": true,
        "calls": [{"toolName": "x", "errored": true}]});
    let findings = facts(all);
    let rows = findings["findings"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1]["signal"], "outputTruncated");
    // Calling nothing is told, and no friction.
    let findings = facts(json!({"calls": []}));
    assert_eq!(findings["findings"][1]["signal"], "noToolCalled");
    assert_eq!(findings["findings"][0]["disposition"], "goalMet");
    // Without a catalog nobody can say that a tool does not exist.
    let unknown = json!({"calls": [{"toolName": "x", "errored": false}], "toolCatalog": null});
    let findings = facts(unknown);
    assert_eq!(ids(&findings).len(), 2);
    assert_eq!(findings["coverageNotes"], json!(["toolCatalogMissing"]));
}

#[test]
fn a_session_that_ran_without_a_message_is_in_no_row() {
    let silent = with(
        session("Ana", "r1", 0, &passed()),
        json!({"messageCount": 0}),
    );
    let findings = derived(vec![silent]);
    assert_eq!(findings["findings"], json!([]));
    assert_eq!(personas(&findings), ["Ana notMeasured/muted"]);
    assert_eq!(findings["summaryKind"], "ungraded");
}

#[test]
fn the_revision_changes_with_what_is_derived_from_and_with_nothing_else() {
    let revision = |sessions: Vec<Value>| derived(sessions)["sourceRevision"].clone();
    let base = revision(broken_wave());
    let mut shuffled = broken_wave();
    shuffled.reverse();
    assert_eq!(revision(shuffled), base);
    let mut relabelled = broken_wave();
    relabelled[0]["target"]["label"] = json!("Other");
    assert_eq!(revision(relabelled), base);
    let mut longer = broken_wave();
    longer[0]["messageCount"] = json!(5);
    assert_ne!(revision(longer), base);
}

#[test]
fn rows_and_scans_are_capped_and_the_cap_is_said() {
    let sessions = (0..1_003)
        .map(|index| session("Ana", "r1", index, &passed()))
        .collect();
    let findings = derived(sessions);
    assert_eq!(ids(&findings).len(), 200);
    assert_eq!(
        findings["coverageNotes"],
        json!(["sessionScanCapped", "partialRead"])
    );
    let goal = &findings["findings"][0];
    assert_eq!(goal["population"]["count"], 1_000);
    assert_eq!(goal["citations"].as_array().map(Vec::len), Some(30));
    assert_eq!(findings["findings"][1]["id"], "session:r1s0");
}

#[test]
fn a_wave_that_does_not_hold_together_is_refused() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 8] = [
        ("waveId", |v| v["waveId"] = json!("")),
        ("reports[1].runId", |v| {
            v["reports"][1] = v["reports"][0].clone()
        }),
        ("sessions[1].sessionId", |v| {
            v["sessions"][1]["sessionId"] = json!("s3")
        }),
        ("sessions[0].sessionId", |v| {
            v["sessions"][0]["sessionId"] = json!("a/b")
        }),
        ("sessions[2].sessionIndex", |v| {
            v["sessions"][2]["sessionIndex"] = json!(2)
        }),
        ("sessions[0].goal", |v| {
            v["sessions"][0]["goal"]["runId"] = json!("r9")
        }),
        ("sessions[0].messageCount", |v| {
            v["sessions"][0]["sessionId"] = json!(null)
        }),
        ("sessions[0].chain", |v| {
            v["sessions"][0]["chain"]["stageResults"] = json!([])
        }),
    ];
    for (place, change) in cases {
        let mut input = wave(broken_wave());
        change(&mut input);
        let refused = derive_findings_from_json(&input).expect_err(place);
        let found = refused
            .violations
            .iter()
            .any(|violation| violation.path == place);
        assert!(found, "{place}: {refused}");
    }
}

#[test]
fn facts_are_read_off_our_own_trace() {
    let message = |role, parts| Message {
        role,
        prompt_index: 0,
        parts,
    };
    let call = |id: &str| Part::ToolCall {
        tool_call_id: id.to_owned(),
        tool_name: "t".to_owned(),
        arguments: json!({}),
        raw_arguments: None,
        provider_state: None,
    };
    let result = |id: &str, policy_block, result: Option<Value>| Part::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: "t".to_owned(),
        is_error: result.is_none(),
        error: None,
        result,
        model_text: String::new(),
        policy_block,
    };
    let trace = Trace {
        messages: vec![
            message(
                Role::User,
                vec![Part::Text {
                    text: "go".to_owned(),
                }],
            ),
            message(Role::Assistant, vec![call("1"), call("2"), call("3")]),
            message(
                Role::Tool,
                vec![
                    result("1", true, None),
                    result("2", false, Some(json!({"content": []}))),
                ],
            ),
            message(
                Role::Tool,
                vec![result("3", false, Some(json!({"isError": true})))],
            ),
            message(
                Role::Assistant,
                vec![Part::Text {
                    text: "done".to_owned(),
                }],
            ),
        ],
        ..Trace::default()
    };
    let facts = facts_from_trace(&trace, Some(vec!["t".to_owned()]), false, false);
    let errored: Vec<bool> = facts.calls.iter().map(|call| call.errored).collect();
    assert_eq!(errored, [false, false, true]);
    assert_eq!(facts.agent_turns, 1);
    assert_eq!(
        (facts.errored_result_message, facts.last_assistant_message),
        (Some(3), Some(4))
    );
    assert_eq!(recorded_signals(&facts), [RecordedSignal::ToolErrored]);
}
