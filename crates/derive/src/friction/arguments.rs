//! When two calls' arguments are equal (`friction.md` §4).

use serde_json::{Map, Number, Value};
use strandline_contract::{
    canonical::canonical_json,
    words::{PaginationKey, Vocabulary},
};

/// Returns the canonical text of a value, every number being a double.
///
/// An integer that no double holds is rounded here (`9007199254740993` is
/// `9007199254740992`), where canonical JSON elsewhere keeps its digits.
pub(super) fn canonical_text(value: &Value) -> String {
    if has_wide_integer(value) {
        canonical_json(&as_doubles(value))
    } else {
        canonical_json(value)
    }
}

/// Returns the canonical text of a number, as [`canonical_text`].
pub(super) fn number_text(number: &Number) -> String {
    canonical_text(&Value::Number(number.clone()))
}

/// Returns the canonical text of arguments without top-level pagination keys.
pub(super) fn text_without_pagination(arguments: &Value) -> String {
    let Value::Object(object) = arguments else {
        return canonical_text(arguments);
    };
    let rest: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| PaginationKey::from_wire(key).is_none())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    canonical_text(&Value::Object(rest))
}

/// Returns the pagination keys that differ between two calls' arguments, in
/// vocabulary order; arguments that are no object have none.
pub(super) fn changed_pagination_keys(prior: &Value, current: &Value) -> Vec<PaginationKey> {
    PaginationKey::ALL
        .iter()
        .copied()
        .filter(
            |key| match (prior.get(key.wire()), current.get(key.wire())) {
                (None, None) => false,
                (Some(prior), Some(current)) => canonical_text(prior) != canonical_text(current),
                (Some(_), None) | (None, Some(_)) => true,
            },
        )
        .collect()
}

fn is_wide(number: &Number) -> bool {
    const EXACT: u64 = 1 << 53;
    let magnitude = number
        .as_i64()
        .map(i64::unsigned_abs)
        .or_else(|| number.as_u64());
    magnitude.is_some_and(|magnitude| magnitude > EXACT)
}

fn has_wide_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_wide(number),
        Value::Array(items) => items.iter().any(has_wide_integer),
        Value::Object(members) => members.values().any(has_wide_integer),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn as_doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) if is_wide(number) => {
            number.as_f64().map_or_else(|| value.clone(), Value::from)
        }
        Value::Array(items) => items.iter().map(as_doubles).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), as_doubles(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ecmascript_writes_doubles() {
        let text = r#"{"b":1e21,"a":[1e-7,-0,100,1.5,123456789012345680000,5e-324],
            "é":"\u0001 \u007f \u2028 \" \\ /","Z":null,"z":true}"#;
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(
            canonical_text(&value),
            "{\"Z\":null,\"a\":[1e-7,0,100,1.5,123456789012345680000,5e-324],\"b\":1e+21,\
             \"z\":true,\"é\":\"\\u0001 \u{7f} \u{2028} \\\" \\\\ /\"}"
        );
        let wide: Value =
            serde_json::from_str("[9007199254740993,-9007199254740993]").expect("JSON");
        assert_eq!(
            canonical_text(&wide),
            "[9007199254740992,-9007199254740992]"
        );
    }
}
