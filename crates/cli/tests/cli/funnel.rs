use serde_json::Value;
use strandline_derive::analytics::validate_stage_analytics;

use crate::stored::{Stored, stderr, stdout};

const OLD: &str = "019ad2b4-0000-7000-8000-000000000001";
const COUNTED: &str = "019ad2b4-0000-7000-8000-000000000002";
const KILLED: &str = "019ad2b5-0000-7000-8000-000000000003";

#[test]
fn a_funnel_says_how_many_trials_got_how_far() {
    let stored = Stored::new();
    let shown = stored.strandline(&["funnel", COUNTED]).success();
    insta::assert_snapshot!(stdout(&shown));
    let by = stored
        .strandline(&["funnel", COUNTED, "--by", "model"])
        .success();
    assert!(stdout(&by).contains("model openai/small-1: 2 trials counted"));
}

#[test]
fn json_is_the_stored_document() {
    let stored = Stored::new();
    let shown = stored.strandline(&["funnel", COUNTED, "--json"]).success();
    let document: Value = serde_json::from_str(&stdout(&shown)).expect("JSON");
    let read = validate_stage_analytics(&document).expect("a valid funnel");
    assert_eq!((read.included_trials, read.total_trials), (2, 2));
}

#[test]
fn a_run_without_a_funnel_is_no_funnel_of_zeros() {
    let stored = Stored::new();
    for (run, absence, words) in [
        (OLD, "notRecorded", "not recorded"),
        (KILLED, "notYet", "not there yet"),
    ] {
        let shown = stdout(&stored.strandline(&["funnel", run]).code(5));
        assert!(
            shown.contains("NO FUNNEL") && shown.contains(words),
            "{shown}"
        );
        assert!(!shown.contains("0/"), "{shown}");
        let json = stdout(&stored.strandline(&["funnel", run, "--json"]).code(5));
        let document: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(document["absence"], absence);
    }
    let unknown = stderr(&stored.strandline(&["funnel", "0300"]).code(2));
    assert!(unknown.contains("no run `0300`"), "{unknown}");
}

#[test]
fn an_invalid_funnel_is_withheld_whole() {
    let stored = Stored::new();
    stored.damage_funnel();
    let shown = stdout(&stored.strandline(&["funnel", COUNTED]).code(5));
    assert!(shown.contains("withheld as invalid"), "{shown}");
    assert!(shown.contains("includedTrials"), "{shown}");
}
