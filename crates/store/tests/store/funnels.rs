//! Funnels: written with a run's end, replaced in place, gone with the run.

use strandline_contract::{analytics::StageAnalytics, words::MaterializationState};
use strandline_store::{Store, StoreError};

use crate::{new_store, sample};

async fn stored(store: &Store, run: &str) -> Option<StageAnalytics> {
    let document = store.funnel(run).await.expect("reads")?;
    Some(serde_json::from_value(document).expect("a funnel"))
}

#[tokio::test]
async fn a_run_ends_together_with_its_funnel() {
    let (_directory, store) = new_store().await;
    crate::with_one_trial(&store).await;
    assert_eq!(stored(&store, "r1").await, None);
    let finished = sample::finished(sample::run("r1", 1));
    let funnel = sample::funnel("r1", 1);
    store
        .finish_run_with_roll_ups(&finished, &funnel, &sample::overview("r1", 1))
        .await
        .expect("finishes");
    assert_eq!(stored(&store, "r1").await, Some(funnel));
    let overview = store.overview("r1").await.expect("reads");
    assert_eq!(overview, Some(sample::overview("r1", 1)));
    assert_eq!(store.run("r1").await.expect("reads").record, finished);
}

#[tokio::test]
async fn who_lost_a_run_stores_neither_its_end_nor_its_funnel() {
    let (_directory, former) = new_store().await;
    crate::with_one_trial(&former).await;
    crate::tamper(former.path(), "UPDATE runs SET lease_until = 1").await;
    let later = Store::open(former.path()).await.expect("opens");
    later.claim_run("r1").await.expect("claims");
    let finished = sample::finished(sample::run("r1", 1));
    let refused = former
        .finish_run_with_roll_ups(
            &finished,
            &sample::funnel("r1", 1),
            &sample::overview("r1", 1),
        )
        .await;
    assert!(
        matches!(refused, Err(StoreError::RunLost { .. })),
        "{refused:?}"
    );
    assert_eq!(stored(&former, "r1").await, None);
}

#[tokio::test]
async fn a_funnel_is_replaced_in_place_once_its_run_has_ended() {
    let (_directory, store) = new_store().await;
    crate::with_one_trial(&store).await;
    let provisional = StageAnalytics {
        materialization_state: MaterializationState::Provisional,
        ..sample::funnel("r1", 1)
    };
    let early = store
        .replace_roll_ups(&provisional, &sample::overview("r1", 1))
        .await;
    assert!(
        matches!(&early, Err(StoreError::InvalidRun { reason, .. }) if reason.contains("not ended")),
        "{early:?}"
    );
    let finished = sample::finished(sample::run("r1", 1));
    store
        .finish_run_with_roll_ups(&finished, &provisional, &sample::overview("r1", 1))
        .await
        .expect("finishes");
    let last = sample::funnel("r1", 1);
    store
        .replace_roll_ups(&last, &sample::overview("r1", 1))
        .await
        .expect("replaces");
    assert_eq!(stored(&store, "r1").await, Some(last));
}

#[tokio::test]
async fn a_run_that_is_resumed_has_no_funnel_until_it_ends_again() {
    let (_directory, store) = new_store().await;
    crate::with_one_trial(&store).await;
    let finished = sample::finished(sample::run("r1", 1));
    store
        .finish_run_with_roll_ups(
            &finished,
            &sample::funnel("r1", 1),
            &sample::overview("r1", 1),
        )
        .await
        .expect("finishes");
    store.claim_run("r1").await.expect("claims");
    assert_eq!(stored(&store, "r1").await, None);
    assert_eq!(store.overview("r1").await.expect("reads"), None);
}

#[tokio::test]
async fn a_funnel_belongs_to_its_run_and_goes_with_it() {
    let (_directory, store) = new_store().await;
    crate::with_one_trial(&store).await;
    let finished = sample::finished(sample::run("r1", 1));
    let foreign = store
        .finish_run_with_roll_ups(
            &finished,
            &sample::funnel("r2", 1),
            &sample::overview("r2", 1),
        )
        .await;
    assert!(
        matches!(foreign, Err(StoreError::InvalidRun { .. })),
        "{foreign:?}"
    );
    store
        .finish_run_with_roll_ups(
            &finished,
            &sample::funnel("r1", 1),
            &sample::overview("r1", 1),
        )
        .await
        .expect("finishes");
    store.delete_run("r1").await.expect("deletes");
    let not_found = |result| matches!(result, Err(StoreError::NotFound { what: "run", .. }));
    assert!(not_found(store.funnel("r1").await.map(|_| ())));
    assert!(not_found(
        store
            .replace_roll_ups(&sample::funnel("r1", 1), &sample::overview("r1", 1))
            .await
    ));
}

#[tokio::test]
async fn a_damaged_funnel_is_an_error_about_that_funnel_alone() {
    let (_directory, store) = new_store().await;
    crate::with_one_trial(&store).await;
    let finished = sample::finished(sample::run("r1", 1));
    store
        .finish_run_with_roll_ups(
            &finished,
            &sample::funnel("r1", 1),
            &sample::overview("r1", 1),
        )
        .await
        .expect("finishes");
    crate::tamper(store.path(), "UPDATE funnels SET document = x'28'").await;
    let damaged = store.funnel("r1").await;
    assert!(
        matches!(&damaged, Err(StoreError::UnreadableDocument { what, .. }) if what.contains("funnel")),
        "{damaged:?}"
    );
    assert!(store.run("r1").await.is_ok());
}
