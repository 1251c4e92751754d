//! Rewrites of input schemas that change no meaning.
//!
//! A schema goes out as the server gave it. Only what a provider refuses and
//! what says nothing new is added: arguments are an object anyway, and an
//! object without listed properties lists none. Everything else is linted
//! beforehand and left to the provider (field cases F14, F15).

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use strandline_contract::trace::Adaptation;
use strandline_derive::surface::providers::ToolLimits;

/// Returns the schema to send, and what was added to it.
pub(super) fn sendable<'a>(
    limits: &ToolLimits,
    tool_name: &str,
    schema: &'a Value,
) -> (Cow<'a, Value>, Option<Adaptation>) {
    let Some(object) = schema.as_object() else {
        let empty = json!({"type": "object", "properties": {}});
        return (
            Cow::Owned(empty),
            Some(rewritten(
                tool_name,
                "the schema is no object; an empty one was sent",
            )),
        );
    };
    let mut missing: Vec<(&str, Value)> = Vec::new();
    if !object.contains_key("type") {
        missing.push(("type", Value::from("object")));
    }
    if limits.root_needs_properties && !object.contains_key("properties") {
        missing.push(("properties", Value::Object(Map::new())));
    }
    if missing.is_empty() {
        return (Cow::Borrowed(schema), None);
    }
    let words: Vec<String> = missing.iter().map(|(key, _)| format!("`{key}`")).collect();
    let mut object = object.clone();
    object.extend(
        missing
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value)),
    );
    (
        Cow::Owned(Value::Object(object)),
        Some(rewritten(
            tool_name,
            &format!(
                "{} was added to the root of the input schema",
                words.join(" and ")
            ),
        )),
    )
}

fn rewritten(tool_name: &str, detail: &str) -> Adaptation {
    Adaptation {
        kind: "schemaRewritten".to_owned(),
        subject: tool_name.to_owned(),
        detail: detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use strandline_contract::providers::find_provider;
    use strandline_derive::surface::providers::tool_limits;

    use super::*;

    fn sent(provider: &str, schema: &Value) -> (Value, bool) {
        let limits = tool_limits(find_provider(provider).expect("known"));
        let (schema, adaptation) = sendable(&limits, "t", schema);
        (schema.into_owned(), adaptation.is_some())
    }

    #[test]
    fn a_schema_goes_out_as_the_server_gave_it() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"const": 1}}, "allOf": [{}], "x-vendor": true});
        for provider in ["openai", "anthropic", "google"] {
            assert_eq!(sent(provider, &schema), (schema.clone(), false));
        }
    }

    #[test]
    fn what_says_nothing_new_is_added_and_recorded() {
        let bare = json!({"type": "object"});
        assert_eq!(
            sent("openai", &bare),
            (json!({"type": "object", "properties": {}}), true)
        );
        assert_eq!(sent("anthropic", &bare), (bare, false));
        assert_eq!(
            sent("anthropic", &json!({})),
            (json!({"type": "object"}), true)
        );
        assert_eq!(
            sent("google", &Value::Null),
            (json!({"type": "object", "properties": {}}), true)
        );
    }
}
