//! Which tool calls reach a server (`suite-file.md` §4.2).
//!
//! The policy is frozen once, after the tools were listed; then every call is
//! checked against the frozen table alone.

use serde_json::Value;
use strandline_contract::{
    policy::{Denial, FrozenPolicy, UnknownTool},
    suite::{ToolPolicy, ToolPolicyMode},
    transcript::InventoryTool,
    words::{PolicyReason, ToolClassification},
};

/// What the policy says about one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Calls of the tool reach the server.
    pub allowed: bool,
    /// The rule that decided.
    pub reason: PolicyReason,
    /// What the tool's annotations say.
    pub classification: ToolClassification,
}

/// A policy denies tools that no server lists: a setup error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool policy denies tools that no server lists: {}", .names.join(", "))]
pub struct PolicyInvalid {
    /// Denied names without a tool.
    pub names: Vec<String>,
}

/// A frozen policy and what is odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freeze {
    /// The table that every call is checked against.
    pub policy: FrozenPolicy,
    /// Allowed names without a tool: a warning.
    pub unmatched_allow: Vec<String>,
}

/// Returns what a tool's annotations say about its effects; only a literal
/// `true` counts.
#[must_use]
pub fn classify(annotations: Option<&Value>) -> ToolClassification {
    match (
        hint(annotations, "readOnlyHint"),
        hint(annotations, "destructiveHint"),
    ) {
        (true, true) | (false, false) => ToolClassification::Unknown,
        (false, true) => ToolClassification::Destructive,
        (true, false) => ToolClassification::ReadOnly,
    }
}

fn hint(annotations: Option<&Value>, hint: &str) -> bool {
    annotations.and_then(|annotations| annotations.get(hint)) == Some(&Value::Bool(true))
}

/// Decides on one tool; the first rule that matches wins.
#[must_use]
pub fn decide(policy: &ToolPolicy, tool_name: &str, annotations: Option<&Value>) -> Decision {
    let classification = classify(annotations);
    let listed = |names: &[String]| names.iter().any(|name| name == tool_name);
    let decision = |allowed, reason| Decision {
        allowed,
        reason,
        classification,
    };
    // 1. Denied by name.
    if listed(&policy.deny) {
        return decision(false, PolicyReason::DenyList);
    }
    // 2. Allowed by name: an override, not a whitelist.
    if listed(&policy.allow) {
        return decision(true, PolicyReason::AllowList);
    }
    // 3. Declared destructive, whatever else it declares.
    if hint(annotations, "destructiveHint") {
        return decision(false, PolicyReason::DestructiveDefaultDeny);
    }
    match (policy.mode, classification) {
        // 4. and 5. Read-only mode.
        (ToolPolicyMode::ReadOnly, ToolClassification::ReadOnly) => {
            decision(true, PolicyReason::ReadOnlyModeClassified)
        }
        (
            ToolPolicyMode::ReadOnly,
            ToolClassification::Destructive | ToolClassification::Unknown,
        ) => decision(false, PolicyReason::ReadOnlyModeUnclassified),
        // 6. Anything else.
        (ToolPolicyMode::Default, _) => decision(true, PolicyReason::ModeDefault),
    }
}

/// Freezes a policy over the listed tools.
///
/// # Errors
///
/// [`PolicyInvalid`] when a denied name matches no listed tool.
pub fn freeze(policy: &ToolPolicy, tools: &[InventoryTool]) -> Result<Freeze, PolicyInvalid> {
    let unmatched = |names: &[String]| -> Vec<String> {
        names
            .iter()
            .filter(|name| !tools.iter().any(|tool| tool.name == **name))
            .cloned()
            .collect()
    };
    let names = unmatched(&policy.deny);
    if !names.is_empty() {
        return Err(PolicyInvalid { names });
    }
    let denied = tools.iter().filter_map(|tool| {
        let decision = decide(policy, &tool.name, tool.annotations.as_ref());
        let denial = Denial {
            reason: decision.reason,
            classification: decision.classification,
        };
        (!decision.allowed).then(|| (tool.name.clone(), denial))
    });
    Ok(Freeze {
        policy: FrozenPolicy {
            mode: policy.mode,
            denied: denied.collect(),
            known: tools.iter().map(|tool| tool.name.clone()).collect(),
            unknown_tool: UnknownTool::Deny,
        },
        unmatched_allow: unmatched(&policy.allow),
    })
}

