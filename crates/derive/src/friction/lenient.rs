//! JSON as ECMAScript reads it, where our parser is stricter.
//!
//! A number that overflows a double, a lone surrogate and nesting deeper than
//! the parser bears are no syntax errors (`friction.md` §4, §5). They are read
//! level by level, only when the plain parser fails.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{self, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// Levels that are kept; below, a container is only known to be empty or not.
const KEPT_LEVELS: usize = 64;

/// A parsed document.
pub(super) struct Parsed {
    pub(super) value: Value,
    /// The value is all that the text says.
    pub(super) exact: bool,
}

/// Parses one JSON document; `None` when the text is not JSON.
pub(super) fn parse(text: &str) -> Option<Parsed> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(Parsed { value, exact: true });
    }
    // Checks the syntax of the whole text without recursion.
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let mut exact = true;
    let value = level(raw.get().trim_ascii(), 0, &mut exact);
    Some(Parsed { value, exact })
}

/// Reads a value whose syntax is known to be right.
fn level(text: &str, depth: usize, exact: &mut bool) -> Value {
    if depth > KEPT_LEVELS && text.starts_with(['[', '{']) {
        *exact = false;
        let inside = text.get(1..text.len() - 1).unwrap_or_default();
        let empty = inside.trim_ascii().is_empty();
        return Value::Array(if empty { Vec::new() } else { vec![Value::Null] });
    }
    if text.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        return items
            .into_iter()
            .map(|item| level(item.get(), depth + 1, exact))
            .collect();
    }
    if text.starts_with('{') {
        return object(text, depth, exact);
    }
    if text.starts_with('"') {
        return serde_json::from_str(text).unwrap_or_else(|_| {
            *exact = false;
            Value::String(lossy(text))
        });
    }
    serde_json::from_str(text).unwrap_or_else(|_| {
        // The one literal left that is JSON and no value: an overflow.
        *exact = false;
        Value::Null
    })
}

fn object(text: &str, depth: usize, exact: &mut bool) -> Value {
    let members: Members<'_> = serde_json::from_str(text).unwrap_or_default();
    let mut object = Map::new();
    for (key, member) in members.0 {
        *exact &= key.exact;
        let value = level(member.get(), depth + 1, exact);
        // The last of equal keys wins.
        object.insert(key.text, value);
    }
    Value::Object(object)
}

#[derive(Default)]
struct Members<'a>(Vec<(Key, &'a RawValue)>);

struct Key {
    text: String,
    exact: bool,
}

impl<'de: 'a, 'a> de::Deserialize<'de> for Members<'a> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Collect<'a> {
            type Value = Members<'a>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    members.push(entry);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect(std::marker::PhantomData))
    }
}

impl<'de> de::Deserialize<'de> for Key {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Text)
    }
}

/// Reads a string as bytes, which is how lone surrogates can be read.
struct Text;

impl Visitor<'_> for Text {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
        Ok(Key {
            text: text.to_owned(),
            exact: true,
        })
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Key, E> {
        let text = String::from_utf8_lossy(bytes);
        Ok(Key {
            exact: text.as_bytes() == bytes,
            text: text.into_owned(),
        })
    }
}

fn lossy(literal: &str) -> String {
    serde_json::Deserializer::from_str(literal)
        .deserialize_bytes(Text)
        .map_or_else(|_| String::new(), |key| key.text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_overflowing_number_is_no_syntax_error() {
        let parsed = parse(r#" {"a":[1e999,2,{"b":-1E400}],"c":"x"} "#).expect("JSON");
        assert!(!parsed.exact);
        assert_eq!(parsed.value, json!({"a": [null, 2, {"b": null}], "c": "x"}));
        assert!(parse("1e999").is_some());
    }

    #[test]
    fn a_lone_surrogate_is_no_syntax_error() {
        let parsed = parse(r#"{"\ud800":"a\udfff"}"#).expect("JSON");
        assert!(!parsed.exact);
        assert!(parsed.value.is_object());
    }

    #[test]
    fn nesting_beyond_the_parser_keeps_what_is_above() {
        let deep = format!(
            "{{\"id\":7,\"x\":{}{}}}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        );
        let parsed = parse(&deep).expect("JSON");
        assert!(!parsed.exact);
        assert_eq!(parsed.value["id"], 7);
        assert_eq!(parsed.value["x"][0][0][0].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1e999",
            "\u{feff}{}",
            "{} {}",
            "'a'",
            "01",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
        assert!(parse("{}").expect("JSON").exact);
    }
}
