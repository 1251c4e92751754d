use std::{fs, path::Path};

use assert_cmd::Command;

#[test]
fn the_checked_in_glossary_is_up_to_date() {
    let assert = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .args(["glossary", "--markdown"])
        .assert()
        .success();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
    let stored = fs::read_to_string(&page).expect("docs/glossary.md is readable");
    let fresh = String::from_utf8_lossy(&assert.get_output().stdout);
    assert!(
        stored == fresh,
        "run `cargo run -p strandline -- glossary --markdown > docs/glossary.md`"
    );
}
