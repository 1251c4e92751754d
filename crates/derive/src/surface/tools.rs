//! What is wrong with the tools that a server lists, whoever calls them.
//!
//! Each finding concerns one tool only: the others stay usable.

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::trace::Lint;

use super::schema::{SchemaDefect, schema_defects};

/// Longest tool name that the protocol recommends.
const NAME_LENGTH: usize = 128;

/// Most findings that are reported for one listing.
const MOST_FINDINGS: usize = 200;

/// Lints raw `tools/list` entries, in their order.
#[must_use]
pub fn lint_listing(server: &str, tools: &[Value]) -> Vec<Lint> {
    let mut lints = Vec::new();
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let name = tool.get("name").and_then(Value::as_str);
        let shown = name.map_or_else(|| format!("#{}", index + 1), str::to_owned);
        let mut report = |code: &str, message: String| {
            lints.push(Lint {
                code: code.to_owned(),
                server: server.to_owned(),
                tool_name: Some(shown.clone()),
                message,
            });
        };
        lint_entry(tool, &mut report);
        if let Some(name) = name
            && !names.insert(name)
        {
            report(
                "duplicateToolName",
                "Another tool has the same name.".to_owned(),
            );
        }
        if lints.len() >= MOST_FINDINGS {
            lints.truncate(MOST_FINDINGS);
            break;
        }
    }
    lints
}

fn lint_entry(tool: &Value, report: &mut impl FnMut(&str, String)) {
    let Some(members) = tool.as_object() else {
        return report("toolNotObject", "The entry is no object.".to_owned());
    };
    match members.get("name") {
        Some(Value::String(name)) => lint_name(name, report),
        Some(_) => report("toolNameMissing", "The name is no string.".to_owned()),
        None => report("toolNameMissing", "The tool has no name.".to_owned()),
    }
    let described = members
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|description| !description.trim().is_empty());
    if !described {
        report(
            "toolDescriptionMissing",
            "The tool has no description; a model has only its name to go by.".to_owned(),
        );
    }
    match members.get("inputSchema") {
        Some(schema) => lint_schema("inputSchema", schema, report),
        None => report(
            "inputSchemaMissing",
            "The tool has no `inputSchema`; the protocol requires one.".to_owned(),
        ),
    }
    if let Some(schema) = members.get("outputSchema") {
        lint_schema("outputSchema", schema, report);
    }
}

fn lint_name(name: &str, report: &mut impl FnMut(&str, String)) {
    if name.is_empty() {
        return report("toolNameMissing", "The name is empty.".to_owned());
    }
    let odd = !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if odd || name.len() > NAME_LENGTH {
        report(
            "toolNameForm",
            format!(
                "The protocol recommends names of 1 to {NAME_LENGTH} characters of `[A-Za-z0-9_.-]`."
            ),
        );
    }
}

fn lint_schema(member: &str, schema: &Value, report: &mut impl FnMut(&str, String)) {
    let Some(members) = schema.as_object() else {
        return report("schemaNotObject", format!("`{member}` is no object."));
    };
    if members.get("type").and_then(Value::as_str) != Some("object") {
        report(
            "schemaTypeMissing",
            format!("`{member}` lacks `\"type\": \"object\"` at its root."),
        );
    }
    for (pointer, defect) in schema_defects(schema) {
        let place = format!("`{member}{pointer}`");
        match defect {
            SchemaDefect::DanglingRef(target) => report(
                "schemaRefDangling",
                format!("{place} refers to `{target}`, which is not there."),
            ),
            SchemaDefect::RemoteRef(target) => report(
                "schemaRefRemote",
                format!("{place} refers to `{target}` elsewhere, which is never fetched."),
            ),
            SchemaDefect::UnknownType(name) => report(
                "schemaTypeUnknown",
                format!("{place} is {name}, which JSON Schema does not know."),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(tools: &Value) -> Vec<(String, String)> {
        lint_listing("s", tools.as_array().expect("a list"))
            .into_iter()
            .map(|lint| (lint.tool_name.unwrap_or_default(), lint.code))
            .collect()
    }

    #[test]
    fn a_good_tool_has_no_findings() {
        let tool = json!({
            "name": "get.order_1-a",
            "description": "Gets an order.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
            "outputSchema": {"type": "object"},
        });
        assert_eq!(codes(&json!([tool])), []);
    }

    #[test]
    fn every_defect_concerns_its_own_tool() {
        let schema = json!({"type": "object"});
        let tools = json!([
            "text",
            {"name": 7, "description": "d", "inputSchema": schema},
            {"name": "", "description": "d", "inputSchema": schema},
            {"name": "a b", "description": "d", "inputSchema": schema},
            {"name": "no_description", "inputSchema": schema},
            {"name": "no_schema", "description": "d"},
            {"name": "text_schema", "description": "d", "inputSchema": "none"},
            {"name": "no_type", "description": "d", "inputSchema": {"properties": {}}},
            {"name": "good", "description": "d", "inputSchema": schema},
            {"name": "good", "description": "d", "inputSchema": schema},
            {"name": "refs", "description": "d", "inputSchema": schema, "outputSchema": {
                "type": "object", "properties": {"x": {"$ref": "#/gone"}, "y": {"$ref": "http://a.test/"}, "z": {"type": "x"}},
            }},
        ]);
        let expected = [
            ("#1", "toolNotObject"),
            ("#2", "toolNameMissing"),
            ("", "toolNameMissing"),
            ("a b", "toolNameForm"),
            ("no_description", "toolDescriptionMissing"),
            ("no_schema", "inputSchemaMissing"),
            ("text_schema", "schemaNotObject"),
            ("no_type", "schemaTypeMissing"),
            ("good", "duplicateToolName"),
            ("refs", "schemaRefDangling"),
            ("refs", "schemaRefRemote"),
            ("refs", "schemaTypeUnknown"),
        ];
        assert_eq!(
            codes(&tools),
            expected.map(|(tool, code)| (tool.to_owned(), code.to_owned()))
        );
    }

    #[test]
    fn findings_are_bounded() {
        let tools = vec![json!("text"); 1_000];
        assert_eq!(lint_listing("s", &tools).len(), MOST_FINDINGS);
    }
}
