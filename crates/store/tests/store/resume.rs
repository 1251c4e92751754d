//! Runs that change hands: who owns them, and what is still to do.

use strandline_contract::{
    run::RunStatus,
    words::{IterationStatus, TaskResult},
};
use strandline_store::{Liveness, Store, StoreError};

use crate::{new_store, sample};

#[tokio::test]
async fn a_taken_over_run_refuses_its_former_owner() {
    let (_directory, former) = new_store().await;
    let run = sample::run("r1", 2);
    former.start_run(&run).await.expect("starts");
    let later = Store::open(former.path()).await.expect("opens");
    let live = later.claim_run("r1").await;
    assert!(
        matches!(live, Err(StoreError::RunIsLive { .. })),
        "{live:?}"
    );

    // As if the former owner had been frozen for longer than its lease.
    crate::tamper(former.path(), "UPDATE runs SET lease_until = 1").await;
    let claimed = later.claim_run("r1").await.expect("claims");
    assert_eq!(claimed.record, run);

    let trial = sample::trial("r1", 0, TaskResult::Passed);
    let trace = sample::trace();
    let lost = StoreError::RunLost {
        run: "r1".to_owned(),
    };
    assert_eq!(former.save_trial(&trial, &trace).await, Err(lost.clone()));
    let finished = sample::finished(run);
    assert_eq!(former.finish_run(&finished).await, Err(lost));
    later.save_trial(&trial, &trace).await.expect("saves");
    later.finish_run(&finished).await.expect("finishes");
}

