//! Live events, over the store alone.

use std::time::Duration;

use axum::http::Method;
use strandline_contract::words::TaskResult;

use crate::{
    sample,
    site::{Event, Site, events},
};

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|(name, ..)| name.as_str()).collect()
}

#[tokio::test]
async fn a_run_that_ended_says_so_at_once() {
    let site = Site::with_a_run().await;
    let answer = site.get("/api/v1/runs/r1/events").await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let told = events(&answer.body);
    assert_eq!(names(&told), ["progress", "end"]);
    let progress = &told[0].2;
    assert_eq!(progress["configured"], 10);
    assert_eq!(progress["attempted"], 5);
    assert_eq!(progress["passed"], 3);
    assert_eq!(progress["failed"], 2);
    assert_eq!(progress["notGraded"], 0);
    assert_eq!(told[1].2["run"]["runId"], "r1");
}

#[tokio::test]
async fn a_client_that_comes_back_misses_nothing() {
    let site = Site::with_a_run().await;
    let all = events(&site.get("/api/v1/runs/r1/events?after=0").await.body);
    let trials: Vec<&Event> = all.iter().filter(|(name, ..)| name == "trial").collect();
    assert_eq!(trials.len(), 6);
    let second = trials[1].1.as_deref().expect("an id");
    let headers = [("last-event-id", second)];
    let target = "/api/v1/runs/r1/events";
    let rest = events(&site.ask(Method::GET, target, &headers, "").await.body);
    let rest: Vec<&Event> = rest.iter().filter(|(name, ..)| name == "trial").collect();
    assert_eq!(rest.len(), 4);
    assert_eq!(rest[0].2["trialId"], trials[2].2["trialId"]);
    let headers = [("last-event-id", "no number")];
    let answer = site.ask(Method::GET, target, &headers, "").await;
    assert_eq!(answer.status.as_u16(), 400);
}

#[tokio::test]
async fn a_run_that_goes_on_is_followed_to_its_end() {
    let site = Site::empty().await;
    let run = sample::run("r1", 2);
    site.store.start_run(&run).await.expect("starts");
    let store = site.store.clone();
    let running = tokio::spawn(async move {
        for iteration in 0..2 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            let trial = sample::trial("r1", iteration, TaskResult::Passed);
            let saved = store.save_trial(&trial, &sample::trace()).await;
            saved.expect("saves");
        }
        let ended = store.finish_run(&sample::finished(run)).await;
        ended.expect("ends");
    });
    let told = events(&site.get("/api/v1/runs/r1/events").await.body);
    running.await.expect("runs");
    let told = names(&told);
    assert_eq!(told.first(), Some(&"progress"));
    assert_eq!(told.last(), Some(&"end"));
    assert_eq!(told.iter().filter(|name| **name == "trial").count(), 2);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let site = Site::empty().await;
    let run = sample::run("r1", 2);
    site.store.start_run(&run).await.expect("starts");
    let stopping = site.stopping.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stopping.cancel();
    });
    let asked = site.get("/api/v1/runs/r1/events");
    let answer = tokio::time::timeout(Duration::from_secs(5), asked).await;
    let told = events(&answer.expect("ends").body);
    assert_eq!(names(&told), ["progress"]);
}

#[tokio::test]
async fn a_killed_run_is_not_followed_for_ever() {
    let site = Site::empty().await;
    let other = strandline_store::Store::open(site.store.path()).await;
    let other = other.expect("opens");
    let run = sample::run("r1", 2);
    other.start_run(&run).await.expect("starts");
    other.close().await.expect("closes");
    let answer = site.get("/api/v1/runs/r1/events").await;
    assert_eq!(answer.status.as_u16(), 204, "{}", answer.body);
    let page = site.get("/runs/r1").await;
    assert!(page.body.contains("--resume"), "{}", page.body);
}
