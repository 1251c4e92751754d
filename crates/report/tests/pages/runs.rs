//! The page of a run.

use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::AnalyticsInput,
    words::{FunnelAbsence, IterationStatus},
};
use strandline_derive::{analytics::derive_stage_analytics, overview::run_overview};
use strandline_report::html::run::{FunnelOf, RunPage, run, title};

use crate::{
    fixture::{Fixture, passed, trial, ungraded, with_evidence, with_turn},
    look::{Addresses, HOSTILE, read, whole},
};

fn mismatch(amount: Value) -> strandline_contract::run::TrialRecord {
    let record = with_turn(
        trial("PPPF..", "argumentMismatch", Some("arguments")),
        json!({"argumentMismatches": [{
            "toolName": "refund_order",
            "expectedArgs": {"id": 17, "amount": 40},
            "actualArgs": {"id": 17, "amount": amount}
        }]}),
    );
    with_evidence(
        record,
        json!({"promptIndexes": [0], "predicateReasons": ["refund_order: amount expected 40, got \"40.00\""]}),
    )
}

fn failing() -> Fixture {
    let mut fixture = Fixture::new();
    let wrong_tool = || {
        with_evidence(
            trial("PPFPPF", "missingToolCall", Some("selection")),
            json!({"predicateReasons": ["expected find_customer, called search_orders"]}),
        )
    };
    fixture
        .case("lookup", "looks an order up", 0.8, 5, vec![passed(); 5])
        .case(
            "refunds-late",
            "refunds a late order",
            0.8,
            5,
            vec![
                passed(),
                mismatch(json!("40.00")),
                mismatch(json!("40.00")),
                mismatch(json!("40 EUR")),
                mismatch(json!("40.00")),
            ],
        )
        .case(
            "by-email",
            "finds a customer by e-mail",
            0.8,
            5,
            vec![passed(), wrong_tool(), passed(), wrong_tool(), passed()],
        )
        .case(
            "never-deletes",
            "never deletes",
            1.0,
            5,
            vec![trial("PPP--P", "observed", None); 5],
        )
        .case(
            "invoice",
            "reads an invoice",
            0.5,
            5,
            vec![
                passed(),
                passed(),
                passed(),
                with_evidence(
                    trial("PPPPF.", "toolError", Some("serverData")),
                    json!({"predicateReasons": ["get_invoice: database is locked"]}),
                ),
                {
                    let mut broken = trial("PPPPP?", "evaluatorError", Some("evaluator"));
                    broken.result = None;
                    broken.evaluator_error = true;
                    broken
                },
            ],
        );
    fixture.run.servers = vec![
        serde_json::from_value(json!({
            "name": "orders", "transport": "stdio", "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "orders-mcp", "version": "2.4.0"}, "toolCount": 12,
            "lints": [{"code": "stdoutNoise", "server": "orders", "message": "wrote text where protocol belongs"}]
        }))
        .expect("server facts"),
    ];
    fixture.decide();
    fixture
}

/// Returns the funnel of a fixture's trials, every stage with a row measured or
/// reached as its state says.
fn funnel(fixture: &Fixture) -> StageAnalytics {
    let trials: Vec<Value> = fixture
        .trials
        .iter()
        .map(|trial| {
            let rows: Vec<Value> = trial
                .chain
                .stage_results
                .iter()
                .map(|row| {
                    let reach = match row.state.to_string().as_str() {
                        "passed" | "failed" | "notMeasured" => "reached",
                        "notReached" => "notReached",
                        _ => "notApplicable",
                    };
                    let mut measured = json!({"stage": row.stage, "reach": reach});
                    if reach == "reached" {
                        measured["latency"] =
                            json!({"unit": "ms", "basis": "evidence_span_union", "value": 120});
                    }
                    measured
                })
                .collect();
            json!({
                "trialKey": "t", "status": "completed", "stageResults": trial.chain.stage_results,
                "stageAnalyzerVersion": 12, "chainVerified": true, "measurementsVerified": true,
                "evaluatorError": trial.evaluator_error,
                "measurements": {"schemaVersion": 1, "stageAnalyzerVersion": 12, "rows": rows},
            })
        })
        .collect();
    let text = json!({
        "run": {"runId": "r", "suiteId": "s", "materializationState": "final", "now": 1,
            "readerStageAnalyzerVersion": 12},
        "trials": trials, "setupSignals": [],
    })
    .to_string();
    let input: AnalyticsInput<'_> = serde_json::from_str(&text).expect("an input");
    derive_stage_analytics(&input)
}

fn shown(name: &str, fixture: &Fixture, stored: Option<&StageAnalytics>) -> String {
    let overview = run_overview(&fixture.run, &fixture.trials);
    let input = RunPage {
        run: &fixture.run,
        run_reference: "019ad2b4",
        overview: Some(&overview),
        funnel: stored.map_or(
            FunnelOf::Absent(FunnelAbsence::NotRecorded, None),
            FunnelOf::Stored,
        ),
    };
    whole(name, &title(&input), &run(&Addresses, &input))
}

