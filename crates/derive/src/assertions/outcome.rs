//! What evaluating one rule gives, and how a rule's parameters are read
//! (`assertions.md` §7.1, §8).

use serde_json::{Map, Value};
use strandline_contract::number::as_count;

/// What evaluating one rule gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The rule holds.
    Pass(String),
    /// The rule does not hold.
    Fail(String),
    /// The rule could not be evaluated: evidence is missing or the rule is
    /// unusable. Nobody is blamed.
    Error(String),
}

impl Outcome {
    /// Passes or fails with the same reason.
    pub(super) fn scored(passed: bool, reason: String) -> Self {
        if passed {
            Self::Pass(reason)
        } else {
            Self::Fail(reason)
        }
    }
}

/// A rule whose parameters cannot be read, and what it gives instead.
pub(super) type Unusable = Outcome;

/// The authored parameters of one rule; `null` is absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Params<'a>(&'a Map<String, Value>);

impl<'a> Params<'a> {
    pub(super) const fn new(rule: &'a Map<String, Value>) -> Self {
        Self(rule)
    }

    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Reads a required string.
    pub(super) fn text(self, name: &str) -> Result<String, Unusable> {
        self.optional_text(name)?
            .ok_or_else(|| malformed(&format!("`{name}` is missing")))
    }

    /// Reads an optional string.
    pub(super) fn optional_text(self, name: &str) -> Result<Option<String>, Unusable> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(malformed(&format!("`{name}` is not a string"))),
        }
    }

    /// Reads an optional switch that is off by default.
    pub(super) fn switch(self, name: &str) -> Result<bool, Unusable> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(switch)) => Ok(*switch),
            Some(_) => Err(malformed(&format!("`{name}` is neither true nor false"))),
        }
    }

    /// Reads a required list of strings.
    pub(super) fn texts(self, name: &str) -> Result<Vec<String>, Unusable> {
        self.get(name)
            .and_then(Value::as_array)
            .and_then(|items| {
                items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect()
            })
            .ok_or_else(|| malformed(&format!("`{name}` is not a list of strings")))
    }

    /// Reads a required value of any type, `null` included.
    pub(super) fn any(self, name: &str) -> Result<Value, Unusable> {
        self.0
            .get(name)
            .cloned()
            .ok_or_else(|| malformed(&format!("`{name}` is missing")))
    }

    /// Reads a positive integer ≤ 2^53-1; `None` when it is absent or is not
    /// one.
    pub(super) fn positive(self, name: &str) -> Option<u64> {
        self.get(name).and_then(as_count).filter(|count| *count > 0)
    }

    /// Reads a positive integer, without which the rule is malformed.
    pub(super) fn bound(self, name: &str) -> Result<u64, Unusable> {
        self.positive(name)
            .ok_or_else(|| malformed(&format!("`{name}` is not a positive whole number")))
    }
}

/// A rule that no evaluator can read fails (`assertions.md` §7.1).
pub(super) fn malformed(what: &str) -> Unusable {
    Outcome::Fail(format!("malformed predicate: {what}"))
}
