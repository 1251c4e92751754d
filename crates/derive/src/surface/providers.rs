//! What a model provider demands of tools, and which tools do not meet it.
//!
//! The limits are what providers were seen to refuse, or document. A finding
//! is a warning before the first request: the schema is still sent as the
//! server gave it, and a name is offered under an alias.

use serde_json::Value;
use strandline_contract::{
    providers::{Provider, WireShape},
    trace::Lint,
};

/// Deepest nesting that a schema is searched to.
const MAX_DEPTH: usize = 64;

/// What a provider demands of the tools in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    /// Longest tool name, in characters of `[a-zA-Z0-9_-]`.
    pub name_length: usize,
    /// A tool name starts with a letter or an underscore.
    pub name_starts_with_letter: bool,
    /// Most tools in one request, where a limit is known.
    pub tools: Option<usize>,
    /// Keywords that are refused at the root of an input schema.
    pub refused_at_root: &'static [&'static str],
    /// Keywords whose constraint does not reach the model.
    pub unsupported_keywords: &'static [&'static str],
    /// Longest parameter name, in characters of `[a-zA-Z0-9_.-]`.
    pub parameter_name_length: Option<usize>,
    /// An object schema at the root must list its properties.
    pub root_needs_properties: bool,
    /// An array schema must say what its items are.
    pub arrays_need_items: bool,
}

/// Limits of OpenAI's own endpoint.
const OPENAI: ToolLimits = ToolLimits {
    name_length: 64,
    name_starts_with_letter: false,
    tools: Some(128),
    refused_at_root: &["allOf", "anyOf", "enum", "not", "oneOf"],
    unsupported_keywords: &[],
    parameter_name_length: None,
    root_needs_properties: true,
    arrays_need_items: true,
};

/// Endpoints that copy OpenAI's shape: the name rule is common, the rest varies.
const OPENAI_COMPATIBLE: ToolLimits = ToolLimits {
    tools: None,
    refused_at_root: &[],
    arrays_need_items: false,
    ..OPENAI
};

const ANTHROPIC: ToolLimits = ToolLimits {
    name_length: 128,
    name_starts_with_letter: false,
    tools: None,
    refused_at_root: &["allOf", "anyOf", "oneOf"],
    unsupported_keywords: &[],
    parameter_name_length: Some(64),
    root_needs_properties: false,
    arrays_need_items: false,
};

const GOOGLE: ToolLimits = ToolLimits {
    name_length: 64,
    name_starts_with_letter: true,
    tools: Some(512),
    refused_at_root: &[],
    unsupported_keywords: &[
        "allOf",
        "const",
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "if",
        "maxLength",
        "maxProperties",
        "minLength",
        "minProperties",
        "multipleOf",
        "not",
        "pattern",
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedProperties",
        "uniqueItems",
    ],
    parameter_name_length: None,
    root_needs_properties: false,
    arrays_need_items: false,
};

/// A scripted model takes every tool as it is.
const NONE: ToolLimits = ToolLimits {
    name_length: usize::MAX,
    name_starts_with_letter: false,
    tools: None,
    refused_at_root: &[],
    unsupported_keywords: &[],
    parameter_name_length: None,
    root_needs_properties: false,
    arrays_need_items: false,
};

/// Returns what a provider demands of tools.
#[must_use]
pub fn tool_limits(provider: &Provider) -> ToolLimits {
    match provider.shape {
        WireShape::OpenAi if provider.name == "openai" => OPENAI,
        WireShape::OpenAi => OPENAI_COMPATIBLE,
        WireShape::Anthropic => ANTHROPIC,
        WireShape::Google => GOOGLE,
        WireShape::Scripted => NONE,
    }
}

impl ToolLimits {
    /// Returns whether a tool can be offered under its own name.
    #[must_use]
    pub fn accepts_name(&self, name: &str) -> bool {
        if self.name_length == usize::MAX {
            return true;
        }
        let first_fits = !self.name_starts_with_letter
            || name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        !name.is_empty()
            && name.len() <= self.name_length
            && name.bytes().all(is_name_byte)
            && first_fits
    }
}

/// Lints raw `tools/list` entries against what a provider demands.
///
/// Findings come in the order of the tools, after one about their number.
#[must_use]
pub fn lint_tools(server: &str, provider: &Provider, tools: &[Value]) -> Vec<Lint> {
    let limits = tool_limits(provider);
    let mut lints = Vec::new();
    if let Some(most) = limits.tools.filter(|most| tools.len() > *most) {
        lints.push(Lint {
            code: "providerToolCount".to_owned(),
            server: server.to_owned(),
            tool_name: None,
            message: format!(
                "{} takes at most {most} tools in a request; the server lists {}",
                provider.name,
                tools.len()
            ),
        });
    }
    for tool in tools {
        let Some(name) = tool.get("name").and_then(Value::as_str) else {
            continue;
        };
        let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
        lints.extend(
            lint_tool(provider, name, schema)
                .into_iter()
                .map(|(code, message)| Lint {
                    code: code.to_owned(),
                    server: server.to_owned(),
                    tool_name: Some(name.to_owned()),
                    message,
                }),
        );
    }
    lints
}

