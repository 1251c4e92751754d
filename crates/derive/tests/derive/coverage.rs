//! What a suite, or a run of it, leaves unproved.

use serde_json::{Value, json};
use strandline_contract::{
    coverage::Coverage,
    run::{RunRecord, TrialRecord},
    suite::ResolvedSuite,
    trace::Trace,
    words::GapKind,
};
use strandline_derive::coverage::{
    CoverageInput, RunEvidence, TrialEvidence, derive_coverage, trace_is_needed,
};

fn suite(cases: Value) -> ResolvedSuite {
    serde_json::from_value(json!({
        "schemaVersion": "2", "suite": {"id": "s", "name": "Orders"}, "target": {},
        "defaults": {"model": "m", "iterations": 1, "passThreshold": 1.0,
            "validity": {"minCompletionRate": 0.8, "maxEvaluatorErrorRate": 0.1},
            "captureLevel": "full"},
        "cases": cases, "execution": {},
    }))
    .expect("a resolved suite")
}

fn case(id: &str, steps: Value, assertions: Value) -> Value {
    json!({"id": id, "title": id.to_uppercase(), "steps": steps, "assertions": assertions,
        "isNegativeTest": false, "model": "m", "iterations": 1, "passThreshold": 1.0, "disabled": false})
}

/// A step that demands a call with arguments.
fn called_with(tool: &str, args: Value) -> Value {
    json!({"kind": "assert", "id": format!("{tool}-{args}"),
        "assertion": {"type": "toolCalledWith", "toolName": tool, "args": args}})
}

fn listed_tool(name: &str, arguments: &[&str]) -> Value {
    let properties: Value = arguments
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties,
        "required": arguments.first().into_iter().collect::<Vec<_>>()}})
}

fn run(planned: &[&str], tools: Value) -> RunRecord {
    let plan: Vec<_> = planned
        .iter()
        .map(|id| json!({"caseId": id, "title": id, "configuredTrials": 1, "passThreshold": 1.0}))
        .collect();
    let mut server = json!({"name": "shop", "transport": "stdio", "tools": tools});
    if let Some(tools) = tools.as_array() {
        server["toolCount"] = json!(tools.len());
    } else {
        server["tools"] = json!([]);
    }
    serde_json::from_value(json!({
        "id": "r1", "status": "completed", "suiteId": "s", "suiteName": "Orders",
        "suitePath": "s.yaml", "sourceHash": "", "resolvedHash": "", "resolvedSuite": {},
        "plan": plan, "settings": {}, "servers": [server], "startedAt": 0, "scripted": true,
        "strandlineVersion": "0"
    }))
    .expect("a run")
}

/// A trial with its six stage marks: passed, failed, not reached, not
/// measured, not applicable.
fn trial(marks: &str, calls: &[&str], failed_call: bool) -> TrialRecord {
    let stages = [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ];
    let rows: Vec<Value> = stages
        .into_iter()
        .zip(marks.chars())
        .map(|(stage, mark)| {
            let state = match mark {
                'P' => "passed",
                'F' => "failed",
                'r' => "notReached",
                'm' => "notMeasured",
                _ => "notApplicable",
            };
            json!({"stage": stage, "state": state})
        })
        .collect();
    let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12});
    if let Some(at) = marks.find('F') {
        chain["firstFailedStage"] = json!(stages[at]);
    }
    let calls: Vec<_> = calls
        .iter()
        .map(|tool| json!({"toolName": tool, "arguments": {}}))
        .collect();
    let span = json!({"category": "tool", "status": if failed_call { "error" } else { "ok" }});
    serde_json::from_value(json!({
        "id": "t", "runId": "r1", "caseId": "c", "title": "c", "iterationNumber": 0,
        "status": "completed", "startedAt": 0, "endedAt": 1, "actualToolCalls": calls,
        "chainInput": {"evidence": {"spans": [span]}}, "chain": chain, "stageMeasurements": {}
    }))
    .expect("a trial")
}

