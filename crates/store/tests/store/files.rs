//! What is said about a file that cannot be used, and that it stays untouched.

use std::{fs, path::Path};

use strandline_contract::words::TaskResult;
use strandline_store::{Store, StoreError, TrialFilter};

use crate::{new_store, sample};

async fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).ok();
    let error = Store::open(path).await.expect_err("is refused");
    assert_eq!(fs::read(path).ok(), before, "the file was changed");
    error
}

#[tokio::test]
async fn the_own_directory_is_made_and_kept_out_of_version_control() {
    let (directory, store) = new_store().await;
    assert!(store.path().exists());
    let ignored = fs::read_to_string(directory.path().join(".strandline/.gitignore"));
    assert_eq!(ignored.expect("is written"), "*\n");
}

#[tokio::test]
async fn a_missing_directory_above_is_named_and_not_made() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("typo/.strandline/strandline.db");
    let error = refused(&path).await;
    assert_eq!(
        error,
        StoreError::DirectoryMissing {
            path,
            directory: directory.path().join("typo"),
        }
    );
    assert!(!directory.path().join("typo").exists());
}

#[tokio::test]
async fn reading_makes_no_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    let error = Store::open_read_only(&path).await.expect_err("is missing");
    assert_eq!(error, StoreError::Missing { path: path.clone() });
    assert!(error.hint().is_some_and(|hint| hint.contains("--store")));
    assert!(!path.exists());
}

#[tokio::test]
async fn a_text_file_is_no_store() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("notes.txt");
    fs::write(&path, "buy milk\n".repeat(1_000)).expect("writes");
    let error = refused(&path).await;
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
}

#[tokio::test]
async fn the_database_of_another_program_is_no_store() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("other.db");
    fs::write(&path, "").expect("writes");
    crate::tamper(&path, "CREATE TABLE runs (id TEXT)").await;
    let error = refused(&path).await;
    assert!(
        matches!(&error, StoreError::NotAStore { reason, .. } if reason.contains("another program")),
        "{error}"
    );
}

#[tokio::test]
async fn a_directory_is_no_store() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let error = refused(directory.path()).await;
    assert!(error.to_string().contains("directory"), "{error}");
}

#[tokio::test]
async fn damage_is_reported_as_damage() {
    let (_directory, store) = new_store().await;
    let path = store.path().to_path_buf();
    store
        .start_run(&sample::run("r1", 50))
        .await
        .expect("starts");
    for iteration in 0..50 {
        store
            .save_trial(
                &sample::trial("r1", iteration, TaskResult::Passed),
                &sample::trace(),
            )
            .await
            .expect("saves");
    }
    store.close().await.expect("closes");
    let mut bytes = fs::read(&path).expect("reads");
    let half = bytes.len() / 2;
    bytes[half..].fill(0xA5);
    fs::write(&path, bytes).expect("writes");

    let store = Store::open_read_only(&path)
        .await
        .expect("its head is whole");
    let error = match store.trials("r1", &TrialFilter::default(), None, 100).await {
        Err(error) => error,
        Ok(page) => panic!("{} trials of a damaged file", page.items.len()),
    };
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains(".recover")));
}

#[tokio::test]
async fn a_damaged_document_is_an_error_about_that_document_alone() {
    let (_directory, store) = new_store().await;
    store
        .start_run(&sample::run("r1", 2))
        .await
        .expect("starts");
    let trace = sample::trace();
    for iteration in 0..2 {
        let trial = sample::trial("r1", iteration, TaskResult::Passed);
        store.save_trial(&trial, &trace).await.expect("saves");
    }
    crate::tamper(
        store.path(),
        "UPDATE trials SET document = x'28b52ffd00' WHERE iteration = 0",
    )
    .await;
    let error = store.trial("r1-t0000").await.expect_err("is damaged");
    assert!(
        matches!(&error, StoreError::UnreadableDocument { what, .. } if what.contains("r1-t0000")),
        "{error}"
    );
    store.trial("r1-t0001").await.expect("is whole");
}

/// A medium that cannot be written: no `-shm` can be made beside the store.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_store_that_cannot_be_written_is_still_read() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, store) = new_store().await;
    let path = store.path().to_path_buf();
    store
        .start_run(&sample::run("r1", 1))
        .await
        .expect("starts");
    store.close().await.expect("closes");
    let own = path.parent().expect("has a directory");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("chmod");
    fs::set_permissions(own, fs::Permissions::from_mode(0o555)).expect("chmod");
    let store = Store::open_read_only(&path).await.expect("opens");
    assert_eq!(store.run("r1").await.expect("reads").record.id, "r1");
    // The superuser may write everywhere; everybody else is told.
    let writable = fs::OpenOptions::new().append(true).open(&path).is_ok();
    if !writable {
        let error = Store::open(&path).await.expect_err("cannot be written");
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
    fs::set_permissions(own, fs::Permissions::from_mode(0o755)).expect("chmod");
}
