use serde_json::Value;
use strandline_contract::full_report::{FullReport, Reported, ReportedFunnel};
use strandline_derive::decision::validate_decision_summary;

use crate::stored::{Stored, stdout};

const OLD: &str = "019ad2b4-0000-7000-8000-000000000001";
const FAILED: &str = "019ad2b4-0000-7000-8000-000000000002";
const KILLED: &str = "019ad2b5-0000-7000-8000-000000000003";

fn full(stored: &Stored, run: &str) -> (FullReport, Value) {
    let shown = stored.strandline(&["report", run, "--format", "json"]);
    let text = stdout(&shown.success());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let report: FullReport = serde_json::from_str(&text).expect("a full report");
    let written = serde_json::to_value(&report).expect("JSON");
    assert_eq!(written, value, "nothing is lost in the type");
    (report, value)
}

#[test]
fn json_holds_everything_that_a_run_says() {
    let stored = Stored::new();
    let (report, value) = full(&stored, FAILED);
    validate_decision_summary(&value["summary"]).expect("a valid summary");
    assert!(report.summary.diagnostics.complete);
    assert_eq!(report.summary.diagnostics.scanned_iterations, 2);
    let [diagnostic] = report.summary.diagnostics.items.as_slice() else {
        panic!("one trial did not pass: {value:#}");
    };
    let [passed, failed] = report.trials.as_slice() else {
        panic!("two trials: {value:#}");
    };
    assert_eq!(failed.trial_id, diagnostic.iteration_id);
    assert_eq!(failed.chain, diagnostic.chain);
    assert!(matches!(passed.measurements, Reported::Verified { .. }));
    let ReportedFunnel::Recorded { analytics } = &report.funnel else {
        panic!("a funnel is stored: {value:#}");
    };
    assert_eq!(analytics.included_trials, 2);
    // Friction and judges: never measured and never asked, not zero.
    assert_eq!(
        (passed.friction.clone(), report.friction),
        (Reported::Absent, None)
    );
    assert_eq!((&passed.judges, report.judges), (&None, None));
}

#[test]
fn the_three_absences_of_a_funnel_stay_apart() {
    let stored = Stored::new();
    stored.damage_funnel();
    for (run, word, trials) in [
        (OLD, "notRecorded", 2),
        (KILLED, "notYet", 1),
        (FAILED, "withheld", 2),
    ] {
        let (report, value) = full(&stored, run);
        assert_eq!(value["funnel"]["status"], "absent");
        assert_eq!(value["funnel"]["absence"], word);
        assert_eq!(value["funnel"].get("analytics"), None);
        assert_eq!(value["funnel"].get("detail").is_some(), word == "withheld");
        assert_eq!(report.trials.len(), trials);
    }
}

#[test]
fn a_report_goes_to_a_file() {
    let stored = Stored::new();
    let file = stored.path().with_file_name("report.json");
    let path = file.to_str().expect("a UTF-8 path");
    let said = stored.strandline(&["report", "last", "--format", "json", "--output", path]);
    assert_eq!(stdout(&said.success()), "");
    let text = std::fs::read_to_string(&file).expect("a file");
    assert!(serde_json::from_str::<FullReport>(&text).is_ok(), "{text}");
    let missing = stored.strandline(&[
        "report",
        "last",
        "--format",
        "json",
        "-o",
        "/nowhere/r.json",
    ]);
    let error = crate::stored::stderr(&missing.code(4));
    assert!(error.contains("cannot write `/nowhere/r.json`"), "{error}");
}

#[test]
fn html_is_one_file_with_every_trial() {
    let stored = Stored::new();
    let page = |more: &[&str]| {
        let mut arguments = vec!["report", FAILED, "--format", "html"];
        arguments.extend(more);
        stdout(&stored.strandline(&arguments).success())
    };
    let file = page(&[]);
    assert!(file.starts_with("<!DOCTYPE html>"), "{}", &file[..200]);
    assert!(file.contains("default-src 'none'") && file.contains("Orders server"));
    assert!(file.contains("Timelines fill a budget of 24 MiB"));
    for part in ["id=\"pages-0\"", "id=\"rows-0\"", "id=\"index\""] {
        assert!(file.contains(part), "{part}");
    }
    let short = page(&["--trace-budget", "0"]);
    assert!(short.contains("Timelines fill a budget of 0 bytes"));
}
