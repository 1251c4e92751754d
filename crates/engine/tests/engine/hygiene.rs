//! No process outlives its session.

use std::time::{Duration, Instant};

use nix::{sys::signal::kill, unistd::Pid};
use strandline_contract::trace::Direction;
use strandline_engine::mcp::{Session, connect, kill_all_servers};

use crate::support::{faulty, options, session, stdio};

/// Whether a process is there and no zombie.
fn runs(pid: i32) -> bool {
    if kill(Pid::from_raw(pid), None).is_err() {
        return false;
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.contains(") Z ")
}

async fn gone(pid: i32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while runs(pid) {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

/// Opens a session whose server has started a process of its own.
async fn with_grandchild() -> (Session, i32) {
    let session = session("grandchild").await;
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let frames = session.drain().frames;
        let told = frames
            .iter()
            .filter(|frame| frame.direction == Direction::Stderr)
            .find_map(|frame| frame.text.strip_prefix("grandchild "));
        if let Some(pid) = told {
            let pid = pid.parse().expect("a number");
            assert!(runs(pid));
            return (session, pid);
        }
        assert!(Instant::now() < deadline, "no grandchild was named");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn closing_ends_the_whole_group() {
    let (session, pid) = with_grandchild().await;
    session.close().await;
    assert!(gone(pid).await);
}

#[tokio::test]
async fn dropping_ends_the_whole_group() {
    let (session, pid) = with_grandchild().await;
    drop(session);
    assert!(gone(pid).await);
}

#[tokio::test]
async fn an_abrupt_exit_can_end_every_group() {
    let (first, first_pid) = with_grandchild().await;
    let (second, second_pid) = with_grandchild().await;
    kill_all_servers();
    assert!(gone(first_pid).await && gone(second_pid).await);
    drop((first, second));
}

#[tokio::test]
async fn a_server_that_ignores_every_request_to_end_is_killed() {
    // The shell ignores the signal and hands that on to what it becomes.
    let script = "trap '' TERM; echo $$ >&2; exec sleep 600";
    let mut options = options();
    options.setup_timeout = Duration::from_millis(300);
    let started = Instant::now();
    let Err((failure, captured)) = connect(&stdio("sh", &["-c", script]), &options).await else {
        panic!("connected");
    };
    assert_eq!(failure.code, "timed_out");
    assert!(started.elapsed() < Duration::from_secs(5));
    let pid = captured
        .frames
        .iter()
        .find(|frame| frame.direction == Direction::Stderr)
        .and_then(|frame| frame.text.parse().ok())
        .expect("the shell told its id");
    assert!(!runs(pid));
}

#[tokio::test]
async fn closing_is_quick_when_the_server_ends_with_its_input() {
    let mut options = options();
    options.limits.close_grace = Duration::from_secs(20);
    let session = connect(&faulty("normal"), &options)
        .await
        .expect("connects");
    let started = Instant::now();
    session.close().await;
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn an_attempt_that_is_dropped_leaves_nothing_behind() {
    let binding = faulty("silent");
    let options = options();
    let attempt = tokio::time::timeout(Duration::from_millis(300), connect(&binding, &options));
    assert!(attempt.await.is_err());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let me = std::process::id().to_string();
    let children: Vec<_> = std::fs::read_dir("/proc")
        .expect("processes are listed")
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            let after_name = stat.rsplit(") ").next().unwrap_or_default();
            after_name.split(' ').nth(1) == Some(me.as_str())
        })
        .collect();
    assert!(children.is_empty(), "{children:?}");
}
