//! How numbers are written and read in wire documents (`verdict.md` §1).
//!
//! Numbers compare by value, not by spelling: `1.0` and `1e0` are the count 1.
//! We write the shortest form that reads back as the same double, and integral
//! values without a fraction (`1`, not `1.0`).

use serde::{Deserialize, Deserializer, Serializer};
use serde_json::{Number, Value};

/// The largest integer that a wire document may hold: 2^53 − 1.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// Returns the count that a JSON value is: an integer 0 … [`MAX_COUNT`].
#[must_use]
pub fn as_count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number_as_count(number),
        _ => None,
    }
}

fn number_as_count(number: &Number) -> Option<u64> {
    let count = match number.as_u64() {
        Some(count) => count,
        None => float_as_count(number.as_f64()?)?,
    };
    (count <= MAX_COUNT).then_some(count)
}

fn float_as_count(float: f64) -> Option<u64> {
    (float >= 0.0 && float <= MAX_COUNT as f64 && float.fract() == 0.0).then_some(float as u64)
}

/// Returns the JSON number of a double: integral values without a fraction.
///
/// A double that JSON cannot hold (infinite, NaN) becomes `null`.
#[must_use]
pub fn to_value(double: f64) -> Value {
    match as_exact_integer(double) {
        Some(integer) => Value::from(integer),
        None => Value::from(double),
    }
}

fn as_exact_integer(double: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    (double.fract() == 0.0 && double.abs() <= LIMIT).then_some(double as i64)
}

/// Writes a double; for `#[serde(serialize_with = "number::write")]`.
///
/// # Errors
///
/// Fails only when the serializer does.
pub fn write<S: Serializer>(double: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match as_exact_integer(*double) {
        Some(integer) => serializer.serialize_i64(integer),
        None => serializer.serialize_f64(*double),
    }
}

/// Writes an optional double; absent is `null`.
///
/// # Errors
///
/// Fails only when the serializer does.
pub fn write_optional<S: Serializer>(
    double: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match double {
        Some(double) => write(double, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes an optional list of doubles; absent is `null`.
///
/// # Errors
///
/// Fails only when the serializer does.
pub fn write_optional_list<S: Serializer>(
    list: &Option<Vec<f64>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match list {
        Some(list) => serializer.collect_seq(list.iter().map(|double| to_value(*double))),
        None => serializer.serialize_none(),
    }
}

/// Reads a count by value; for `#[serde(deserialize_with = "number::read_count")]`.
///
/// # Errors
///
/// Fails on anything but an integer 0 … [`MAX_COUNT`].
pub fn read_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    number_as_count(&number).ok_or_else(|| {
        serde::de::Error::custom(format_args!("not an integer from 0 to 2^53-1: {number}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_compare_by_value() {
        for (text, count) in [
            ("1", Some(1)),
            ("1.0", Some(1)),
            ("1e0", Some(1)),
            ("-0.0", Some(0)),
            ("9007199254740991", Some(MAX_COUNT)),
            ("9007199254740991.0", Some(MAX_COUNT)),
            ("9007199254740992", None),
            ("-1", None),
            ("1.5", None),
            ("\"1\"", None),
            ("null", None),
        ] {
            let value: Value = serde_json::from_str(text).expect("valid JSON");
            assert_eq!(as_count(&value), count, "{text}");
        }
    }

    #[test]
    fn integral_doubles_are_written_without_fraction() {
        for (double, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (0.333_333_333_333_333_3, "0.3333333333333333"),
            (5.212_394_321_635_691e-10, "5.212394321635691e-10"),
        ] {
            assert_eq!(to_value(double).to_string(), text);
        }
    }

    /// Thresholds and quotients are compared bit for bit, so parsing must give
    /// the nearest double; `serde_json` does so only with `float_roundtrip`.
    #[test]
    fn parsing_gives_the_nearest_double() {
        for step in 1_u32..20_000 {
            let double = f64::from(step) / 20_011.0;
            let text = double.to_string();
            let parsed: f64 = serde_json::from_str(&text).expect("valid JSON");
            assert_eq!(parsed.to_bits(), double.to_bits(), "{text}");
        }
    }
}
