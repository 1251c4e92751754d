//! Pattern rules: how many calls or results match every pattern
//! (`assertions.md` §8.6).

use regex::Regex;
use serde_json::Value;
use strandline_contract::{canonical::canonical_json_bounded, ecma, number::as_count};

use super::{
    outcome::{Outcome, Params, Unusable},
    reason::{counted, shown_list, shown_pattern},
    regexes,
};

/// Longest text that patterns search, in UTF-16 code units.
pub(super) const MAX_SUBJECT: usize = 100_000;
/// Longest pattern.
pub(super) const MAX_PATTERN: usize = 512;
/// Most patterns of one rule.
pub(super) const MAX_PATTERNS: usize = 8;

const FLAGS: [&str; 7] = ["i", "m", "s", "im", "is", "ms", "ims"];

/// What one call or result is searched in.
pub(super) enum Subject {
    /// A text within the limit.
    Text(String),
    /// Too long, cut, or without canonical JSON: whether it matches is unknown.
    Unreadable,
    /// There is nothing to search: not a match.
    Missing,
}

impl Subject {
    /// The canonical JSON of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        canonical_json_bounded(value, MAX_SUBJECT).map_or(Self::Unreadable, Self::Text)
    }

    /// An own property of an object: strings raw, others as canonical JSON.
    pub(super) fn of_property(container: Option<&Value>, key: &str) -> Self {
        match container
            .and_then(Value::as_object)
            .and_then(|container| container.get(key))
        {
            None => Self::Missing,
            Some(Value::String(text)) => Self::of_text(text.clone()),
            Some(value) => Self::of_value(value),
        }
    }

    /// A text, unless it is too long.
    pub(super) fn of_text(text: String) -> Self {
        if ecma::utf16_len(&text) > MAX_SUBJECT {
            Self::Unreadable
        } else {
            Self::Text(text)
        }
    }
}

/// Whether there may be units that nobody saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Every unit was seen.
    Seen,
    /// Any number of units may be unseen.
    Open,
}

/// The patterns of a rule, where they look, and how often they must match.
pub(super) struct PatternRule {
    patterns: Vec<Regex>,
    shown: Vec<String>,
    key: Option<String>,
    min: u64,
    max: Option<u64>,
}

impl PatternRule {
    pub(super) fn read(params: Params<'_>) -> Result<Self, Unusable> {
        let bad = |what: &str| Outcome::Error(format!("the rule cannot be used: {what}"));
        let patterns = params
            .texts("patterns")
            .map_err(|_| bad("`patterns` is not a list of strings"))?;
        if patterns.is_empty() || patterns.len() > MAX_PATTERNS {
            return Err(bad("`patterns` must have 1 to 8 entries"));
        }
        let flags = match params.get("flags") {
            None => "",
            Some(flags) => flags
                .as_str()
                .filter(|flags| FLAGS.contains(flags))
                .ok_or_else(|| bad("`flags` must be one of i, m, s, im, is, ms, ims"))?,
        };
        let key = match params.get("path") {
            None => None,
            Some(path) => Some(
                path.as_str()
                    .and_then(pointer_key)
                    .ok_or_else(|| bad("`path` is not a JSON pointer to one key"))?,
            ),
        };
        let min = match params.get("min") {
            None => None,
            Some(min) => {
                Some(as_count(min).ok_or_else(|| bad("`min` is not a whole number from 0"))?)
            }
        };
        let max = match params.get("max") {
            None => None,
            Some(max) => {
                Some(as_count(max).ok_or_else(|| bad("`max` is not a whole number from 0"))?)
            }
        };
        if min == Some(0) && max.is_none() {
            return Err(bad("`min: 0` needs a `max`"));
        }
        let min = min.unwrap_or(1);
        if max.is_some_and(|max| max < min) {
            return Err(bad("`max` is less than `min`"));
        }
        let compiled = patterns
            .iter()
            .map(|pattern| {
                let length = ecma::utf16_len(pattern);
                if length == 0 || length > MAX_PATTERN {
                    return Err(bad("a pattern must have 1 to 512 characters"));
                }
                regexes::linear(pattern, flags).map_err(|error| {
                    bad(&format!(
                        "`{}` does not compile: {error}",
                        shown_pattern(pattern)
                    ))
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            patterns: compiled,
            shown: patterns
                .iter()
                .map(|pattern| format!("`{}`", shown_pattern(pattern)))
                .collect(),
            key,
            min,
            max,
        })
    }

    /// The key of `path`, when there is one.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Counts matching subjects and compares the count with the bounds.
    pub(super) fn verdict(
        &self,
        subjects: impl Iterator<Item = Subject>,
        bounds: Bounds,
        unit: &str,
        scope: &str,
    ) -> Outcome {
        let (mut units, mut matched, mut unreadable) = (0_usize, 0_u64, 0_u64);
        for subject in subjects {
            units += 1;
            match subject {
                Subject::Text(text) => {
                    if self.patterns.iter().all(|pattern| pattern.is_match(&text)) {
                        matched += 1;
                    }
                }
                Subject::Unreadable => unreadable += 1,
                Subject::Missing => {}
            }
        }
        let reason = format!(
            "{matched} of {} {scope} {} {}{}, {} demanded",
            counted(units, unit),
            if matched == 1 { "matches" } else { "match" },
            shown_list(&self.shown),
            if unreadable > 0 {
                format!(" ({unreadable} unreadable)")
            } else {
                String::new()
            },
            match self.max {
                None => format!("at least {}", self.min),
                Some(max) => format!("{} to {max}", self.min),
            }
        );
        // The most there can be: `None` is without limit.
        let most = match bounds {
            Bounds::Seen => Some(matched + unreadable),
            Bounds::Open => None,
        };
        let never_above = self
            .max
            .is_none_or(|max| most.is_some_and(|most| most <= max));
        if matched >= self.min && never_above {
            Outcome::Pass(reason)
        } else if most.is_some_and(|most| most < self.min)
            || self.max.is_some_and(|max| matched > max)
        {
            Outcome::Fail(reason)
        } else {
            Outcome::Error(format!("{reason}; what was not seen could decide it"))
        }
    }
}

/// Decodes a JSON pointer of one token, 2 to 257 code units long.
fn pointer_key(pointer: &str) -> Option<String> {
    let token = pointer.strip_prefix('/')?;
    if token.is_empty() || token.contains('/') || ecma::utf16_len(pointer) > 257 {
        return None;
    }
    let well_formed = token
        .split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']));
    well_formed.then(|| token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_names_one_key() {
        assert_eq!(pointer_key("/a~1b~0c"), Some("a/b~c".to_owned()));
        assert_eq!(pointer_key("/~01"), Some("~1".to_owned()));
        for pointer in ["", "/", "a", "/a/b", "/a~2", "/a~"] {
            assert_eq!(pointer_key(pointer), None, "{pointer}");
        }
    }
}
