//! What a suite leaves unproved, as a person reads it.

use serde_json::json;
use strandline_contract::{coverage::Coverage, words::Vocabulary};
use strandline_report::{coverage::coverage, style::Style};

fn example() -> Coverage {
    let tally = |kind: &str, unit: &str, total: u64, unproved: u64, undecided: u64| {
        json!({"kind": kind, "unit": unit, "state": "measured", "total": total,
            "proved": total - unproved - undecided, "unproved": unproved, "undecided": undecided})
    };
    let arguments = ["currency", "reason", "not\u{1b}[31me"].map(|argument| {
        json!({"kind": "argumentNeverAsserted", "server": "shop", "toolName": "refund",
            "argument": argument, "required": argument == "reason"})
    });
    let mut gaps = vec![
        json!({"kind": "toolNeverExpected", "server": "shop", "toolName": "list", "calledInTrials": 3}),
        json!({"kind": "toolNeverExpected", "toolName": "drop", "calledInTrials": 0}),
    ];
    gaps.extend(arguments);
    gaps.extend((0..14).map(|number| {
        json!({"kind": "errorPathNeverExercised", "server": "shop", "toolName": format!("tool_{number}"),
            "calledInTrials": number % 2})
    }));
    gaps.push(
        json!({"kind": "stageNeverDecided", "stage": "userValue", "notApplicableTrials": 4,
        "notMeasuredTrials": 1}),
    );
    serde_json::from_value(json!({
        "version": 1, "suite": {"id": "s", "name": "Order desk"},
        "run": {"runId": "019a", "trials": 5, "chains": 5, "toolsListed": true},
        "kinds": [
            tally("toolNeverExpected", "tool", 6, 2, 0),
            tally("argumentNeverAsserted", "argument", 9, 3, 0),
            tally("errorPathNeverExercised", "tool", 16, 14, 1),
            tally("stageNeverDecided", "stage", 6, 1, 0),
            tally("emptyAnswerPasses", "case", 1, 0, 0),
        ],
        "gaps": gaps,
    }))
    .expect("coverage")
}

#[test]
fn gaps_are_told_kind_by_kind_and_bounded() {
    insta::assert_snapshot!(coverage(&example(), Some("019a"), &Style::plain(80)));
}

#[test]
fn without_glyphs_the_same_is_said() {
    let ascii = coverage(&example(), Some("019a"), &Style::ascii(60));
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(
        ascii.contains("! tool never expected: 2 of 6 tools"),
        "{ascii}"
    );
}

#[test]
fn what_was_not_measured_says_why() {
    let mut alone = example();
    alone.run = None;
    alone.gaps.clear();
    for tally in &mut alone.kinds {
        *tally = serde_json::from_value(json!({"kind": tally.kind, "unit": tally.unit,
            "state": "notMeasured", "reason": "noRun", "total": 0, "proved": 0, "unproved": 0,
            "undecided": 0}))
        .expect("a row");
    }
    let text = coverage(&alone, None, &Style::plain(120));
    assert!(
        text.starts_with(" Order desk · the suite file alone\n"),
        "{text}"
    );
    let because = "not measured: only a stored run can show it";
    for tally in &alone.kinds {
        let line = format!(" ○ {}: {because}", tally.kind.label());
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