/// A trace in which a call of `tool` was answered with an error.
fn failing_trace(tool: &str) -> Trace {
    serde_json::from_value(
        json!({"messages": [{"role": "tool", "promptIndex": 0, "parts": [
        {"type": "tool-result", "toolCallId": "1", "toolName": tool, "modelText": "no such order",
            "isError": true, "result": {"isError": true, "content": []}}]}]}),
    )
    .expect("a trace")
}

fn of_suite(suite: &ResolvedSuite) -> Coverage {
    derive_coverage(&CoverageInput {
        suite,
        run: None,
        external_check: &|_| false,
    })
}

fn of_run(suite: &ResolvedSuite, run: &RunRecord, trials: Vec<TrialEvidence>) -> Coverage {
    derive_coverage(&CoverageInput {
        suite,
        run: Some(&RunEvidence { run, trials }),
        external_check: &|_| false,
    })
}

/// `proved/total` with gaps and undecided, or why it was not measured.
fn told(coverage: &Coverage, kind: GapKind) -> String {
    let tally = coverage.tally(kind).expect("every kind has a row");
    assert_eq!(tally.proved + tally.unproved + tally.undecided, tally.total);
    let gaps = coverage
        .gaps
        .iter()
        .filter(|gap| gap.kind() == kind)
        .count();
    assert_eq!(tally.unproved, gaps as u64);
    match tally.reason {
        Some(reason) => reason.to_string(),
        None => format!(
            "{}/{} -{} ?{}",
            tally.proved, tally.total, tally.unproved, tally.undecided
        ),
    }
}

fn gaps(coverage: &Coverage, kind: GapKind) -> Vec<Value> {
    let gaps = coverage.gaps.iter().filter(|gap| gap.kind() == kind);
    gaps.map(|gap| {
        let mut gap = json!(gap);
        gap.as_object_mut().expect("an object").remove("kind");
        gap
    })
    .collect()
}

#[test]
fn a_suite_alone_tells_what_it_names_and_which_cases_can_fail() {
    let suite = suite(json!([
        case(
            "a",
            json!([called_with("get", json!({"args": {"id": 1}}))]),
            json!([])
        ),
        case(
            "b",
            json!([]),
            json!([{"type": "toolNeverCalled", "toolName": "drop"}])
        ),
    ]));
    let coverage = of_suite(&suite);
    assert_eq!(told(&coverage, GapKind::ToolNeverExpected), "1/2 -1 ?0");
    assert_eq!(
        gaps(&coverage, GapKind::ToolNeverExpected),
        [json!({"toolName": "drop"})]
    );
    assert_eq!(told(&coverage, GapKind::ArgumentNeverAsserted), "noListing");
    assert_eq!(told(&coverage, GapKind::ErrorPathNeverExercised), "noRun");
    assert_eq!(told(&coverage, GapKind::StageNeverDecided), "noRun");
    assert_eq!(told(&coverage, GapKind::EmptyAnswerPasses), "1/2 -1 ?0");
    assert_eq!(
        gaps(&coverage, GapKind::EmptyAnswerPasses),
        [json!({"caseId": "b", "title": "B"})]
    );
}

