//! Plausible arguments for a tool, from its input schema.
//!
//! They are a starting point for a person, never evidence: only what the
//! schema requires is filled in, with what the schema itself suggests where it
//! suggests anything.

use crate::assertions::schema::{Schema, shown_violations};
use serde_json::{Map, Number, Value};

/// Deepest nesting that is filled in.
const MAX_DEPTH: usize = 12;
/// Most references and branches followed for one schema.
const MAX_STEPS: usize = 2_000;
/// Most items that are made because a schema demands them.
const MAX_ITEMS: u64 = 20;
/// Longest text that is made because a schema demands it.
const MAX_LENGTH: u64 = 2_000;

/// Arguments that a schema suggests.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// What to call the tool with.
    pub arguments: Map<String, Value>,
    /// Why a person has to look first; `None` when they satisfy the schema.
    pub doubt: Option<String>,
}

/// Suggests arguments for a tool from its raw `tools/list` entry.
#[must_use]
pub fn suggest_arguments(tool: &Value) -> Suggestion {
    let Some(schema) = tool.get("inputSchema").filter(|schema| schema.is_object()) else {
        return Suggestion {
            arguments: Map::new(),
            doubt: Some("the tool has no input schema".to_owned()),
        };
    };
    let mut guess = Guess {
        root: schema,
        steps: 0,
    };
    let arguments = match guess.value(schema, "", 0) {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    let doubt = misfit(schema, &arguments);
    Suggestion { arguments, doubt }
}

/// Returns why arguments do not satisfy the schema, or cannot be checked.
fn misfit(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    let compiled = match Schema::compile(schema) {
        Ok(compiled) => compiled,
        Err(error) => return Some(error.to_string()),
    };
    let violations = compiled.violations(&Value::Object(arguments.clone()));
    (!violations.is_empty()).then(|| {
        format!(
            "they do not fit the schema: {}",
            shown_violations(&violations)
        )
    })
}

struct Guess<'a> {
    root: &'a Value,
    steps: usize,
}

impl<'a> Guess<'a> {
    /// Returns a value that a schema suggests for a member called `name`.
    fn value(&mut self, schema: &'a Value, name: &str, depth: usize) -> Option<Value> {
        self.steps += 1;
        if depth > MAX_DEPTH || self.steps > MAX_STEPS {
            return None;
        }
        let Value::Object(members) = schema else {
            // `true` allows anything; `false` allows nothing.
            return (schema == &Value::Bool(true)).then(|| text_for(name, &Map::new()));
        };
        if let Some(suggested) = stated(members) {
            return Some(suggested);
        }
        if let Some(target) = self.target(members) {
            return self.value(target, name, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = members.get(keyword)
                && !members.contains_key("properties")
            {
                return branches
                    .iter()
                    .filter(|branch| branch["type"] != "null")
                    .find_map(|branch| self.value(branch, name, depth + 1));
            }
        }
        match kind(members) {
            Kind::Object => Some(Value::Object(self.object(members, depth))),
            Kind::Array => Some(Value::Array(self.array(members, name, depth))),
            Kind::Text => Some(text_for(name, members)),
            Kind::Integer => Some(integer(members)),
            Kind::Number => Some(number(members)),
            Kind::Boolean => Some(Value::Bool(false)),
            Kind::Null => Some(Value::Null),
            Kind::Unstated => {
                let parts = members.get("allOf").and_then(Value::as_array);
                parts
                    .into_iter()
                    .flatten()
                    .find_map(|part| self.value(part, name, depth + 1))
                    .or_else(|| Some(text_for(name, members)))
            }
        }
    }

    /// Fills in what is required, here and in every part of `allOf`.
    fn object(&mut self, members: &'a Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut filled = Map::new();
        let properties = members.get("properties").and_then(Value::as_object);
        let required = members.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let schema = properties.and_then(|properties| properties.get(name));
            let value = match schema {
                Some(schema) => self.value(schema, name, depth + 1),
                None => Some(text_for(name, &Map::new())),
            };
            filled.insert(name.to_owned(), value.unwrap_or(Value::Null));
        }
        let parts = members.get("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            if let Some(Value::Object(more)) = self.value(part, "", depth + 1) {
                for (name, value) in more {
                    filled.entry(name).or_insert(value);
                }
            }
        }
        filled
    }

    /// Makes one item, or as many as are demanded.
    fn array(&mut self, members: &'a Map<String, Value>, name: &str, depth: usize) -> Vec<Value> {
        let least = bound(members, "minItems").unwrap_or(0).min(MAX_ITEMS);
        let most = bound(members, "maxItems").unwrap_or(u64::MAX);
        let Some(items) = members.get("items") else {
            return vec![
                text_for(singular(name), &Map::new());
                usize::try_from(least).unwrap_or(0)
            ];
        };
        (0..least.max(1).min(most))
            .filter_map(|_| self.value(items, singular(name), depth + 1))
            .collect()
    }

    /// Follows a reference inside the schema; others are never fetched.
    fn target(&self, members: &Map<String, Value>) -> Option<&'a Value> {
        let reference = members.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(reference)
    }
}

