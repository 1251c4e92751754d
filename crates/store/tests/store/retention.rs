//! Deleting and pruning: what goes, what stays, and that space comes back.

use strandline_contract::words::TaskResult;
use strandline_store::{
    FrameState, Frames, PrunePolicy, Removed, Store, StoreError, TracePart, TrialFilter,
};

use crate::{new_store, sample};

/// Four ended runs with two trials each, `r1` the oldest, and `r5` live.
async fn five_runs() -> (tempfile::TempDir, Store) {
    let (directory, store) = new_store().await;
    let trace = sample::trace();
    for number in 1..=5 {
        let id = format!("r{number}");
        let mut run = sample::run(&id, 2);
        run.started_at += number;
        store.start_run(&run).await.expect("starts");
        for iteration in 0..2 {
            let trial = sample::trial(&id, iteration, TaskResult::Passed);
            store.save_trial(&trial, &trace).await.expect("saves");
        }
        if number < 5 {
            store
                .finish_run(&sample::finished(run))
                .await
                .expect("finishes");
        }
    }
    (directory, store)
}

async fn selected(store: &Store, policy: PrunePolicy) -> Vec<String> {
    let runs = store.prunable(&policy).await.expect("lists");
    runs.into_iter().map(|run| run.record.id).collect()
}

#[tokio::test]
async fn a_deleted_run_takes_everything_it_owns_and_nothing_else() {
    let (_directory, store) = five_runs().await;
    let removed = store.delete_run("r2").await.expect("deletes");
    let expected = Removed {
        runs: 1,
        trials: 2,
        traces: 2,
    };
    assert_eq!(removed, expected);
    let gone = store.trial("r2-t0000").await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    // The suite and the tools were shared with the others.
    let kept = store.run("r1").await.expect("is there").record;
    let mut expected = sample::run("r1", 2);
    expected.started_at += 1;
    assert_eq!(kept, sample::finished(expected));
    let live = store.delete_run("r5").await;
    assert!(
        matches!(live, Err(StoreError::RunIsLive { .. })),
        "{live:?}"
    );
    let spared = store
        .delete_runs(vec!["r5".to_owned()])
        .await
        .expect("spares");
    assert_eq!(spared, Removed::default());
}

#[tokio::test]
async fn pruning_spares_the_newest_and_the_live() {
    let (_directory, store) = five_runs().await;
    let keep = |count| PrunePolicy {
        keep_last: Some(count),
        ..PrunePolicy::default()
    };
    assert_eq!(selected(&store, keep(2)).await, ["r3", "r2", "r1"]);
    assert_eq!(selected(&store, keep(0)).await, ["r4", "r3", "r2", "r1"]);
    let old = PrunePolicy {
        started_before: Some(sample::STARTED + 3),
        ..PrunePolicy::default()
    };
    assert_eq!(selected(&store, old.clone()).await, ["r2", "r1"]);
    let other = PrunePolicy {
        suite: Some("other".to_owned()),
        ..old
    };
    assert!(selected(&store, other).await.is_empty());
    let removed = store
        .delete_runs(selected(&store, keep(2)).await)
        .await
        .expect("deletes");
    assert_eq!((removed.runs, removed.trials), (3, 6));
    assert_eq!(selected(&store, keep(0)).await, ["r4"]);
}

#[tokio::test]
async fn frames_and_traces_can_go_while_trials_stay() {
    let (_directory, store) = five_runs().await;
    let ids = || vec!["r1".to_owned()];
    let removed = store
        .drop_traces(ids(), TracePart::Frames)
        .await
        .expect("drops");
    assert_eq!(removed.traces, 2);
    let stored = store.trace("r1-t0000", Frames::Load).await.expect("reads");
    let stored = stored.expect("is kept");
    assert_eq!(stored.frame_state, FrameState::Pruned);
    assert_eq!(stored.frame_count, 6);
    assert_eq!(stored.trace.spans, sample::trace().spans);

    let removed = store
        .drop_traces(ids(), TracePart::Trace)
        .await
        .expect("drops");
    assert_eq!(removed.traces, 2);
    let gone = store.trace("r1-t0000", Frames::Skip).await.expect("reads");
    assert_eq!(gone, None);
    let trials = store.trials("r1", &TrialFilter::default(), None, 9).await;
    assert_eq!(trials.expect("reads").items.len(), 2);
}

#[tokio::test]
async fn vacuum_gives_the_space_of_deleted_runs_back() {
    let (_directory, store) = new_store().await;
    let run = sample::run("r1", 200);
    store.start_run(&run).await.expect("starts");
    for iteration in 0..200 {
        let trial = sample::trial("r1", iteration, TaskResult::Passed);
        store
            .save_trial(&trial, &sample::trace())
            .await
            .expect("saves");
    }
    store
        .finish_run(&sample::finished(run))
        .await
        .expect("finishes");
    let size = || std::fs::metadata(store.path()).expect("is there").len();
    store.vacuum().await.expect("vacuums");
    let full = size();
    store.delete_run("r1").await.expect("deletes");
    store.vacuum().await.expect("vacuums");
    assert!(size() * 3 < full, "{} of {full}", size());
}
