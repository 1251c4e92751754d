//! Two runs beside each other, and the runs of a suite.

use serde_json::{Value, json};
use strandline_contract::{
    comparison::{RunComparison, SuiteTrend},
    words::FunnelAbsence,
};
use strandline_report::html::{
    compare::{ComparePage, compare, title as compare_title},
    glossary::glossary,
    run::FunnelOf,
    trend::{TrendPage, title as trend_title, trend},
};

use crate::look::{Addresses, HOSTILE, whole};

fn run(id: &str, passed: u64, started_at: i64) -> Value {
    json!({
        "runId": id, "shortId": id, "suiteId": "s_orders", "suiteName": HOSTILE,
        "startedAt": started_at, "verdict": "failed", "scripted": false,
        "counts": {"measurementUnit": "caseVariant", "total": 2, "passed": 1, "failed": 1, "inconclusive": 0},
        "trials": sample(passed, 10),
    })
}

fn sample(passed: u64, of: u64) -> Value {
    let rate = passed as f64 / of as f64;
    json!({"passedTrials": passed, "eligibleTrials": of, "passRateInterval":
        {"confidence": 0.95, "lower": rate * 0.6, "upper": 1.0 - (1.0 - rate) * 0.6}})
}

fn rates() -> Value {
    json!({
        "base": sample(9, 10), "compared": sample(4, 10), "verdict": "regression",
        "difference": {"confidence": 0.95, "delta": -0.5, "lower": -0.75, "upper": -0.1},
        "smallestDrop": {"shown": 0.4, "power": 0.8}, "smallestRise": {"shown": 0.1, "power": 0.8},
    })
}

fn comparison(parity: Value, comparable: bool) -> RunComparison {
    let outcome = |verdict: &str, passed| json!({"verdict": verdict, "passThreshold": 0.8, "trials": sample(passed, 10), "flaky": false});
    let mut document = json!({
        "base": run("base1", 9, 1_796_000_000_000_i64), "compared": run("next1", 4, 1_796_003_600_000_i64),
        "parity": parity, "cautions": [], "surface": [{"server": HOSTILE, "listed": true, "facts": [],
            "tools": [{"name": HOSTILE, "change": "changed", "values": [
                {"pointer": "/description", "before": HOSTILE, "after": HOSTILE}]}], "unchangedTools": 3}],
        "suite": {"same": true, "sameFile": true, "settings": [], "cases": []}, "settings": [],
        "gates": [{"gate": "no-regression", "outcome": "notHeld", "reason": HOSTILE}],
    });
    if comparable {
        document["overall"] = rates();
        document["cases"] = json!([{"caseId": "c", "title": HOSTILE, "change": "newlyFailing",
            "base": outcome("passed", 9), "compared": outcome("failed", 4), "rates": rates()}]);
    }
    serde_json::from_value(document).expect("a comparison")
}

fn shown(comparison: &RunComparison, name: &str) -> String {
    let page = ComparePage {
        comparison,
        base: FunnelOf::Absent(FunnelAbsence::NotRecorded, None),
        compared: FunnelOf::Absent(FunnelAbsence::Withheld, Some(HOSTILE)),
    };
    whole(name, &compare_title(&page), &compare(&Addresses, &page))
}

#[test]
fn runs_that_compare_show_differences_with_intervals() {
    let page = shown(&comparison(json!({"state": "comparable"}), true), "compare");
    for said in [
        "−50 points, 95 % interval −75 to −10",
        "these samples could have shown no drop of less than 40 points",
        "9/10 [",
        "−50 [−75 to −10]",
        "next1",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let (funnels, differences) = (page.find("id=\"funnels\""), page.find("id=\"differences\""));
    assert!(funnels.is_some() && funnels < differences);
}

#[test]
fn blockers_come_first_and_leave_no_difference() {
    let blocked = json!({"state": "blocked", "blockers": ["differentRunGroup"]});
    let page = shown(&comparison(blocked, false), "compare-blocked");
    assert!(page.contains("Not comparable") && page.contains("would say nothing"));
    for absent in ["id=\"differences\"", "id=\"funnels\"", "points"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn a_series_has_its_table_first_and_says_why_it_breaks() {
    let series: SuiteTrend = serde_json::from_value(json!({
        "suite": "s_orders", "complete": true, "points": [
            {"run": run("r1", 9, 1_796_000_000_000_i64)},
            {"run": run("r2", 8, 1_796_003_600_000_i64), "parity": {"state": "comparable"}},
            {"run": run("r3", 4, 1_796_007_200_000_i64), "parity": {"state": "blocked", "blockers": ["differentRunGroup"]}},
            {"run": run("r4", 5, 1_796_010_800_000_i64), "parity": {"state": "comparable"}},
        ],
    }))
    .expect("a series");
    let page = TrendPage { trend: &series };
    let shown = whole("trend", &trend_title(&page), &trend(&Addresses, &page));
    assert_eq!(shown.matches("class=\"break\"").count(), 1);
    assert!(shown.contains("9 of 10 ["), "{shown}");
    let (_, data) = shown
        .split_once("<script type=\"application/json\">")
        .expect("data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let points: Value = serde_json::from_str(data).expect("JSON");
    let breaks: Vec<bool> = (0..4)
        .filter_map(|place| points[place]["breaks"].as_bool())
        .collect();
    assert_eq!(breaks, [false, false, true, false]);
    assert_eq!(points[2]["rate"], 0.4);
    assert_eq!(points[0]["href"], "/runs/r1");
}

#[test]
fn the_glossary_is_a_page() {
    let shown = whole("glossary", "Glossary", &glossary());
    assert!(shown.contains("id=\"term-stage-state-notMeasured\""));
}