#[test]
fn a_failing_run_tells_its_story_in_order() {
    let fixture = failing();
    let shown = shown("run-failing", &fixture, Some(&funnel(&fixture)));
    insta::assert_snapshot!(read(&shown));
}

#[test]
fn a_passing_run_is_short() {
    let mut fixture = Fixture::new();
    fixture
        .case("lookup", "looks an order up", 0.8, 5, vec![passed(); 5])
        .case("refund", "refunds an order", 1.0, 5, vec![passed(); 5])
        .decide();
    let shown = shown("run-passing", &fixture, Some(&funnel(&fixture)));
    assert!(!shown.contains("Trials that did not pass"));
    assert!(shown.contains("2 of 2 case variants passed"));
}

#[test]
fn an_inconclusive_run_says_what_would_satisfy_it() {
    let mut fixture = Fixture::new();
    let stopped = || {
        ungraded(
            IterationStatus::TimedOut,
            "PP????",
            "lifecycleStopped",
            None,
            json!({"layer": "model", "code": "rate_limited", "message": "openai answered 429", "httpStatus": 429}),
        )
    };
    fixture
        .case(
            "lookup",
            "looks up",
            0.8,
            5,
            vec![passed(), stopped(), stopped()],
        )
        .decide();
    let shown = shown("run-inconclusive", &fixture, None);
    insta::assert_snapshot!(read(&shown));
}

#[test]
fn a_run_that_is_going_on_shows_progress_and_no_verdict() {
    let mut fixture = Fixture::new();
    fixture.case("lookup", "looks up", 0.8, 5, vec![passed()]);
    fixture.run.status = serde_json::from_value(json!("running")).expect("a status");
    fixture.run.ended_at = None;
    let shown = shown("run-live", &fixture, None);
    assert!(shown.contains("data-live=\"/api/v1/runs/"));
    assert!(shown.contains("1 of 5 configured trials attempted"));
    assert!(shown.contains("no verdict established"));
}

#[test]
fn a_long_table_has_a_filter_and_is_bounded() {
    let mut fixture = Fixture::new();
    for number in 0..480 {
        let trials = vec![match number % 3 {
            0 => passed(),
            _ => trial("PPF...", "missingToolCall", Some("selection")),
        }];
        fixture.case(
            &format!("c{number}"),
            &format!("case {number}"),
            1.0,
            1,
            trials,
        );
    }
    fixture.decide();
    let shown = shown("run-long", &fixture, None);
    assert!(shown.contains("data-filter=\"cases\" data-unit=\"case variants\""));
    assert!(shown.contains("320 trials of 320 case variants"));
    assert!(shown.contains("and 280 more case variants"));
    assert!(shown.len() < 2_000_000, "{} bytes", shown.len());
}

#[test]
fn a_run_whose_trials_nobody_counted_says_so() {
    let mut fixture = Fixture::new();
    fixture
        .case("lookup", "looks up", 0.8, 1, vec![passed()])
        .decide();
    let input = RunPage {
        run: &fixture.run,
        run_reference: "019ad2b4",
        overview: None,
        funnel: FunnelOf::Absent(FunnelAbsence::Withheld, Some("it does not add up")),
    };
    let shown = read(&whole(
        "run-uncounted",
        &title(&input),
        &run(&Addresses, &input),
    ));
    assert!(shown.contains("never counted"), "{shown}");
    assert!(shown.contains("it says: it does not add up"), "{shown}");
    assert!(shown.contains("1 of 1 case variant passed"), "{shown}");
}

#[test]
fn hostile_names_stay_text() {
    let mut fixture = Fixture::new();
    let reason = with_evidence(
        trial("PPPPPF", "predicateFailed", Some("userValue")),
        json!({"predicateReasons": [HOSTILE]}),
    );
    fixture
        .case_under(
            "a",
            HOSTILE,
            Some(&format!("{}/{HOSTILE}", "p")),
            1.0,
            2,
            vec![passed(), reason],
        )
        .decide();
    fixture.run.suite_name = HOSTILE.to_owned();
    fixture.run.suite_path = HOSTILE.to_owned();
    fixture.run.error = Some(HOSTILE.to_owned());
    fixture.run.servers = vec![
        serde_json::from_value(json!({
            "name": HOSTILE, "transport": HOSTILE, "protocolVersion": HOSTILE,
            "serverInfo": {"name": HOSTILE, "version": HOSTILE},
            "lints": [{"code": HOSTILE, "server": HOSTILE, "message": HOSTILE}]
        }))
        .expect("server facts"),
    ];
    let shown = shown("run-hostile", &fixture, Some(&funnel(&fixture)));
    assert!(!shown.contains("<img"));
    assert!(!shown.contains('\u{202e}'));
    assert!(shown.contains("&lt;/script&gt;&lt;img"));
}
