//! The funnel as a person reads it.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::AnalyticsInput,
    words::{FunnelAbsence, SliceDimension, Vocabulary},
};
use strandline_derive::analytics::derive_stage_analytics;
use strandline_report::{
    style::Style,
    terminal::funnel::{FunnelInput, absence_report, funnel_report},
};

const STAGES: [&str; 6] = [
    "connection",
    "discovery",
    "selection",
    "call",
    "response",
    "userValue",
];

/// A trial whose strip is written in ASCII marks; `r` is reached and undecided.
fn trial(strip: &str, reason: &str, labels: Value) -> Value {
    let rows = strip.chars().zip(STAGES).map(|(mark, stage)| {
        let (state, usual, reach) = match mark {
            'P' => ("passed", "observed", "reached"),
            'F' => ("failed", reason, "reached"),
            '.' => ("notReached", "earlierStageFailed", "notReached"),
            'r' => ("notMeasured", reason, "reached"),
            '?' => ("notMeasured", reason, "unknown"),
            _ => ("notApplicable", "notAuthored", "notApplicable"),
        };
        let row = json!({"stage": stage, "state": state, "reason": usual});
        let mut measured = json!({"stage": stage, "reach": reach});
        if reach == "reached" && ["selection", "call"].contains(&stage) {
            measured["latency"] =
                json!({"unit": "ms", "basis": "evidence_span_union", "value": 120});
        }
        (row, measured)
    });
    let (rows, measured): (Vec<Value>, Vec<Value>) = rows.unzip();
    let mut trial = json!({
        "trialKey": "t", "status": "completed", "stageResults": rows, "stageAnalyzerVersion": 12,
        "chainVerified": true, "measurementsVerified": true,
        "measurements": {"schemaVersion": 1, "stageAnalyzerVersion": 12, "rows": measured},
    });
    for (key, value) in labels.as_object().into_iter().flatten() {
        trial[key] = value.clone();
    }
    trial
}

fn funnel(trials: &[Value], state: &str) -> StageAnalytics {
    let text = json!({
        "run": {
            "runId": "r", "suiteId": "s", "materializationState": state, "now": 1,
            "readerStageAnalyzerVersion": 12,
        },
        "trials": trials,
        "setupSignals": [
            {"phase": "connection", "outcome": "failed", "attribution": "theirs",
                "egressVerified": true, "durationMs": 1200, "trialKey": "t"},
            {"phase": "discovery", "outcome": "ok", "durationMs": 35, "trialKey": "t"},
        ],
    })
    .to_string();
    let input: AnalyticsInput<'_> = serde_json::from_str(&text).expect("an input");
    derive_stage_analytics(&input)
}

fn trials() -> Vec<Value> {
    let refunds = json!({"intent": "refunds", "provider": "openai", "model": "small-1"});
    let lookups = json!({"intent": "look-ups", "provider": "openai", "model": "large-1"});
    let mut trials = vec![
        trial("PPPF..", "argumentMismatch", refunds.clone()),
        trial("PPPF..", "argumentMismatch", refunds.clone()),
        trial("PPPPPP", "observed", refunds.clone()),
        trial("PPF.PP", "missingToolCall", lookups.clone()),
        trial("PPPPPP", "observed", lookups.clone()),
        trial("PPPPPr", "judgePending", lookups.clone()),
        trial("P?PPPP", "noEvidenceCaptured", lookups),
        trial("PP--PP", "observed", json!({})),
    ];
    for status in ["timed_out", "cancelled"] {
        let mut never = json!({"trialKey": "t", "status": status});
        never["intent"] = refunds["intent"].clone();
        trials.push(never);
    }
    trials.push({
        let mut doubted = trial("PPPPPP", "observed", refunds);
        doubted["chainVerified"] = json!(false);
        doubted
    });
    trials
}

fn report(funnel: &StageAnalytics, by: SliceDimension, style: Style) -> String {
    let input = FunnelInput {
        funnel,
        suite_name: "Orders server",
        run_reference: "019ad2b4",
        scripted: false,
    };
    funnel_report(&input, by, &style)
}

#[test]
fn a_funnel_of_all_trials() {
    let funnel = funnel(&trials(), "final");
    assert_snapshot!(report(&funnel, SliceDimension::Overall, Style::plain(100)));
    assert_snapshot!(
        "in_ascii",
        report(&funnel, SliceDimension::Overall, Style::ascii(100))
    );
    assert_snapshot!(
        "narrow",
        report(&funnel, SliceDimension::Overall, Style::plain(70))
    );
}

#[test]
fn a_funnel_by_intent_and_by_model() {
    let funnel = funnel(&trials(), "provisional");
    assert_snapshot!(
        "by_intent",
        report(&funnel, SliceDimension::Intent, Style::plain(100))
    );
    assert_snapshot!(
        "by_model",
        report(&funnel, SliceDimension::Model, Style::plain(100))
    );
    let hosts = report(&funnel, SliceDimension::Host, Style::plain(100));
    assert!(hosts.contains("no trial names a host"), "{hosts}");
}

#[test]
fn nothing_counted_is_no_zero_percent() {
    let report = report(
        &funnel(&[], "final"),
        SliceDimension::Overall,
        Style::plain(100),
    );
    assert!(report.contains("0 of 0 trials counted"), "{report}");
    assert!(report.contains("not measured"), "{report}");
    assert!(!report.contains('%'), "{report}");
}

#[test]
fn a_measured_zero_is_shown_as_zero() {
    let trials = [trial("PPPPPF", "predicateFailed", json!({}))];
    let report = report(
        &funnel(&trials, "final"),
        SliceDimension::Overall,
        Style::plain(100),
    );
    assert!(report.contains("0/1     0 %"), "{report}");
}

#[test]
fn the_absences_are_told_apart_and_none_is_a_funnel() {
    let told: Vec<String> = FunnelAbsence::ALL
        .iter()
        .map(|absence| {
            let detail = (*absence == FunnelAbsence::Withheld)
                .then_some("`includedTrials`: must be at most `totalTrials`");
            absence_report(*absence, detail, "019ad2b4", &Style::plain(100))
        })
        .collect();
    assert_snapshot!(told.join("\n\n"));
}

#[test]
fn dropped_slices_are_counted() {
    let trials: Vec<Value> = (0..30)
        .map(|number| {
            let labels = json!({"provider": "p", "model": format!("m{number}")});
            trial("PPPPPP", "observed", labels)
        })
        .collect();
    let report = report(
        &funnel(&trials, "final"),
        SliceDimension::Model,
        Style::plain(100),
    );
    assert!(
        report.contains("25 of 30 model slices are kept"),
        "{report}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_label_reaches_the_terminal_raw(
        text in "[\\PC\\x00-\\x20\\x7f-\\x9f\u{200b}-\u{202e}]{1,60}",
    ) {
        let labels = json!({
            "intent": text, "provider": text, "model": text, "hostKey": text, "hostName": text,
            "executionEngine": text,
        });
        let funnel = funnel(&[trial("PPPPPP", "observed", labels)], "final");
        for by in SliceDimension::ALL {
            let report = report(&funnel, *by, Style::plain(100));
            prop_assert!(!report.chars().any(|c| c.is_control() && c != '\n'));
            let invisible = ['\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}'];
            prop_assert!(!report.contains(invisible));
        }
    }
}
