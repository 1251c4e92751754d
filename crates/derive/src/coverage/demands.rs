//! Which calls and arguments a case demands.
//!
//! Only required rules prove anything, and only positive ones demand a call:
//! "never called" and "called under a bound" hold without one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strandline_contract::{
    number::as_count,
    suite::{AuthoredAssertion, MatchOptions, ResolvedCase, Step},
    words::{ArgumentMatching, AssertionKind, RuleRole},
};

use crate::assertions::{
    expectations::{compile_turns, kind_of},
    options::MatchSettings,
    role::role_of,
};

/// What the cases of a suite demand and name.
#[derive(Debug, Default)]
pub(super) struct Demands {
    /// Tools of which some case demands a call.
    expected: BTreeSet<String>,
    /// Arguments for which some case demands a value, by tool.
    arguments: BTreeMap<String, BTreeSet<String>>,
    /// Tools of which some case demands every argument.
    whole: BTreeSet<String>,
    /// Tools that some case names at all.
    named: BTreeSet<String>,
}

impl Demands {
    /// Reads the demands of cases under the suite's match options.
    pub(super) fn of<'a>(
        cases: impl Iterator<Item = &'a ResolvedCase>,
        suite: Option<&MatchOptions>,
    ) -> Self {
        let mut demands = Self::default();
        for case in cases {
            demands.read_case(case, suite);
        }
        demands
    }

    /// Returns whether some case demands a call of the tool.
    pub(super) fn expects(&self, tool: &str) -> bool {
        self.expected.contains(tool)
    }

    /// Returns whether some case demands a value for the argument.
    pub(super) fn asserts(&self, tool: &str, argument: &str) -> bool {
        self.whole.contains(tool)
            || self
                .arguments
                .get(tool)
                .is_some_and(|arguments| arguments.contains(argument))
    }

    /// Returns every tool that some case names.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }

    fn read_case(&mut self, case: &ResolvedCase, suite: Option<&MatchOptions>) {
        for step in &case.steps {
            match step {
                Step::Prompt { .. } => {}
                Step::ToolCall {
                    tool_name,
                    arguments,
                    ..
                } => {
                    self.name(tool_name);
                    self.expect(tool_name);
                    self.assert(tool_name, arguments.keys());
                }
                Step::Interact { tool_name, .. } => self.name(tool_name),
                Step::Assert { assertion, .. } => self.read_rule(case, assertion),
            }
        }
        for assertion in &case.assertions {
            self.read_rule(case, assertion);
            // At case level `toolCalledWith` is an ordinary rule.
            if demands_calls(case, assertion)
                && kind_of(assertion) == Some(AssertionKind::ToolCalledWith)
            {
                self.read_called_with(assertion);
            }
        }
        if case.is_negative_test {
            return;
        }
        // An option that cannot be read is refused before a run; the defaults
        // only decide what an unusable suite would have proved.
        let layers = suite.into_iter().chain(case.match_options.as_ref());
        let settings = MatchSettings::resolve(layers).unwrap_or_default();
        let turns = compile_turns(case, settings);
        for expectation in turns.iter().flat_map(|turn| &turn.expectations) {
            self.expect(&expectation.tool_name);
            self.match_arguments(
                &expectation.tool_name,
                &expectation.args,
                expectation.argument_matching,
            );
        }
    }

    fn read_rule(&mut self, case: &ResolvedCase, rule: &AuthoredAssertion) {
        let names = ["toolName", "beforeToolName"]
            .into_iter()
            .filter_map(|key| rule.get(key)?.as_str())
            .chain(
                rule.get("toolNames")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str),
            );
        for name in names {
            self.name(name);
        }
        let Some(tool) = rule.get("toolName").and_then(Value::as_str) else {
            return;
        };
        if !demands_calls(case, rule) {
            return;
        }
        let least = rule.get("min").and_then(as_count).unwrap_or(1);
        match kind_of(rule) {
            Some(
                AssertionKind::ToolCalledAtLeastOnce
                | AssertionKind::FirstToolWas
                | AssertionKind::ToolResultContains
                | AssertionKind::ToolResultMatchesSchema,
            ) => self.expect(tool),
            Some(AssertionKind::ToolResultMatches) if least > 0 => self.expect(tool),
            Some(AssertionKind::ToolInputMatches) => {
                if least > 0 {
                    self.expect(tool);
                }
                if let Some(argument) = pointed(rule) {
                    self.assert(tool, [&argument]);
                }
            }
            _ => {}
        }
    }

    fn read_called_with(&mut self, rule: &AuthoredAssertion) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let Some(tool) = text(rule.get("toolName")) else {
            return;
        };
        self.expect(&tool);
        let args = rule.get("args");
        let mode = args
            .and_then(|args| args.get("argumentMatching")?.as_str())
            .and_then(strandline_contract::words::Vocabulary::from_wire)
            .unwrap_or(ArgumentMatching::Partial);
        let none = Value::Null;
        let values = args.and_then(|args| args.get("args")).unwrap_or(&none);
        self.match_arguments(&tool, values, mode);
    }

    fn match_arguments(&mut self, tool: &str, values: &Value, mode: ArgumentMatching) {
        match mode {
            ArgumentMatching::Ignore => {}
            // Whatever is not written must not be sent.
            ArgumentMatching::Exact => {
                self.whole.insert(tool.to_owned());
            }
            ArgumentMatching::Partial => {
                let keys = values.as_object().into_iter().flat_map(|map| map.keys());
                self.assert(tool, keys);
            }
        }
    }

    fn name(&mut self, tool: &str) {
        if !tool.is_empty() {
            self.named.insert(tool.to_owned());
        }
    }

    fn expect(&mut self, tool: &str) {
        self.expected.insert(tool.to_owned());
    }

    fn assert<'k>(&mut self, tool: &str, arguments: impl IntoIterator<Item = &'k String>) {
        let asserted = self.arguments.entry(tool.to_owned()).or_default();
        asserted.extend(arguments.into_iter().cloned());
    }
}

/// Returns whether a rule can demand a call in this case.
fn demands_calls(case: &ResolvedCase, rule: &AuthoredAssertion) -> bool {
    !case.is_negative_test && role_of(rule) == RuleRole::Required
}

/// Returns the argument that a rule's `path` points at.
fn pointed(rule: &AuthoredAssertion) -> Option<String> {
    let path = rule.get("path")?.as_str()?.strip_prefix('/')?;
    Some(path.replace("~1", "/").replace("~0", "~"))
}
