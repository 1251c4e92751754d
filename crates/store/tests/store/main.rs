//! The store as its callers use it; one module per promise.

mod durability;
mod files;
mod formats;
mod funnels;
mod judgements;
mod listing;
mod resume;
mod retention;
mod round_trip;
mod sample;
mod trials;

use strandline_store::Store;

/// Opens a new store in a directory that goes away with the test.
async fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(&directory.path().join(".strandline/strandline.db"))
        .await
        .expect("opens");
    (directory, store)
}

/// Runs SQL on a store file behind the store's back.
async fn tamper(path: &std::path::Path, sql: &'static str) {
    use sqlx::{ConnectOptions, Connection};
    let mut connection = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .expect("connects");
    sqlx::query(sql)
        .execute(&mut connection)
        .await
        .expect("executes");
    connection.close().await.expect("closes");
}

/// Starts the run `r1` of one planned trial and stores that trial, passed.
pub(crate) async fn with_one_trial(store: &Store) -> strandline_contract::run::TrialRecord {
    store
        .start_run(&sample::run("r1", 1))
        .await
        .expect("starts");
    let trial = sample::trial("r1", 0, strandline_contract::words::TaskResult::Passed);
    store
        .save_trial(&trial, &sample::trace())
        .await
        .expect("saves");
    trial
}
