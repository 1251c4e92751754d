//! Tool-call matching: arguments, pairing, and a flat list against a flat
//! list (`assertions.md` §2.2–§2.4).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use strandline_contract::{
    assertion::{ArgumentMismatch, MatchResult},
    canonical::json_equal,
    decode::null_as_default,
    ecma,
    transcript::ToolCall,
    words::{ArgumentMatching, CallOrder},
};

use super::options::{InvalidMatchOption, MatchSettings};

/// The input of one flat match, as `strandline derive matching` reads it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MatchInput {
    /// Calls that the case demands.
    #[serde(deserialize_with = "null_as_default")]
    pub expected: Vec<ToolCall>,
    /// Calls that were made.
    #[serde(deserialize_with = "null_as_default")]
    pub actual: Vec<ToolCall>,
    /// Options in their stored spelling.
    #[serde(deserialize_with = "null_as_default")]
    pub options: Map<String, Value>,
    /// Correct behaviour is to call nothing.
    #[serde(deserialize_with = "null_as_default")]
    pub is_negative_test: bool,
}

/// Derives one flat match.
///
/// # Errors
///
/// [`InvalidMatchOption`] when an option has a value that it cannot have.
pub fn derive_matching(input: MatchInput) -> Result<MatchResult, InvalidMatchOption> {
    let settings = MatchSettings::from_stored(&input.options)?;
    Ok(evaluate_tool_calls(
        &input.expected,
        &input.actual,
        settings,
        input.is_negative_test,
    ))
}

/// Compares the calls that were made with those that are expected
/// (`assertions.md` §2.4).
#[must_use]
pub fn evaluate_tool_calls(
    expected: &[ToolCall],
    actual: &[ToolCall],
    settings: MatchSettings,
    negative: bool,
) -> MatchResult {
    let mut result = MatchResult {
        missing: Vec::new(),
        extra: Vec::new(),
        out_of_order: Vec::new(),
        argument_mismatches: Vec::new(),
        passed: false,
    };
    // 1. A negative case passes on silence alone.
    if negative {
        result.extra = actual.to_vec();
        result.passed = actual.is_empty();
        return result;
    }
    // 2. Silence fails a positive case, even one that expects nothing.
    if actual.is_empty() {
        result.missing = expected.to_vec();
        return result;
    }
    // 3. Pair.
    let wanted: Vec<Wanted<'_>> = expected
        .iter()
        .map(|call| Wanted {
            tool_name: &call.tool_name,
            arguments: &call.arguments,
            mode: settings.arguments,
        })
        .collect();
    let calls: Vec<&ToolCall> = actual.iter().collect();
    let pairing = pair(&wanted, &calls, settings.order);
    for (call, partner) in expected.iter().zip(&pairing.partners) {
        match partner {
            None => result.missing.push(call.clone()),
            Some(partner) if partner.mismatch => {
                result.argument_mismatches.push(ArgumentMismatch {
                    tool_name: call.tool_name.clone(),
                    expected_args: call.arguments.clone(),
                    actual_args: actual[partner.call].arguments.clone(),
                });
            }
            Some(_) => {}
        }
    }
    result.extra = pairing.extras().map(|call| actual[call].clone()).collect();
    // 4. The verdict.
    result.passed = result.missing.is_empty()
        && result.argument_mismatches.is_empty()
        && within(result.extra.len(), settings.extras_cap);
    result
}

/// Returns whether a count lies within a cap; no cap is no limit.
pub(super) fn within(count: usize, cap: Option<u64>) -> bool {
    cap.is_none_or(|cap| count as u64 <= cap)
}

/// Compares arguments with the expected ones (`assertions.md` §2.2).
#[must_use]
pub fn args_match(expected: &Value, actual: &Value, mode: ArgumentMatching) -> bool {
    match mode {
        ArgumentMatching::Ignore => true,
        ArgumentMatching::Exact => json_equal(expected, actual),
        ArgumentMatching::Partial => expected.as_object().is_none_or(|expected| {
            expected
                .iter()
                .all(|(key, expected)| value_matches(expected, actual.get(key)))
        }),
    }
}

