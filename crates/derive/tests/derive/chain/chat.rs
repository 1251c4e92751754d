//! Chat sessions (`chain.md` §14.6, §15.1).

use serde::Deserialize;
use serde_json::Value;
use strandline_contract::{chain_input::Evidence, chat_session::ChatSession};
use strandline_derive::chain::{chat_chain_input, derive_chain};
use strandline_testkit::vectors::{differences, workspace_root};

#[test]
fn sessions_give_the_evidence_and_the_chain_of_the_examples() {
    let file = workspace_root().join("conformance/chat-session.jsonl");
    let text = std::fs::read_to_string(file).expect("the examples are there");
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line");
        let (id, expect) = (&line["id"], &line["expect"]);
        let session = ChatSession::deserialize(&line["input"]).expect("a session");
        let input = chat_chain_input(&session);
        let evidence = Evidence::deserialize(&expect["evidence"]).expect("evidence");
        assert_eq!(input.evidence, evidence, "{id}");
        assert_eq!(expect["status"], input.iteration.status.to_string(), "{id}");
        let chain = serde_json::to_value(derive_chain(&input)).expect("a chain is JSON");
        assert_eq!(differences(&expect["chain"], &chain), [""; 0], "{id}");
    }
}

#[test]
fn an_empty_list_of_results_is_no_result() {
    let session = r#"{"source":"direct","hasUserAsk":true,"lifecycle":"settled",
        "criteria":{"status":"completed","results":[],"criterionIds":["k"]}}"#;
    let session: ChatSession<'_> = serde_json::from_str(session).expect("a session");
    let judge = chat_chain_input(&session).evidence.judge_evidence;
    let judge = serde_json::to_value(judge).expect("evidence is JSON");
    assert_eq!(
        judge,
        serde_json::json!({"status": "pending", "pendingKind": "scheduled"})
    );
}
