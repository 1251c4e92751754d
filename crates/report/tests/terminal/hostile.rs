//! Whatever a suite, a server or a model writes: the terminal stays ours.

use proptest::prelude::*;
use serde_json::json;
use strandline_report::style::Style;

use crate::fixture::{Fixture, trial, with_evidence, with_turn};

fn hostile(text: &str) -> Fixture {
    let mut fixture = Fixture::new();
    text.clone_into(&mut fixture.run.suite_name);
    fixture.run.error = Some(text.to_owned());
    let mismatch = with_turn(
        trial("PPPF..", "argumentMismatch", Some("arguments")),
        json!({"argumentMismatches": [{
            "toolName": text, "expectedArgs": {text: text}, "actualArgs": {text: [text]}
        }]}),
    );
    let missing = with_turn(
        trial("PPF...", "missingToolCall", Some("selection")),
        json!({"missing": [{"toolName": text, "arguments": {text: text}}]}),
    );
    let reason = with_evidence(
        trial("PPPPPF", "predicateFailed", Some("userValue")),
        json!({"predicateReasons": [text]}),
    );
    fixture
        .case("a", text, 1.0, 3, vec![mismatch, missing, reason])
        .decide();
    fixture
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_text_reaches_the_terminal_raw(text in "[\\PC\\x00-\\x20\\x7f-\\x9f\u{200b}-\u{202e}]{0,60}") {
        let report = hostile(&text).report(Style::plain(100));
        prop_assert!(!report.chars().any(|c| c.is_control() && c != '\n'));
        let invisible = ['\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}'];
        prop_assert!(!report.contains(invisible));
    }
}

#[test]
fn long_texts_are_cut_and_the_cut_is_counted() {
    let report = hostile(&"x".repeat(100_000)).report(Style::plain(100));
    assert!(report.len() < 10_000, "{} bytes", report.len());
    assert!(report.contains("characters)"));
}

#[test]
fn secrets_in_arguments_are_masked() {
    let mut fixture = Fixture::new();
    let mismatch = with_turn(
        trial("PPPF..", "argumentMismatch", Some("arguments")),
        json!({"argumentMismatches": [{
            "toolName": "login",
            "expectedArgs": {"password": "hunter2"},
            "actualArgs": {"password": "hunter3"}
        }]}),
    );
    fixture
        .case("a", "logs in", 1.0, 1, vec![mismatch])
        .decide();
    let report = fixture.report(Style::plain(100));
    assert!(!report.contains("hunter"), "{report}");
    assert!(report.contains("«redacted»"), "{report}");
}