fn value_matches(expected: &Value, actual: Option<&Value>) -> bool {
    // 1. A placeholder tests the type; only at the top level.
    if let Some(word) = expected.as_str() {
        match ecma::trim(word).to_lowercase().as_str() {
            "any" => return actual.is_some(),
            "string" => return actual.is_some_and(Value::is_string),
            "number" => return actual.is_some_and(Value::is_number),
            "boolean" => return actual.is_some_and(Value::is_boolean),
            "object" => return actual.is_some_and(Value::is_object),
            "array" => return actual.is_some_and(Value::is_array),
            "null" => return actual.is_some_and(Value::is_null),
            _ => {}
        }
    }
    // 2. Anything else must be deeply equal; absent equals nothing.
    actual.is_some_and(|actual| json_equal(expected, actual))
}

/// One call that is demanded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) tool_name: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) mode: ArgumentMatching,
}

impl Wanted<'_> {
    fn accepts(&self, call: &ToolCall) -> bool {
        self.tool_name == call.tool_name && args_match(self.arguments, &call.arguments, self.mode)
    }
}

/// The call that stands in an expectation's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Partner {
    /// Index among the calls.
    pub(super) call: usize,
    /// The right tool with other arguments.
    pub(super) mismatch: bool,
}

/// Which call stands in which expectation's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pairing {
    /// One entry per expectation.
    pub(super) partners: Vec<Option<Partner>>,
    /// One entry per call: it has an expectation.
    pub(super) consumed: Vec<bool>,
}

impl Pairing {
    /// Returns the indexes of calls without an expectation, ascending.
    pub(super) fn extras(&self) -> impl Iterator<Item = usize> {
        self.consumed
            .iter()
            .enumerate()
            .filter(|(_, consumed)| !**consumed)
            .map(|(call, _)| call)
    }
}

/// Pairs expectations with calls (`assertions.md` §2.3).
pub(super) fn pair(wanted: &[Wanted<'_>], calls: &[&ToolCall], order: CallOrder) -> Pairing {
    let mut pairing = Pairing {
        partners: vec![None; wanted.len()],
        consumed: vec![false; calls.len()],
    };
    let mut take = |expectation: usize, call: usize, mismatch: bool| {
        pairing.partners[expectation] = Some(Partner { call, mismatch });
        pairing.consumed[call] = true;
    };

    // Pass 1: name and arguments.
    let mut from = vec![0; wanted.len()];
    match order {
        CallOrder::Strict => {
            for (index, (want, call)) in wanted.iter().zip(calls).enumerate() {
                if want.accepts(call) {
                    take(index, index, false);
                }
            }
        }
        CallOrder::Superset => {
            // One walk that never returns: an expectation without a partner
            // uses up all that is left.
            let mut next = 0;
            for (index, want) in wanted.iter().enumerate() {
                from[index] = next;
                match (next..calls.len()).find(|&call| want.accepts(calls[call])) {
                    Some(call) => {
                        take(index, call, false);
                        next = call + 1;
                    }
                    None => next = calls.len(),
                }
            }
        }
        CallOrder::Ignore => {
            // Greedy, without backtracking.
            let mut free = FreeCalls::new(calls);
            for (index, want) in wanted.iter().enumerate() {
                if let Some(call) = free.take(want.tool_name, |call| want.accepts(calls[call])) {
                    take(index, call, false);
                }
            }
        }
    }

    // Pass 2: name alone, for expectations without a partner.
    for (index, want) in wanted.iter().enumerate() {
        if pairing.partners[index].is_some() {
            continue;
        }
        let range = match order {
            CallOrder::Strict => index..calls.len().min(index + 1),
            CallOrder::Superset => from[index]..calls.len(),
            CallOrder::Ignore => 0..calls.len(),
        };
        let free = range
            .into_iter()
            .find(|&call| !pairing.consumed[call] && calls[call].tool_name == want.tool_name);
        if let Some(call) = free {
            pairing.consumed[call] = true;
            pairing.partners[index] = Some(Partner {
                call,
                mismatch: want.mode != ArgumentMatching::Ignore,
            });
        }
    }
    pairing
}

/// Calls without an expectation, by tool.
struct FreeCalls<'a>(BTreeMap<&'a str, Vec<usize>>);

impl<'a> FreeCalls<'a> {
    fn new(calls: &[&'a ToolCall]) -> Self {
        let mut free: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, call) in calls.iter().enumerate() {
            free.entry(&call.tool_name).or_default().push(index);
        }
        Self(free)
    }

    /// Takes the first free call of a tool that is accepted.
    fn take(&mut self, tool_name: &str, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let calls = self.0.get_mut(tool_name)?;
        let position = calls.iter().position(|&call| accepts(call))?;
        Some(calls.remove(position))
    }
}
