//! Canonical JSON (`assertions.md` §6.4) and hashes over it.
//!
//! Keys are sorted by UTF-16 code units, there is no white space, and numbers
//! are written as ECMAScript writes a double, so two values that mean the same
//! have one text. By the same rule every number is read as a double: integers
//! that no double holds exactly share the text of the nearest one
//! (`friction.md` §4). [`json_equal`] does not fold them.

use std::{cmp::Ordering, fmt};

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// The output would have passed its budget (`assertions.md` §6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("canonical JSON is longer than {budget} UTF-16 code units")]
pub struct OverBudget {
    /// The budget, in UTF-16 code units.
    pub budget: usize,
}

/// Returns the canonical JSON of a value.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    let within = Writer::new(&mut text, usize::MAX).value(value);
    debug_assert!(within.is_ok(), "no text is longer than memory");
    text
}

/// Returns the canonical JSON of a value, or stops as soon as it is longer
/// than `budget` UTF-16 code units.
///
/// # Errors
///
/// [`OverBudget`] when the text is longer than the budget.
pub fn canonical_json_bounded(value: &Value, budget: usize) -> Result<String, OverBudget> {
    let mut text = String::new();
    Writer::new(&mut text, budget).value(value)?;
    Ok(text)
}

/// Returns the lowercase hex SHA-256 of a value's canonical JSON.
#[must_use]
pub fn sha256_canonical(value: &Value) -> String {
    sha256_hex(canonical_json(value).as_bytes())
}

/// Returns the lowercase hex SHA-256 of some bytes.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").unwrap_or(());
    }
    hex
}

/// Writes a number as ECMAScript does: the shortest text that reads back as
/// the same double.
#[must_use]
pub fn number_text(number: &Number) -> String {
    /// Every integer up to here is a double and is written with its digits.
    const EXACT: u64 = 1 << 53;
    if let Some(integer) = number.as_i64()
        && integer.unsigned_abs() <= EXACT
    {
        return integer.to_string();
    }
    number.as_f64().map_or_else(
        || number.to_string(),
        |double| ryu_js::Buffer::new().format(double).to_owned(),
    )
}

/// Returns whether two numbers have the same value (`1` is `1.0`).
#[must_use]
pub fn numbers_equal(left: &Number, right: &Number) -> bool {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left == right,
        _ => match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => a == b && holds_exactly(left, a) && holds_exactly(right, b),
            _ => left == right,
        },
    }
}

/// Returns whether two JSON values are deeply equal: key order does not
/// count, array order does, numbers compare by value (`assertions.md` §2.2).
#[must_use]
pub fn json_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => numbers_equal(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| json_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| json_equal(left, right)))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => false,
    }
}

/// Returns the number as an integer, when it was written as one.
fn integer(number: &Number) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

/// Returns whether a double has exactly the number's value.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an integral double in the range of u64 and i64 fits in i128"
)]
fn holds_exactly(number: &Number, double: f64) -> bool {
    integer(number).is_none_or(|integer| double as i128 == integer)
}

/// Orders two texts by their UTF-16 code units.
#[must_use]
pub fn by_code_units(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Writes canonical JSON into a string and counts code units.
struct Writer<'a> {
    text: &'a mut String,
    budget: usize,
    left: usize,
}

impl<'a> Writer<'a> {
    const fn new(text: &'a mut String, budget: usize) -> Self {
        Self {
            text,
            budget,
            left: budget,
        }
    }

