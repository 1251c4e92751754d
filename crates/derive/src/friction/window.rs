//! The evidence window of a suspected condition (`friction.md` §9.3): the
//! calls up to a signal with their results, and no identifier value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use strandline_contract::{canonical::canonical_json, friction::FrictionSignals, trace::Trace};

use super::{
    arguments::number_text,
    identifiers,
    input::{Call, FrictionInput},
    lenient,
    result::normalise,
    signals::derive_friction_signals,
    tokens::Haystack,
};

/// One call of a window, as it may be shown: identifiers are placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowCall {
    /// Position among the trial's calls.
    pub index: usize,
    /// The tool; empty when the call names none.
    pub tool_name: String,
    /// The arguments as canonical JSON.
    pub arguments: String,
    /// The result as text; absent when none was retained.
    pub result: Option<WindowResult>,
}

/// A result of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowResult {
    /// The result as text.
    pub text: String,
    /// It says that the call failed.
    pub is_error: bool,
    /// It holds something that can be read.
    pub readable: bool,
}

/// The calls up to a signal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The calls, in order.
    pub calls: Vec<WindowCall>,
    /// Every key path of every result.
    pub key_paths: Vec<String>,
    /// Identifier values, the longest first; they never leave this crate.
    values: Vec<String>,
    placeholders: BTreeMap<String, String>,
}

impl Window {
    /// Collects the calls up to and including `last`.
    #[must_use]
    pub fn until(input: &FrictionInput, last: u64) -> Self {
        let all = Call::all(input);
        let calls: Vec<&Call<'_>> = all
            .iter()
            .filter(|call| u64::try_from(call.index).is_ok_and(|index| index <= last))
            .collect();
        let mut window = Self::default();
        for call in &calls {
            if let Some(entry) = call.entry {
                for value in identifiers::extract(&normalise(&entry.raw)).values {
                    let next = window.placeholders.len() + 1;
                    window
                        .placeholders
                        .entry(value)
                        .or_insert_with(|| format!("<id-{next}>"));
                }
            }
        }
        window.values = window.placeholders.keys().cloned().collect();
        window
            .values
            .sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut key_paths = Vec::new();
        window.calls = calls
            .iter()
            .map(|call| WindowCall {
                index: call.index,
                tool_name: window.masked(call.tool_name),
                arguments: canonical_json(&window.masked_value(call.arguments)),
                result: call.entry.map(|entry| {
                    let result = normalise(&entry.raw);
                    let mut texts = Vec::new();
                    if let Some(content) = result.structured_content {
                        collect_paths(content, "", &mut key_paths);
                        texts.push(canonical_json(&window.masked_value(content)));
                    } else {
                        for part in &result.text_parts {
                            match lenient::parse(part).map(|parsed| parsed.value) {
                                Some(value @ (Value::Object(_) | Value::Array(_))) => {
                                    collect_paths(&value, "", &mut key_paths);
                                    texts.push(canonical_json(&window.masked_value(&value)));
                                }
                                _ => texts.push(window.masked(part)),
                            }
                        }
                    }
                    let message = entry.raw.get("message").and_then(Value::as_str);
                    if let (true, Some(message)) = (texts.is_empty(), message) {
                        texts.push(window.masked(message));
                    }
                    let readable = texts
                        .iter()
                        .any(|text| !text.trim().is_empty() && text != "null");
                    WindowResult {
                        text: texts.join("\n"),
                        is_error: result.is_error || entry.is_error,
                        readable,
                    }
                }),
            })
            .collect();
        key_paths.sort();
        key_paths.dedup();
        // A path whose key is itself an identifier names a value.
        key_paths.retain(|path| !window.names_value(path));
        window.key_paths = key_paths;
        window
    }

    /// Tells whether a text contains an identifier value of the window as a
    /// whole token.
    #[must_use]
    pub fn names_value(&self, text: &str) -> bool {
        let haystack = Haystack::new(text);
        self.values.iter().any(|value| haystack.carries(value))
    }

    /// Returns a text with every identifier value replaced, in its own and in
    /// its escaped spelling.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for value in &self.values {
            let placeholder = &self.placeholders[value];
            masked = replace_token(&masked, value, placeholder);
            let escaped = canonical_json(&Value::from(value.as_str()));
            let escaped = &escaped[1..escaped.len() - 1];
            if escaped != value {
                masked = replace_token(&masked, escaped, placeholder);
            }
        }
        masked
    }

    fn masked_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.masked(text)),
            Value::Number(number) => match self.placeholders.get(&number_text(number)) {
                Some(placeholder) => Value::String(placeholder.clone()),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.masked_value(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (self.masked(key), self.masked_value(member)))
                .collect::<Map<String, Value>>()
                .into(),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }
}

