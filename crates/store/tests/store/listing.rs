//! Pages, cursors, completeness, filters; ids looked up by their beginning.

use futures::TryStreamExt;
use strandline_contract::{
    run::RunStatus,
    words::{FailureCategory, IterationStatus, Stage, TaskResult},
};
use strandline_store::{Named, RunFilter, Store, StoreError, TrialFilter};

use crate::{new_store, sample};

/// A run with ten trials of `orders` (every third failed) and five `ping`s,
/// stored out of order.
async fn ten_trials() -> (tempfile::TempDir, Store) {
    let (directory, store) = new_store().await;
    store
        .start_run(&sample::run("r1", 10))
        .await
        .expect("starts");
    let trace = sample::trace();
    for iteration in (0..5).rev() {
        let ping = sample::ping("r1", iteration, IterationStatus::Completed);
        store.save_trial(&ping, &trace).await.expect("saves");
    }
    for iteration in (0..10).rev() {
        let result = if iteration % 3 == 0 {
            TaskResult::Failed
        } else {
            TaskResult::Passed
        };
        let trial = sample::trial("r1", iteration, result);
        store.save_trial(&trial, &trace).await.expect("saves");
    }
    (directory, store)
}

#[tokio::test]
async fn pages_follow_the_plan_and_only_an_uncut_first_page_is_complete() {
    let (_directory, store) = ten_trials().await;
    let everything = TrialFilter::default();
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = store
            .trials("r1", &everything, cursor.as_deref(), 4)
            .await
            .expect("lists");
        assert!(!page.complete);
        seen.extend(page.items.into_iter().map(|trial| trial.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let whole = store
        .trials("r1", &everything, None, 15)
        .await
        .expect("lists");
    assert!(whole.complete && whole.next_cursor.is_none());
    let ids: Vec<_> = whole.items.iter().map(|trial| trial.id.clone()).collect();
    assert_eq!(seen, ids);
    assert_eq!(
        (ids[0].as_str(), ids[14].as_str()),
        ("r1-t0000", "r1-p0004-completed")
    );

    let streamed: Vec<_> = store
        .trial_stream("r1", &everything)
        .map_ok(|trial| trial.id)
        .try_collect()
        .await
        .expect("streams");
    assert_eq!(streamed, ids);

    let cut = store
        .trials("r1", &everything, None, 14)
        .await
        .expect("lists");
    assert!(!cut.complete);
    let bad = store.trials("r1", &everything, Some("r1-t0003"), 4).await;
    assert!(matches!(bad, Err(StoreError::BadCursor { .. })), "{bad:?}");
    let none = store.trials("r2", &everything, None, 4).await;
    assert!(matches!(none, Err(StoreError::NotFound { .. })), "{none:?}");
}

#[tokio::test]
async fn filters_select_by_what_is_in_the_columns() {
    let (_directory, store) = ten_trials().await;
    let count = async |filter: TrialFilter| {
        let page = store.trial_rows("r1", &filter, None, 100).await;
        page.expect("lists").items.len()
    };
    let all = TrialFilter::default;
    let case = |id: &str| TrialFilter {
        case_id: Some(id.to_owned()),
        ..all()
    };
    assert_eq!(count(case("ping")).await, 5);
    assert_eq!(count(case("absent")).await, 0);
    let without_model = TrialFilter {
        variant: Some(None),
        ..all()
    };
    assert_eq!(count(without_model).await, 5);
    let under_model = TrialFilter {
        variant: Some(Some(sample::variant())),
        iteration_number: Some(3),
        ..all()
    };
    assert_eq!(count(under_model).await, 1);
    let not_passed = TrialFilter {
        not_passed: true,
        ..all()
    };
    assert_eq!(count(not_passed).await, 4);
    let stage = |stage| TrialFilter {
        first_failed_stage: Some(stage),
        ..all()
    };
    assert_eq!(count(stage(Stage::Call)).await, 4);
    assert_eq!(count(stage(Stage::Response)).await, 0);
    let category = TrialFilter {
        failure_category: Some(FailureCategory::Arguments),
        status: Some(IterationStatus::Completed),
        ..all()
    };
    assert_eq!(count(category).await, 4);

    let failed = store
        .trial_rows("r1", &stage(Stage::Call), None, 1)
        .await
        .expect("lists");
    let row = &failed.items[0];
    assert_eq!(row.id, "r1-t0000");
    assert_eq!(row.variant, Some(sample::variant()));
    assert_eq!(row.result, Some(TaskResult::Failed));
    assert_eq!(row.failure_category, Some(FailureCategory::Arguments));
    assert_eq!(row.ended_at - row.started_at, 812);
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_filtered() {
    let (_directory, store) = new_store().await;
    for id in ["0193-a", "0193-b", "0194-a"] {
        let mut run = sample::run(id, 1);
        if id == "0193-b" {
            run.suite_id = "other".to_owned();
            run.suite_name = "Another suite".to_owned();
        }
        store.start_run(&run).await.expect("starts");
        if id != "0194-a" {
            store
                .finish_run(&sample::finished(run))
                .await
                .expect("finishes");
        }
    }
    let list = async |filter: RunFilter, cursor: Option<String>, limit| {
        let page = store.runs(&filter, cursor.as_deref(), limit).await;
        page.expect("lists")
    };
    let first = list(RunFilter::default(), None, 2).await;
    let ids: Vec<_> = first
        .items
        .iter()
        .map(|run| run.record.id.as_str())
        .collect();
    assert_eq!(ids, ["0194-a", "0193-b"]);
    assert!(!first.complete);
    assert_eq!(first.items[0].configured_trials, 2);
    assert!(first.items[1].record.decision.is_some());
    let second = list(RunFilter::default(), first.next_cursor, 2).await;
    assert_eq!(second.items[0].record.id, "0193-a");
    assert_eq!(second.next_cursor, None);

    for suite in ["other", "Another suite"] {
        let filter = RunFilter {
            suite: Some(suite.to_owned()),
            status: None,
        };
        let page = list(filter, None, 9).await;
        assert_eq!(page.items.len(), 1);
        assert!(page.complete);
    }
    let running = RunFilter {
        suite: None,
        status: Some(RunStatus::Running),
    };
    assert_eq!(list(running, None, 9).await.items[0].record.id, "0194-a");
}

#[tokio::test]
async fn ids_are_found_by_their_beginning() {
    let (_directory, store) = new_store().await;
    for id in ["0193a-1", "0193a-11", "0194b-2"] {
        store.start_run(&sample::run(id, 1)).await.expect("starts");
    }
    let trial = sample::trial("0194b-2", 0, TaskResult::Passed);
    store
        .save_trial(&trial, &sample::trace())
        .await
        .expect("saves");

    assert_eq!(store.resolve_run("last").await.expect("finds"), "0194b-2");
    assert_eq!(store.resolve_run("0194").await.expect("finds"), "0194b-2");
    // A whole id wins over longer ones that begin with it.
    assert_eq!(
        store.resolve_run("0193a-1").await.expect("finds"),
        "0193a-1"
    );
    let ambiguous = store.resolve_run("0193").await.expect_err("two begin so");
    assert_eq!(
        ambiguous.to_string(),
        "`0193` names more than one run: 0193a-1, 0193a-11"
    );
    for nothing in ["0195", "", "%", "0193a-111"] {
        let missing = store.resolve_run(nothing).await;
        assert!(
            matches!(missing, Err(StoreError::NotFound { .. })),
            "{missing:?}"
        );
    }

    // A run's beginning means the run although its trials begin so as well.
    let run = Named::Run("0194b-2".to_owned());
    assert_eq!(store.resolve("0194b").await.expect("finds"), run);
    let named = Named::Trial(trial.id.clone());
    assert_eq!(store.resolve("0194b-2-t").await.expect("finds"), named);
    assert_eq!(store.trial("0194b-2-t").await.expect("finds"), trial);
}

#[tokio::test]
async fn an_ambiguous_beginning_lists_a_few_candidates() {
    let (_directory, store) = new_store().await;
    for number in 0..9 {
        let run = sample::run(&format!("0193a-{number}"), 1);
        store.start_run(&run).await.expect("starts");
    }
    let error = store.resolve("0193").await.expect_err("nine begin so");
    let StoreError::Ambiguous {
        candidates, more, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((candidates.len(), more), (5, true));
    let heads = store
        .runs(&RunFilter::default(), None, 9)
        .await
        .expect("lists");
    // Eight characters at least; these ids have seven.
    assert!(heads.items.iter().all(|run| run.short_id == run.record.id));
}
