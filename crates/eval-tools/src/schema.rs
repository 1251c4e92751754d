//! Schemas of inputs and outputs as they are listed.
//!
//! A client reads every schema with the list of tools, and some providers know
//! fewer keywords than JSON Schema has. So words are enumerations without their
//! meanings, which a call of `explain_term` gives, and what is said about parts
//! of outputs is left to the schemas of whole documents, which are resources.

use std::sync::Arc;

use rmcp::{
    handler::server::tool::{schema_for_input, schema_for_output},
    model::JsonObject,
};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// Formats that JSON Schema itself knows; ours for number sizes are not among
/// them, and strict validators complain.
const KNOWN_FORMATS: [&str; 4] = ["date-time", "uri", "uuid", "email"];

/// Returns the schema of what a tool takes.
pub(crate) fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    tidied(
        &schema_for_input::<T>().unwrap_or_default(),
        Parts::Explained,
    )
}

/// Returns the schema of what a tool gives.
pub(crate) fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    tidied(&schema_for_output::<T>(), Parts::Terse)
}

/// Whether descriptions of shared definitions are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    Explained,
    Terse,
}

fn tidied(schema: &JsonObject, parts: Parts) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    for (key, value) in &mut schema {
        tidy(value, key == "$defs" && parts == Parts::Terse);
    }
    Arc::new(schema)
}

/// Tidies a schema, or a map or list of schemas; `terse` leaves out what is
/// said about definitions.
fn tidy(value: &mut Value, terse: bool) {
    match value {
        Value::Object(members) => {
            let foreign = members.get("format").and_then(Value::as_str);
            if foreign.is_some_and(|format| !KNOWN_FORMATS.contains(&format)) {
                members.remove("format");
            }
            // A property may be called `description`: then it is no text.
            if terse && members.get("description").is_some_and(Value::is_string) {
                members.remove("description");
            }
            list_words(members);
            for (_, member) in members.iter_mut() {
                tidy(member, terse);
            }
        }
        Value::Array(items) => {
            for item in items {
                tidy(item, terse);
            }
        }
        _ => {}
    }
}

/// Writes alternatives of one constant text each as an enumeration.
fn list_words(members: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = members.get("oneOf") else {
        return;
    };
    let constants: Option<Vec<Value>> = alternatives
        .iter()
        .map(|alternative| {
            let constant = alternative.get("const")?;
            let keys = alternative.as_object()?.keys();
            let plain = keys
                .into_iter()
                .all(|key| ["const", "type", "description"].contains(&key.as_str()));
            (plain && constant.is_string()).then(|| constant.clone())
        })
        .collect();
    if let Some(constants) = constants {
        members.remove("oneOf");
        members.insert("type".to_owned(), json!("string"));
        members.insert("enum".to_owned(), Value::Array(constants));
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use strandline_contract::words::StageState;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Sample {
        /// Said at the top.
        count: u64,
        state: StageState,
        inner: Inner,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Inner {
        /// Said below.
        description: String,
    }

    #[test]
    fn outputs_keep_shapes_and_words_and_lose_repetition() {
        let schema = Value::Object(Arc::unwrap_or_clone(output::<Sample>()));
        assert_eq!(
            schema["properties"]["count"]["description"],
            "Said at the top."
        );
        assert_eq!(schema["properties"]["count"].get("format"), None);
        let words = schema["$defs"]["StageState"]["enum"].as_array();
        assert!(
            words.is_some_and(|words| words.contains(&json!("notReached"))),
            "{schema}"
        );
        let inner = &schema["$defs"]["Inner"]["properties"];
        assert_eq!(inner["description"], json!({"type": "string"}));
    }

    #[test]
    fn inputs_use_no_keyword_that_providers_do_not_know() {
        let schema = Value::Object(Arc::unwrap_or_clone(input::<Sample>()));
        assert!(schema["$defs"]["StageState"]["enum"].is_array(), "{schema}");
        assert!(!schema.to_string().contains("\"const\""), "{schema}");
        let inner = &schema["$defs"]["Inner"]["properties"];
        assert_eq!(inner["description"]["description"], "Said below.");
    }
}