/// Checks one call against the frozen table.
///
/// # Errors
///
/// The [`Denial`] of a call that must not reach a server.
pub fn check(policy: &FrozenPolicy, tool_name: &str) -> Result<(), Denial> {
    if let Some(denial) = policy.denied.get(tool_name) {
        return Err(*denial);
    }
    match policy.unknown_tool {
        UnknownTool::Deny if !policy.known.contains(tool_name) => Err(Denial {
            reason: PolicyReason::UnknownAtLaunch,
            classification: ToolClassification::Unknown,
        }),
        UnknownTool::Deny => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, annotations: Value) -> InventoryTool {
        InventoryTool {
            name: name.to_owned(),
            description: None,
            input_schema: None,
            annotations: Some(annotations),
        }
    }

    fn policy(mode: ToolPolicyMode, allow: &[&str], deny: &[&str]) -> ToolPolicy {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolPolicy {
            mode,
            allow: owned(allow),
            deny: owned(deny),
        }
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        use PolicyReason as Reason;
        use ToolPolicyMode::{Default, ReadOnly};
        let destructive = json!({"destructiveHint": true});
        let read_only = json!({"readOnlyHint": true});
        let both = json!({"destructiveHint": true, "readOnlyHint": true});
        let silent = json!({"readOnlyHint": "true", "destructiveHint": 1});
        let decided = |mode, allow: &[&str], deny: &[&str], annotations: &Value| {
            let decision = decide(&policy(mode, allow, deny), "a", Some(annotations));
            (decision.allowed, decision.reason)
        };
        for (decided, expected) in [
            (
                decided(Default, &["a"], &["a"], &read_only),
                (false, Reason::DenyList),
            ),
            (
                decided(ReadOnly, &["a"], &[], &destructive),
                (true, Reason::AllowList),
            ),
            (
                decided(Default, &[], &[], &destructive),
                (false, Reason::DestructiveDefaultDeny),
            ),
            (
                decided(ReadOnly, &[], &[], &destructive),
                (false, Reason::DestructiveDefaultDeny),
            ),
            (
                decided(Default, &["b"], &[], &both),
                (false, Reason::DestructiveDefaultDeny),
            ),
            (
                decided(ReadOnly, &[], &[], &read_only),
                (true, Reason::ReadOnlyModeClassified),
            ),
            (
                decided(ReadOnly, &[], &[], &silent),
                (false, Reason::ReadOnlyModeUnclassified),
            ),
            (
                decided(Default, &[], &["b"], &silent),
                (true, Reason::ModeDefault),
            ),
            (
                decided(Default, &[], &[], &read_only),
                (true, Reason::ModeDefault),
            ),
        ] {
            assert_eq!(decided, expected);
        }
        assert_eq!(classify(Some(&both)), ToolClassification::Unknown);
        assert_eq!(classify(None), ToolClassification::Unknown);
    }

    #[test]
    fn a_frozen_policy_denies_what_was_not_listed() {
        let tools = [
            tool("a", json!({})),
            tool("b", json!({"destructiveHint": true})),
        ];
        let frozen = freeze(&policy(ToolPolicyMode::Default, &["z"], &["a"]), &tools)
            .expect("every denied name is listed");
        assert_eq!(frozen.unmatched_allow, ["z"]);
        let reason = |name| check(&frozen.policy, name).map_err(|denial| denial.reason);
        assert_eq!(reason("a"), Err(PolicyReason::DenyList));
        assert_eq!(reason("b"), Err(PolicyReason::DestructiveDefaultDeny));
        assert_eq!(reason("c"), Err(PolicyReason::UnknownAtLaunch));
        let open = freeze(&policy(ToolPolicyMode::Default, &["b"], &[]), &tools)
            .expect("nothing is denied by name");
        assert_eq!(check(&open.policy, "b"), Ok(()));
        assert_eq!(
            freeze(&policy(ToolPolicyMode::Default, &[], &["x", "a"]), &tools),
            Err(PolicyInvalid {
                names: vec!["x".to_owned()]
            })
        );
    }
}
