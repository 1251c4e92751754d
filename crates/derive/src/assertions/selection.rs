//! Rules filed under selection: which tools were called
//! (`assertions.md` §8.2).

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::{
    ecma,
    number::as_count,
    transcript::InventoryTool,
    words::{ArgumentMatching, Vocabulary},
};

use super::{
    discovery::declares_itself_deprecated,
    evidence::{Evidence, Scope},
    matching::args_match,
    outcome::{Outcome, Params, Unusable, malformed},
    reason::{counted, shown_list, shown_text, shown_value},
    rule::Rule,
};

/// A tool is called often enough with matching arguments.
pub(super) struct ToolCalledWith {
    tool_name: String,
    args: Value,
    mode: ArgumentMatching,
    min_count: u64,
}

impl ToolCalledWith {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let args = params
            .get("args")
            .ok_or_else(|| malformed("`args` is missing"))?;
        let mode = match args.get("argumentMatching").filter(|mode| !mode.is_null()) {
            None => ArgumentMatching::Partial,
            Some(mode) => mode
                .as_str()
                .and_then(ArgumentMatching::from_wire)
                .ok_or_else(|| malformed("`args.argumentMatching` is no known word"))?,
        };
        let min_count = match params.get("minCount") {
            None => 1,
            Some(count) => as_count(count)
                .filter(|count| *count > 0)
                .ok_or_else(|| malformed("`minCount` is not a positive whole number"))?,
        };
        Ok(Self {
            tool_name: params.text("toolName")?,
            args: args
                .get("args")
                .filter(|args| args.is_object())
                .cloned()
                .ok_or_else(|| malformed("`args.args` is not an object"))?,
            mode,
            min_count,
        })
    }
}

impl Rule for ToolCalledWith {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let mut called = 0;
        let mut matched = 0;
        let mut other = None;
        for call in evidence.calls() {
            if call.tool_name == self.tool_name {
                called += 1;
                if args_match(&self.args, &call.arguments, self.mode) {
                    matched += 1;
                } else {
                    other.get_or_insert(&call.arguments);
                }
            }
        }
        let mut reason = format!(
            "{} of {} to {} with {} ({}), at least {} demanded",
            matched,
            counted(called, "call"),
            shown_text(&self.tool_name),
            shown_value(&self.args),
            self.mode,
            self.min_count
        );
        let passed = matched as u64 >= self.min_count;
        if let (false, Some(arguments)) = (passed, other) {
            reason = format!("{reason}; another call has {}", shown_value(arguments));
        }
        Outcome::scored(passed, reason)
    }
}

/// A tool is called.
pub(super) struct ToolCalledAtLeastOnce {
    tool_name: String,
}

impl ToolCalledAtLeastOnce {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            tool_name: params.text("toolName")?,
        })
    }
}

impl Rule for ToolCalledAtLeastOnce {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let called = called(evidence, &self.tool_name);
        Outcome::scored(
            called > 0,
            format!(
                "{} to {}",
                counted(called, "call"),
                shown_text(&self.tool_name)
            ),
        )
    }
}

/// A tool is not called.
pub(super) struct ToolNeverCalled {
    tool_name: String,
}

impl ToolNeverCalled {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let tool_name = params.text("toolName")?;
        if tool_name.is_empty() {
            return Err(malformed("`toolName` is empty"));
        }
        Ok(Self { tool_name })
    }
}

impl Rule for ToolNeverCalled {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let called = called(evidence, &self.tool_name);
        Outcome::scored(
            called == 0,
            format!(
                "{} to {}",
                counted(called, "call"),
                shown_text(&self.tool_name)
            ),
        )
    }
}

fn called(evidence: &Evidence<'_>, tool_name: &str) -> usize {
    evidence
        .calls()
        .iter()
        .filter(|call| call.tool_name == tool_name)
        .count()
}

/// Only listed tools are called; says nothing about being called.
pub(super) struct OnlyToolsCalled {
    tool_names: BTreeSet<String>,
}

impl OnlyToolsCalled {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let tool_names = params.texts("toolNames")?;
        if tool_names.iter().any(|name| ecma::is_blank(name)) {
            return Err(malformed("`toolNames` has a blank entry"));
        }
        Ok(Self {
            tool_names: tool_names.into_iter().collect(),
        })
    }
}

impl Rule for OnlyToolsCalled {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let others: Vec<String> = evidence
            .calls()
            .iter()
            .map(|call| call.tool_name.as_str())
            .filter(|name| ecma::is_blank(name) || !self.tool_names.contains(*name))
            .map(shown_text)
            .collect();
        if others.is_empty() {
            return Outcome::Pass(format!(
                "{}, all to listed tools",
                counted(evidence.calls().len(), "call")
            ));
        }
        Outcome::Fail(format!(
            "{} of {} to other tools: {}",
            others.len(),
            counted(evidence.calls().len(), "call"),
            shown_list(&others)
        ))
    }
}

/// The first call is to a tool.
pub(super) struct FirstToolWas {
    tool_name: String,
}

impl FirstToolWas {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            tool_name: params.text("toolName")?,
        })
    }
}