/// Returns the value that a schema states itself.
fn stated(members: &Map<String, Value>) -> Option<Value> {
    let first = |keyword: &str| members.get(keyword)?.as_array()?.first().cloned();
    members
        .get("const")
        .cloned()
        .or_else(|| {
            members
                .get("default")
                .filter(|value| !value.is_null())
                .cloned()
        })
        .or_else(|| first("examples"))
        .or_else(|| members.get("example").cloned())
        .or_else(|| first("enum"))
}

enum Kind {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Boolean,
    Null,
    Unstated,
}

/// Returns the type of a schema; of several the first that is not `null`.
fn kind(members: &Map<String, Value>) -> Kind {
    let word = match members.get("type") {
        Some(Value::String(word)) => Some(word.as_str()),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .find(|word| *word != "null"),
        _ if members.contains_key("properties") => Some("object"),
        _ if members.contains_key("items") => Some("array"),
        _ => None,
    };
    match word {
        Some("object") => Kind::Object,
        Some("array") => Kind::Array,
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("null") => Kind::Null,
        _ => Kind::Unstated,
    }
}

fn bound(members: &Map<String, Value>, keyword: &str) -> Option<u64> {
    members.get(keyword).and_then(Value::as_u64)
}

/// Returns the least whole number that the schema allows, from 1 up if it may.
fn integer(members: &Map<String, Value>) -> Value {
    let limit = |keyword: &str| members.get(keyword).and_then(Value::as_f64);
    let lowest = limit("minimum")
        .map(f64::ceil)
        .or_else(|| limit("exclusiveMinimum").map(|least| least.floor() + 1.0));
    let highest = limit("maximum")
        .map(f64::floor)
        .or_else(|| limit("exclusiveMaximum").map(|most| most.ceil() - 1.0));
    let step = limit("multipleOf").filter(|step| *step > 0.0);
    let mut value = lowest.map_or(1.0, |lowest| lowest.max(1.0));
    if let Some(step) = step {
        value = (value / step).ceil() * step;
    }
    if let Some(highest) = highest {
        value = value.min(highest);
    }
    // Whole doubles within 2^53 are exact.
    if value.abs() <= 9_007_199_254_740_992.0 {
        return Value::from(value as i64);
    }
    Value::from(1)
}

fn number(members: &Map<String, Value>) -> Value {
    let limit = |keyword: &str| members.get(keyword).and_then(Value::as_f64);
    let above = limit("exclusiveMinimum");
    let mut value = limit("minimum").unwrap_or(1.0).max(1.0);
    if let Some(above) = above.filter(|above| value <= *above) {
        value = above + 1.0;
    }
    if let Some(most) = limit("maximum") {
        value = value.min(most);
    }
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::from(1), Value::Number)
}

/// Returns a text that the format or the member's name suggests, as long as
/// the schema demands.
fn text_for(name: &str, members: &Map<String, Value>) -> Value {
    let format = members.get("format").and_then(Value::as_str);
    let mut text = by_format(format.unwrap_or_default())
        .unwrap_or_else(|| by_name(name))
        .to_owned();
    if format.is_none() {
        let least = bound(members, "minLength").unwrap_or(0).min(MAX_LENGTH);
        while (text.chars().count() as u64) < least {
            text.push('x');
        }
        if let Some(most) = bound(members, "maxLength") {
            text = text
                .chars()
                .take(usize::try_from(most).unwrap_or(usize::MAX))
                .collect();
        }
    }
    Value::String(text)
}

fn by_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-15",
        "date-time" => "2026-01-15T09:30:00Z",
        "time" => "09:30:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "someone@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "url" => "https://example.com/",
        "uri-reference" | "iri-reference" => "/",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "json-pointer" => "/a",
        "regex" => ".*",
        _ => return None,
    })
}

