//! What a raw result says (`friction.md` §3).

use serde_json::Value;

/// A result, whatever wrapped it.
pub(super) struct NormalResult<'a> {
    /// Present counts, `null` included.
    pub(super) structured_content: Option<&'a Value>,
    /// Texts, in order.
    pub(super) text_parts: Vec<&'a str>,
    /// Exactly `true` in one of the places where results say so.
    pub(super) is_error: bool,
}

/// Reads a raw entry.
pub(super) fn normalise(raw: &Value) -> NormalResult<'_> {
    let payload = payload_of(raw);
    NormalResult {
        structured_content: payload.get("structuredContent"),
        text_parts: text_parts(payload),
        is_error: [
            raw.get("isError"),
            raw.get("result").and_then(|result| result.get("isError")),
            output_value(raw).and_then(|value| value.get("isError")),
        ]
        .contains(&Some(&Value::Bool(true))),
    }
}

/// Returns whether a raw result says that it is an error.
pub(crate) fn is_error_result(raw: &Value) -> bool {
    normalise(raw).is_error
}

fn payload_of(raw: &Value) -> &Value {
    raw.get("result")
        .or_else(|| output_value(raw))
        .unwrap_or(raw)
}

fn output_value(raw: &Value) -> Option<&Value> {
    raw.get("output")?.get("value")
}

fn text_parts(payload: &Value) -> Vec<&str> {
    if let Value::String(text) = payload {
        return vec![text];
    }
    let Some(Value::Array(items)) = payload.get("content") else {
        return Vec::new();
    };
    items
        .iter()
        .filter(|item| {
            item.get("type")
                .is_none_or(|kind| kind.as_str() == Some("text"))
        })
        .filter_map(|item| item.get("text")?.as_str())
        .collect()
}
