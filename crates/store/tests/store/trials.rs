//! A trial comes back as it was stored.

use strandline_contract::words::{IterationStatus, TaskResult};
use strandline_store::{FrameState, Frames, StoreError};

use crate::sample;

#[tokio::test]
async fn record_and_trace_come_back_as_they_were() {
    let (_directory, store) = crate::new_store().await;
    let run = sample::run("r1", 5);
    store.start_run(&run).await.expect("starts");
    let trial = sample::trial("r1", 3, TaskResult::Failed);
    let trace = sample::trace();
    store.save_trial(&trial, &trace).await.expect("saves");
    assert_eq!(store.trial(&trial.id).await.expect("is there"), trial);
    let stored = store
        .trace(&trial.id, Frames::Load)
        .await
        .expect("reads")
        .expect("is kept");
    assert_eq!(stored.trace, trace);
    assert_eq!(stored.frame_state, FrameState::Loaded);
    let done = sample::finished(run);
    store.finish_run(&done).await.expect("finishes");
    assert_eq!(store.run("last").await.expect("is there").record, done);
}

#[tokio::test]
async fn a_trace_opens_without_its_frames() {
    let (_directory, store) = crate::new_store().await;
    store
        .start_run(&sample::run("r1", 5))
        .await
        .expect("starts");
    let trial = sample::trial("r1", 0, TaskResult::Passed);
    store
        .save_trial(&trial, &sample::trace())
        .await
        .expect("saves");
    let stored = store
        .trace(&trial.id, Frames::Skip)
        .await
        .expect("reads")
        .expect("is kept");
    assert_eq!(stored.frame_state, FrameState::NotLoaded);
    assert_eq!(stored.frame_count, 6);
    assert!(stored.trace.frames.is_empty());
    assert_eq!(stored.trace.messages, sample::trace().messages);
}

#[tokio::test]
async fn a_place_in_the_plan_takes_one_attempted_trial() {
    let (_directory, store) = crate::new_store().await;
    store
        .start_run(&sample::run("r1", 2))
        .await
        .expect("starts");
    let trace = sample::trace();
    let first = sample::trial("r1", 0, TaskResult::Failed);
    store.save_trial(&first, &trace).await.expect("saves");
    let mut second = sample::trial("r1", 0, TaskResult::Passed);
    second.id = "another".to_owned();
    let refused = store.save_trial(&second, &trace).await;
    assert!(
        matches!(&refused, Err(StoreError::InvalidTrial { reason, .. }) if reason.contains("taken")),
        "{refused:?}"
    );
    assert_eq!(store.trial(&first.id).await.expect("is there"), first);
    let beyond = store
        .save_trial(&sample::trial("r1", 2, TaskResult::Passed), &trace)
        .await;
    assert!(
        matches!(&beyond, Err(StoreError::InvalidTrial { reason, .. }) if reason.contains("beyond the 2")),
        "{beyond:?}"
    );
    let mut unplanned = sample::ping("r1", 0, IterationStatus::Completed);
    unplanned.variant = Some(sample::variant());
    let unplanned = store.save_trial(&unplanned, &trace).await;
    assert!(
        matches!(&unplanned, Err(StoreError::InvalidTrial { reason, .. }) if reason.contains("not planned")),
        "{unplanned:?}"
    );
}