/// Returns what members of that name usually hold.
fn by_name(name: &str) -> &'static str {
    let name = name.to_lowercase();
    let has = |part: &str| name.contains(part);
    if has("email") {
        "someone@example.com"
    } else if has("url") || has("uri") {
        "https://example.com/"
    } else if has("timezone") {
        "Europe/London"
    } else if has("date") {
        "2026-01-15"
    } else if has("time") {
        "09:30"
    } else if has("path") || has("dir") || has("file") {
        "."
    } else if name.ends_with("id") {
        "1"
    } else if has("message") || has("text") {
        "hello"
    } else {
        "example"
    }
}

/// Returns the name of one item of a list called `name`.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn suggested(schema: &Value) -> Suggestion {
        suggest_arguments(&json!({"name": "t", "inputSchema": schema}))
    }

    fn arguments(properties: &Value) -> Value {
        let names: Vec<&String> = properties
            .as_object()
            .into_iter()
            .flatten()
            .map(|(n, _)| n)
            .collect();
        let schema = json!({"type": "object", "properties": properties, "required": names});
        let suggestion = suggested(&schema);
        assert_eq!(suggestion.doubt, None, "{schema}");
        Value::Object(suggestion.arguments)
    }

    #[test]
    fn what_the_schema_states_comes_first() {
        assert_eq!(
            arguments(&json!({
                "a": {"type": "string", "default": "d", "enum": ["e", "d"]},
                "b": {"type": "string", "examples": ["x"]},
                "c": {"enum": ["m", "n"]},
                "d": {"const": 7},
            })),
            json!({"a": "d", "b": "x", "c": "m", "d": 7})
        );
    }

    #[test]
    fn formats_names_and_bounds_are_respected() {
        assert_eq!(
            arguments(&json!({
                "when": {"type": "string", "format": "date"},
                "email": {"type": "string"},
                "n": {"type": "integer", "minimum": 3, "multipleOf": 5},
                "low": {"type": "integer", "maximum": -2},
                "rate": {"type": "number", "exclusiveMinimum": 1, "maximum": 1.5},
                "code": {"type": "string", "minLength": 9, "maxLength": 12},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                "maybe": {"type": ["null", "boolean"]},
            })),
            json!({
                "when": "2026-01-15", "email": "someone@example.com", "n": 5, "low": -2,
                "rate": 1.5, "code": "examplexx", "tags": ["example", "example"], "maybe": false
            })
        );
    }

    #[test]
    fn only_what_is_required_is_filled_in() {
        let suggestion = suggested(&json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "object", "required": ["b"], "properties": {
                "b": {"$ref": "#/$defs/b"}, "c": {"type": "string"}}}, "d": {"type": "string"}},
            "$defs": {"b": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}
        }));
        assert_eq!(Value::Object(suggestion.arguments), json!({"a": {"b": 1}}));
        assert_eq!(suggestion.doubt, None);
    }

    #[test]
    fn parts_of_all_of_are_filled_in_together() {
        let suggestion = suggested(&json!({
            "type": "object", "allOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]}
            ]
        }));
        assert_eq!(
            Value::Object(suggestion.arguments),
            json!({"a": 1, "b": false})
        );
    }

    #[test]
    fn a_misfit_is_doubted() {
        let pattern = suggested(&json!({
            "type": "object", "required": ["sku"],
            "properties": {"sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}}
        }));
        assert!(pattern.doubt.is_some_and(|doubt| doubt.contains("/sku")));
        assert!(suggest_arguments(&json!({"name": "t"})).doubt.is_some());
        assert!(suggested(&json!({"type": "strnig"})).doubt.is_some());
    }

    #[test]
    fn recursion_and_explosion_end() {
        let endless = suggested(&json!({
            "type": "object", "required": ["next"],
            "properties": {"next": {"$ref": "#"}, "again": {"$ref": "#/properties/again"}}
        }));
        assert!(endless.doubt.is_some());
        let mut schema = json!({"type": "integer"});
        for _ in 0..200 {
            schema = json!({"anyOf": [schema.clone(), {"type": "null"}]});
        }
        let _ =
            suggested(&json!({"type": "object", "required": ["a"], "properties": {"a": schema}}));
    }

    proptest! {
        /// Whatever a server lists as a schema, a suggestion comes back.
        #[test]
        fn any_schema_gives_a_suggestion(text in "[{}\\[\\]\":,a-z0-9$#/]{0,60}") {
            let schema = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let _ = suggested(&json!({"properties": {"a": schema}, "required": ["a"]}));
        }
    }
}
