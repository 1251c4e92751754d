//! The loop of an agent: find a suite, check it, run it, read it.

use serde_json::{Value, json};

use super::{Project, session::Session};

fn trusting(project: &Project) -> Session {
    Session::open(project, &["--trust-servers"], &json!({}))
}

/// Runs the suite and waits for its end; gives the run's id.
fn run(session: &mut Session) -> String {
    let started = session.document("run_suite", &json!({"path": "evals/desk.yaml"}));
    assert_eq!(started["configuredTrials"], 6, "{started}");
    let id = started["runId"].as_str().expect("an id").to_owned();
    let waited = session.document("wait_run", &json!({"run": id, "timeoutSeconds": 60}));
    assert_eq!(waited["ended"], true, "{waited}");
    assert_eq!(waited["endedTrials"], 6, "{waited}");
    assert_eq!(
        [
            &waited["passedTrials"],
            &waited["failedTrials"],
            &waited["notGradedTrials"]
        ],
        [&json!(3), &json!(3), &json!(0)]
    );
    id
}

#[test]
fn an_agent_works_the_loop() {
    let project = Project::new();
    let mut session = trusting(&project);
    let suites = session.document("list_suites", &json!({}));
    assert_eq!(suites["suites"][0]["path"], "evals/desk.yaml", "{suites}");
    assert_eq!(suites["suites"][0]["suite"]["trials"], 6);
    let checked = session.document("validate_suite", &json!({"path": "evals/desk.yaml"}));
    assert_eq!(
        [&checked["valid"], &checked["runnable"]],
        [&json!(true), &json!(true)]
    );
    let cases = session.document("list_cases", &json!({"path": "evals/desk.yaml"}));
    assert_eq!(cases["cases"][1]["id"], "refunds", "{cases}");

    let id = run(&mut session);
    // Progress came while the wait was open, and it only grew.
    let progress: Vec<&Value> = session
        .notifications
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"])
        .collect();
    let wait: Vec<f64> = progress
        .iter()
        .filter(|params| params["total"] == 6.0)
        .filter_map(|params| params["progress"].as_f64())
        .collect();
    assert_eq!(wait.last(), Some(&6.0), "{progress:?}");
    assert!(wait.is_sorted_by(|left, right| left < right), "{wait:?}");

    let decided = session.document("get_run", &json!({"run": id}));
    assert_eq!(decided["summary"]["verdict"], "failed", "{decided}");
    assert_eq!(decided["caseVariants"]["total"], 2);
    let page = session.document("list_diagnostics", &json!({"run": id, "limit": 2}));
    let diagnostics = &page["diagnostics"];
    assert_eq!(diagnostics["complete"], false);
    assert_eq!(diagnostics["items"].as_array().map(Vec::len), Some(2));
    let next = json!({"run": id, "limit": 2, "cursor": diagnostics["nextCursor"]});
    let rest = session.document("list_diagnostics", &next);
    assert_eq!(
        rest["diagnostics"]["items"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(rest["diagnostics"]["nextCursor"], Value::Null);
    let whole = session.document("list_diagnostics", &json!({"run": id}));
    assert_eq!(whole["diagnostics"]["complete"], true, "{whole}");

    let item = &whole["diagnostics"]["items"][0];
    let trial = item["iterationId"].clone();
    let chain = session.document("get_trial_chain", &json!({"trial": trial}));
    assert_eq!(chain["chain"]["status"], "verified");
    assert_eq!(
        chain["chain"]["firstFailedStage"],
        item["chain"]["firstFailedStage"]
    );
    assert_eq!(chain["nextAction"], item["nextAction"]);
    let same = json!({"run": id, "case": "refunds", "trialNumber": 1});
    assert_eq!(session.document("get_trial_chain", &same), chain);
    let messages = session.document("get_trace", &json!({"trial": trial}));
    assert_eq!(messages["items"][0]["role"], "user", "{messages}");
    assert_eq!(messages["complete"], true);
    let funnel = session.document("get_stage_analytics", &json!({"run": id}));
    assert_eq!(funnel["analytics"]["includedTrials"], 6, "{funnel}");
    let friction = session.document("get_friction", &json!({"run": id}));
    assert_eq!(
        friction["rows"].as_array().map(Vec::len),
        Some(2),
        "{friction}"
    );
    let covered = session.document("get_coverage", &json!({"run": id}));
    assert_eq!(covered["coverage"]["run"]["trials"], 6, "{covered}");

    let again = run(&mut session);
    let compared = session.document("compare_runs", &json!({"base": id, "compared": again}));
    assert_eq!(
        compared["comparison"]["parity"]["state"], "comparable",
        "{compared}"
    );
    let surface = session.document(
        "diff_server_surface",
        &json!({"base": id, "compared": again}),
    );
    assert_eq!(surface["servers"][0]["tools"], json!([]), "{surface}");
    assert_ne!(surface["servers"][0]["unchangedTools"], 0);
    session.leave();
}

#[test]
fn a_run_is_stopped_and_stored_as_far_as_it_came() {
    let project = Project::new();
    // Standard input is read and never answered: connecting takes its time.
    project.write(
        "evals/silent.yaml",
        "server: sleep 60\nmodel: scripted/none\ncases:\n  - id: asks\n    prompt: Hello?\n    answer: { contains: hello }\n    script: [{ say: hello }]\n",
    );
    let mut session = trusting(&project);
    let started = session.document("run_suite", &json!({"path": "evals/silent.yaml"}));
    let id = started["runId"].clone();
    // A wait that is called off blocks nothing and stops nothing.
    session.call_off("wait_run", &json!({"run": id, "timeoutSeconds": 600}));
    let waited = session.document("wait_run", &json!({"run": id, "timeoutSeconds": 0}));
    assert_eq!(
        [&waited["ended"], &waited["activity"]],
        [&json!(false), &json!("running")]
    );
    let stopped = session.document("stop_run", &json!({"run": id}));
    assert_eq!(stopped["stopping"], true);
    let ended = session.document("wait_run", &json!({"run": "last", "timeoutSeconds": 60}));
    assert_eq!(
        [&ended["ended"], &ended["runId"]],
        [&json!(true), &id],
        "{ended}"
    );
    assert_eq!(
        session.document("stop_run", &json!({"run": id}))["stopping"],
        false
    );
    session.leave();
}

#[test]
fn a_run_of_another_process_is_waited_for_too() {
    let project = Project::new();
    project.run();
    let mut session = trusting(&project);
    let waited = session.document("wait_run", &json!({"run": "last"}));
    assert_eq!(
        [&waited["ended"], &waited["endedTrials"]],
        [&json!(true), &json!(6)]
    );
    assert_eq!(waited.get("passedTrials"), None, "it is not known here");
    assert_eq!(
        session.document("stop_run", &json!({"run": "last"}))["stopping"],
        false
    );
}

#[test]
fn what_cannot_be_run_is_said_with_what_to_do() {
    let project = Project::new();
    project.write("evals/broken.yaml", "server: 7\ncases: 3\n");
    let unset = super::SUITE.replace("[demo-server]", r#"["${SURELY_UNSET}"]"#);
    project.write("evals/unset.yaml", &unset);
    let mut session = trusting(&project);
    let checked = session.document("validate_suite", &json!({"path": "evals/broken.yaml"}));
    assert_eq!(checked["valid"], false);
    assert!(checked["findings"][0]["line"].is_u64(), "{checked}");
    let blocked = session.document("validate_suite", &json!({"path": "evals/unset.yaml"}));
    assert_eq!(
        [&blocked["valid"], &blocked["runnable"]],
        [&json!(true), &json!(false)],
        "{blocked}"
    );
    assert!(
        blocked["blocked"]
            .as_str()
            .is_some_and(|text| text.contains("SURELY_UNSET"))
    );
    for (arguments, says) in [
        (json!({"path": "evals/broken.yaml"}), "not a valid suite"),
        (json!({"path": "evals/unset.yaml"}), "SURELY_UNSET"),
        (
            json!({"path": "evals/desk.yaml", "cases": ["nope"]}),
            "nope",
        ),
        (
            json!({"path": "evals/desk.yaml", "iterations": 0}),
            "1 to 100",
        ),
        (
            json!({"path": "evals/desk.yaml", "model": "x"}),
            "unknown field `model`",
        ),
    ] {
        let said = session.failure("run_suite", &arguments);
        assert!(said.contains(says), "{arguments}: {said}");
    }
    assert!(
        session
            .failure("wait_run", &json!({"run": "0199"}))
            .contains("no store")
    );
}

#[test]
fn a_new_release_of_a_server_shows_in_its_tools() {
    let project = Project::new();
    for release in ["1", "2"] {
        let server = format!(
            "{} demo-server --release {release}",
            env!("CARGO_BIN_EXE_strandline")
        );
        let run = ["run", "evals/desk.yaml", "--quiet", "--command", &server];
        project.strandline(&run).code(1);
    }
    let mut session = Session::open(&project, &[], &json!({}));
    let runs = session.document("list_runs", &json!({}));
    let two = json!({"base": runs["runs"][1]["runId"], "compared": runs["runs"][0]["runId"]});
    let result = session.call("diff_server_surface", &two);
    let document = &result["structuredContent"];
    let tools = document["servers"][0]["tools"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert!(!tools.is_empty(), "{result}");
    assert_eq!(document["tools"]["total"], json!(tools.len()));
    for tool in &tools {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            text.contains(tool["name"].as_str().expect("a name")),
            "{text}"
        );
        let places = tool["values"].as_array().into_iter().flatten();
        let known = [
            "/description",
            "/title",
            "/inputSchema",
            "/outputSchema",
            "/annotations",
        ];
        for place in places {
            let pointer = place["pointer"].as_str().expect("a place");
            assert!(
                known.iter().any(|part| pointer.starts_with(part)),
                "{place}"
            );
        }
    }
    let mut one = two.clone();
    one["limit"] = json!(1);
    let page = session.document("diff_server_surface", &one);
    assert_eq!(
        page["servers"][0]["tools"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(page["tools"]["nextCursor"].is_string(), tools.len() > 1);
}

#[test]
fn when_the_client_leaves_its_runs_are_stopped_and_stored() {
    let project = Project::new();
    let slow = super::SUITE.replace("iterations: 3", "iterations: 100");
    project.write("evals/slow.yaml", &slow);
    let mut session = trusting(&project);
    let started = session.document("run_suite", &json!({"path": "evals/slow.yaml"}));
    let id = started["runId"].as_str().expect("an id").to_owned();
    loop {
        let far = json!({"run": id, "timeoutSeconds": 0});
        let now = session.document("wait_run", &far);
        assert_eq!(now["ended"], false, "too fast to be left: {now}");
        if now["endedTrials"] != 0 {
            break;
        }
    }
    session.leave();
    let mut later = trusting(&project);
    let left = later.document("wait_run", &json!({"run": id}));
    assert_eq!(
        [&left["ended"], &left["activity"]],
        [&json!(true), &json!("ended")],
        "{left}"
    );
    let decided = later.document("get_run", &json!({"run": id}));
    assert_ne!(decided["summary"]["verdict"], "failed", "{decided}");
    let page = later.document("list_diagnostics", &json!({"run": id, "limit": 1}));
    assert!(page["diagnostics"]["items"].is_array(), "{page}");
}
