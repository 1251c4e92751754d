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
