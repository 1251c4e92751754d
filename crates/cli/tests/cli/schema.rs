use std::{fs, path::PathBuf};

use assert_cmd::Command;
use strandline_contract::schemas::DOCUMENTS;
use strandline_testkit::vectors::workspace_root;

/// Rewrites the checked-in schemas instead of comparing them.
const UPDATE: &str = "STRANDLINE_UPDATE_SCHEMAS";

fn folder() -> PathBuf {
    workspace_root().join("docs/reference/schemas")
}

fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

#[test]
fn checked_in_schemas_are_those_that_the_command_prints() {
    let folder = folder();
    let update = std::env::var_os(UPDATE).is_some();
    if update {
        fs::create_dir_all(&folder).expect("the folder can be made");
    }
    for document in DOCUMENTS {
        let output = Command::cargo_bin("strandline")
            .expect("the binary is built")
            .args(["schema", document.name])
            .assert()
            .success();
        let printed = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        let file = folder.join(file_name(document.name));
        if update {
            fs::write(&file, &printed).expect("the schema can be written");
        }
        let checked_in = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            checked_in == printed,
            "{} is stale: run the tests with {UPDATE}=1",
            file.display()
        );
    }
}

#[test]
fn every_checked_in_schema_belongs_to_a_document() {
    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let name = entry.expect("the entry is readable").file_name();
        assert!(
            DOCUMENTS
                .iter()
                .any(|document| *name == *file_name(document.name)),
            "{} belongs to no document",
            name.display()
        );
    }
}

#[test]
fn documents_are_listed_and_an_unknown_one_is_refused() {
    let strandline = || Command::cargo_bin("strandline").expect("the binary is built");
    let output = strandline().arg("schema").assert().success();
    let listed = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert_eq!(listed.lines().count(), DOCUMENTS.len());
    assert!(listed.contains("the six-stage chain of one trial"));
    strandline().args(["schema", "nope"]).assert().code(2);
}
