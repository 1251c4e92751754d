//! Plain scalars and core tags (YAML 1.2 core schema, `suite-file.md` §2.1).

use super::node::{Number, Value};

/// Resolves a plain scalar without a tag.
///
/// `yes`, `on`, `1_000`, `0b1`, `12:30:00` and dates stay strings.
pub(crate) fn resolve_plain(text: &str) -> Value {
    resolve_null(text)
        .or_else(|| resolve_bool(text))
        .or_else(|| resolve_number(text).map(Value::Number))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Resolves a scalar under a core tag; a text that is not of the tag's kind,
/// and a tag outside the core schema, leave a string.
pub(super) fn resolve_tagged(suffix: Option<&str>, text: &str) -> Value {
    let value = match suffix {
        Some("null") => resolve_null(text),
        Some("bool") => resolve_bool(text),
        Some("int") => resolve_integer(text).map(Value::Number),
        Some("float") => resolve_number(text).map(Value::Number),
        _ => None,
    };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn resolve_null(text: &str) -> Option<Value> {
    matches!(text, "" | "~" | "null" | "Null" | "NULL").then_some(Value::Null)
}

fn resolve_bool(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn resolve_number(text: &str) -> Option<Number> {
    resolve_integer(text)
        .or_else(|| resolve_special(text))
        .or_else(|| resolve_float(text))
}

fn resolve_integer(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0o") {
        return based(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return based(digits, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let signed = text.strip_prefix('+').unwrap_or(text);
    match signed.parse::<i64>() {
        Ok(number) if is_exact(number) => Some(Number::Integer(number)),
        // Numbers of a suite are doubles, as every reader of it has them.
        _ => signed.parse::<f64>().ok().map(Number::from_double),
    }
}

/// Whether every whole number up to this one is a double of its own.
const fn is_exact(number: i64) -> bool {
    number.unsigned_abs() <= 1 << 53
}

fn based(digits: &str, radix: u32) -> Option<Number> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    if let Some(number) = i64::from_str_radix(digits, radix)
        .ok()
        .filter(|number| is_exact(*number))
    {
        return Some(Number::Integer(number));
    }
    let double = digits.chars().fold(0.0_f64, |sum, digit| {
        sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
    });
    Some(Number::from_double(double))
}

fn resolve_special(text: &str) -> Option<Number> {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Number::Float(f64::NAN));
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    matches!(rest, ".inf" | ".Inf" | ".INF").then_some(Number::Float(sign * f64::INFINITY))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn resolve_float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    } && exponent.is_none_or(|exponent| {
        let power = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !power.is_empty() && digits(power)
    });
    if !well_formed {
        return None;
    }
    let signed = text.strip_prefix('+').unwrap_or(text);
    signed.parse::<f64>().ok().map(Number::from_double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_core_schema() {
        for (text, number) in [
            ("0x5", 5.0),
            ("0o5", 5.0),
            ("05", 5.0),
            ("+5", 5.0),
            ("5.0", 5.0),
            ("1e1", 10.0),
            (".8", 0.8),
            ("5.", 5.0),
            ("-.5e-1", -0.05),
            ("0xFFFFFFFFFFFFFFFFFF", 4_722_366_482_869_645_213_695.0),
            ("-0", 0.0),
        ] {
            assert_eq!(
                resolve_plain(text),
                Value::Number(Number::from_double(number)),
                "{text}"
            );
        }
        assert_eq!(
            resolve_plain("1e400"),
            Value::Number(Number::Float(f64::INFINITY))
        );
    }

    #[test]
    fn yaml_1_1_spellings_stay_strings() {
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "12:30:00",
            "1_000",
            "0b1",
            "2026-01-01",
            "-0x5",
            "0o8",
            "1e",
            ".",
            "-",
            "+",
            "1.2.3",
            ".e1",
            "0x",
            "nUll",
            "tRUE",
            "+.nan",
        ] {
            assert_eq!(
                resolve_plain(text),
                Value::String(text.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn core_tags_are_honoured() {
        assert_eq!(
            resolve_tagged(Some("str"), "2"),
            Value::String("2".to_owned())
        );
        assert_eq!(
            resolve_tagged(Some("int"), "2"),
            Value::Number(Number::Integer(2))
        );
        assert_eq!(
            resolve_tagged(None, "2"),
            Value::String("2".to_owned()),
            "a foreign tag"
        );
    }
}
