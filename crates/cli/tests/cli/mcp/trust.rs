//! Whose servers are started: asked, refused, remembered.

use std::fs;

use serde_json::{Value, json};

use super::{Project, SUITE, session::Session};

/// Capabilities of a client that can ask its user.
fn asking() -> Value {
    json!({"elicitation": {}})
}

fn suite() -> Value {
    json!({"path": "evals/desk.yaml"})
}

#[test]
fn without_a_way_to_ask_an_untrusted_server_is_refused_by_its_command() {
    let project = Project::new();
    let mut session = Session::open(&project, &[], &json!({}));
    let checked = session.document("validate_suite", &suite());
    assert_eq!(checked["servers"][0]["trusted"], false, "{checked}");
    let refused = session.failure("run_suite", &suite());
    for part in ["demo-server", "--trust-servers", "orders"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert!(session.document("list_runs", &json!({}))["runs"] == json!([]));
}

#[test]
fn the_user_is_asked_once_a_session_and_may_decline() {
    let project = Project::new();
    let mut session = Session::open(&project, &[], &asking());
    session.answer = json!({"action": "decline"});
    let declined = session.failure("run_suite", &suite());
    assert!(declined.contains("did not allow"), "{declined}");
    assert_eq!(session.questions.len(), 1);
    let question = &session.questions[0]["params"];
    let message = question["message"].as_str().unwrap_or_default();
    assert!(message.contains("demo-server"), "{question}");
    assert_eq!(
        question["requestedSchema"]["properties"]["remember"]["type"],
        "boolean"
    );

    session.answer = json!({"action": "accept", "content": {"remember": false}});
    let started = session.document("run_suite", &suite());
    assert_eq!(session.questions.len(), 2, "a refusal is not remembered");
    session.document("run_suite", &suite());
    assert_eq!(session.questions.len(), 2, "trust lasts for the session");
    session.document("wait_run", &json!({"run": started["runId"]}));
    session.leave();
    let mut later = Session::open(&project, &[], &asking());
    later.failure("run_suite", &suite());
    assert_eq!(later.questions.len(), 1, "and no longer");
}

#[test]
fn trust_is_remembered_outside_the_project_when_the_user_says_so() {
    let project = Project::new();
    let mut session = Session::open(&project, &[], &asking());
    session.answer = json!({"action": "accept", "content": {"remember": true}});
    session.document("run_suite", &suite());
    session.leave();
    let file = project
        .home()
        .join(".local/state/strandline/trusted-servers.json");
    let written = fs::read_to_string(&file).expect("the user's own file");
    assert!(written.contains("demo-server"), "{written}");

    // The same command needs no question, whoever asks; another one does.
    let mut later = Session::open(&project, &[], &json!({}));
    later.document("run_suite", &suite());
    let other = fs::read_to_string(project.root().join("evals/desk.yaml")).expect("the suite");
    project.write(
        "evals/other.yaml",
        &other.replace("[demo-server]", "[demo-server, --help]"),
    );
    let refused = later.failure("run_suite", &json!({"path": "evals/other.yaml"}));
    assert!(refused.contains("--help"), "{refused}");
    later.leave();
}

#[test]
fn a_client_without_initialization_is_asked_by_its_answer() {
    let project = Project::new();
    let mut session = Session::open_stateless(&project, &asking());
    let asked = session.call("run_suite", &suite());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["trust"]["params"]["message"];
    assert!(
        question
            .as_str()
            .is_some_and(|text| text.contains("demo-server")),
        "{asked}"
    );
    let again = |state: &Value, action: &str| {
        json!({
            "name": "run_suite", "arguments": suite(),
            "inputResponses": {"trust": {"action": action}}, "requestState": state,
        })
    };
    // An answer to another question is none.
    let foreign = session.request("tools/call", &again(&json!("other"), "accept"));
    assert_eq!(
        foreign["result"]["resultType"], "input_required",
        "{foreign}"
    );
    let declined = session.request("tools/call", &again(&asked["requestState"], "decline"));
    assert_eq!(declined["result"]["isError"], true, "{declined}");
    let started = session.request("tools/call", &again(&asked["requestState"], "accept"));
    let id = &started["result"]["structuredContent"]["runId"];
    assert!(id.is_string(), "{started}");
    session.document("wait_run", &json!({"run": id}));
    session.leave();
}

#[test]
fn secrets_of_a_suite_are_neither_asked_about_nor_told() {
    let project = Project::new();
    // `HOME` stands for a secret: the server of the suite takes its value.
    let secretive = SUITE
        .replace("${STRANDLINE_EXE:-strandline}", "surely-not-here")
        .replace(
            "args: [demo-server]",
            r#"args: ["--key=${HOME}"], env: { API_KEY: "${HOME}" }"#,
        );
    project.write("evals/secret.yaml", &secretive);
    let secret = format!("--key={}", project.home().display());
    let mut session = Session::open(&project, &[], &asking());
    let suite = json!({"path": "evals/secret.yaml"});
    session.failure("run_suite", &suite);
    let asked = session.questions[0].to_string();
    assert!(
        asked.contains("${HOME}") && !asked.contains(&secret),
        "{asked}"
    );
    session.answer = json!({"action": "accept", "content": {"remember": true}});
    let started = session.document("run_suite", &suite);
    let ended = session.document(
        "wait_run",
        &json!({"run": started["runId"], "timeoutSeconds": 60}),
    );
    assert!(!ended.to_string().contains(&secret), "{ended}");
    session.leave();
    let file = project
        .home()
        .join(".local/state/strandline/trusted-servers.json");
    let written = fs::read_to_string(file).expect("the user's own file");
    assert!(!written.contains(&secret), "{written}");
}