/// Lints one tool: `(code, message)` of each finding.
#[must_use]
pub fn lint_tool(provider: &Provider, name: &str, schema: &Value) -> Vec<(&'static str, String)> {
    let limits = tool_limits(provider);
    let provider = provider.name;
    let mut findings = Vec::new();

    if !limits.accepts_name(name) {
        let start = if limits.name_starts_with_letter {
            ", the first a letter or `_`"
        } else {
            ""
        };
        findings.push((
            "providerToolName",
            format!(
                "{provider} takes tool names of 1 to {} characters of `[a-zA-Z0-9_-]`{start}; \
                 the tool is offered under an alias",
                limits.name_length
            ),
        ));
    }

    let refused = present(schema, limits.refused_at_root);
    if !refused.is_empty() {
        findings.push((
            "providerRootKeyword",
            format!(
                "{provider} refuses a request with a tool that has {} at the root of its input schema",
                quoted(&refused)
            ),
        ));
    }

    let mut walk = Walk::default();
    walk.visit(schema, &limits, &mut String::new(), 0);
    if !walk.unsupported.is_empty() {
        findings.push((
            "providerKeyword",
            format!(
                "{provider} documents no support for {} in an input schema; \
                 the model may not see these constraints",
                quoted(&walk.unsupported)
            ),
        ));
    }
    if let Some(pointer) = walk.array_without_items {
        findings.push((
            "providerArrayItems",
            format!("{provider} refuses a request with an array that has no `items`: `{pointer}`"),
        ));
    }
    if let Some(most) = limits.parameter_name_length {
        let bad: Vec<&str> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(parameter, _)| parameter.as_str())
            .filter(|parameter| !is_parameter_name(parameter, most))
            .collect();
        if !bad.is_empty() {
            findings.push((
                "providerParameterName",
                format!(
                    "{provider} refuses parameter names other than 1 to {most} characters of \
                     `[a-zA-Z0-9_.-]`: {}",
                    quoted(&bad)
                ),
            ));
        }
    }
    findings
}

/// What a search of a whole schema found; the first place of each kind.
#[derive(Default)]
struct Walk {
    unsupported: Vec<&'static str>,
    array_without_items: Option<String>,
}

impl Walk {
    /// Visits a schema and the schemas inside it, never a default or an example.
    fn visit(&mut self, schema: &Value, limits: &ToolLimits, pointer: &mut String, depth: usize) {
        let Some(object) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        for keyword in limits.unsupported_keywords {
            if object.contains_key(*keyword) && !self.unsupported.contains(keyword) {
                self.unsupported.push(keyword);
            }
        }
        if limits.arrays_need_items
            && self.array_without_items.is_none()
            && object.get("type").and_then(Value::as_str) == Some("array")
            && !object.contains_key("items")
        {
            self.array_without_items = Some(pointer.clone());
        }
        let length = pointer.len();
        for (key, value) in object {
            pointer.push('/');
            pointer.push_str(key);
            match (key.as_str(), value) {
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Value::Object(members),
                ) => {
                    let length = pointer.len();
                    for (name, member) in members {
                        pointer.push('/');
                        pointer.push_str(name);
                        self.visit(member, limits, pointer, depth + 1);
                        pointer.truncate(length);
                    }
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(members)) => {
                    let length = pointer.len();
                    for (index, member) in members.iter().enumerate() {
                        pointer.push('/');
                        pointer.push_str(&index.to_string());
                        self.visit(member, limits, pointer, depth + 1);
                        pointer.truncate(length);
                    }
                }
                (
                    "items"
                    | "additionalProperties"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "unevaluatedProperties"
                    | "unevaluatedItems",
                    Value::Object(_),
                ) => self.visit(value, limits, pointer, depth + 1),
                _ => {}
            }
            pointer.truncate(length);
        }
    }
}

fn present(schema: &Value, keywords: &'static [&'static str]) -> Vec<&'static str> {
    keywords
        .iter()
        .copied()
        .filter(|keyword| schema.get(keyword).is_some())
        .collect()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_parameter_name(name: &str, most: usize) -> bool {
    !name.is_empty()
        && name.len() <= most
        && name.bytes().all(|byte| is_name_byte(byte) || byte == b'.')
}

/// Longest list of words in one message.
const MAX_QUOTED: usize = 8;

