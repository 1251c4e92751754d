//! Promises that only an inside view can put to the test: other formats than
//! this build's, and a disk without space.

use std::{borrow::Cow, path::Path};

use sqlx::{
    AssertSqlSafe, SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};
use strandline_contract::{
    trace::Trace,
    words::{FailureCategory, IterationStatus, Stage, TaskResult},
};

use crate::{Store, StoreError, TrialFilter, sample, schema};

/// The build after this one, whose format `readable_since` still reads.
fn next_build(readable_since: i64) -> Migrator {
    let next = schema::known_format(&schema::MIGRATIONS) + 1;
    let sql = format!(
        "ALTER TABLE trials ADD COLUMN note TEXT; \
         UPDATE store_format SET schema_version = {next}, readable_since = {readable_since}"
    );
    let mut migrations: Vec<Migration> = schema::MIGRATIONS.iter().cloned().collect();
    migrations.push(Migration::new(
        next,
        Cow::Borrowed("next"),
        MigrationType::Simple,
        AssertSqlSafe(sql).into_sql_str(),
        false,
    ));
    Migrator::with_migrations(migrations)
}

/// A closed store with one trial, made by this build.
async fn one_trial(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("strandline.db");
    let store = Store::open(&path).await.expect("opens");
    let run = sample::run("r1", 1);
    store.start_run(&run).await.expect("starts");
    let trial = sample::trial("r1", 0, TaskResult::Passed);
    store
        .save_trial(&trial, &sample::trace())
        .await
        .expect("saves");
    store
        .finish_run(&sample::finished(run))
        .await
        .expect("finishes");
    store.close().await.expect("closes");
    path
}

async fn reads(store: &Store) {
    let page = store.trials("r1", &TrialFilter::default(), None, 9).await;
    let expected = sample::trial("r1", 0, TaskResult::Passed);
    assert_eq!(page.expect("reads").items, [expected]);
}

#[tokio::test]
async fn a_newer_build_upgrades_an_older_file_and_keeps_what_is_in_it() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = one_trial(directory.path()).await;
    // Reading alone upgrades too: the reader's queries fit one format only.
    let reader = Store::open_read_only_with(&path, &next_build(1)).await;
    reads(&reader.expect("upgrades")).await;
    let writer = Store::open_with(&path, &next_build(1)).await;
    reads(&writer.expect("opens")).await;
}

#[tokio::test]
async fn an_older_build_reads_a_newer_file_and_refuses_to_write_it() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = one_trial(directory.path()).await;
    let newer = Store::open_with(&path, &next_build(1))
        .await
        .expect("upgrades");
    newer.close().await.expect("closes");
    let before = std::fs::read(&path).expect("reads");

    let known = schema::known_format(&schema::MIGRATIONS);
    let error = Store::open(&path).await.expect_err("is refused");
    let expected = StoreError::NewerFormat {
        path: path.clone(),
        found: known + 1,
        known,
    };
    assert_eq!(error, expected);
    assert!(error.hint().is_some_and(|hint| hint.contains("newer")));
    let reader = Store::open_read_only(&path).await.expect("tolerates");
    reads(&reader).await;
    let run = sample::run("r2", 1);
    let refused = reader.start_run(&run).await;
    assert!(
        matches!(refused, Err(StoreError::NotWritable { .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&path).expect("reads"), before);
}

#[tokio::test]
async fn an_older_build_does_not_read_what_it_would_misread() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = one_trial(directory.path()).await;
    let known = schema::known_format(&schema::MIGRATIONS);
    let newer = Store::open_with(&path, &next_build(known + 1))
        .await
        .expect("upgrades");
    newer.close().await.expect("closes");
    let error = Store::open_read_only(&path).await.expect_err("is refused");
    let expected = StoreError::UnreadableFormat {
        path,
        found: known + 1,
        needs: known + 1,
        known,
    };
    assert_eq!(error, expected);
}

/// Rules 1 and 4 of `schema`.
#[tokio::test]
async fn every_migration_names_its_format() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for migration in schema::MIGRATIONS.iter() {
        let version = migration.version;
        let until: Vec<Migration> = schema::MIGRATIONS
            .iter()
            .filter(|earlier| earlier.version <= version)
            .cloned()
            .collect();
        let path = directory.path().join(format!("{version}.db"));
        let mut connection = schema::open_writer(&path, &Migrator::with_migrations(until))
            .await
            .expect("opens");
        let format: i64 = sqlx::query_scalar("SELECT schema_version FROM store_format")
            .fetch_one(&mut connection)
            .await
            .expect("reads");
        assert_eq!(format, version);
    }
}

