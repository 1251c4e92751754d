//! What `save_trial` acknowledged survives `kill -9`, and processes share a file.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use strandline_contract::{run::RunStatus, words::TaskResult};
use strandline_store::{Frames, Liveness, RunFilter, Store, StoreError, TrialFilter};

use crate::sample;

/// Names the store for the child process; see [`child_writes_until_killed`].
const CHILD_STORE: &str = "STORE_TEST_CHILD";
const CHILD_TRIALS: u32 = 2_000;

/// Not a test of its own: the process that the others start and kill.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started as a child process by the tests of this module"]
async fn child_writes_until_killed() {
    let Some(path) = std::env::var_os(CHILD_STORE) else {
        return;
    };
    let store = Store::open(Path::new(&path)).await.expect("opens");
    let run = sample::run("child", CHILD_TRIALS);
    store.start_run(&run).await.expect("starts");
    let trace = sample::trace();
    for iteration in 0..CHILD_TRIALS {
        let trial = sample::trial("child", iteration, TaskResult::Passed);
        store.save_trial(&trial, &trace).await.expect("saves");
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nsaved {}", trial.id).expect("the parent listens");
        out.flush().expect("the parent listens");
    }
    store
        .finish_run(&sample::finished(run))
        .await
        .expect("finishes");
}

struct Writing {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Writing {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this test binary"))
            .args(["--exact", "durability::child_writes_until_killed"])
            .args(["--ignored", "--nocapture"])
            .env(CHILD_STORE, path)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("starts the child");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// Waits for the next acknowledged trial.
    fn saved(&mut self) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("saved ").map(str::to_owned))
    }

    /// Kills the child and returns what it acknowledged meanwhile.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("kills");
        self.child.wait().expect("reaps");
        std::iter::from_fn(|| self.saved()).collect()
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_and_the_run_can_be_resumed() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    let mut writing = Writing::start(&path);
    let mut saved: Vec<String> = std::iter::from_fn(|| writing.saved()).take(25).collect();

    let store = Store::open(&path).await.expect("opens beside the child");
    let live = store.run("child").await.expect("is there");
    assert!(
        matches!(live.liveness, Liveness::Live { .. }),
        "{:?}",
        live.liveness
    );
    let claimed = store.claim_run("child").await;
    assert!(
        matches!(claimed, Err(StoreError::RunIsLive { .. })),
        "{claimed:?}"
    );

    saved.extend(writing.kill());
    assert!(saved.len() >= 25, "{}", saved.len());
    let trace = sample::trace();
    for (iteration, id) in (0..).zip(&saved) {
        let expected = sample::trial("child", iteration, TaskResult::Passed);
        assert_eq!(store.trial(id).await.expect("survived"), expected);
        let stored = store.trace(id, Frames::Load).await.expect("reads");
        assert_eq!(stored.expect("survived").trace, trace);
    }

    // Seen at once, long before the lease ends.
    let heads = store
        .runs(&RunFilter::default(), None, 10)
        .await
        .expect("lists");
    assert_eq!(heads.items[0].record.status, RunStatus::Running);
    assert!(matches!(heads.items[0].liveness, Liveness::Dead { .. }));

    let resumed = store.claim_run("child").await.expect("claims");
    assert!(matches!(resumed.liveness, Liveness::Live { .. }));
    let missing = store.missing_trials("child").await.expect("lists");
    let stored = usize::try_from(resumed.stored_trials).expect("fits");
    assert!(stored >= saved.len());
    assert_eq!(missing.len() + stored, 2 * CHILD_TRIALS as usize);
    let next = &missing[0];
    assert_eq!(
        (next.case_id.as_str(), next.iteration_number as usize),
        ("orders", stored)
    );
    let trial = sample::trial("child", next.iteration_number, TaskResult::Failed);
    store.save_trial(&trial, &trace).await.expect("goes on");
    store
        .finish_run(&sample::finished(resumed.record))
        .await
        .expect("finishes");
    let done = store.run("child").await.expect("is there");
    assert_eq!(done.liveness, Liveness::Ended);
}

#[tokio::test]
async fn two_processes_write_to_one_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    let store = Store::open(&path).await.expect("opens");
    store
        .start_run(&sample::run("ours", 300))
        .await
        .expect("starts");
    let mut writing = Writing::start(&path);
    assert!(writing.saved().is_some());
    let trace = sample::trace();
    let mut theirs = 1;
    for iteration in 0..300 {
        let trial = sample::trial("ours", iteration, TaskResult::Passed);
        store.save_trial(&trial, &trace).await.expect("saves");
        if iteration % 10 == 0 {
            assert!(writing.saved().is_some(), "the child stopped");
            theirs += 1;
        }
    }
    theirs += writing.kill().len();
    let page = store
        .trial_rows("ours", &TrialFilter::default(), None, 1_000)
        .await
        .expect("lists");
    assert_eq!((page.items.len(), page.complete), (300, true));
    let child = store.run("child").await.expect("is there");
    assert!(child.stored_trials >= theirs as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn trials_that_end_together_are_all_stored() {
    let (_directory, store) = crate::new_store().await;
    store
        .start_run(&sample::run("r1", 100))
        .await
        .expect("starts");
    let saves = (0..100).map(|iteration| {
        let store = store.clone();
        tokio::spawn(async move {
            let trial = sample::trial("r1", iteration, TaskResult::Passed);
            store.save_trial(&trial, &sample::trace()).await
        })
    });
    // One of them collides; the others of its transaction must not notice.
    let mut twin = sample::trial("r1", 50, TaskResult::Failed);
    twin.id = "twin".to_owned();
    let trace = sample::trace();
    let (outcomes, twin) = tokio::join!(
        futures::future::join_all(saves),
        store.save_trial(&twin, &trace)
    );
    let refused = outcomes
        .into_iter()
        .map(|joined| joined.expect("no panic"))
        .chain([twin])
        .filter(Result::is_err)
        .count();
    assert_eq!(refused, 1);
    let stored = store.run("r1").await.expect("is there").stored_trials;
    assert_eq!(stored, 100);
}
