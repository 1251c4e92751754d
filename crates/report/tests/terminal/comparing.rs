use insta::assert_snapshot;
use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    run::{RunRecord, TrialRecord},
    words::{ChangeKind, GateOutcome},
};
use strandline_derive::compare::{Apart, Side, compare_runs, gates::Gate, suite_trend};
use strandline_report::{
    layout::width,
    style::Style,
    terminal::{compare::comparison_report, trend::trend_report},
};

use crate::fixture::{Fixture, passed, trial};

fn of(good: usize, bad: usize) -> Vec<TrialRecord> {
    let mut trials = vec![passed(); good];
    trials.extend(vec![
        trial("PPPF..", "argumentMismatch", Some("arguments"));
        bad
    ]);
    trials
}

/// A run of four cases with so many passes and failures each.
fn run(number: u32, results: [(usize, usize); 4]) -> Fixture {
    let titles = [
        ("lookup", "looks an order up"),
        ("refunds-late", "refunds a late order"),
        ("by-email", "finds a customer by e-mail"),
        ("archive", "waits for the archive"),
    ];
    let mut fixture = Fixture::new();
    for ((id, title), (good, bad)) in titles.into_iter().zip(results) {
        let configured = u32::try_from((good + bad).max(1)).expect("few trials");
        fixture.case(id, title, 0.8, configured, of(good, bad));
    }
    fixture.decide();
    let run = &mut fixture.run;
    run.id = format!("019ad2b{number}-0000-7000-8000-000000000000");
    run.started_at = i64::from(number) * 90_000;
    run.ended_at = Some(run.started_at + 41_000);
    run.resolved_suite = json!({"cases": [{"id": "lookup", "title": "looks an order up"}]});
    run.servers = vec![server(number)];
    fixture
}

fn server(number: u32) -> strandline_contract::run::ServerFacts {
    let (version, amount) = if number == 4 {
        ("1.0.0", "string")
    } else {
        ("2.0.0", "number")
    };
    let mut tools = json!([
        {"name": "get_order", "description": "Returns one order."},
        {"name": "refund_order", "inputSchema": {"properties": {"amount": {"type": amount}}}},
    ]);
    if number != 4
        && let Some(tools) = tools.as_array_mut()
    {
        tools.push(json!({"name": "cancel_order\u{1b}[31m"}));
    }
    serde_json::from_value(json!({
        "name": "orders", "transport": "stdio", "toolCount": 2, "tools": tools,
        "serverInfo": {"name": "orders", "version": version},
    }))
    .expect("server facts")
}

/// Returns analytics with the identities that parity reads.
fn analytics(run: &RunRecord, config: &str) -> StageAnalytics {
    let zeros = |stage: &str| {
        json!({"stage": stage, "applicable": 0, "reached": 0, "notReached": 0, "reachUnknown": 0,
            "measured": 0, "passed": 0, "failed": 0, "notMeasured": 0, "notApplicable": 0,
            "excluded": {}, "reasons": []})
    };
    let stages: Vec<Value> = [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ]
    .into_iter()
    .map(zeros)
    .collect();
    serde_json::from_value(json!({
        "schemaVersion": 1, "measurementUnit": "trial", "runId": run.id, "suiteId": run.suite_id,
        "runGroupId": run.suite_id, "configRevision": config, "caseSetFingerprint": "cases",
        "sourceIterationCount": 0, "stageAnalyzerVersion": 12, "measurementsSchemaVersion": 1,
        "materializationState": "final", "createdAt": 1, "updatedAt": 1, "includedTrials": 0,
        "excludedTrials": {}, "totalTrials": 0, "excludedTrialDetail": {},
        "slices": [{"slice": {"dimension": "overall"}, "includedTrials": 0, "excludedTrials": {},
            "failureCategories": [], "stages": stages}],
        "setup": [],
    }))
    .expect("stage analytics")
}

fn side<'a>(fixture: &'a Fixture, analytics: Option<&'a StageAnalytics>) -> Side<'a> {
    Side {
        run: &fixture.run,
        short_id: &fixture.run.id[..8],
        analytics,
    }
}

const GATES: [Gate; 2] = [Gate::NoRegression, Gate::MinPassRate(0.6)];

fn differing() -> (Fixture, Fixture) {
    (
        run(4, [(20, 0), (4, 6), (9, 1), (5, 0)]),
        run(5, [(8, 12), (10, 0), (8, 2), (0, 0)]),
    )
}

#[test]
fn cases_that_weigh_the_same_compare_as_a_whole_too() {
    let base = run(4, [(20, 0), (4, 6), (9, 1), (5, 0)]);
    let compared = run(5, [(8, 12), (10, 0), (8, 2), (5, 0)]);
    let (left, right) = (analytics(&base.run, "c"), analytics(&compared.run, "c"));
    let comparison = compare_runs(
        side(&base, Some(&left)),
        side(&compared, Some(&right)),
        Apart::Refused,
        &GATES,
    );
    let report = comparison_report(&comparison, &Style::plain(110));
    assert!(
        report.contains("overall   31 of 45 gradeable trials"),
        "{report}"
    );
    assert!(comparison.overall.is_some());
}

