//! What is stored, as tools, resources and prompts give it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Project, session::Session};
use crate::stored::Stored;

/// Opens a session over the store of a few runs.
fn over(stored: &Stored, project: &Project) -> Session {
    let path = stored.path();
    let store = path.to_str().expect("a path in UTF-8");
    Session::open(project, &["--store", store], &json!({}))
}

#[test]
fn three_absences_of_stage_analytics_are_three_answers() {
    let (stored, project) = (Stored::new(), Project::new());
    stored.damage_funnel();
    let mut session = over(&stored, &project);
    for (run, absence, says) in [
        (
            "019ad2b4-0000-7000-8000-000000000001",
            "notRecorded",
            "unmeasured, not zero",
        ),
        (
            "019ad2b4-0000-7000-8000-000000000002",
            "withheld",
            "no part of it is shown",
        ),
        ("019ad2b5", "notYet", "has not ended"),
    ] {
        let result = session.call("get_stage_analytics", &json!({"run": run}));
        let document = &result["structuredContent"];
        assert_eq!(document["absence"], absence, "{result}");
        assert_eq!(document.get("analytics"), None);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn runs_are_listed_page_by_page() {
    let (stored, project) = (Stored::new(), Project::new());
    let mut session = over(&stored, &project);
    let first = session.document("list_runs", &json!({"limit": 2}));
    assert_eq!(first["complete"], false);
    let rest = session.document(
        "list_runs",
        &json!({"limit": 2, "cursor": first["nextCursor"]}),
    );
    let ids: Vec<&Value> = [&first, &rest]
        .iter()
        .flat_map(|page| page["runs"].as_array().into_iter().flatten())
        .map(|run| &run["runId"])
        .collect();
    assert_eq!(ids.len(), 3);
    let killed = session.document("list_runs", &json!({}))["runs"][0].clone();
    assert_eq!(killed["activity"], "killed", "{killed}");
    let waited = session.document("wait_run", &json!({"run": "019ad2b5"}));
    assert_eq!(
        [&waited["ended"], &waited["activity"]],
        [&json!(false), &json!("killed")]
    );
    for arguments in [
        json!({"cursor": "nonsense"}),
        json!({"limit": "many"}),
        json!({"statuss": 1}),
    ] {
        session.failure("list_runs", &arguments);
    }
}

#[test]
fn what_is_not_there_is_said_with_what_to_do() {
    let (stored, project) = (Stored::new(), Project::new());
    let mut session = over(&stored, &project);
    let run = "019ad2b4-0000-7000-8000-000000000002";
    for (tool, arguments, says) in [
        ("get_run", json!({"run": "ffff"}), "`list_runs`"),
        ("get_run", json!({"run": "019ad2b4"}), "more than one run"),
        ("get_trial_chain", json!({}), "no trial is named"),
        (
            "get_trial_chain",
            json!({"run": run, "case": "nope"}),
            "its cases: ",
        ),
        ("get_trace", json!({"trial": "ffff"}), "`list_diagnostics`"),
        (
            "compare_runs",
            json!({"base": run, "compared": run}),
            "the same run",
        ),
        (
            "compare_runs",
            json!({"base": run, "compared": "last", "gates": ["x"]}),
            "no gate",
        ),
        (
            "diff_server_surface",
            json!({"base": run, "compared": "last", "server": "x"}),
            "neither run",
        ),
        ("get_coverage", json!({}), "exactly one"),
        ("get_friction", json!({}), "neither a run nor a trial"),
        ("explain_term", json!({"term": "notReachd"}), "notReached"),
        ("stop_run", json!({"run": "ffff"}), "no run"),
        (
            "list_diagnostics",
            json!({"run": run, "cursor": "x"}),
            "cursor",
        ),
    ] {
        let said = session.failure(tool, &arguments);
        assert!(said.contains(says), "{tool} {arguments}: {said}");
    }
    let unknown = session.request("tools/call", &json!({"name": "drop_store"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn a_trace_comes_in_slices_that_lose_nothing() {
    let project = Project::new();
    project.run();
    let mut session = Session::open(&project, &[], &json!({}));
    let of = json!({"run": "last", "case": "looks-up", "trialNumber": 1});
    let slice = |part: &str, more: Value| {
        let mut arguments = of.clone();
        arguments["part"] = part.into();
        for (key, value) in more.as_object().into_iter().flatten() {
            arguments[key] = value.clone();
        }
        arguments
    };
    for part in ["messages", "spans", "frames", "offeredTools", "notes"] {
        let whole = session.document(
            "get_trace",
            &slice(part, json!({"limit": 200, "maxBytes": 98304})),
        );
        let mut items = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let mut arguments = slice(part, json!({"limit": 1}));
            if cursor.is_string() {
                arguments["cursor"] = cursor;
            }
            let page = session.document("get_trace", &arguments);
            items.extend(page["items"].as_array().cloned().unwrap_or_default());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(Value::from(items), whole["items"], "{part}");
        assert_eq!(
            whole["items"].as_array().map(|items| items.len() as u64),
            whole["total"].as_u64()
        );
    }
    let small = session.document("get_trace", &slice("frames", json!({"maxBytes": 1024})));
    assert!(small["items"].to_string().len() < 1200, "{small}");
    assert_eq!(small["complete"], false);
    assert!(small["nextCursor"].is_string());
}

#[test]
fn every_tool_says_what_it_takes_gives_and_does() {
    let project = Project::new();
    let mut session = Session::open(&project, &[], &json!({}));
    let listed = session.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let effects: BTreeMap<String, Vec<bool>> = tools
        .iter()
        .map(|tool| {
            let hints = [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ]
            .map(|hint| {
                tool["annotations"][hint]
                    .as_bool()
                    .expect("every hint is said")
            });
            let name = tool["name"].as_str().expect("a name");
            assert!(
                tool["description"]
                    .as_str()
                    .is_some_and(|text| text.len() > 80),
                "{name}"
            );
            assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
            (name.to_owned(), hints.to_vec())
        })
        .collect();
    let reading = vec![true, false, true, false];
    let names: Vec<&str> = effects.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "compare_runs",
            "diff_server_surface",
            "explain_term",
            "get_coverage",
            "get_friction",
            "get_run",
            "get_stage_analytics",
            "get_trace",
            "get_trial_chain",
            "list_cases",
            "list_diagnostics",
            "list_runs",
            "list_suites",
            "run_suite",
            "stop_run",
            "validate_suite",
            "wait_run",
        ]
    );
    for (name, hints) in &effects {
        match name.as_str() {
            "run_suite" => assert_eq!(*hints, [false, true, false, true]),
            "stop_run" => assert_eq!(*hints, [false, false, true, false]),
            _ => assert_eq!(*hints, reading, "{name}"),
        }
    }
    // A client reads the whole list before it does anything.
    assert!(
        listed.to_string().len() < 100_000,
        "{}",
        listed.to_string().len()
    );
}

#[test]
fn resources_prompts_and_completions_answer() {
    let project = Project::new();
    project.run();
    let mut session = Session::open(&project, &[], &json!({}));
    let listed = session.request("resources/list", &json!({}));
    for resource in listed["result"]["resources"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let read = session.request("resources/read", &json!({"uri": resource["uri"]}));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["mimeType"], resource["mimeType"]);
        assert!(
            contents["text"]
                .as_str()
                .is_some_and(|text| text.len() > 100),
            "{resource}"
        );
    }
    let mut read = |uri: &str| session.request("resources/read", &json!({ "uri": uri }));
    let term = read("strandline://glossary/not%20reached");
    assert!(
        term["result"]["contents"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("notReached"))
    );
    let decision = read("strandline://run/last/decision");
    assert!(
        decision["result"]["contents"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("\"failed\""))
    );
    for missing in [
        "strandline://run/ffff/decision",
        "strandline://schema/none",
        "strandline://glossary/zzzzzzzz",
        "strandline://../../etc/passwd",
        "file:///etc/passwd",
        "strandline://run/..%2F..%2Fx/decision",
    ] {
        let answer = read(missing);
        assert_eq!(answer["error"]["code"], -32002, "{missing}: {answer}");
    }
    let templates = session.request("resources/templates/list", &json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );

    let prompt = session.request(
        "prompts/get",
        &json!({"name": "triage_run", "arguments": {"run": "last"}}),
    );
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap_or_default();
    assert!(
        text.contains("k of n") && text.contains("run: \"last\""),
        "{text}"
    );
    let completed = session.request(
        "completion/complete",
        &json!({"ref": {"type": "ref/resource", "uri": "strandline://glossary/{term}"},
            "argument": {"name": "term", "value": "notRe"}}),
    );
    let values = &completed["result"]["completion"]["values"];
    assert!(
        values
            .as_array()
            .is_some_and(|values| values.contains(&json!("notReached"))),
        "{completed}"
    );
}
