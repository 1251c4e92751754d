//! What a suite says about judges (`suite-file.md` §4.3).

use serde_json::{Value, json};
use strandline_contract::words::{JudgeRole, PendingKind};

use super::settings;

#[test]
fn a_suite_without_a_judge_requests_none() {
    let nothing = settings(Value::Null, json!({}));
    assert_eq!(nothing.pending_kind(), None);
    assert!(!nothing.is_required());
    let plain = settings(json!({}), json!({}));
    assert_eq!(plain.pending_kind(), Some(PendingKind::Scheduled));
    assert_eq!(plain.threshold, 0.7);
    assert_eq!(plain.role, JudgeRole::Advisory);
}

#[test]
fn a_case_may_switch_its_judge_off_and_on() {
    let off = settings(
        json!({"role": "required"}),
        json!({"judge": {"enabled": false}}),
    );
    assert_eq!(off.pending_kind(), Some(PendingKind::NotRequested));
    assert!(!off.is_required());
    let on = settings(
        json!({"enabled": false, "role": "gating"}),
        json!({"judge": {"enabled": true}}),
    );
    assert!(on.is_required());
    let by_hand = settings(json!({"autoRun": false}), json!({}));
    assert_eq!(by_hand.pending_kind(), Some(PendingKind::NotRequested));
}

#[test]
fn instructions_alone_are_no_rubric() {
    let told = |judge: Value, case: Value| settings(judge, case).score_cap();
    assert_eq!(
        told(json!({"rubric": {"instructions": "be strict"}}), json!({})),
        Some(0.85)
    );
    assert_eq!(told(json!({}), json!({"expectedOutput": " "})), Some(0.85));
    assert_eq!(
        told(json!({}), json!({"expectedOutput": "It ships."})),
        None
    );
    let criteria = json!({"rubric": {"criteria": [{"id": "a", "label": "names the date"}]}});
    assert_eq!(told(criteria, json!({})), None);
}
