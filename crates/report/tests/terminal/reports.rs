use insta::assert_snapshot;
use serde_json::json;
use strandline_contract::words::IterationStatus;
use strandline_report::{layout::width, style::Style};

use crate::fixture::{Fixture, passed, trial, ungraded, with_evidence, with_turn};

/// A run with one case per way of failing, passing cases among them.
fn failing() -> Fixture {
    let mut fixture = Fixture::new();
    let mismatch = |amount: serde_json::Value| {
        with_turn(
            trial("PPPF..", "argumentMismatch", Some("arguments")),
            json!({"argumentMismatches": [{
                "toolName": "refund_order",
                "expectedArgs": {"id": 17, "amount": 40},
                "actualArgs": {"id": 17, "amount": amount}
            }]}),
        )
    };
    let wrong_tool = || {
        with_turn(
            trial("PPFPPF", "missingToolCall", Some("selection")),
            json!({
                "missing": [{"toolName": "find_customer", "arguments": {"email": "a@b.example"}}],
                "actualToolCalls": [{"toolName": "search_orders", "arguments": {"query": "a@b.example"}, "toolCallId": "1"}]
            }),
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
            vec![
                passed(),
                wrong_tool(),
                passed(),
                wrong_tool(),
                with_evidence(
                    trial("PPPPPF", "predicateFailed", Some("userValue")),
                    json!({"predicateReasons": ["responseContains: \"Ada\" is not in the answer"]}),
                ),
            ],
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
                    json!({"spanIds": ["s1"]}),
                ),
                {
                    let mut broken = trial("PPPPP?", "evaluatorError", Some("evaluator"));
                    broken.result = None;
                    broken.evaluator_error = true;
                    broken
                },
            ],
        );
    let broken = &fixture.trials[23];
    let mut call = json!({"toolName": "get_invoice", "arguments": {"id": 3}, "toolCallId": "c1"});
    let trace = json!({"messages": [{"role": "tool", "promptIndex": 0, "parts": [{
        "type": "tool-result", "toolCallId": "c1", "toolName": "get_invoice",
        "modelText": "database is locked", "isError": true
    }]}]});
    fixture.traces.insert(
        broken.id.clone(),
        serde_json::from_value(trace).expect("a trace"),
    );
    fixture.trials[23].actual_tool_calls.push(call.take());
    fixture.decide();
    fixture
}

#[test]
fn a_failing_run() {
    assert_snapshot!(failing().report(Style::plain(100)));
}

#[test]
fn a_failing_run_in_ascii() {
    assert_snapshot!(failing().report(Style::ascii(100)));
}

#[test]
fn a_failing_run_in_colour() {
    assert_snapshot!(failing().report(Style::colour(100)).replace('\x1b', "␛"));
}

#[test]
fn a_failing_run_on_narrow_terminals() {
    assert_snapshot!("failing_60_columns", failing().report(Style::plain(60)));
    assert_snapshot!("failing_80_columns", failing().report(Style::plain(80)));
}

