//! Starting, watching and stopping runs.

use std::{fs, path::Path, time::Duration};

use strandline_contract::words::{RunStatus, Verdict};
use strandline_engine::run::RunPlan;
use strandline_service::{
    launch::{Launcher, Phase, RunProgress},
    planning,
    request::RunRequest,
    roll_ups, suite_file,
};
use strandline_store::Store;
use strandline_suite::render::Look;
use strandline_testkit::program;

/// Plans a suite of one case without a model on the server `program mode`.
fn plan(directory: &Path, server: &str, iterations: u32) -> RunPlan {
    let suite = format!(
        r#"
schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: {{ id: s_echo, name: Echo }}
target: {{ servers: [{{ name: echo }}] }}
mcpServers: {{ echo: {{ command: {server} }} }}
defaults: {{ model: scripted/none, iterations: {iterations}, passThreshold: 1, validity: {{}} }}
cases:
  - id: repeats
    title: Repeats a text
    steps:
      - {{ id: call, kind: toolCall, serverName: echo, toolName: echo, arguments: {{ text: hello }} }}
    assertions:
      - {{ type: noToolErrors }}
"#
    );
    let path = directory.join("echo.yaml");
    fs::write(&path, suite).expect("writes");
    let file = suite_file::read(&path, Look::PLAIN).unwrap_or_else(|failure| panic!("{failure}"));
    planning::plan(&file, &RunRequest::default(), directory)
        .unwrap_or_else(|failure| panic!("{failure}"))
        .plan
}

/// Returns a directory with an empty store, and a launcher on it.
async fn launcher() -> (tempfile::TempDir, Store, Launcher) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(&directory.path().join("store.db"))
        .await
        .expect("opens");
    let launcher = Launcher::new(store.clone());
    (directory, store, launcher)
}

async fn until(
    launcher: &Launcher,
    run: &str,
    reached: impl FnMut(&std::sync::Arc<RunProgress>) -> bool,
) -> RunProgress {
    let mut progress = launcher.watch(run).expect("was started here");
    let seen = tokio::time::timeout(Duration::from_secs(60), progress.wait_for(reached));
    let seen = seen
        .await
        .expect("in time")
        .expect("it is told how it ends");
    RunProgress::clone(&seen)
}

#[tokio::test]
async fn a_run_goes_on_by_itself_and_is_stored_whole() {
    let (directory, store, launcher) = launcher().await;
    let echo = program("strandline-echo-mcp");
    let run = launcher
        .start(plan(directory.path(), &echo.to_string_lossy(), 3))
        .expect("starts");
    let last = until(&launcher, &run, |now| now.phase == Phase::Ended).await;
    assert_eq!((last.configured, last.ended, last.passed), (3, 3, 3));
    assert!(last.running.is_empty());
    let end = last.end.expect("it ended");
    assert_eq!(end.verdict, Some(Verdict::Passed));
    assert_eq!(end.store_problems, Vec::<String>::new());

    let stored = store.run(&run).await.expect("is stored");
    assert_eq!(stored.record.status, RunStatus::Completed);
    let overview = store.overview(&run).await.expect("reads");
    let overview = overview.expect("is stored with the end");
    assert_eq!(overview.cases[0].passed, 3);
    let counted = roll_ups::count_stored(&store, &stored.record, None).await;
    assert_eq!(counted.expect("counts").overview, overview);
    assert!(!launcher.stop(&run), "nothing is left to stop");
}

#[tokio::test]
async fn a_stopped_run_is_stored_as_far_as_it_came() {
    let (directory, store, launcher) = launcher().await;
    let echo = program("strandline-echo-mcp");
    let run = launcher
        .start(plan(directory.path(), &echo.to_string_lossy(), 100))
        .expect("starts");
    let some = until(&launcher, &run, |now| now.ended > 0).await;
    assert_ne!(some.phase, Phase::Starting);
    launcher.stop_all().await;
    let last = launcher.progress(&run).expect("is remembered");
    assert_eq!(last.phase, Phase::Ended);
    let stored = store.run(&run).await.expect("is stored");
    assert!(stored.record.ended_at.is_some());
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_said() {
    let (directory, _store, launcher) = launcher().await;
    let run = launcher
        .start(plan(directory.path(), "/surely/not/here", 1))
        .expect("starts");
    let last = until(&launcher, &run, |now| now.phase == Phase::Ended).await;
    let end = last.end.expect("it ended");
    assert_eq!(end.verdict, Some(Verdict::Inconclusive));
    let failure = end.setup_failure.expect("is said");
    assert!(failure.starts_with("SERVER_CONNECT_FAILED"), "{failure}");
}
