//! Tool listings with the defects that real servers have.

use serde_json::{Value, json};

/// Returns one tool per defect, beside a good one.
pub(crate) fn tools() -> Value {
    json!([
        {"name": "good", "description": "Is fine.", "inputSchema": {"type": "object"}},
        {"name": "good", "description": "Has the name of another.", "inputSchema": {"type": "object"}},
        {
            "name": "local_refs",
            "description": "Refers within its schema, and to itself.",
            "inputSchema": {
                "type": "object",
                "properties": {"root": {"$ref": "#/$defs/node"}},
                "$defs": {"node": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                }},
            },
        },
        {
            "name": "dangling_ref",
            "description": "Refers to nothing in its output schema.",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/missing"}}},
        },
        {
            "name": "remote_ref",
            "description": "Refers to another host.",
            "inputSchema": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        },
        {"name": "no_type", "description": "Lacks the type.", "inputSchema": {"properties": {"a": {"type": "string"}}}},
        {"name": "bad_type", "description": "Misspells a type.", "inputSchema": {"type": "object", "properties": {"a": {"type": "strnig"}}}},
        {"name": "no_schema", "description": "Lacks the schema."},
        {"name": "no_description", "inputSchema": {"type": "object"}},
        {"name": "", "description": "Lacks a name.", "inputSchema": {"type": "object"}},
        {"description": "Has no name member.", "inputSchema": {"type": "object"}},
        "not even an object",
        {
            "name": "root_all_of",
            "description": "Composes at the root.",
            "inputSchema": {"type": "object", "allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}]},
        },
        {"name": "a.b", "description": "Has a dot.", "inputSchema": {"type": "object"}},
        {"name": "a b", "description": "Has a space.", "inputSchema": {"type": "object"}},
        {"name": "a_b", "description": "Is what the others become.", "inputSchema": {"type": "object"}},
    ])
}
