//! Whether a failing rule fails the trial (`assertions.md` §5).

use serde_json::{Map, Value};
use strandline_contract::{suite::AuthoredAssertion, words::RuleRole};

/// Returns a rule's effective role: only the literal `advisory` un-gates.
#[must_use]
pub fn role_of(rule: &AuthoredAssertion) -> RuleRole {
    match rule.get("role").and_then(Value::as_str) {
        Some("advisory") => RuleRole::Advisory,
        _ => RuleRole::Required,
    }
}

/// Returns a rule without the fields that are no part of its identity.
#[must_use]
pub fn identity_of(rule: &AuthoredAssertion) -> Map<String, Value> {
    let mut identity = rule.clone();
    identity.remove("role");
    identity.remove("severity");
    identity
}
