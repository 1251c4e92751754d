//! Rules filed under call: how tools were called (`assertions.md` §8.3).

use std::collections::BTreeMap;

use serde_json::Value;
use strandline_contract::{canonical::canonical_json, transcript::ToolCall};

use super::{
    evidence::{Evidence, Scope},
    outcome::{Outcome, Params, Unusable},
    patterns::{Bounds, PatternRule, Subject},
    reason::{counted, shown_list, shown_text, shown_value},
    rule::Rule,
    schema::{Schema, SchemaError, shown_violations},
};

/// The arguments of every call validate against the tool's input schema.
pub(super) struct ArgumentsMatchToolSchema {
    scope: Scope,
}

impl ArgumentsMatchToolSchema {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ArgumentsMatchToolSchema {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let inventory = match evidence.inventory() {
            Ok(inventory) => inventory,
            Err(error) => return error,
        };
        let mut schemas: BTreeMap<&str, Result<Schema, SchemaError>> = BTreeMap::new();
        let mut read = 0;
        let mut violating = 0;
        let mut findings = Vec::new();
        let mut undeclared = Vec::new();
        // Calls are read in order, and one without a usable schema ends the
        // reading, even after a violation.
        for call in evidence.calls_in(&self.scope) {
            let name = shown_text(&call.tool_name);
            let Some(tool) = inventory.tool(&call.tool_name) else {
                return Outcome::Error(format!("{name} is not in the tool inventory"));
            };
            let Some(declared) = &tool.input_schema else {
                return Outcome::Error(format!("{name} has no input schema"));
            };
            let schema = schemas
                .entry(&call.tool_name)
                .or_insert_with(|| Schema::compile(declared));
            let schema = match schema {
                Ok(schema) => schema,
                Err(error) => return Outcome::Error(format!("{name}: {error}")),
            };
            read += 1;
            let violations = schema.violations(&call.arguments);
            if violations.is_empty() {
                undeclared.extend(undeclared_keys(declared, &call.arguments));
            } else {
                violating += 1;
                findings.push(format!("{name}: {}", shown_violations(&violations)));
            }
        }
        if violating > 0 {
            return Outcome::Fail(format!(
                "arguments of {violating} of {} to {} do not fit the schema: {}",
                counted(read, "call"),
                self.scope.label(),
                shown_list(&findings)
            ));
        }
        let mut reason = format!(
            "arguments of {} to {} fit the schema",
            counted(read, "call"),
            self.scope.label()
        );
        // An open schema tolerates them: mentioned, never a violation.
        if !undeclared.is_empty() {
            reason = format!("{reason}; undeclared keys: {}", shown_list(&undeclared));
        }
        Outcome::Pass(reason)
    }
}

/// Keys of a call that its tool's open schema does not declare.
fn undeclared_keys(schema: &Value, arguments: &Value) -> Vec<String> {
    let declared = schema.get("properties").and_then(Value::as_object);
    arguments
        .as_object()
        .into_iter()
        .flat_map(|arguments| arguments.keys())
        .filter(|key| !declared.is_some_and(|declared| declared.contains_key(*key)))
        .map(|key| shown_text(key))
        .collect()
}

/// No call equals the one immediately before it.
pub(super) struct NoRepeatedIdenticalCall {
    scope: Scope,
}

impl NoRepeatedIdenticalCall {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for NoRepeatedIdenticalCall {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        // Neighbours in the full list; the scope only selects what is reported.
        let repeats: Vec<(usize, &ToolCall)> = evidence
            .calls()
            .windows(2)
            .enumerate()
            .filter_map(|(index, pair)| match pair {
                [before, call] if identical(before, call) && self.scope.holds(&call.tool_name) => {
                    Some((index + 1, call))
                }
                _ => None,
            })
            .collect();
        match repeats.first() {
            None => Outcome::Pass(format!(
                "{}, none repeats the one before it",
                counted(evidence.calls().len(), "call")
            )),
            Some((index, call)) => Outcome::Fail(format!(
                "{} the one before unchanged; call {} repeats {} with {}",
                if repeats.len() == 1 {
                    "1 call repeats".to_owned()
                } else {
                    format!("{} calls repeat", repeats.len())
                },
                index + 1,
                shown_text(&call.tool_name),
                shown_value(&call.arguments)
            )),
        }
    }
}

fn identical(left: &ToolCall, right: &ToolCall) -> bool {
    left.tool_name == right.tool_name
        && canonical_json(&left.arguments) == canonical_json(&right.arguments)
}

/// The number of calls whose arguments match every pattern lies within bounds
/// (`assertions.md` §8.6).
pub(super) struct ToolInputMatches {
    tool_name: String,
    rule: PatternRule,
}

impl ToolInputMatches {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            tool_name: params.text("toolName")?,
            rule: PatternRule::read(params)?,
        })
    }
}

impl Rule for ToolInputMatches {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let subjects = evidence
            .calls()
            .iter()
            .filter(|call| call.tool_name == self.tool_name)
            .map(|call| match self.rule.key() {
                None => Subject::of_value(&call.arguments),
                Some(key) => Subject::of_property(Some(&call.arguments), key),
            });
        // Calls are recorded without loss: nothing is unseen.
        self.rule.verdict(
            subjects,
            Bounds::Seen,
            "call",
            &format!("to {}", shown_text(&self.tool_name)),
        )
    }
}
