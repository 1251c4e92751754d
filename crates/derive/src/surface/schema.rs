//! Walks a JSON Schema by its keywords and follows its references.

use serde_json::{Map, Value};

/// Deepest nesting that is searched.
const MAX_DEPTH: usize = 64;

/// Keywords that hold one schema.
const ONE: [&str; 13] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "extends",
];

/// Keywords that hold a list of schemas.
const LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords that hold schemas by name.
const NAMED: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Types that JSON Schema knows.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Something that is wrong in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaDefect {
    /// A reference that leads nowhere in the schema itself.
    DanglingRef(String),
    /// A reference to somewhere else; it is never fetched.
    RemoteRef(String),
    /// A `type` that JSON Schema does not know.
    UnknownType(String),
}

/// Returns what is wrong in a schema, with the pointer of each place.
#[must_use]
pub fn schema_defects(schema: &Value) -> Vec<(String, SchemaDefect)> {
    let mut defects = Vec::new();
    visit(schema, schema, schema, &mut String::new(), 0, &mut defects);
    defects
}

fn visit(
    schema: &Value,
    resource: &Value,
    root: &Value,
    pointer: &mut String,
    depth: usize,
    defects: &mut Vec<(String, SchemaDefect)>,
) {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return;
    };
    // A schema with an address of its own is what its references start from.
    let resource = match members.get("$id").and_then(Value::as_str) {
        Some(id) if !id.starts_with('#') => schema,
        _ => resource,
    };
    for keyword in ["$ref", "$dynamicRef"] {
        if let Some(reference) = members.get(keyword).and_then(Value::as_str)
            && let Some(defect) = check_reference(reference, resource, root)
        {
            defects.push((format!("{pointer}/{keyword}"), defect));
        }
    }
    if let Some(unknown) = members.get("type").and_then(unknown_type) {
        defects.push((
            format!("{pointer}/type"),
            SchemaDefect::UnknownType(unknown),
        ));
    }
    for_each_subschema(members, |path, subschema| {
        let length = pointer.len();
        pointer.push_str(path);
        visit(subschema, resource, root, pointer, depth + 1, defects);
        pointer.truncate(length);
    });
}

fn for_each_subschema<'a>(members: &'a Map<String, Value>, mut act: impl FnMut(&str, &'a Value)) {
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            Value::Object(_) if ONE.contains(&keyword) => act(&format!("/{keyword}"), value),
            Value::Array(schemas) if LIST.contains(&keyword) => {
                for (index, schema) in schemas.iter().enumerate() {
                    act(&format!("/{keyword}/{index}"), schema);
                }
            }
            Value::Object(schemas) if NAMED.contains(&keyword) => {
                for (name, schema) in schemas {
                    act(&format!("/{keyword}/{}", escape(name)), schema);
                }
            }
            _ => {}
        }
    }
}

fn check_reference(reference: &str, resource: &Value, root: &Value) -> Option<SchemaDefect> {
    let dangling = || Some(SchemaDefect::DanglingRef(reference.to_owned()));
    let Some(fragment) = reference.strip_prefix('#') else {
        let address = reference.split('#').next().unwrap_or_default();
        return if has_id(root, address, 0) {
            None
        } else {
            Some(SchemaDefect::RemoteRef(reference.to_owned()))
        };
    };
    if fragment.is_empty() {
        return None;
    }
    let Some(fragment) = percent_decoded(fragment) else {
        return dangling();
    };
    let found = if fragment.starts_with('/') {
        resource.pointer(&fragment).is_some() || root.pointer(&fragment).is_some()
    } else {
        has_anchor(root, &fragment, 0)
    };
    if found { None } else { dangling() }
}

fn has_id(schema: &Value, address: &str, depth: usize) -> bool {
    any_schema(schema, depth, &|members| {
        members
            .get("$id")
            .and_then(Value::as_str)
            .is_some_and(|id| id == address || id.ends_with(&format!("/{address}")))
    })
}

fn has_anchor(schema: &Value, name: &str, depth: usize) -> bool {
    any_schema(schema, depth, &|members| {
        let is =
            |keyword: &str, text: &str| members.get(keyword).and_then(Value::as_str) == Some(text);
        is("$anchor", name) || is("$dynamicAnchor", name) || is("$id", &format!("#{name}"))
    })
}

fn any_schema(schema: &Value, depth: usize, test: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    let mut found = test(members);
    for_each_subschema(members, |_, subschema| {
        found = found || any_schema(subschema, depth + 1, test);
    });
    found
}

/// Returns the first `type` that is none.
fn unknown_type(value: &Value) -> Option<String> {
    let known = |value: &&Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(types) => types.iter().find(|one| !known(one)).map(Value::to_string),
        one if known(&one) => None,
        one => Some(one.to_string()),
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Decodes `%XX`; nothing when the result is no text.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SchemaDefect::*, *};

    #[test]
    fn local_references_resolve_and_recursion_is_legal() {
        let schema = json!({
            "type": "object",
            "properties": {
                "self": {"$ref": "#"},
                "node": {"$ref": "#/$defs/a~1b%20c"},
                "anchored": {"$ref": "#here"},
                "own": {"$ref": "http://a.test/own.json"},
            },
            "$defs": {
                "a/b c": {"type": "array", "items": {"$ref": "#/$defs/a~1b%20c"}},
                "x": {"$anchor": "here"},
                "y": {"$id": "http://a.test/own.json", "$ref": "#/$defs/inner", "$defs": {"inner": {}}},
            },
        });
        assert_eq!(schema_defects(&schema), []);
    }

    #[test]
    fn defects_are_named_with_their_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "gone": {"$ref": "#/$defs/gone"},
                "far": {"$ref": "https://a.test/schema.json"},
                "list": {"items": [{"type": "strnig"}]},
                "union": {"type": ["string", "nil"]},
                "nobody": {"$ref": "#nobody"},
            },
        });
        let defects = schema_defects(&schema);
        let expected = [
            (
                "/properties/far/$ref",
                RemoteRef("https://a.test/schema.json".to_owned()),
            ),
            (
                "/properties/gone/$ref",
                DanglingRef("#/$defs/gone".to_owned()),
            ),
            (
                "/properties/list/items/0/type",
                UnknownType("\"strnig\"".to_owned()),
            ),
            ("/properties/nobody/$ref", DanglingRef("#nobody".to_owned())),
            ("/properties/union/type", UnknownType("\"nil\"".to_owned())),
        ];
        assert_eq!(
            defects,
            expected.map(|(pointer, defect)| (pointer.to_owned(), defect))
        );
    }

    #[test]
    fn data_and_property_names_are_no_schemas() {
        let schema = json!({
            "properties": {"$ref": {"type": "string"}, "type": {"type": "string"}},
            "const": {"$ref": "#/gone"},
            "enum": [{"type": "strnig"}],
            "default": {"$ref": "#/gone"},
        });
        assert_eq!(schema_defects(&schema), []);
    }

    #[test]
    fn a_bottomless_schema_is_searched_to_a_limit() {
        let mut schema = json!({"type": "strnig"});
        for _ in 0..1_000 {
            schema = json!({"items": schema});
        }
        assert_eq!(schema_defects(&schema), []);
    }
}