#[test]
fn only_required_rules_that_fail_without_a_call_expect_one() {
    let expects = |assertion: Value| {
        let suite = suite(json!([case("a", json!([]), json!([assertion]))]));
        told(&of_suite(&suite), GapKind::ToolNeverExpected) == "1/1 -0 ?0"
    };
    let rule = |kind: &str| json!({"type": kind, "toolName": "t"});
    for kind in [
        "toolCalledAtLeastOnce",
        "firstToolWas",
        "toolResultContains",
        "toolResultMatchesSchema",
    ] {
        assert!(expects(rule(kind)), "{kind}");
        let mut advisory = rule(kind);
        advisory["role"] = json!("advisory");
        assert!(!expects(advisory), "{kind}");
    }
    for kind in [
        "toolNeverCalled",
        "toolCallCountUnder",
        "toolLatencyUnder",
        "toolErrorNamesInput",
    ] {
        assert!(!expects(rule(kind)), "{kind}");
    }
    let matches = |kind: &str, min: u64| json!({"type": kind, "toolName": "t", "patterns": ["x"], "min": min, "max": 3});
    for kind in ["toolInputMatches", "toolResultMatches"] {
        assert!(expects(matches(kind, 1)), "{kind}");
        assert!(!expects(matches(kind, 0)), "{kind}");
    }
    // Nothing can be demanded where nothing may be called, nor by a disabled case.
    let mut negative = case("a", json!([]), json!([rule("toolCalledAtLeastOnce")]));
    negative["isNegativeTest"] = json!(true);
    assert_eq!(
        told(
            &of_suite(&suite(json!([negative]))),
            GapKind::ToolNeverExpected
        ),
        "0/1 -1 ?0"
    );
    let mut disabled = case("a", json!([]), json!([rule("toolCalledAtLeastOnce")]));
    disabled["disabled"] = json!(true);
    assert_eq!(
        told(
            &of_suite(&suite(json!([disabled]))),
            GapKind::ToolNeverExpected
        ),
        "nothingToProve"
    );
}

