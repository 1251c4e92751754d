//! Funnels by slice, and funnels that are not there.

use maud::html;
use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    analytics_input::AnalyticsInput,
    words::{FunnelAbsence, SliceDimension, Vocabulary},
};
use strandline_derive::analytics::derive_stage_analytics;
use strandline_report::html::funnel;

use crate::look::{Addresses, HOSTILE, read, whole};

const STAGES: [&str; 6] = [
    "connection",
    "discovery",
    "selection",
    "call",
    "response",
    "userValue",
];

/// A trial whose strip is written in ASCII marks; `r` is reached and undecided.
fn trial(strip: &str, reason: &str, intent: &str) -> Value {
    let rows = strip.chars().zip(STAGES).map(|(mark, stage)| {
        let (state, why, reach) = match mark {
            'P' => ("passed", "observed", "reached"),
            'F' => ("failed", reason, "reached"),
            '.' => ("notReached", "earlierStageFailed", "notReached"),
            'r' => ("notMeasured", reason, "reached"),
            '?' => ("notMeasured", reason, "unknown"),
            _ => ("notApplicable", "notAuthored", "notApplicable"),
        };
        let row = json!({"stage": stage, "state": state, "reason": why});
        (row, json!({"stage": stage, "reach": reach}))
    });
    let (rows, measured): (Vec<Value>, Vec<Value>) = rows.unzip();
    json!({
        "trialKey": "t", "status": "completed", "stageResults": rows, "stageAnalyzerVersion": 12,
        "chainVerified": true, "measurementsVerified": true, "intent": intent,
        "provider": intent, "model": intent,
        "measurements": {"schemaVersion": 1, "stageAnalyzerVersion": 12, "rows": measured},
    })
}

fn funnel_of(trials: &[Value]) -> StageAnalytics {
    let text = json!({
        "run": {"runId": "r", "suiteId": "s", "materializationState": "provisional", "now": 1,
            "readerStageAnalyzerVersion": 12},
        "trials": trials, "setupSignals": [],
    })
    .to_string();
    let input: AnalyticsInput<'_> = serde_json::from_str(&text).expect("an input");
    derive_stage_analytics(&input)
}

fn by(name: &str, funnel: &StageAnalytics, by: SliceDimension) -> String {
    let body = html! {
        (funnel::heading(HOSTILE))
        (funnel::dimensions(&Addresses, "r", Some(by)))
        (funnel::slices(&Addresses, funnel, by))
    };
    whole(name, "Funnel", &body)
}

#[test]
fn slices_have_a_funnel_each() {
    let funnel = funnel_of(&[
        trial("PPPF..", "argumentMismatch", "refunds"),
        trial("PPPPPP", "observed", "refunds"),
        trial("PP--Pr", "judgePending", "look-ups"),
        trial("P?PPPP", "noEvidenceCaptured", "look-ups"),
    ]);
    let shown = by("funnel-intent", &funnel, SliceDimension::Intent);
    insta::assert_snapshot!(read(&shown));
    let shown = by("funnel-host", &funnel, SliceDimension::Host);
    assert!(read(&shown).contains("no trial names a host"));
}

#[test]
fn what_nobody_measured_is_no_zero() {
    let funnel = funnel_of(&[trial("??????", "traceAbsent", "x")]);
    let shown = by("funnel-unmeasured", &funnel, SliceDimension::Model);
    let text = read(&shown);
    assert!(text.contains("not measured"), "{text}");
    assert!(!text.contains("0/0") && !text.contains("0 %"), "{text}");
    assert!(!shown.contains("rect class=\"is-passed\""));
}

#[test]
fn hostile_labels_stay_text() {
    let funnel = funnel_of(&[trial("PPPPPP", "observed", HOSTILE)]);
    for dimension in SliceDimension::ALL {
        let shown = by("funnel-hostile", &funnel, *dimension);
        assert!(!shown.contains("<img") && !shown.contains('\u{202e}'));
    }
}

#[test]
fn the_absences_are_told_apart_and_none_is_a_funnel() {
    let mut told = Vec::new();
    for absence in FunnelAbsence::ALL {
        let body = funnel::absent(&Addresses, *absence, Some(HOSTILE));
        let shown = whole("funnel-absent", "Funnel", &body);
        assert!(!shown.contains("<img") && !shown.contains("class=\"funnel\""));
        assert!(shown.contains(absence.label()));
        told.push(read(&shown));
    }
    told.dedup();
    assert_eq!(told.len(), FunnelAbsence::ALL.len());
}
