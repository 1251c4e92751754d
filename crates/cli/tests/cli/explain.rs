use assert_cmd::Command;

fn explain(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("strandline")
        .expect("the binary is built")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .arg("explain")
        .args(arguments)
        .assert()
}

fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn a_stage_comes_with_its_question() {
    insta::assert_snapshot!(stdout(&explain(&["call"]).success()));
}

#[test]
fn a_label_may_be_typed_without_quotes() {
    insta::assert_snapshot!(stdout(&explain(&["call", "arguments"]).success()));
}

#[test]
fn a_near_miss_is_a_usage_error_with_suggestions() {
    let assert = explain(&["misingToolCal"]).code(2);
    assert_eq!(stdout(&assert), "");
    let said = stderr(&assert);
    assert!(
        said.starts_with("error: no such term: `misingToolCal`"),
        "{said}"
    );
    assert!(
        said.contains("hint: did you mean `missingToolCall`"),
        "{said}"
    );
}

#[test]
fn hostile_terms_are_shown_escaped() {
    let shown = stderr(&explain(&["\u{1b}[31mred"]).code(2));
    assert!(shown.contains("`\\u{1b}[31mred`"), "{shown}");
}

#[test]
fn json_holds_every_vocabulary() {
    let text = stdout(&explain(&["--json"]).success());
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let names: Vec<_> = all.as_array().into_iter().flatten().collect();
    let known = strandline_contract::words::registry();
    assert_eq!(names.len(), known.len());
    let found = stdout(&explain(&["notMeasured", "--json"]).success());
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found[0]["vocabulary"], "stage state");
    assert_eq!(found[0]["label"], "not measured");
}

#[test]
fn without_a_term_the_vocabularies_are_listed() {
    let text = stdout(&explain(&[]).success());
    for words in strandline_contract::words::registry() {
        assert!(text.contains(words.name), "{}", words.name);
    }
}
