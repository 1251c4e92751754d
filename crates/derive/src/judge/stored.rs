//! Stored suspected conditions → accepted or violations (`friction.md` §9.2).

use serde_json::{Map, Value};
use strandline_contract::{
    ecma::utf16_len,
    judgement::{CONDITION_KEY, ConditionEvidence, ConditionProvenance, SuspectedConditionVerdict},
    words::ConditionStatus,
};

use super::condition::{MAX_FIELD_PATH, MAX_REMEDIATION};
use crate::document::{Findings, Node, Violation};

/// What a trial's open metadata says about a suspected condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredCondition {
    /// Nothing: nobody looked.
    Absent,
    /// A verdict that may be believed.
    Verified(Box<SuspectedConditionVerdict>),
    /// One that may not.
    Unverified,
}

/// Reads the key `suspectedConditionVerdict` of a trial's metadata.
#[must_use]
pub fn project_suspected_condition(metadata: &Map<String, Value>) -> StoredCondition {
    match metadata
        .get(CONDITION_KEY)
        .map(validate_suspected_condition)
    {
        None => StoredCondition::Absent,
        Some(Ok(verdict)) => StoredCondition::Verified(Box::new(verdict)),
        Some(Err(_)) => StoredCondition::Unverified,
    }
}

const PROVENANCE: [&str; 8] = [
    "gradingKey",
    "signalKind",
    "informationCallIndex",
    "observedAtCallIndex",
    "judgeTemplateVersion",
    "judgeTemplateHash",
    "model",
    "generatedAt",
];

/// Reads a stored verdict: a closed object, told apart by `status`.
///
/// # Errors
///
/// Returns every violation of `friction.md` §9.2 (the first 100).
pub fn validate_suspected_condition(
    document: &Value,
) -> Result<SuspectedConditionVerdict, Vec<Violation>> {
    let findings = Findings::default();
    let typed = read(&Node::root(document, &findings));
    findings.into_result(typed)
}

fn read(node: &Node<'_>) -> Option<SuspectedConditionVerdict> {
    node.open_object()?;
    let status = node.required_with("status", |node| node.word::<ConditionStatus>())?;
    let own: &[&str] = match status {
        ConditionStatus::Scored => &["condition", "confidence", "remediation", "evidence"],
        ConditionStatus::Skipped => &["reason"],
        ConditionStatus::Error => &[],
    };
    let keys = [&["status"], own, PROVENANCE.as_slice()].concat();
    node.closed_object(&keys)?;
    let provenance = read_provenance(node);
    match status {
        ConditionStatus::Scored => {
            let condition = node.required_with("condition", |node| node.word());
            let confidence = node.required_with("confidence", |node| node.word());
            let remediation =
                node.optional_with("remediation", |node| bounded(node, MAX_REMEDIATION));
            let evidence = node.optional_with("evidence", read_evidence);
            Some(SuspectedConditionVerdict::Scored {
                condition: condition?,
                confidence: confidence?,
                remediation: remediation?,
                evidence: evidence?,
                provenance: provenance?,
            })
        }
        ConditionStatus::Skipped => {
            let reason = node.required_with("reason", |node| node.word());
            Some(SuspectedConditionVerdict::Skipped {
                reason: reason?,
                provenance: provenance?,
            })
        }
        ConditionStatus::Error => Some(SuspectedConditionVerdict::Error {
            provenance: provenance?,
        }),
    }
}

fn read_evidence(node: &Node<'_>) -> Option<ConditionEvidence> {
    node.closed_object(&["callIndex", "toolName", "fieldPath"])?;
    let call_index = node.required_with("callIndex", |node| node.count());
    let tool_name = node.required_with("toolName", |node| node.non_empty_text().map(str::to_owned));
    let field_path = node.optional_with("fieldPath", |node| bounded(node, MAX_FIELD_PATH));
    Some(ConditionEvidence {
        call_index: call_index?,
        tool_name: tool_name?,
        field_path: field_path?,
    })
}