#[test]
fn arguments_are_asserted_by_value_and_an_ignored_match_asserts_none() {
    let asserted = |steps: Value, assertions: Value| {
        let suite = suite(json!([case("a", steps, assertions)]));
        let run = run(&["a"], json!([listed_tool("get", &["id", "verbose"])]));
        let coverage = of_run(&suite, &run, Vec::new());
        gaps(&coverage, GapKind::ArgumentNeverAsserted)
            .iter()
            .map(|gap| {
                format!(
                    "{}{}",
                    gap["argument"].as_str().expect("a name"),
                    gap["required"]
                )
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let step = |args: Value| json!([called_with("get", args)]);
    assert_eq!(asserted(json!([]), json!([])), "idtrue verbosefalse");
    assert_eq!(
        asserted(step(json!({"args": {"id": 1}})), json!([])),
        "verbosefalse"
    );
    let ignore = json!({"args": {"id": 1}, "argumentMatching": "ignore"});
    assert_eq!(asserted(step(ignore), json!([])), "idtrue verbosefalse");
    // What an exact match does not write must not be sent.
    let exact = json!({"args": {"id": 1}, "argumentMatching": "exact"});
    assert_eq!(asserted(step(exact), json!([])), "");
    let pinned = json!([{"kind": "toolCall", "id": "p", "serverName": "shop", "toolName": "get",
        "arguments": {"verbose": true}}]);
    assert_eq!(asserted(pinned, json!([])), "idtrue");
    let pointed =
        json!([{"type": "toolInputMatches", "toolName": "get", "patterns": ["x"], "path": "/id"}]);
    assert_eq!(asserted(json!([]), pointed), "verbosefalse");
    let at_case =
        json!([{"type": "toolCalledWith", "toolName": "get", "args": {"args": {"verbose": true}}}]);
    assert_eq!(asserted(json!([]), at_case), "idtrue");
    let schema = json!([{"type": "argumentsMatchToolSchema"}]);
    assert_eq!(asserted(json!([]), schema), "idtrue verbosefalse");
}

#[test]
fn a_run_adds_listed_tools_and_what_its_trials_show() {
    let suite = suite(json!([
        case(
            "a",
            json!([called_with("get", json!({"args": {}}))]),
            json!([])
        ),
        case(
            "unplanned",
            json!([called_with("list", json!({"args": {}}))]),
            json!([])
        ),
    ]));
    let tools = json!([listed_tool("get", &[]), listed_tool("list", &[]), listed_tool("get", &["late"]), {"title": "x"}]);
    let run = run(&["a"], tools);
    let failing = trial("PPPPFr", &["get", "list"], true);
    assert!(trace_is_needed(&failing));
    let quiet = trial("PPPmmn", &["list"], false);
    assert!(!trace_is_needed(&quiet));
    let trials = vec![
        TrialEvidence::of(&failing, Some(&failing_trace("get"))),
        TrialEvidence::of(&quiet, None),
    ];
    let coverage = of_run(&suite, &run, trials);
    assert_eq!(
        gaps(&coverage, GapKind::ToolNeverExpected),
        [json!({"server": "shop", "toolName": "list", "calledInTrials": 2})]
    );
    assert_eq!(
        gaps(&coverage, GapKind::ErrorPathNeverExercised),
        [json!({"server": "shop", "toolName": "list", "calledInTrials": 2})]
    );
    // User value was not reached once and did not apply once: it cannot be told.
    assert_eq!(told(&coverage, GapKind::StageNeverDecided), "5/6 -0 ?1");
    assert_eq!(
        told(&coverage, GapKind::ArgumentNeverAsserted),
        "nothingToProve"
    );
    assert_eq!(told(&coverage, GapKind::EmptyAnswerPasses), "1/1 -0 ?0");
    let covered = coverage.run.expect("a run");
    assert_eq!(
        (covered.trials, covered.chains, covered.tools_listed),
        (2, 2, true)
    );
}

#[test]
fn a_stage_is_a_gap_when_every_trial_left_it_undecidable() {
    let suite = suite(json!([case("a", json!([]), json!([]))]));
    let run = run(&["a"], Value::Null);
    let of = |marks: &[&str]| {
        let trials = marks
            .iter()
            .map(|marks| TrialEvidence::of(&trial(marks, &[], false), None))
            .collect();
        of_run(&suite, &run, trials)
    };
    let coverage = of(&["PPPPnm", "PPPPnn"]);
    assert_eq!(
        gaps(&coverage, GapKind::StageNeverDecided),
        [
            json!({"stage": "response", "notApplicableTrials": 2, "notMeasuredTrials": 0}),
            json!({"stage": "userValue", "notApplicableTrials": 1, "notMeasuredTrials": 1}),
        ]
    );
    assert_eq!(told(&coverage, GapKind::ArgumentNeverAsserted), "noListing");
    assert_eq!(told(&of(&[]), GapKind::StageNeverDecided), "noTrials");
    // A chain that does not validate tells nothing.
    let coverage = of(&["PPPP"]);
    assert_eq!(told(&coverage, GapKind::StageNeverDecided), "noTrials");
    assert_eq!(coverage.run.map(|run| run.chains), Some(0));
}

#[test]
fn a_pruned_trace_leaves_the_error_path_undecided() {
    let suite = suite(json!([case("a", json!([]), json!([]))]));
    let run = run(
        &["a"],
        json!([listed_tool("get", &[]), listed_tool("idle", &[])]),
    );
    let pruned = TrialEvidence::of(&trial("PPPPPP", &["get"], true), None);
    let coverage = of_run(&suite, &run, vec![pruned]);
    assert_eq!(
        told(&coverage, GapKind::ErrorPathNeverExercised),
        "0/2 -1 ?1"
    );
    assert_eq!(
        gaps(&coverage, GapKind::ErrorPathNeverExercised),
        [json!({"server": "shop", "toolName": "idle", "calledInTrials": 0})]
    );
}

#[test]
fn what_else_may_fail_a_case_leaves_an_empty_answer_undecided() {
    let suite = suite(json!([case("a", json!([]), json!([]))]));
    let coverage = derive_coverage(&CoverageInput {
        suite: &suite,
        run: None,
        external_check: &|_| true,
    });
    assert_eq!(told(&coverage, GapKind::EmptyAnswerPasses), "0/1 -0 ?1");
}
