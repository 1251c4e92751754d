use insta::assert_snapshot;
use serde_json::json;
use strandline_contract::sequential::{SEQUENTIAL_SETTINGS, SequentialSettings};
use strandline_derive::repeating::sequential_report;
use strandline_report::{layout::width, style::Style, terminal::deciding::deciding_report};

use crate::fixture::{Fixture, passed, trial};

/// A case on each side, open ones, and one that graded nothing.
fn repeated() -> Fixture {
    let failed = || trial("PPPF..", "argumentMismatch", Some("arguments"));
    let of = |good: usize, bad: usize| {
        let mut trials = vec![passed(); good];
        trials.extend(vec![failed(); bad]);
        trials
    };
    let mut fixture = Fixture::new();
    fixture
        .case("sure", "looks an order up", 0.8, 12, of(12, 0))
        .case("lost", "counts a customer's orders", 0.8, 5, of(0, 5))
        .case("open", "reads an invoice", 0.8, 5, of(5, 0))
        .case("close", "refunds a late order", 0.8, 30, of(24, 6))
        .case("always", "never deletes", 1.0, 5, of(5, 0))
        .case("none", "waits for the archive", 0.8, 5, Vec::new())
        .decide();
    fixture
}

#[test]
fn each_case_says_what_it_would_take() {
    let fixture = repeated();
    let report = sequential_report(&fixture.run, &SequentialSettings::default());
    assert!(!report.used_by_run);
    assert_snapshot!(deciding_report(&report, &Style::plain(110)));
}

#[test]
fn a_run_that_repeated_says_so_under_its_own_bounds() {
    let mut fixture = repeated();
    let own = SequentialSettings {
        alpha: 0.01,
        beta: 0.2,
        indifference: 0.15,
        max_trials: 30,
    };
    fixture.run.settings = json!({ SEQUENTIAL_SETTINGS: own });
    let report = sequential_report(&fixture.run, &SequentialSettings::default());
    assert!(report.used_by_run);
    assert_eq!(report.settings, own);
    let text = deciding_report(&report, &Style::ascii(72));
    for line in text.lines() {
        assert!(width(line) <= 72, "{line:?}");
    }
    assert_snapshot!(text);
}