fn read_provenance(node: &Node<'_>) -> Option<ConditionProvenance> {
    let text = |key: &str| node.required_with(key, |node| node.non_empty_text().map(str::to_owned));
    let count = |key: &str| node.required_with(key, |node| node.count());
    let grading_key = text("gradingKey");
    let signal_kind = text("signalKind");
    let information_call_index = count("informationCallIndex");
    let observed_at_call_index = count("observedAtCallIndex");
    let version = node.required_with("judgeTemplateVersion", |node| node.count_from(1));
    let hash = node.required_with("judgeTemplateHash", |node| node.text().map(str::to_owned));
    let model = text("model");
    let generated_at = count("generatedAt");
    Some(ConditionProvenance {
        grading_key: grading_key?,
        signal_kind: signal_kind?,
        information_call_index: information_call_index?,
        observed_at_call_index: observed_at_call_index?,
        judge_template_version: version?,
        judge_template_hash: hash?,
        model: model?,
        generated_at: generated_at?,
    })
}

fn bounded(node: &Node<'_>, most: usize) -> Option<String> {
    let text = node.non_empty_text()?;
    if utf16_len(text) > most {
        return node.refuse(format_args!("must have at most {most} characters"));
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "status": "scored", "condition": "missingUnits", "confidence": "high",
            "remediation": "name the currency of `total`",
            "evidence": {"callIndex": 0, "toolName": "get_order", "fieldPath": "total"},
            "gradingKey": "refund#0", "signalKind": "changedRetry", "informationCallIndex": 0,
            "observedAtCallIndex": 1, "judgeTemplateVersion": 1, "judgeTemplateHash": "0a",
            "model": "openai/judge", "generatedAt": 1_796_083_200_000_i64,
        })
    }

    fn with(key: &str, value: Value) -> Value {
        let mut document = document();
        document[key] = value;
        document
    }

    #[test]
    fn what_is_written_is_read_again() {
        let verdict = validate_suspected_condition(&document()).expect("valid");
        assert_eq!(serde_json::to_value(&verdict).expect("JSON"), document());
        let text = serde_json::to_string(&verdict).expect("JSON");
        assert!(text.starts_with(r#"{"status":"scored","condition":"missingUnits","confidence""#));
    }

    #[test]
    fn skipped_and_failed_verdicts_carry_no_condition() {
        for (status, extra) in [("skipped", json!({"reason": "cap"})), ("error", json!({}))] {
            let mut verdict = document();
            verdict["status"] = status.into();
            let members = verdict.as_object_mut().expect("an object");
            for key in ["confidence", "remediation", "evidence"] {
                members.remove(key);
            }
            members.extend(extra.as_object().expect("an object").clone());
            assert!(validate_suspected_condition(&verdict).is_err(), "{status}");
            verdict
                .as_object_mut()
                .expect("an object")
                .remove("condition");
            assert!(validate_suspected_condition(&verdict).is_ok(), "{status}");
        }
    }

    #[test]
    fn bounds_and_words_are_held() {
        for refused in [
            with("remediation", json!("")),
            with("remediation", json!("x".repeat(301))),
            with("remediation", Value::Null),
            with("condition", json!("tooSlow")),
            with("judgeTemplateVersion", json!(0)),
            with("generatedAt", json!(-1)),
            with("generatedAt", json!(0.5)),
            with("model", json!("")),
            with("more", json!(1)),
            with("evidence", json!({"callIndex": 0, "toolName": ""})),
            with(
                "evidence",
                json!({"callIndex": 0, "toolName": "t", "fieldPath": "x".repeat(121)}),
            ),
        ] {
            assert!(validate_suspected_condition(&refused).is_err(), "{refused}");
        }
        assert!(validate_suspected_condition(&with("remediation", json!("x".repeat(300)))).is_ok());
        assert!(validate_suspected_condition(&with("judgeTemplateVersion", json!(1.0))).is_ok());
    }

    #[test]
    fn metadata_is_projected_whole_or_not_at_all() {
        let project = |value: Option<Value>| {
            let mut metadata = Map::new();
            if let Some(value) = value {
                metadata.insert(CONDITION_KEY.to_owned(), value);
            }
            project_suspected_condition(&metadata)
        };
        assert_eq!(project(None), StoredCondition::Absent);
        assert!(matches!(
            project(Some(document())),
            StoredCondition::Verified(_)
        ));
        assert_eq!(project(Some(Value::Null)), StoredCondition::Unverified);
    }
}
