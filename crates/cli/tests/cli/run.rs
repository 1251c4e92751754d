//! `strandline run` as a user runs it: exit codes, store, interruption.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A private directory with suites in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a suite against the demo server.
    fn suite(&self, name: &str, cases: Value, more: Value) -> &Self {
        let mut suite = json!({
            "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
            "suite": {"id": "s_test", "name": "Test"},
            "target": {"servers": [{"name": "orders"}]},
            "mcpServers": {"orders": {"command": "${STRANDLINE_EXE}", "args": ["demo-server"]}},
            "defaults": {"model": "scripted/test", "iterations": 1, "passThreshold": 1, "validity": {}},
            "cases": cases,
        });
        for (key, value) in more.as_object().expect("an object") {
            suite[key] = value.clone();
        }
        fs::write(self.path(name), suite.to_string()).expect("the suite is written");
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strandline"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .env("COLUMNS", "100");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }
}

fn says(script: Value) -> Value {
    json!({
        "id": "c", "title": "Says yes", "script": script,
        "steps": [{"id": "ask", "kind": "prompt", "prompt": "Say yes."}],
        "assertions": [{"type": "responseContains", "needle": "yes"}],
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_is_stored_with_its_funnel_and_its_friction_signals() {
    let home = Home::new();
    let asks_twice = json!([
        {"call": [{"tool": "search_orders", "arguments": {"query": "late"}}]},
        {"call": [{"tool": "search_orders", "arguments": {"query": "late"}}]},
        {"say": "yes"},
    ]);
    let mut case = says(asks_twice);
    case["intent"] = json!("late orders");
    home.suite("twice.yaml", json!([case]), json!({}));
    let run = home.run(&["run", "twice.yaml", "--iterations", "2"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let report = text(&run.stdout);
    assert!(report.contains("friction"), "{report}");

    let shown = home.run(&["funnel", "last", "--json"]);
    let funnel: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let read = strandline_derive::analytics::validate_stage_analytics(&funnel);
    let read = read.expect("a valid funnel");
    assert_eq!(
        (read.included_trials, read.total_trials),
        (2, 2),
        "{funnel}"
    );
    assert_eq!(funnel["materializationState"], "final");
    assert_eq!(funnel["slices"][1]["slice"]["intent"], "late orders");
    assert_eq!(funnel["slices"][2]["slice"]["provider"], "scripted");
    assert_eq!(funnel["setup"][0]["uniqueAttempts"], 1, "{funnel}");
    let same = home.run(&["funnel", "last", "--by", "intent"]);
    assert!(text(&same.stdout).contains("intent `late orders`: 2 trials counted"));

    let trial = home.run(&["show", "last", "--case", "c", "--trial", "1"]);
    let told = text(&trial.stdout);
    assert!(
        told.contains("a call was repeated with identical arguments"),
        "{told}"
    );
    assert!(
        told.contains("often just recovery from a passing error"),
        "{told}"
    );
}

#[test]
fn a_funnel_is_provisional_until_no_judge_owes_an_answer() {
    let home = Home::new();
    let mut case = says(json!([{"say": "yes"}]));
    case["assertions"] = json!([{"type": "toolNeverCalled", "toolName": "refund_order"}]);
    case["expectedOutput"] = json!("yes");
    let defaults = json!({"model": "scripted/test", "iterations": 1, "passThreshold": 1, "validity": {}, "judge": {}});
    home.suite("judged.yaml", json!([case]), json!({"defaults": defaults}));
    let answers = json!({"goalCompletion": [{"score": 0.9, "reason": "it says yes"}]});
    fs::write(home.path("judge.json"), answers.to_string()).expect("the answers are written");
    let funnel = || -> Value {
        let shown = home.run(&["funnel", "last", "--json"]);
        serde_json::from_slice(&shown.stdout).expect("JSON")
    };

    home.run(&["run", "judged.yaml", "--no-judge"]);
    let before = funnel();
    assert_eq!(before["materializationState"], "provisional");
    let told = text(&home.run(&["funnel", "last"]).stdout);
    assert!(told.contains("provisional"), "{told}");
    assert!(
        told.contains("an LLM judge verdict is due and has not arrived 1"),
        "{told}"
    );

    home.run(&["judge", "last", "--judge-script", "judge.json"]);
    let after = funnel();
    assert_eq!(after["materializationState"], "final", "{after}");
    assert_eq!(after["createdAt"], before["createdAt"], "built in place");
    let passed = |funnel: &Value| funnel["slices"][0]["stages"][5]["passed"].clone();
    assert_eq!((passed(&before), passed(&after)), (json!(0), json!(1)));
    // Judges asked during the run leave nothing owed.
    home.run(&["run", "judged.yaml", "--judge-script", "judge.json"]);
    assert_eq!(funnel()["materializationState"], "final");
}

#[test]
fn every_way_to_end_has_its_exit_code() {
    let home = Home::new();
    home.suite("passes.yaml", json!([says(json!([{"say": "yes"}]))]), json!({}))
        .suite("fails.yaml", json!([says(json!([{"say": "no"}]))]), json!({}))
        .suite("busy.yaml", json!([says(json!([{"fail": {"status": 529}}]))]), json!({}))
        .suite(
            "down.yaml",
            json!([says(json!([{"say": "yes"}]))]),
            json!({"mcpServers": {"orders": {"command": "no-such-program-anywhere"}}}),
        )
        .suite(
            "keyless.yaml",
            json!([says(json!([{"say": "yes"}]))]),
            json!({"defaults": {"model": "openai/gpt-test", "iterations": 1, "passThreshold": 1, "validity": {}}}),
        );
    let table: [(&[&str], i32, &str); 8] = [
        (&["run", "passes.yaml"], 0, "PASSED"),
        (&["run", "fails.yaml"], 1, "FAILED"),
        (
            &["run", "passes.yaml", "--case", "nobody"],
            2,
            "CASE_SELECTION_INVALID",
        ),
        (&["run", "nowhere.yaml"], 2, "there is no such file"),
        (&["run", "keyless.yaml"], 3, "OPENAI_API_KEY"),
        (&["run", "down.yaml"], 4, "no-such-program-anywhere"),
        (&["run", "busy.yaml"], 5, "INCONCLUSIVE"),
        (
            &["run", "passes.yaml", "busy.yaml", "fails.yaml"],
            1,
            "FAILED",
        ),
    ];
    for (arguments, code, words) in table {
        let output = home.run(arguments);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        assert!(all.contains(words), "{arguments:?}: {all}");
    }
}

#[test]
fn the_example_suite_fails_at_selection_call_response_and_user_value() {
    let home = Home::new();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders.yaml");
    let suite = suite.to_str().expect("the path is UTF-8");
    let output = home.run(&["run", suite, "--json", "summary.json"]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    for stage in ["Selection", "Tool call", "Response", "User value"] {
        assert!(report.contains(&format!("stopped at {stage}")), "{report}");
    }
    assert!(report.contains("scripted"), "{report}");
    let summary: Value = serde_json::from_slice(
        &fs::read(home.path("summary.json")).expect("the summary was written"),
    )
    .expect("the summary is JSON");
    assert_eq!(summary["verdict"], "failed");
    assert_eq!(
        summary["measurementUnit"]
            .as_str()
            .or(summary["counts"]["measurementUnit"].as_str()),
        Some("caseVariant")
    );
    let violations = strandline_derive::decision::validate_decision_summary(&summary);
    assert!(violations.is_ok(), "{violations:?}");
}

#[test]
fn an_interrupted_run_is_stored_and_can_be_finished() {
    let home = Home::new();
    let mut case = says(json!([{"say": "yes", "delayMs": 400}]));
    case["iterations"] = json!(6);
    home.suite("slow.yaml", json!([case]), json!({}));
    let child = home.spawn(&["run", "slow.yaml"]);
    wait_for_trials(&home, 2);
    kill(pid(&child), Signal::SIGINT).expect("the process lives");
    let output = child.wait_with_output().expect("the process ends");
    let report = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(5),
        "{report}{}",
        text(&output.stderr)
    );
    assert!(report.contains("INCONCLUSIVE"), "{report}");
    assert!(
        text(&output.stderr).contains("stopping"),
        "{}",
        text(&output.stderr)
    );

    let finished = home.run(&["run", "--resume", "last"]);
    let report = text(&finished.stdout);
    assert_eq!(
        finished.status.code(),
        Some(0),
        "{report}{}",
        text(&finished.stderr)
    );
    assert!(
        report.contains("6 of 6 configured trials attempted"),
        "{report}"
    );
    let ran = text(&finished.stderr)
        .lines()
        .filter(|line| line.contains("trial"))
        .count();
    assert!(
        (1..6).contains(&ran),
        "only what was missing: {}",
        text(&finished.stderr)
    );

    let again = home.run(&["run", "--resume", "last"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("nothing is missing"));
}

#[test]
fn a_killed_run_keeps_its_finished_trials() {
    let home = Home::new();
    let mut case = says(json!([{"say": "yes", "delayMs": 400}]));
    case["iterations"] = json!(5);
    home.suite("slow.yaml", json!([case]), json!({}));
    let mut child = home.spawn(&["run", "slow.yaml"]);
    wait_for_trials(&home, 2);
    child.kill().expect("the process lives");
    child.wait().expect("the process ends");
    let finished = home.run(&["run", "--resume", "last"]);
    let report = text(&finished.stdout);
    assert_eq!(
        finished.status.code(),
        Some(0),
        "{report}{}",
        text(&finished.stderr)
    );
    assert!(
        report.contains("5 of 5 configured trials attempted"),
        "{report}"
    );
}

#[test]
fn a_changed_suite_cannot_be_resumed() {
    let home = Home::new();
    home.suite(
        "suite.yaml",
        json!([says(json!([{"fail": {"status": 529}}]))]),
        json!({}),
    );
    assert_eq!(home.run(&["run", "suite.yaml"]).status.code(), Some(5));
    home.suite(
        "suite.yaml",
        json!([says(json!([{"say": "yes"}]))]),
        json!({}),
    );
    let output = home.run(&["run", "--resume", "last"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("has changed"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn findings_of_an_invalid_suite_come_all_at_once_with_their_places() {
    let home = Home::new();
    home.suite(
        "bad.yaml",
        json!([says(json!([{"say": "yes"}]))]),
        json!({"defaults": {"model": "scripted/test", "iterations": 0, "passThreshold": 85, "validity": {}}}),
    );
    let output = home.run(&["run", "bad.yaml"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("2 findings"), "{errors}");
    assert!(errors.contains("bad.yaml:1:"), "{errors}");
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id"))
}

/// Waits until so many trials are stored.
fn wait_for_trials(home: &Home, wanted: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let store = home.path(".strandline/strandline.db");
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        let stored = runtime.block_on(async {
            let store = strandline_store::Store::open_read_only(&store).await.ok()?;
            Some(store.run("last").await.ok()?.stored_trials)
        });
        if stored.unwrap_or(0) >= wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{wanted} trials were not stored within 20 s");
}

#[test]
fn reporters_write_files_and_a_stored_run_reports_the_same() {
    let home = Home::new();
    home.suite(
        "fails.yaml",
        json!([says(json!([{"say": "no"}]))]),
        json!({}),
    )
    .suite(
        "passes.yaml",
        json!([says(json!([{"say": "yes"}]))]),
        json!({}),
    );
    let output = home.run(&[
        "run",
        "fails.yaml",
        "--reporter",
        "junit={suite}.xml",
        "--reporter",
        "markdown",
        "--reporter",
        "json=all.json",
    ]);
    assert_eq!(output.status.code(), Some(1));
    // Standard output is the data's; people read standard error.
    assert!(text(&output.stdout).starts_with("### ✖ FAILED"));
    assert!(text(&output.stderr).contains("1 of 1 trial stopped at User value"));
    let junit = fs::read_to_string(home.path("s_test.xml")).expect("the report was written");
    assert!(junit.contains("<failure"), "{junit}");

    let again = home.run(&["report", "last", "--format", "junit"]);
    assert_eq!(text(&again.stdout), junit);
    // What the run heard and what the store keeps make the same report.
    let all = fs::read_to_string(home.path("all.json")).expect("the report was written");
    let again = home.run(&["report", "last", "--format", "json"]);
    assert_eq!(text(&again.stdout), all);
    let unstored = home.run(&["run", "fails.yaml", "--no-store", "--reporter", "json"]);
    let unstored: Value = serde_json::from_str(&text(&unstored.stdout)).expect("JSON");
    assert_eq!(unstored["funnel"]["status"], "recorded");
    assert_eq!(unstored["trials"][0]["friction"]["status"], "verified");
    let output = home.run(&["report", "last", "--format", "github"]);
    assert!(
        text(&output.stdout).starts_with("::error file=fails.yaml,line=1,title=Says yes::"),
        "{}",
        text(&output.stdout)
    );

    let output = home.run(&[
        "run",
        "fails.yaml",
        "passes.yaml",
        "--reporter",
        "junit=one.xml",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`{suite}`"));
    let output = home.run(&[
        "run",
        "passes.yaml",
        "--reporter",
        "junit=no/such/place.xml",
    ]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot write `no/such/place.xml`"));
}

#[test]
fn repeating_until_decided_stops_where_a_case_is_plain_and_is_stored_as_it_was() {
    let home = Home::new();
    let mut good = says(json!([{"say": "yes"}]));
    good["id"] = json!("good");
    let mut bad = says(json!([{"say": "no"}]));
    bad["id"] = json!("bad");
    home.suite(
        "repeats.yaml",
        json!([good, bad]),
        json!({"defaults": {"model": "scripted/test", "iterations": 2, "passThreshold": 0.8, "validity": {}}}),
    );
    let output = home.run(&["run", "repeats.yaml", "--until-decided"]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("12/12"), "{report}");
    assert!(report.contains("2 of 2 case variants decided"), "{report}");
    assert!(report.contains("numbers of trials depend on"), "{report}");

    let shown = home.run(&["show", "last", "--deciding", "--json"]);
    let deciding: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(deciding["usedByRun"], true);
    assert_eq!(deciding["settings"]["maxTrials"], 50);
    let counts: Vec<u64> = deciding["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .map(|case| case["eligibleTrials"].as_u64().expect("a count"))
        .collect();
    assert_eq!(counts, [12, 3]);
    let list = home.run(&["runs", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    assert_eq!(list["runs"][0]["configuredTrials"], 15);
    assert_eq!(list["runs"][0]["storedTrials"], 15);

    let few = home.run(&[
        "run",
        "repeats.yaml",
        "--until-decided",
        "--max-trials",
        "4",
        "--case",
        "good",
    ]);
    let few = text(&few.stdout);
    assert!(
        few.contains("4/4") && few.contains("not decided by repeating yet"),
        "{few}"
    );
    for arguments in [
        ["--alpha", "0.1"].as_slice(),
        &["--until-decided", "--alpha", "5"],
        &["--until-decided", "--max-trials", "101"],
    ] {
        let mut all = vec!["run", "repeats.yaml"];
        all.extend(arguments);
        assert_eq!(home.run(&all).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_killed_run_that_repeats_goes_on_until_decided() {
    let home = Home::new();
    home.suite(
        "slow.yaml",
        json!([says(json!([{"say": "yes", "delayMs": 400}]))]),
        json!({"defaults": {"model": "scripted/test", "iterations": 2, "passThreshold": 0.8, "validity": {}}}),
    );
    let mut child = home.spawn(&["run", "slow.yaml", "--until-decided"]);
    let stored = || {
        let list = home.run(&["runs", "--json"]);
        let list: Value = serde_json::from_slice(&list.stdout).unwrap_or_default();
        list["runs"][0]["storedTrials"].as_u64().unwrap_or(0)
    };
    let began = Instant::now();
    while stored() < 3 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    kill(
        Pid::from_raw(i32::try_from(child.id()).expect("a pid")),
        Signal::SIGKILL,
    )
    .expect("killed");
    child.wait().expect("it ends");
    let resumed = home.run(&["run", "--resume", "last"]);
    let report = text(&resumed.stdout);
    assert_eq!(
        resumed.status.code(),
        Some(0),
        "{report}{}",
        text(&resumed.stderr)
    );
    assert!(report.contains("12/12"), "{report}");
    assert_eq!(stored(), 12);
}

#[test]
fn no_store_outranks_the_environment_and_contradicts_the_option() {
    let home = Home::new();
    home.suite("s.json", json!([says(json!([{"say": "yes"}]))]), json!({}));
    let store = home.path("elsewhere.db");
    let output = home
        .command(&["run", "s.json", "--no-store", "--quiet"])
        .env("STRANDLINE_STORE", &store)
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!store.exists() && !home.path(".strandline").exists());

    let named = store.to_str().expect("a UTF-8 path");
    let output = home.run(&["run", "s.json", "--no-store", "--store", named]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("contradict each other"), "{told}");

    // The option outranks the environment.
    let other = home.path("other.db");
    let output = home
        .command(&["run", "s.json", "--quiet", "--store", named])
        .env("STRANDLINE_STORE", &other)
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(store.exists() && !other.exists());
}
