//! `strandline judge` and judges during runs, as a user meets them.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A private directory with a suite against the demo server and a judge script.
struct Home(TempDir);

impl Home {
    fn new(judge: Value, answers: &Value) -> Self {
        let home = Self(TempDir::new().expect("a temporary directory"));
        let case = |id: &str, more: Value| {
            let mut case = json!({
                "id": id, "title": id, "expectedOutput": "It has shipped.",
                "steps": [{"id": "ask", "kind": "prompt", "prompt": "Where is order 1001?"}],
                "script": [{"say": "It has shipped."}],
            });
            for (key, value) in more.as_object().expect("an object") {
                case[key] = value.clone();
            }
            case
        };
        let suite = json!({
            "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
            "suite": {"id": "s_test", "name": "Test"},
            "target": {"servers": [{"name": "orders"}]},
            "mcpServers": {"orders": {"command": "${STRANDLINE_EXE}", "args": ["demo-server"]}},
            "defaults": {"model": "scripted/test", "iterations": 1, "passThreshold": 1,
                "validity": {}, "judge": judge},
            "cases": [case("good", json!({})), case("bad", json!({}))],
        });
        fs::write(home.0.path().join("suite.json"), suite.to_string()).expect("writes");
        fs::write(home.0.path().join("judge.json"), answers.to_string()).expect("writes");
        home
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_strandline"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .env("COLUMNS", "100")
            .output()
            .expect("the binary starts")
    }

    fn trial(&self, case: &str) -> Value {
        let shown = self.run(&["show", "last", "--case", case, "--json"]);
        serde_json::from_slice(&shown.stdout).expect("JSON")
    }

    fn reason(&self, case: &str) -> Value {
        self.trial(case)["trial"]["chain"]["stageResults"][5]["reason"].clone()
    }
}

fn answers() -> Value {
    json!({
        "goalCompletion": [{"score": 0.9, "reason": "The state is named."}],
        "cases": {"bad": {"goalCompletion": [{"score": 0.1, "reason": "Nothing supports it."}]}},
    })
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_due_is_said_and_asked_later() {
    let home = Home::new(json!({}), &answers());
    let ran = home.run(&["run", "suite.json"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(err(&ran).contains("stays due"), "{}", err(&ran));
    assert!(out(&ran).contains("due in 2 trials"), "{}", out(&ran));
    assert_eq!(home.reason("good"), "judgePending");

    // Nobody can be asked, and that is no decision.
    let nobody = home.run(&["judge", "last"]);
    assert_eq!(nobody.status.code(), Some(2), "{}", err(&nobody));
    assert!(
        err(&nobody).contains("JUDGE_UNSUPPORTED"),
        "{}",
        err(&nobody)
    );

    let judged = home.run(&["judge", "last", "--judge-script", "judge.json"]);
    assert_eq!(judged.status.code(), Some(0), "{}", err(&judged));
    assert!(err(&judged).contains("judged 2 trials"), "{}", err(&judged));
    assert_eq!(home.reason("good"), "judgeObserved");
    assert_eq!(home.reason("bad"), "judgeFailed");
    let report = out(&judged);
    assert!(report.contains("advisory, decides no trial"), "{report}");
    assert!(
        report.contains("1 pass, 1 fail of 2 judged trials"),
        "{report}"
    );

    // Nothing is left; by force everything is asked again and kept beside.
    let again = home.run(&["judge", "last", "--judge-script", "judge.json"]);
    assert!(err(&again).contains("judged 0 trials"), "{}", err(&again));
    assert!(err(&again).contains("--force"), "{}", err(&again));
    let forced = home.run(&[
        "judge",
        "last",
        "--judge-script",
        "judge.json",
        "--force",
        "--case",
        "bad",
    ]);
    assert!(err(&forced).contains("judged 1 trial"), "{}", err(&forced));
    let passes = home.trial("bad")["judgePasses"].clone();
    assert_eq!(passes[0]["superseded"], true, "{passes:#}");
    assert_eq!(passes[1]["superseded"], false);
    assert_eq!(passes[1]["pass"]["calls"].as_array().map(Vec::len), Some(3));
    let shown = out(&home.run(&["show", "last", "--case", "bad"]));
    assert!(
        shown.contains("goal completion, advisory: fail, score 0.1"),
        "{shown}"
    );
    assert!(shown.contains("1 earlier pass kept, superseded"), "{shown}");
}

#[test]
fn a_run_asks_its_judge_and_a_required_one_decides() {
    let home = Home::new(json!({"role": "required"}), &answers());
    let refused = home.run(&["run", "suite.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        err(&refused).contains("JUDGE_UNSUPPORTED"),
        "{}",
        err(&refused)
    );
    assert!(err(&refused).contains("--no-judge"), "{}", err(&refused));

    let ran = home.run(&[
        "run",
        "suite.json",
        "--judge-script",
        "judge.json",
        "--judge-samples",
        "1",
    ]);
    assert_eq!(ran.status.code(), Some(1), "{}{}", out(&ran), err(&ran));
    assert!(out(&ran).contains("(required)"), "{}", out(&ran));
    assert_eq!(home.trial("good")["trial"]["result"], "passed");
    assert_eq!(home.trial("bad")["trial"]["result"], "failed");

    // Without its judge a trial is not graded; asked later, it decides.
    let without = home.run(&["run", "suite.json", "--no-judge", "--quiet"]);
    assert_eq!(without.status.code(), Some(5), "{}", err(&without));
    assert_eq!(home.trial("good")["trial"]["evaluatorError"], true);
    let judged = home.run(&["judge", "last", "--judge-script", "judge.json", "--quiet"]);
    assert_eq!(judged.status.code(), Some(1), "{}", err(&judged));
    let summary = home.run(&["show", "last", "--json"]);
    let summary: Value = serde_json::from_slice(&summary.stdout).expect("JSON");
    assert_eq!(summary["verdict"], "failed");
}

#[test]
fn a_judge_script_that_cannot_be_used_is_refused_with_its_reason() {
    let home = Home::new(json!({}), &json!({"goal": [1]}));
    let refused = home.run(&["run", "suite.json", "--judge-script", "judge.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        err(&refused).contains("`goal` is no judgement"),
        "{}",
        err(&refused)
    );
    let missing = home.run(&["run", "suite.json", "--judge-script", "nothing.json"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(err(&missing).contains("nothing.json"), "{}", err(&missing));
}