    fn value(&mut self, value: &Value) -> Result<(), OverBudget> {
        match value {
            Value::Null => self.ascii("null"),
            Value::Bool(true) => self.ascii("true"),
            Value::Bool(false) => self.ascii("false"),
            Value::Number(number) => self.ascii(&number_text(number)),
            Value::String(string) => self.string(string),
            Value::Array(items) => {
                self.ascii("[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.ascii(",")?;
                    }
                    self.value(item)?;
                }
                self.ascii("]")
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by(|(left, _), (right, _)| by_code_units(left, right));
                self.ascii("{")?;
                for (index, (key, value)) in members.into_iter().enumerate() {
                    if index > 0 {
                        self.ascii(",")?;
                    }
                    self.string(key)?;
                    self.ascii(":")?;
                    self.value(value)?;
                }
                self.ascii("}")
            }
        }
    }

    fn string(&mut self, string: &str) -> Result<(), OverBudget> {
        let start = self.text.len();
        push_json_string(self.text, string);
        self.spend(crate::ecma::utf16_len(&self.text[start..]))
    }

    fn ascii(&mut self, token: &str) -> Result<(), OverBudget> {
        self.text.push_str(token);
        self.spend(token.len())
    }

    fn spend(&mut self, units: usize) -> Result<(), OverBudget> {
        self.left = self.left.checked_sub(units).ok_or(OverBudget {
            budget: self.budget,
        })?;
        Ok(())
    }
}

/// Appends a JSON string literal with the escapes of `JSON.stringify`.
pub(crate) fn push_json_string(text: &mut String, string: &str) {
    use fmt::Write as _;
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            control if control < '\u{20}' => {
                write!(text, "\\u{:04x}", u32::from(control)).unwrap_or(());
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("test JSON parses")
    }

    #[test]
    fn keys_are_sorted_by_code_units_and_numbers_are_shortest() {
        // U+1F6A2 starts with the surrogate D83D, which sorts before U+FF5A.
        assert_eq!(
            canonical_json(&json!({"ｚ": 1, "🚢": 2, "b": [true, null], "a": "\u{1}\n\"é"})),
            r#"{"a":"\u0001\n\"é","b":[true,null],"🚢":2,"ｚ":1}"#
        );
        assert_eq!(
            canonical_json(&parsed(
                "[1.0,1e2,1e-7,-0,-0.0,0.10,1e21,1e20,123456789012345680000]"
            )),
            "[1,100,1e-7,0,0,0.1,1e+21,100000000000000000000,123456789012345680000]"
        );
    }

    #[test]
    fn integers_beyond_a_double_share_a_text_and_are_not_equal() {
        assert_eq!(
            canonical_json(&parsed("9007199254740993")),
            "9007199254740992"
        );
        assert_eq!(
            canonical_json(&parsed("18446744073709551615")),
            "18446744073709552000"
        );
        assert!(!json_equal(
            &parsed("9007199254740993"),
            &parsed("9007199254740992")
        ));
        assert!(!json_equal(
            &parsed("9007199254740993"),
            &parsed("9007199254740992.0")
        ));
        assert!(json_equal(
            &parsed("9007199254740994"),
            &parsed("9007199254740994.0")
        ));
    }

    #[test]
    fn equality_is_by_value_not_by_spelling_or_key_order() {
        assert!(json_equal(
            &parsed(r#"{"a":1,"b":[1e2,{"c":0.10}]}"#),
            &parsed(r#"{"b":[100,{"c":0.1}],"a":1.0}"#)
        ));
        assert!(json_equal(&parsed("-0.0"), &parsed("0")));
        assert!(!json_equal(&parsed("[1,2]"), &parsed("[2,1]")));
        assert!(!json_equal(&parsed("{}"), &parsed("[]")));
        assert!(!json_equal(&parsed("\"1\""), &parsed("1")));
        assert!(!json_equal(&parsed(r#"{"a":null}"#), &parsed("{}")));
    }

    #[test]
    fn the_bounded_variant_counts_code_units() {
        let value = json!(["🚢"]);
        assert_eq!(canonical_json_bounded(&value, 6), Ok("[\"🚢\"]".to_owned()));
        assert_eq!(
            canonical_json_bounded(&value, 5),
            Err(OverBudget { budget: 5 })
        );
    }

    #[test]
    fn the_hash_does_not_depend_on_spelling() {
        assert_eq!(
            sha256_canonical(&parsed(r#"{"b":1.0,"a":[]}"#)),
            sha256_canonical(&parsed(r#"{"a":[],"b":1}"#))
        );
        assert_eq!(
            sha256_canonical(&json!({})),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