#[test]
fn a_passing_run_is_short() {
    let mut fixture = Fixture::new();
    fixture
        .case("lookup", "looks an order up", 0.8, 5, vec![passed(); 5])
        .case("refund", "refunds an order", 1.0, 5, vec![passed(); 5])
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn a_scripted_run_says_so() {
    let mut fixture = Fixture::new();
    fixture.run.scripted = true;
    fixture
        .case_under(
            "lookup",
            "looks an order up",
            Some("scripted/orders"),
            1.0,
            1,
            vec![passed()],
        )
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn several_models_are_named_on_their_rows() {
    let mut fixture = Fixture::new();
    let fail = || trial("PPF...", "missingToolCall", Some("selection"));
    fixture
        .case_under(
            "a",
            "looks up",
            Some("openai/gpt-x"),
            0.5,
            2,
            vec![passed(); 2],
        )
        .case_under(
            "a",
            "looks up",
            Some("google/gem y"),
            0.5,
            2,
            vec![fail(), fail()],
        )
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn an_inconclusive_run_says_what_would_satisfy_it() {
    let mut fixture = Fixture::new();
    let rate_limited = || {
        ungraded(
            IterationStatus::Failed,
            "PP????",
            "providerError",
            Some("setup"),
            json!({"layer": "model", "code": "rate_limited", "message": "openai answered 429 in 3 attempts", "httpStatus": 429}),
        )
    };
    let stopped = || {
        ungraded(
            IterationStatus::Cancelled,
            "??????",
            "lifecycleStopped",
            None,
            json!(null),
        )
    };
    let broken = || {
        let mut broken = trial("PPPPP?", "evaluatorError", Some("evaluator"));
        broken.result = None;
        broken.evaluator_error = true;
        broken
    };
    fixture
        .case(
            "lookup",
            "looks an order up",
            0.8,
            5,
            vec![
                passed(),
                passed(),
                rate_limited(),
                rate_limited(),
                stopped(),
            ],
        )
        .case(
            "refund",
            "refunds an order",
            0.8,
            3,
            vec![broken(), broken()],
        )
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn nothing_attempted_measures_nothing() {
    let mut fixture = Fixture::new();
    fixture
        .case("lookup", "looks an order up", 0.8, 5, Vec::new())
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn a_run_without_a_verdict_never_looks_like_a_failure() {
    let mut fixture = Fixture::new();
    fixture.case("lookup", "looks an order up", 0.8, 5, vec![passed()]);
    fixture.run.status = serde_json::from_value(json!("running")).expect("a status");
    fixture.run.ended_at = None;
    assert_snapshot!("no_verdict_running", fixture.report(Style::plain(100)));
    fixture.run.status = serde_json::from_value(json!("completed")).expect("a status");
    fixture.run.decision = Some(json!({"verdict": "failed"}));
    fixture.run.integrity_error = Some("two trials share one ordinal".to_owned());
    assert_snapshot!("no_verdict_unreadable", fixture.report(Style::ascii(60)));
}

#[test]
fn a_verdict_that_the_chain_does_not_explain_is_said_to_disagree() {
    let mut fixture = Fixture::new();
    let conflict = || {
        let mut conflict = passed();
        conflict.result = serde_json::from_value(json!("failed")).expect("a result");
        conflict
    };
    fixture
        .case(
            "lookup",
            "looks an order up",
            1.0,
            2,
            vec![conflict(), conflict()],
        )
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn a_chain_that_does_not_validate_is_withheld() {
    let mut fixture = Fixture::new();
    let broken = || {
        let mut broken = trial("PPPF..", "argumentMismatch", Some("arguments"));
        broken.chain.stage_results.truncate(5);
        broken
    };
    fixture
        .case(
            "lookup",
            "looks an order up",
            1.0,
            2,
            vec![broken(), broken()],
        )
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn findings_about_servers_come_last() {
    let mut fixture = Fixture::new();
    fixture.run.servers = serde_json::from_value(json!([{
        "name": "orders", "lints": [
            {"code": "stdoutNoise", "server": "orders", "message": "wrote `Starting…` where protocol belongs"},
            {"code": "stdoutNoise", "server": "orders", "message": "wrote `ready` where protocol belongs"}
        ]
    }]))
    .expect("server facts");
    fixture
        .case("lookup", "looks an order up", 1.0, 1, vec![passed()])
        .decide();
    assert_snapshot!(fixture.report(Style::plain(100)));
}

#[test]
fn a_long_table_counts_what_it_leaves_out() {
    let mut fixture = Fixture::new();
    for number in 0..60 {
        let trials = if number == 55 {
            vec![trial("PPF...", "missingToolCall", Some("selection"))]
        } else {
            vec![passed()]
        };
        fixture.case(
            &format!("c{number}"),
            &format!("case {number}"),
            1.0,
            1,
            trials,
        );
    }
    fixture.decide();
    let report = fixture.report(Style::plain(100));
    assert!(
        report.contains("… 20 more case variants passed in every trial"),
        "{report}"
    );
    assert!(report.contains("case 55 "), "{report}");
}

#[test]
fn every_line_fits_the_terminal() {
    for columns in 60..=130 {
        for style in [
            Style::plain(columns),
            Style::ascii(columns),
            Style::colour(columns),
        ] {
            for line in failing().report(style).lines() {
                // Commands are not wrapped, so that they can be copied.
                if !line.starts_with("   look ") {
                    assert!(width(line) <= columns, "{columns}: {line}");
                }
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}
