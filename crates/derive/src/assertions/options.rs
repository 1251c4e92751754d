//! How recorded calls are matched (`assertions.md` §2.1).

use serde_json::{Map, Value};
use strandline_contract::{
    number::as_count,
    suite::MatchOptions,
    words::{ArgumentMatching, CallOrder, Vocabulary},
};

/// Match options with every default applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchSettings {
    /// Whether the order of calls counts.
    pub order: CallOrder,
    /// Most calls without an expectation; `None` is unlimited.
    pub extras_cap: Option<u64>,
    /// How arguments are compared, where an expectation has no own mode.
    pub arguments: ArgumentMatching,
}

impl Default for MatchSettings {
    fn default() -> Self {
        Self {
            order: CallOrder::Ignore,
            extras_cap: None,
            arguments: ArgumentMatching::Partial,
        }
    }
}

/// A match option has a value that it cannot have: a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("match option `{option}` must be {expected}, not {found}")]
pub struct InvalidMatchOption {
    /// The option, as spelled where it was read.
    pub option: &'static str,
    /// What it may be.
    pub expected: &'static str,
    /// What it is, as JSON.
    pub found: String,
}

impl MatchSettings {
    /// Resolves authored layers field by field, later ones over earlier ones:
    /// suite, case, run override.
    ///
    /// # Errors
    ///
    /// [`InvalidMatchOption`] for a word or a number that an option cannot have.
    pub fn resolve<'a>(
        layers: impl IntoIterator<Item = &'a MatchOptions>,
    ) -> Result<Self, InvalidMatchOption> {
        let mut settings = Self::default();
        for layer in layers {
            if let Some(word) = &layer.tool_call_order {
                settings.order = CallOrder::ALL
                    .iter()
                    .copied()
                    .find(|order| order.authored() == word)
                    .ok_or_else(|| {
                        invalid(
                            "toolCallOrder",
                            "`any`, `in-order` or `exact`",
                            &Value::from(word.as_str()),
                        )
                    })?;
            }
            if let Some(extra) = &layer.extra_tool_calls {
                settings.extras_cap = match extra.as_str() {
                    Some("unlimited") => None,
                    _ => Some(as_count(extra).ok_or_else(|| {
                        invalid(
                            "extraToolCalls",
                            "`unlimited` or a whole number from 0",
                            extra,
                        )
                    })?),
                };
            }
            if let Some(word) = &layer.arguments {
                settings.arguments = ArgumentMatching::from_wire(word).ok_or_else(|| {
                    invalid(
                        "arguments",
                        "`partial`, `exact` or `ignore`",
                        &Value::from(word.as_str()),
                    )
                })?;
            }
        }
        Ok(settings)
    }

    /// Reads options in their stored spelling, `allowExtraToolCalls` of older
    /// documents included; an explicit `maxExtraToolCalls` wins over it.
    ///
    /// # Errors
    ///
    /// [`InvalidMatchOption`] for a word or a number that an option cannot have.
    pub fn from_stored(options: &Map<String, Value>) -> Result<Self, InvalidMatchOption> {
        let mut settings = Self::default();
        if let Some(order) = stated(options, "toolCallOrder") {
            settings.order = word(order).ok_or_else(|| {
                invalid("toolCallOrder", "`ignore`, `superset` or `strict`", order)
            })?;
        }
        if let Some(mode) = stated(options, "argumentMatching") {
            settings.arguments = word(mode).ok_or_else(|| {
                invalid("argumentMatching", "`partial`, `exact` or `ignore`", mode)
            })?;
        }
        if let Some(allowed) = stated(options, "allowExtraToolCalls") {
            settings.extras_cap = match allowed.as_bool() {
                Some(true) => None,
                Some(false) => Some(0),
                None => return Err(invalid("allowExtraToolCalls", "true or false", allowed)),
            };
        }
        // Here `null` is a value: unlimited.
        if let Some(cap) = options.get("maxExtraToolCalls") {
            settings.extras_cap = match cap {
                Value::Null => None,
                _ => Some(as_count(cap).ok_or_else(|| {
                    invalid("maxExtraToolCalls", "null or a whole number from 0", cap)
                })?),
            };
        }
        Ok(settings)
    }
}

fn stated<'a>(options: &'a Map<String, Value>, option: &str) -> Option<&'a Value> {
    options.get(option).filter(|value| !value.is_null())
}

fn word<V: Vocabulary>(value: &Value) -> Option<V> {
    value.as_str().and_then(V::from_wire)
}

fn invalid(option: &'static str, expected: &'static str, found: &Value) -> InvalidMatchOption {
    InvalidMatchOption {
        option,
        expected,
        found: super::reason::shown_value(found),
    }
}
