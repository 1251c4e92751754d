//! What a model wrote as the arguments of a call (field cases F21, F22).

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// Arguments as the model wrote them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arguments {
    /// The arguments; an object unless the model wrote something else.
    pub(super) value: Value,
    /// What it wrote, when that is no JSON object.
    pub(super) raw: Option<String>,
    /// What was tolerated while reading, to be recorded.
    pub(super) tolerated: Option<&'static str>,
}

impl Arguments {
    /// Reads arguments written as JSON text.
    ///
    /// Nothing at all and `null` are no arguments, which is `{}`. Any other
    /// JSON that is no object is kept as its value, and text that is no JSON
    /// as text; both keep what the model wrote.
    pub(super) fn from_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::none(Some("no arguments at all were read as `{}`"));
        }
        match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => Self::object(value),
            Ok(Value::Null) => Self::none(Some("`null` as arguments was read as `{}`")),
            Ok(value) => Self::raw(value, text.to_owned()),
            Err(_) => Self::raw(Value::String(text.to_owned()), text.to_owned()),
        }
    }

    /// Reads arguments that the wire carries as JSON itself.
    pub(super) fn from_value(value: Option<&Value>) -> Self {
        match value {
            None => Self::none(None),
            Some(Value::Null) => Self::none(Some("`null` as arguments was read as `{}`")),
            Some(value @ Value::Object(_)) => Self::object(value.clone()),
            Some(value) => Self::raw(value.clone(), value.to_string()),
        }
    }

    fn object(value: Value) -> Self {
        Self {
            value,
            raw: None,
            tolerated: None,
        }
    }

    fn raw(value: Value, raw: String) -> Self {
        Self {
            value,
            raw: Some(raw),
            tolerated: None,
        }
    }

    fn none(tolerated: Option<&'static str>) -> Self {
        Self {
            tolerated,
            ..Self::object(Value::Object(Map::new()))
        }
    }
}

/// Returns arguments as an object, to be sent back with the conversation.
///
/// What was no object is wrapped: providers refuse the whole request else,
/// and a fault of the model would count as one of the provider.
pub(super) fn as_object<'a>(arguments: &'a Value, raw: Option<&str>) -> Cow<'a, Value> {
    match (arguments, raw) {
        (Value::Object(_), None) => Cow::Borrowed(arguments),
        (_, Some(raw)) => Cow::Owned(json!({ "invalid_arguments": raw })),
        (_, None) => Cow::Owned(json!({ "invalid_arguments": arguments })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Value, Option<&str>) {
        let Arguments { value, raw, .. } = Arguments::from_text(text);
        assert!(raw.is_none() || raw.as_deref() == Some(text));
        (value, raw.map(|_| text))
    }

    #[test]
    fn an_object_is_taken_as_written() {
        assert_eq!(
            read(r#"{"tasks":"[{}]"}"#),
            (json!({"tasks": "[{}]"}), None)
        );
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for text in ["", " \n", "null", "{}"] {
            assert_eq!(read(text), (json!({}), None), "{text:?}");
        }
        assert_eq!(Arguments::from_value(None), Arguments::object(json!({})));
        assert!(Arguments::from_text("").tolerated.is_some());
        assert!(Arguments::from_text("null").tolerated.is_some());
        assert!(Arguments::from_text("{}").tolerated.is_none());
    }

    #[test]
    fn anything_else_keeps_what_the_model_wrote() {
        assert_eq!(read("[]"), (json!([]), Some("[]")));
        assert_eq!(read("3"), (json!(3), Some("3")));
        assert_eq!(read(r#""{}""#), (json!("{}"), Some(r#""{}""#)));
        assert_eq!(
            read(r#"{"a": 1"#),
            (json!(r#"{"a": 1"#), Some(r#"{"a": 1"#))
        );
        let deep = "[".repeat(200_000);
        assert_eq!(read(&deep), (json!(deep), Some(deep.as_str())));
    }

    #[test]
    fn what_was_no_object_goes_back_wrapped() {
        assert_eq!(*as_object(&json!({"a": 1}), None), json!({"a": 1}));
        assert_eq!(
            *as_object(&json!("{x"), Some("{x")),
            json!({"invalid_arguments": "{x"})
        );
    }
}
