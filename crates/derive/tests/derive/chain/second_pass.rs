//! A judge that answers later (`chain.md` §14.5).

use strandline_contract::{
    chain::Chain,
    chain_input::{ChainInput, JudgeEvidence},
    words::{JudgeStatus, JudgeVerdict, StageReason, StepErrorSource},
};
use strandline_derive::chain::{LateEvidence, derive_chain, second_pass};

fn input(status: &str) -> ChainInput<'static> {
    let text = format!(
        r#"{{"authored":{{"mode":"model_driven","assertionCount":1}},"evidence":{{}},"iteration":{{"status":"{status}"}}}}"#
    );
    serde_json::from_str(text.leak()).expect("an input")
}

fn late() -> LateEvidence<'static> {
    LateEvidence {
        judge: Some(JudgeEvidence {
            verdict: Some(JudgeVerdict::Pass),
            ..JudgeEvidence::new(JudgeStatus::Scored)
        }),
        attribution: None,
    }
}

fn user_value(chain: &Chain<'_>) -> Option<StageReason> {
    chain.stage_results[5].reason
}

#[test]
fn a_late_judge_gives_a_whole_new_chain() {
    let first = input("completed");
    let stored = derive_chain(&first);
    assert_eq!(user_value(&stored), Some(StageReason::NoEvidenceCaptured));
    let again = second_pass(first.clone(), &stored, None, late()).expect("a second pass");
    assert_eq!(
        user_value(&derive_chain(&again)),
        Some(StageReason::JudgeObserved)
    );
}

#[test]
fn only_trials_that_ran_to_an_end_are_derived_again() {
    for status in [
        "running",
        "pending",
        "cancelled",
        "timed_out",
        "setup_failed",
        "skipped",
    ] {
        let first = input(status);
        let stored = derive_chain(&first);
        assert_eq!(
            second_pass(first.clone(), &stored, None, late()),
            None,
            "{status}"
        );
    }
}

#[test]
fn a_provider_failure_is_remembered_by_source_or_by_a_row() {
    let first = input("failed");
    let stored = derive_chain(&first);
    let by_source = second_pass(
        first.clone(),
        &stored,
        Some(StepErrorSource::Model),
        LateEvidence::default(),
    )
    .expect("a second pass");
    let withdrawn = derive_chain(&by_source);
    assert_eq!(user_value(&withdrawn), Some(StageReason::ProviderError));
    let by_row = second_pass(first.clone(), &withdrawn, None, LateEvidence::default());
    assert_eq!(by_row.expect("a second pass"), by_source);
}