#[tokio::test]
async fn a_resumed_run_replaces_only_what_was_never_attempted() {
    let (_directory, store) = new_store().await;
    let run = sample::run("r1", 3);
    store.start_run(&run).await.expect("starts");
    let trace = sample::trace();
    let failed = sample::trial("r1", 0, TaskResult::Failed);
    store.save_trial(&failed, &trace).await.expect("saves");
    for (iteration, status) in [
        (0, IterationStatus::Cancelled),
        (1, IterationStatus::TimedOut),
        (2, IterationStatus::Skipped),
    ] {
        let ping = sample::ping("r1", iteration, status);
        store.save_trial(&ping, &trace).await.expect("saves");
    }
    let mut stopped = sample::finished(run);
    stopped.status = RunStatus::Cancelled;
    store.finish_run(&stopped).await.expect("finishes");
    let unopened = store
        .save_trial(&sample::trial("r1", 1, TaskResult::Passed), &trace)
        .await;
    assert!(
        matches!(unopened, Err(StoreError::RunNotOpen { .. })),
        "{unopened:?}"
    );

    let claimed = store.claim_run("last").await.expect("claims");
    assert_eq!(claimed.record.status, RunStatus::Running);
    assert_eq!(claimed.record.ended_at, None);
    assert_eq!(claimed.record.decision, None);
    let missing: Vec<_> = store
        .missing_trials("r1")
        .await
        .expect("lists")
        .into_iter()
        .map(|trial| {
            (
                trial.case_id,
                trial.iteration_number,
                trial.variant.is_some(),
            )
        })
        .collect();
    let expected = [
        ("orders", 1, true),
        ("orders", 2, true),
        ("ping", 0, false),
        ("ping", 2, false),
    ];
    assert_eq!(
        missing,
        expected.map(|(case, n, model)| (case.to_owned(), n, model))
    );

    let again = sample::ping("r1", 0, IterationStatus::Completed);
    store.save_trial(&again, &trace).await.expect("replaces");
    assert_eq!(store.trial(&again.id).await.expect("is there"), again);
    let gone = store.trial("r1-p0000-cancelled").await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    for (attempted, status) in [
        (1, IterationStatus::TimedOut),
        (1, IterationStatus::Completed),
    ] {
        let mut second = sample::ping("r1", attempted, status);
        second.id = format!("second-{}", second.id);
        let refused = store.save_trial(&second, &trace).await;
        assert!(
            matches!(refused, Err(StoreError::InvalidTrial { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(store.missing_trials("r1").await.expect("lists").len(), 3);
}

#[tokio::test]
async fn a_store_that_is_closed_gives_its_runs_up_at_once() {
    let (_directory, store) = new_store().await;
    store
        .start_run(&sample::run("r1", 1))
        .await
        .expect("starts");
    let reader = Store::open_read_only(store.path()).await.expect("opens");
    let live = reader.run("r1").await.expect("reads").liveness;
    assert!(matches!(live, Liveness::Live { .. }));
    store.close().await.expect("closes");
    let dead = reader.run("r1").await.expect("reads").liveness;
    assert!(matches!(dead, Liveness::Dead { .. }));
}

#[tokio::test]
async fn what_becomes_known_about_a_run_is_stored_while_it_goes_on() {
    let (_directory, store) = new_store().await;
    let mut run = sample::run("r1", 1);
    store.start_run(&run).await.expect("starts");
    run.servers[0]
        .tools
        .push(serde_json::json!({ "name": "refund_order" }));
    run.servers[0].protocol_version = Some("2025-11-25".to_owned());
    store.update_run(&run).await.expect("updates");
    let stored = store.run("r1").await.expect("reads");
    assert_eq!(stored.record, run);
    assert!(matches!(stored.liveness, Liveness::Live { .. }));
}

#[tokio::test]
async fn a_plan_that_contradicts_itself_is_refused() {
    let (_directory, store) = new_store().await;
    let mut run = sample::run("r1", 1);
    run.plan.push(run.plan[0].clone());
    let refused = store.start_run(&run).await;
    assert!(
        matches!(&refused, Err(StoreError::InvalidRun { reason, .. }) if reason.contains("`orders` twice")),
        "{refused:?}"
    );
    run.plan.pop();
    store.start_run(&run).await.expect("starts");
    let again = store.start_run(&run).await;
    assert!(
        matches!(&again, Err(StoreError::InvalidRun { reason, .. }) if reason.contains("already")),
        "{again:?}"
    );
    // The refusal left no transaction behind.
    store
        .finish_run(&sample::finished(run))
        .await
        .expect("finishes");
}

#[tokio::test]
async fn a_case_that_is_repeated_gets_more_places() {
    let (_directory, store) = new_store().await;
    let run = sample::run("r1", 1);
    store.start_run(&run).await.expect("starts");
    let trace = sample::trace();
    let third = sample::trial("r1", 2, TaskResult::Passed);
    let early = store.save_trial(&third, &trace).await;
    assert!(
        matches!(early, Err(StoreError::InvalidTrial { .. })),
        "{early:?}"
    );
    let variant = sample::variant();
    store
        .extend_plan("r1", "orders", Some(&variant), 3)
        .await
        .expect("extends");
    store.save_trial(&third, &trace).await.expect("saves");
    // It never shrinks, and only planned case variants have places.
    store
        .extend_plan("r1", "orders", Some(&variant), 2)
        .await
        .expect("keeps");
    let unplanned = store.extend_plan("r1", "orders", None, 3).await;
    assert!(
        matches!(unplanned, Err(StoreError::InvalidRun { .. })),
        "{unplanned:?}"
    );
    let counts = |run: &strandline_contract::run::RunRecord| -> Vec<u32> {
        let plan = run.plan.iter();
        plan.map(|case| case.configured_trials).collect()
    };
    let stored = store.run("r1").await.expect("reads");
    assert_eq!(counts(&stored.record), [3, 1]);
    let missing = store.missing_trials("r1").await.expect("lists");
    assert_eq!(missing.len(), 3);

    // A run that is taken over knows its places too.
    let later = Store::open(store.path()).await.expect("opens");
    crate::tamper(store.path(), "UPDATE runs SET lease_until = 1").await;
    later.claim_run("r1").await.expect("claims");
    let lost = store.extend_plan("r1", "orders", Some(&variant), 4).await;
    assert!(matches!(lost, Err(StoreError::RunLost { .. })), "{lost:?}");
    let second = sample::trial("r1", 1, TaskResult::Passed);
    later.save_trial(&second, &trace).await.expect("saves");
}