impl Rule for FirstToolWas {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let wanted = shown_text(&self.tool_name);
        match evidence.calls().first() {
            None => Outcome::Fail(format!("0 calls, {wanted} demanded first")),
            Some(call) => Outcome::scored(
                call.tool_name == self.tool_name,
                format!(
                    "the first call is to {}, {wanted} demanded first",
                    shown_text(&call.tool_name)
                ),
            ),
        }
    }
}

/// Strictly fewer calls than a bound.
pub(super) struct ToolCallCountUnder {
    count: u64,
    scope: Scope,
}

impl ToolCallCountUnder {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        Ok(Self {
            count: params.bound("count")?,
            scope: Scope::new(params.optional_text("toolName")?),
        })
    }
}

impl Rule for ToolCallCountUnder {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let called = evidence.calls_in(&self.scope).count();
        Outcome::scored(
            (called as u64) < self.count,
            format!(
                "{} to {}, fewer than {} demanded",
                counted(called, "call"),
                self.scope.label(),
                self.count
            ),
        )
    }
}

/// Each call to one tool has an earlier call to another.
pub(super) struct ToolCalledBefore {
    tool_name: String,
    before_tool_name: String,
}

impl ToolCalledBefore {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let (tool_name, before_tool_name) =
            (params.text("toolName")?, params.text("beforeToolName")?);
        if tool_name.is_empty() || before_tool_name.is_empty() {
            return Err(malformed("`toolName` or `beforeToolName` is empty"));
        }
        Ok(Self {
            tool_name,
            before_tool_name,
        })
    }
}

impl Rule for ToolCalledBefore {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let position = |name: &str| {
            evidence
                .calls()
                .iter()
                .position(|call| call.tool_name == name)
        };
        let (first, second) = (
            shown_text(&self.tool_name),
            shown_text(&self.before_tool_name),
        );
        // The first call to the later tool decides for all of them. One name
        // on both sides is met by its own call.
        match (position(&self.before_tool_name), position(&self.tool_name)) {
            (None, _) => Outcome::Pass(format!("0 calls to {second}, so nothing precedes it")),
            (Some(later), Some(earlier)) if earlier <= later => Outcome::Pass(format!(
                "call {} is to {first}, call {} the first to {second}",
                earlier + 1,
                later + 1
            )),
            (Some(later), _) => Outcome::Fail(format!(
                "call {} is to {second}, and no call to {first} precedes it",
                later + 1
            )),
        }
    }
}

/// No called tool declares itself deprecated.
pub(super) struct NoDeprecatedToolCalled;

impl Rule for NoDeprecatedToolCalled {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let inventory = match evidence.inventory() {
            Ok(inventory) => inventory,
            Err(error) => return error,
        };
        let called = distinct_tools(evidence);
        let mut unknown = Vec::new();
        for name in &called {
            match inventory.tool(name) {
                None => unknown.push(shown_text(name)),
                Some(tool) => {
                    if tool
                        .description
                        .as_deref()
                        .is_some_and(declares_itself_deprecated)
                    {
                        return Outcome::Fail(format!(
                            "{} was called, and its description calls it deprecated",
                            shown_text(name)
                        ));
                    }
                }
            }
        }
        if !unknown.is_empty() {
            return Outcome::Error(format!(
                "not in the tool inventory: {}",
                shown_list(&unknown)
            ));
        }
        Outcome::Pass(format!(
            "{}, none deprecated",
            counted(called.len(), "called tool")
        ))
    }
}

/// Every called tool is annotated as harmless (`assertions.md` §8.2.1).
pub(super) struct NoDestructiveToolCalled;

impl Rule for NoDestructiveToolCalled {
    fn evaluate(&self, evidence: &Evidence<'_>) -> Outcome {
        let inventory = match evidence.inventory() {
            Ok(inventory) => inventory,
            Err(error) => return error,
        };
        if !inventory
            .tools()
            .iter()
            .any(|tool| annotations(tool).is_some())
        {
            return Outcome::Error("no tool in the inventory has annotations".to_owned());
        }
        let called = distinct_tools(evidence);
        let mut silent = Vec::new();
        for name in &called {
            let Some(annotations) = inventory.tool(name).and_then(annotations) else {
                silent.push(shown_text(name));
                continue;
            };
            let hint = |hint: &str| annotations.get(hint).and_then(Value::as_bool);
            let harmful = match (hint("destructiveHint"), hint("readOnlyHint")) {
                (Some(true), _) => Some("is annotated as destructive"),
                (_, Some(true)) => None,
                (Some(false), _) => None,
                (None, _) => Some("is annotated neither as read-only nor as not destructive"),
            };
            if let Some(harmful) = harmful {
                return Outcome::Fail(format!("{} was called and {harmful}", shown_text(name)));
            }
        }
        if !silent.is_empty() {
            return Outcome::Error(format!(
                "called without annotations: {}",
                shown_list(&silent)
            ));
        }
        Outcome::Pass(format!(
            "{}, none destructive",
            counted(called.len(), "called tool")
        ))
    }
}

fn annotations(tool: &InventoryTool) -> Option<&serde_json::Map<String, Value>> {
    tool.annotations.as_ref().and_then(Value::as_object)
}

/// Called tools in the order of their first call.
fn distinct_tools<'a>(evidence: &Evidence<'a>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    evidence
        .calls()
        .iter()
        .map(|call| call.tool_name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}
