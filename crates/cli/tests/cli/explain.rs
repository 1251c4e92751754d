use assert_cmd::Command;

#[test]
fn a_wire_word_is_explained_with_its_vocabulary() {
    let output = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .args(["explain", "notMeasured"])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("stage state"), "{text}");
    assert!(text.contains("Not a pass"), "{text}");
}