#[tokio::test]
async fn many_processes_may_meet_at_a_new_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    let opened = futures::future::join_all((0..8).map(|_| Store::open(&path))).await;
    for (number, store) in opened.into_iter().enumerate() {
        let run = sample::run(&format!("r{number}"), 1);
        store.expect("opens").start_run(&run).await.expect("starts");
    }
}

#[tokio::test]
async fn a_full_disk_loses_nothing_stored_and_is_named() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    let mut connection = schema::open_writer(&path, &schema::MIGRATIONS)
        .await
        .expect("opens");
    // SQLite then answers as it does when the disk is full.
    sqlx::query("PRAGMA max_page_count = 30")
        .execute(&mut connection)
        .await
        .expect("is set");
    let store = Store::from_connection(&path, connection);
    let run = sample::run("r1", 100);
    store.start_run(&run).await.expect("starts");
    let mut stored = 0;
    let error = loop {
        let trial = sample::trial("r1", stored, TaskResult::Passed);
        match store.save_trial(&trial, &sample::trace()).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::DiskFull { path: path.clone() });
    assert!(error.hint().is_some_and(|hint| hint.contains("--resume")));
    let page = store
        .trial_rows("r1", &TrialFilter::default(), None, 100)
        .await;
    assert_eq!(page.expect("reads").items.len(), stored as usize);

    // A smaller trial still fits; the writer has not lost its footing.
    let trial = sample::trial("r1", stored, TaskResult::Passed);
    crate::retention::drop_traces(
        &mut schema::open_writer(&path, &schema::MIGRATIONS)
            .await
            .expect("opens"),
        &path,
        &["r1".to_owned()],
        crate::TracePart::Trace,
    )
    .await
    .expect("makes space");
    store
        .save_trial(&trial, &Trace::default())
        .await
        .expect("saves");
    store
        .finish_run(&sample::finished(run))
        .await
        .expect("finishes");
}

/// How SQLite carries out a statement, one line a step.
async fn plan(store: &Store, sql: &str) -> String {
    let sql = format!("EXPLAIN QUERY PLAN {sql}");
    let steps: Vec<(i64, i64, i64, String)> = sqlx::query_as(AssertSqlSafe(sql))
        .fetch_all(&store.readers)
        .await
        .expect("explains");
    let steps: Vec<String> = steps.into_iter().map(|(.., step)| step).collect();
    steps.join("\n")
}

#[tokio::test]
async fn pages_of_a_large_run_are_read_through_indexes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = one_trial(directory.path()).await;
    let store = Store::open(&path).await.expect("opens");
    let word = |filter: TrialFilter| {
        let mut query = filter.select("t.id", 1);
        query.push(" AND (t.planned, t.iteration) > (0, 0) ORDER BY t.planned, t.iteration");
        query.sql().as_str().to_owned()
    };
    let everything = TrialFilter::default();
    for (filter, index) in [
        (everything.clone(), "sqlite_autoindex_trials"),
        (
            TrialFilter {
                not_passed: true,
                ..everything.clone()
            },
            "trials_not_passed",
        ),
        (
            TrialFilter {
                first_failed_stage: Some(Stage::Call),
                ..everything.clone()
            },
            "trials_by_stage",
        ),
        (
            TrialFilter {
                failure_category: Some(FailureCategory::Arguments),
                ..everything.clone()
            },
            "trials_by_category",
        ),
        (
            TrialFilter {
                status: Some(IterationStatus::Cancelled),
                ..everything
            },
            "trials_by_status",
        ),
    ] {
        let steps = plan(&store, &word(filter)).await;
        assert!(steps.contains(index), "{index}: {steps}");
        assert!(!steps.contains("TEMP B-TREE"), "{index}: {steps}");
    }
    let follow = "SELECT t.seq FROM trials t JOIN runs r ON r.seq = t.run \
         WHERE r.id = 'r1' AND t.seq > 1 ORDER BY t.seq";
    let steps = plan(&store, follow).await;
    assert!(steps.contains("trials_of_run"), "{steps}");
    assert!(!steps.contains("TEMP B-TREE"), "{steps}");
}