/// Derives the friction signals of a trial from what was recorded of it.
#[must_use]
pub fn friction_of_trial(
    actual_tool_calls: &[Value],
    trace: &Trace,
) -> (FrictionInput, FrictionSignals) {
    let input = FrictionInput::new(
        actual_tool_calls.to_vec(),
        super::input::results_from_trace(trace),
    );
    let signals = derive_friction_signals(&input);
    (input, signals)
}

fn collect_paths(value: &Value, path: &str, paths: &mut Vec<String>) {
    const MOST: usize = 2_000;
    if paths.len() >= MOST {
        return;
    }
    match value {
        Value::Array(items) => {
            let path = format!("{path}[]");
            for item in items.iter().take(50) {
                collect_paths(item, &path, paths);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect_paths(member, &path, paths);
                paths.push(path);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces every occurrence that has no word character on either side.
fn replace_token(text: &str, value: &str, with: &str) -> String {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut replaced = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(value)) {
        let start = from + found;
        let end = start + value.len();
        let bytes = text.as_bytes();
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        if is_word(before) || is_word(bytes.get(end)) {
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        replaced.push_str(&text[copied..start]);
        replaced.push_str(with);
        copied = end;
        from = end;
    }
    replaced.push_str(&text[copied..]);
    replaced
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::friction::ResultEntry;

    fn input(calls: Value, results: &[(&str, Value)]) -> FrictionInput {
        let results = results
            .iter()
            .map(|(id, raw)| {
                let entry = ResultEntry {
                    raw: raw.clone(),
                    ..ResultEntry::default()
                };
                ((*id).to_owned(), entry)
            })
            .collect();
        FrictionInput::new(calls.as_array().expect("a list").clone(), results)
    }

    #[test]
    fn no_identifier_value_is_in_a_window() {
        let input = input(
            json!([
                {"toolName": "search", "toolCallId": "a", "arguments": {"q": "x"}},
                {"toolName": "get", "toolCallId": "b", "arguments": {"id": "ISSUE-41", "n": 4242}},
                {"toolName": "late", "toolCallId": "c", "arguments": {"id": "ISSUE-99"}},
            ]),
            &[
                (
                    "a",
                    json!({"structuredContent": {"results": [
                    {"id": "ISSUE-41", "number": 4242, "note": "see ISSUE-41, not XISSUE-41"}]}}),
                ),
                (
                    "b",
                    json!({"content": [{"type": "text", "text": "ISSUE-41 is open"}]}),
                ),
                (
                    "c",
                    json!({"structuredContent": {"id": "ISSUE-99", "late": true}}),
                ),
            ],
        );
        let window = Window::until(&input, 1);
        assert_eq!(window.calls.len(), 2);
        let shown = format!("{:?}", window.calls);
        for value in ["\"ISSUE-41", "4242", "ISSUE-99", "late"] {
            assert!(!shown.contains(value), "{value} in {shown}");
        }
        // The same identifier has the same placeholder everywhere.
        assert_eq!(window.calls[1].arguments, r#"{"id":"<id-2>","n":"<id-1>"}"#);
        let result = window.calls[1].result.as_ref().expect("a result");
        assert_eq!(result.text, "<id-2> is open");
        assert!(
            shown.contains("not XISSUE-41"),
            "only whole tokens: {shown}"
        );
        assert_eq!(
            window.key_paths,
            [
                "results",
                "results[].id",
                "results[].note",
                "results[].number"
            ]
        );
        assert!(window.names_value("use ISSUE-41") && !window.names_value("use results[].id"));
    }

    #[test]
    fn values_with_escapes_are_masked_in_both_spellings() {
        let input = input(
            json!([{"toolName": "t", "toolCallId": "a", "arguments": {"q": "a\"b"}}]),
            &[(
                "a",
                json!({"structuredContent": {"id": "a\"b", "raw": "{\"id\":\"a\\\"b\"}"}}),
            )],
        );
        let shown = format!("{:?}", Window::until(&input, 0).calls);
        assert!(!shown.contains("a\\\"b"), "{shown}");
    }

    #[test]
    fn an_error_message_is_readable_and_an_image_is_not() {
        let input = input(
            json!([
                {"toolName": "t", "toolCallId": "a", "arguments": {}},
                {"toolName": "t", "toolCallId": "b", "arguments": {}},
            ]),
            &[
                ("a", json!({"code": -1, "message": "try later"})),
                ("b", json!({"content": [{"type": "image", "data": "AA"}]})),
            ],
        );
        let window = Window::until(&input, 9);
        let readable: Vec<bool> = window
            .calls
            .iter()
            .map(|call| call.result.as_ref().is_some_and(|result| result.readable))
            .collect();
        assert_eq!(readable, [true, false]);
    }
}
