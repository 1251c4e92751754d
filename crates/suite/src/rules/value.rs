//! Rules for single values.

use strandline_contract::{
    canonical::canonical_json,
    ecma::{is_blank, trim, utf16_len},
};

use super::{At, Check, MAX_INTEGER};
use crate::yaml::{Node, Number, Value};

/// Shows a value in a message, cut short.
pub(super) fn preview(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(Number::Integer(number)) => number.to_string(),
        Value::Number(Number::Float(number)) if number.is_nan() => ".nan".to_owned(),
        Value::Number(Number::Float(number)) if number.is_infinite() => {
            if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned()
        }
        Value::Number(Number::Float(number)) => number.to_string(),
        Value::String(text) => format!("{:?}", cut(text)),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a map".to_owned(),
    }
}

/// Cuts a text that is too long for a message.
pub(super) fn cut(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}…")
}

/// Any text.
pub(super) fn text(check: &mut Check, at: At<'_>) {
    bounded_text(check, at, 0, usize::MAX);
}

/// A text that is not empty.
pub(crate) fn filled_text(check: &mut Check, at: At<'_>) {
    bounded_text(check, at, 1, usize::MAX);
}

/// A text of 1 to 200 code units.
pub(super) fn name(check: &mut Check, at: At<'_>) {
    bounded_text(check, at, 1, 200);
}

/// A text of `min` to `max` code units.
pub(super) fn bounded_text(check: &mut Check, at: At<'_>, min: usize, max: usize) {
    let Some(text) = string(check, at) else {
        return;
    };
    length(check, at, text, min, max);
}

/// Takes a text, or reports what is there instead.
pub(super) fn string<'a>(check: &mut Check, at: At<'a>) -> Option<&'a str> {
    if let Value::String(text) = &at.node.value {
        return Some(text);
    }
    let quotable = matches!(at.node.value, Value::Bool(_) | Value::Number(_));
    let finding = check.expected(at, "text");
    if quotable {
        finding.label = Some("put it in quotes".to_owned());
    }
    None
}

/// Reports a text that is too short or too long.
pub(super) fn length(check: &mut Check, at: At<'_>, text: &str, min: usize, max: usize) -> bool {
    let length = utf16_len(text);
    let name = at.path.name();
    if length < min {
        let message = if min == 1 {
            format!("`{name}` must not be empty")
        } else {
            format!("`{name}` must have at least {min} characters, not {length}")
        };
        check.report(at, message);
        return false;
    }
    if length > max {
        check.report(
            at,
            format!("`{name}` must have at most {max} characters, not {length}"),
        );
        return false;
    }
    true
}

/// A text that is neither blank nor longer than `max`; not trimmed for anyone.
pub(super) fn written_text(check: &mut Check, at: At<'_>, max: usize) {
    let Some(text) = string(check, at) else {
        return;
    };
    if length(check, at, text, 1, max) && is_blank(text) {
        check.report(at, format!("`{}` must not be blank", at.path.name()));
    }
}

/// A text of 1 to `max` code units once trimmed.
pub(super) fn trimmed_text(check: &mut Check, at: At<'_>, max: usize) {
    let Some(text) = string(check, at) else {
        return;
    };
    length(check, at, trim(text), 1, max);
}

/// `opaqueId` (§3): 1 to 128 of `[A-Za-z0-9_-]`.
pub(super) fn opaque_id(check: &mut Check, at: At<'_>) {
    identifier(check, at, 128);
}

/// 1 to `max` of `[A-Za-z0-9_-]`.
pub(super) fn identifier(check: &mut Check, at: At<'_>, max: usize) {
    let Some(text) = string(check, at) else {
        return;
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !length(check, at, text, 1, max) {
        return;
    }
    if !text.bytes().all(allowed) {
        let message = format!(
            "`{}` may hold letters, digits, `_` and `-` only, not {}",
            at.path.name(),
            preview(at.node)
        );
        check.report(at, message);
    }
}

/// `true` or `false`.
pub(super) fn boolean(check: &mut Check, at: At<'_>) {
    if !matches!(at.node.value, Value::Bool(_)) {
        check.expected(at, "`true` or `false`");
    }
}

/// A number from 0 to 1.
pub(super) fn fraction(check: &mut Check, at: At<'_>) {
    let number = number_of(at.node);
    if number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
        return;
    }
    let finding = check.expected(at, "a fraction from 0 to 1");
    if let Some(percent) = number.filter(|number| *number > 1.0 && *number <= 100.0) {
        finding.label = Some(format!("a percent? write {}", percent / 100.0));
    }
}

/// Any finite number.
pub(super) fn number(check: &mut Check, at: At<'_>) {
    if number_of(at.node).is_none() {
        check.expected(at, "a number");
    }
}

/// A whole number from `min` to `max`, both included.
pub(super) fn integer(check: &mut Check, at: At<'_>, min: u64, max: u64) {
    if integer_of(at.node).is_some_and(|number| (min..=max).contains(&number)) {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "compared with 2^53-1 only")]
    let open = max as f64 >= MAX_INTEGER;
    let what = if open {
        format!("a whole number of at least {min}")
    } else {
        format!("a whole number from {min} to {max}")
    };
    check.expected(at, &what);
}

/// A whole number of at least 1.
pub(super) fn positive(check: &mut Check, at: At<'_>) {
    integer(check, at, 1, u64::MAX);
}

/// A whole number of at least 0.
pub(super) fn natural(check: &mut Check, at: At<'_>) {
    integer(check, at, 0, u64::MAX);
}

/// One word of a closed list.
pub(super) fn word(check: &mut Check, at: At<'_>, words: &[&str]) {
    if at.node.as_str().is_some_and(|text| words.contains(&text)) {
        return;
    }
    check.expected(at, &one_of(words));
}

/// `` `a`, `b` or `c` ``
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Returns the finite number of a value.
pub(super) fn number_of(node: &Node) -> Option<f64> {
    match node.value {
        Value::Number(number) => Some(number.as_f64()).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// Returns the whole, non-negative number of a value, up to 2^53-1.
pub(super) fn integer_of(node: &Node) -> Option<u64> {
    match node.value {
        Value::Number(Number::Integer(number)) => u64::try_from(number)
            .ok()
            .filter(|_| Number::Integer(number).as_f64() <= MAX_INTEGER),
        _ => None,
    }
}

/// Returns how long a value is as compact JSON, in UTF-16 code units and bytes.
pub(super) fn json_size(node: &Node) -> (usize, usize) {
    let text = canonical_json(&node.to_json());
    (utf16_len(&text), text.len())
}
