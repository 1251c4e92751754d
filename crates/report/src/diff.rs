//! Where the arguments of a call differ from what a case requires.

use serde_json::Value;
use strandline_contract::redact::{REDACTED, is_secret_key, redact_value};

use crate::escape;

/// Longest value shown, characters.
const MAX_VALUE: usize = 80;
/// Longest path shown, characters.
const MAX_PATH: usize = 80;
/// Deepest level that is compared member by member.
const MAX_DEPTH: usize = 6;

/// One place where two values differ; texts are safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The member, `items[0].sku`; empty for the whole value.
    pub path: String,
    /// What was required; `None` when nothing was.
    pub expected: Option<String>,
    /// What was there instead; `None` when nothing was.
    pub got: Option<String>,
}

/// Returns the members in which `got` differs from `expected`, in key order:
/// required ones first, then members that were not required.
#[must_use]
pub fn differences(expected: &Value, got: &Value) -> Vec<Difference> {
    let mut found = Found::default();
    found.compare("", Some(expected), Some(got), Secrecy::Open, 0);
    found.required.append(&mut found.additional);
    found.required
}

/// Whether a value may be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    Open,
    Secret,
}

#[derive(Default)]
struct Found {
    required: Vec<Difference>,
    additional: Vec<Difference>,
}

impl Found {
    fn compare(
        &mut self,
        path: &str,
        expected: Option<&Value>,
        got: Option<&Value>,
        secrecy: Secrecy,
        depth: usize,
    ) {
        if expected == got {
            return;
        }
        match (expected, got) {
            (Some(Value::Object(wanted)), Some(Value::Object(seen))) if depth < MAX_DEPTH => {
                for (key, value) in wanted {
                    let path = member(path, key);
                    let secrecy = secrecy.within(key);
                    self.compare(&path, Some(value), seen.get(key), secrecy, depth + 1);
                }
                for (key, value) in seen.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                    let secrecy = secrecy.within(key);
                    self.compare(&member(path, key), None, Some(value), secrecy, depth + 1);
                }
            }
            (Some(Value::Array(wanted)), Some(Value::Array(seen)))
                if depth < MAX_DEPTH && wanted.len() == seen.len() =>
            {
                for (index, (wanted, seen)) in wanted.iter().zip(seen).enumerate() {
                    let path = format!("{path}[{index}]");
                    self.compare(&path, Some(wanted), Some(seen), secrecy, depth + 1);
                }
            }
            _ => {
                let difference = Difference {
                    path: escape::line(path, MAX_PATH),
                    expected: expected.map(|value| secrecy.shown(value)),
                    got: got.map(|value| secrecy.shown(value)),
                };
                if expected.is_some() {
                    self.required.push(difference);
                } else {
                    self.additional.push(difference);
                }
            }
        }
    }
}

impl Secrecy {
    fn within(self, key: &str) -> Self {
        if self == Self::Secret || is_secret_key(key) {
            Self::Secret
        } else {
            Self::Open
        }
    }

    fn shown(self, value: &Value) -> String {
        match self {
            Self::Open => escape::json(&redact_value(value), MAX_VALUE),
            Self::Secret => REDACTED.to_owned(),
        }
    }
}

fn member(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(expected: &Value, got: &Value) -> Vec<String> {
        differences(expected, got)
            .into_iter()
            .map(|difference| {
                let word = |side: Option<String>| side.unwrap_or_else(|| "nothing".to_owned());
                format!(
                    "{}: {} / {}",
                    difference.path,
                    word(difference.expected),
                    word(difference.got)
                )
            })
            .collect()
    }

    #[test]
    fn only_what_differs_is_listed_and_required_members_come_first() {
        assert_eq!(
            shown(
                &json!({"id": 17, "amount": 40, "lines": [{"sku": "a"}, {"sku": "b"}]}),
                &json!({"id": 17, "amount": "40.00", "extra": null, "lines": [{"sku": "a"}, {"sku": "c"}]})
            ),
            [
                "amount: 40 / \"40.00\"",
                "lines[1].sku: \"b\" / \"c\"",
                "extra: nothing / null",
            ]
        );
    }

    #[test]
    fn a_missing_member_and_another_shape_are_said_whole() {
        assert_eq!(shown(&json!({"id": 1}), &json!({})), ["id: 1 / nothing"]);
        assert_eq!(
            shown(&json!({"id": 1}), &json!("{\"id\":1}")),
            [r#": {"id":1} / "{\"id\":1}""#]
        );
        assert_eq!(shown(&json!([1]), &json!([1, 2])), [": [1] / [1,2]"]);
    }

    #[test]
    fn secrets_are_compared_and_never_shown() {
        assert_eq!(
            shown(
                &json!({"apiToken": {"value": "abc"}, "x": {"password": "p"}}),
                &json!({"apiToken": {"value": "abd"}, "x": {"password": "q"}})
            ),
            [
                "apiToken.value: «redacted» / «redacted»",
                "x.password: «redacted» / «redacted»",
            ]
        );
    }

    #[test]
    fn keys_are_shown_escaped() {
        let found = shown(&json!({"a\u{1b}[0m": 1}), &json!({}));
        assert_eq!(found, ["a\\u{1b}[0m: 1 / nothing"]);
    }
}
