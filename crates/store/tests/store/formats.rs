//! Files of every released format open and keep what is in them.

use std::{fs, path::PathBuf};

use strandline_contract::words::TaskResult;
use strandline_store::{Frames, Store};

use crate::sample;

fn fixture(format: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/store/fixtures/format-{format}.db"))
}

/// Formats that were released.
const FORMATS: [u32; 4] = [1, 3, 4, 5];

#[tokio::test]
async fn a_file_of_every_format_opens_and_keeps_what_is_in_it() {
    for format in FORMATS {
        keeps_what_is_in_it(format).await;
    }
}

async fn keeps_what_is_in_it(format: u32) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("strandline.db");
    fs::copy(fixture(format), &path).expect("copies");
    let store = Store::open(&path).await.expect("opens");
    let run = store.run("r1").await.expect("reads");
    assert_eq!(run.record, sample::finished(sample::run("r1", 2)));
    for (iteration, result) in [(0, TaskResult::Passed), (1, TaskResult::Failed)] {
        let expected = sample::trial("r1", iteration, result);
        assert_eq!(store.trial(&expected.id).await.expect("reads"), expected);
        let stored = store.trace(&expected.id, Frames::Load).await;
        let stored = stored.expect("reads").expect("is kept");
        assert_eq!(stored.trace, sample::trace());
    }
    // Nothing is filled in afterwards: an older run has no roll-ups.
    let funnel = store.funnel("r1").await.expect("reads");
    let expected = (format >= 3).then(|| serde_json::json!(sample::funnel("r1", 2)));
    assert_eq!(funnel, expected);
    let overview = store.overview("r1").await.expect("reads");
    assert_eq!(overview, (format >= 4).then(|| sample::overview("r1", 2)));
}

/// Writes the fixture of a new format, once: a released one never changes.
#[tokio::test]
#[ignore = "run by hand when a format is added"]
async fn write_the_fixture_of_the_newest_format() {
    let newest = fixture(*FORMATS.last().expect("a format"));
    let directory = newest.parent().expect("has a directory");
    fs::create_dir_all(directory).expect("makes the directory");
    let _ = fs::remove_file(&newest);
    let store = Store::open(&newest).await.expect("opens");
    let run = sample::run("r1", 2);
    store.start_run(&run).await.expect("starts");
    for (iteration, result) in [(0, TaskResult::Passed), (1, TaskResult::Failed)] {
        let trial = sample::trial("r1", iteration, result);
        store
            .save_trial(&trial, &sample::trace())
            .await
            .expect("saves");
    }
    store
        .finish_run_with_roll_ups(
            &sample::finished(run),
            &sample::funnel("r1", 2),
            &sample::overview("r1", 2),
        )
        .await
        .expect("finishes");
    store.vacuum().await.expect("vacuums");
    store.close().await.expect("closes");
}