#[test]
fn runs_that_compare_tell_rates_cases_and_surface() {
    let (base, mut compared) = differing();
    compared.run.settings = json!({"models": ["openai/large-1"], "seed": null});
    let (left, right) = (analytics(&base.run, "c"), analytics(&compared.run, "c"));
    let comparison = compare_runs(
        side(&base, Some(&left)),
        side(&compared, Some(&right)),
        Apart::Refused,
        &GATES,
    );
    assert_snapshot!(comparison_report(&comparison, &Style::plain(110)));
    let narrow = comparison_report(&comparison, &Style::ascii(76));
    assert!(narrow.is_ascii(), "{narrow}");
    for line in narrow.lines() {
        assert!(width(line) <= 110, "{line:?}");
    }
    assert!(!narrow.contains('\u{1b}'), "{narrow:?}");
}

#[test]
fn runs_that_do_not_compare_are_refused_with_the_reasons() {
    let (base, mut compared) = differing();
    compared.run.resolved_hash = "1".to_owned();
    compared.run.resolved_suite = json!({
        "cases": [{"id": "lookup", "title": "looks up an order"}, {"id": "new", "title": "New"}],
        "defaults": {"passThreshold": 0.9},
    });
    let (left, right) = (analytics(&base.run, "c"), analytics(&compared.run, "d"));
    let sides = (side(&base, Some(&left)), side(&compared, Some(&right)));
    let refused = compare_runs(sides.0, sides.1, Apart::Refused, &GATES);
    assert!(refused.overall.is_none() && refused.cases.is_none());
    assert_eq!(refused.gates[0].outcome, GateOutcome::NotEstablished);
    assert_eq!(refused.suite.cases[1].change, ChangeKind::Added);
    assert_snapshot!("refused", comparison_report(&refused, &Style::plain(100)));
    let apart = compare_runs(sides.0, sides.1, Apart::SideBySide, &[]);
    assert_snapshot!("apart", comparison_report(&apart, &Style::plain(100)));
}

#[test]
fn a_run_without_analytics_is_unmeasured_not_different() {
    let (base, compared) = differing();
    let left = analytics(&base.run, "c");
    let comparison = compare_runs(
        side(&base, Some(&left)),
        side(&compared, None),
        Apart::Refused,
        &[],
    );
    let text = comparison_report(&comparison, &Style::plain(100));
    assert!(
        text.contains("run 019ad2b5 has no stage analytics"),
        "{text}"
    );
    assert!(!text.contains("overall"), "{text}");
}

#[test]
fn gates_tell_held_from_not_held_from_not_told() {
    let outcome = |base: &Fixture, compared: &Fixture, gate: Gate| {
        let (left, right) = (analytics(&base.run, "c"), analytics(&compared.run, "c"));
        let comparison = compare_runs(
            side(base, Some(&left)),
            side(compared, Some(&right)),
            Apart::Refused,
            &[gate],
        );
        comparison.gates[0].outcome
    };
    let good = |number| run(number, [(20, 0), (10, 0), (10, 0), (5, 0)]);
    let worse = run(5, [(2, 18), (10, 0), (10, 0), (5, 0)]);
    let tiny = |number| run(number, [(1, 0), (1, 0), (1, 0), (1, 0)]);
    let untold = run(5, [(20, 0), (10, 0), (10, 0), (0, 0)]);
    for (base, compared, gate, expected) in [
        (good(4), good(5), Gate::NoRegression, GateOutcome::Held),
        (good(4), worse, Gate::NoRegression, GateOutcome::NotHeld),
        (
            tiny(4),
            tiny(5),
            Gate::NoRegression,
            GateOutcome::NotEstablished,
        ),
        (
            good(4),
            untold,
            Gate::NoRegression,
            GateOutcome::NotEstablished,
        ),
        (good(4), good(5), Gate::MinPassRate(1.0), GateOutcome::Held),
        (
            good(4),
            run(5, [(19, 1), (10, 0), (10, 0), (5, 0)]),
            Gate::MinPassRate(1.0),
            GateOutcome::NotHeld,
        ),
    ] {
        assert_eq!(outcome(&base, &compared, gate), expected, "{gate}");
    }
}

#[test]
fn a_series_marks_breaks_and_adds_nothing_up() {
    let runs = [
        run(4, [(20, 0), (10, 0), (10, 0), (5, 0)]),
        run(5, [(20, 0), (4, 6), (10, 0), (5, 0)]),
        run(6, [(12, 8), (4, 6), (10, 0), (5, 0)]),
        run(7, [(20, 0), (10, 0), (10, 0), (0, 0)]),
    ];
    let configs = ["c", "c", "d", "d"];
    let analytics: Vec<Option<StageAnalytics>> = runs
        .iter()
        .zip(configs)
        .map(|(run, config)| {
            let measured = !run.run.id.starts_with("019ad2b7");
            measured.then(|| analytics(&run.run, config))
        })
        .collect();
    let sides: Vec<Side<'_>> = runs
        .iter()
        .zip(&analytics)
        .map(|(run, analytics)| side(run, analytics.as_ref()))
        .collect();
    let trend = suite_trend("s_orders", &sides, false);
    let when = |at: i64| format!("minute {}", at / 60_000);
    assert_snapshot!(trend_report(&trend, when, &Style::plain(120)));
    let narrow = trend_report(&trend, when, &Style::ascii(72));
    assert!(narrow.is_ascii(), "{narrow}");
    assert_eq!(narrow.matches("break:").count(), 2, "{narrow}");
}