fn quoted(words: &[&str]) -> String {
    let mut list: Vec<String> = words
        .iter()
        .take(MAX_QUOTED)
        .map(|word| format!("`{word}`"))
        .collect();
    if words.len() > MAX_QUOTED {
        list.push(format!("and {} more", words.len() - MAX_QUOTED));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use strandline_contract::providers::{PROVIDERS, find_provider};

    use super::{lint_tools, tool_limits};

    fn lint(provider: &str, tools: &[Value]) -> Vec<String> {
        lint_tools("s", find_provider(provider).expect("known"), tools)
            .into_iter()
            .map(|lint| {
                let tool = lint.tool_name.unwrap_or_default();
                format!("{} {tool}: {}", lint.code, lint.message)
            })
            .collect()
    }

    /// A server with one tool per known refusal.
    fn awkward() -> Vec<Value> {
        vec![
            json!({"name": "flat", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}),
            json!({"name": "a.b", "inputSchema": {"type": "object", "properties": {}}}),
            json!({"name": "1st", "inputSchema": {"type": "object", "properties": {}}}),
            json!({"name": "nested", "inputSchema": {"type": "object", "properties": {
                "x": {"oneOf": [{"const": 1}, {"type": "array"}]}}}}),
            json!({"name": "root", "inputSchema": {"type": "object", "allOf": [
                {"if": {"required": ["a"]}, "then": {"required": ["b"]}}]}}),
            json!({"name": "parameter", "inputSchema": {"type": "object", "properties": {"bad%%^Param": {}}}}),
            json!({"name": "default", "inputSchema": {"type": "object", "properties": {
                "x": {"type": "object", "default": {"allOf": [], "type": "array"}}}}}),
            json!({"nameless": true}),
        ]
    }

    #[test]
    fn openai_refusals_are_known_beforehand() {
        insta::assert_snapshot!(lint("openai", &awkward()).join("\n"), @r"
        providerToolName a.b: openai takes tool names of 1 to 64 characters of `[a-zA-Z0-9_-]`; the tool is offered under an alias
        providerArrayItems nested: openai refuses a request with an array that has no `items`: `/properties/x/oneOf/1`
        providerRootKeyword root: openai refuses a request with a tool that has `allOf` at the root of its input schema
        ");
    }

    #[test]
    fn anthropic_refusals_are_known_beforehand() {
        insta::assert_snapshot!(lint("anthropic", &awkward()).join("\n"), @r"
        providerToolName a.b: anthropic takes tool names of 1 to 128 characters of `[a-zA-Z0-9_-]`; the tool is offered under an alias
        providerRootKeyword root: anthropic refuses a request with a tool that has `allOf` at the root of its input schema
        providerParameterName parameter: anthropic refuses parameter names other than 1 to 64 characters of `[a-zA-Z0-9_.-]`: `bad%%^Param`
        ");
    }

    #[test]
    fn google_losses_are_known_beforehand() {
        insta::assert_snapshot!(lint("google", &awkward()).join("\n"), @r"
        providerToolName a.b: google takes tool names of 1 to 64 characters of `[a-zA-Z0-9_-]`, the first a letter or `_`; the tool is offered under an alias
        providerToolName 1st: google takes tool names of 1 to 64 characters of `[a-zA-Z0-9_-]`, the first a letter or `_`; the tool is offered under an alias
        providerKeyword nested: google documents no support for `const` in an input schema; the model may not see these constraints
        providerKeyword root: google documents no support for `allOf`, `if`, `then` in an input schema; the model may not see these constraints
        ");
    }

    #[test]
    fn a_scripted_model_takes_every_tool() {
        assert!(lint("scripted", &awkward()).is_empty());
    }

    #[test]
    fn more_tools_than_a_provider_takes_are_known_before_the_first_request() {
        let tools: Vec<Value> = (0..129)
            .map(|index| json!({"name": format!("t{index}"), "inputSchema": {"type": "object"}}))
            .collect();
        assert_eq!(
            lint("openai", &tools),
            [
                "providerToolCount : openai takes at most 128 tools in a request; the server lists 129"
            ]
        );
        assert!(lint("openai", &tools[1..]).is_empty());
        assert!(lint("anthropic", &tools).is_empty());
    }

    #[test]
    fn names_are_accepted_up_to_the_length_limit() {
        for provider in PROVIDERS {
            let limits = tool_limits(provider);
            if limits.name_length == usize::MAX {
                continue;
            }
            assert!(limits.accepts_name(&"a".repeat(limits.name_length)));
            assert!(!limits.accepts_name(&"a".repeat(limits.name_length + 1)));
            assert!(!limits.accepts_name(""));
            assert!(!limits.accepts_name("ä"));
            assert_eq!(limits.accepts_name("1"), provider.name != "google");
        }
    }

    #[test]
    fn a_schema_nested_beyond_all_reason_is_read_without_harm() {
        let mut schema = json!({"type": "array"});
        for _ in 0..120 {
            schema = json!({"not": schema});
        }
        let tool = json!({"name": "deep", "inputSchema": schema});
        assert!(
            lint("openai", &[tool])
                .iter()
                .all(|line| line.starts_with("providerRootKeyword"))
        );
    }
}
