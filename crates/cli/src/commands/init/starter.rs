//! The text of a starter suite: one case per tool of a server.

use std::collections::BTreeSet;

use serde_json::Value;
use strandline_contract::words::ToolClassification;
use strandline_derive::{
    policy::classify,
    surface::arguments::{Suggestion, suggest_arguments},
};
use strandline_report::{escape, layout::wrap, words::counted};

/// Most cases of one suite file (`suite-file.md` §3).
const MAX_CASES: usize = 500;
/// Largest output schema that a case is given to check, characters.
const MAX_SCHEMA: usize = 2_000;
/// Longest description or doubt in a comment, characters.
const MAX_COMMENT: usize = 300;
/// Columns of a comment.
const COMMENT_WIDTH: usize = 76;

/// Everything a starter suite is made of.
#[derive(Debug)]
pub(super) struct Starter<'a> {
    /// The file that it is written to.
    pub(super) file: &'a str,
    /// The server's name in the suite.
    pub(super) server: &'a str,
    /// Its `mcpServers` entry, in reading order; empty when `mcp.json` has it.
    pub(super) entry: &'a [(&'a str, Value)],
    /// What the server calls itself.
    pub(super) called: &'a str,
    /// Its raw `tools/list` entries.
    pub(super) tools: &'a [Value],
}

/// A starter suite, and how many of its cases run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) cases: usize,
    pub(super) enabled: usize,
}

impl Starter<'_> {
    /// Returns the suite as commented YAML.
    pub(super) fn write(&self) -> Written {
        let named: Vec<(&str, &Value)> = self
            .tools
            .iter()
            .filter_map(|tool| Some((tool.get("name")?.as_str()?, tool)))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let mut lines = self.head();
        let mut ids = BTreeSet::new();
        let mut enabled = 0;
        for (name, tool) in named.iter().take(MAX_CASES) {
            lines.push(String::new());
            let case = Case::new(self.server, name, tool, &mut ids);
            enabled += usize::from(case.held_back.is_none());
            lines.extend(case.lines());
        }
        if named.len() > MAX_CASES {
            let more = named.len() - MAX_CASES;
            lines.push(String::new());
            lines.extend(comment(
                2,
                &format!("{more} more tools are listed; a suite holds at most {MAX_CASES} cases."),
            ));
        }
        if let Some((name, tool)) = named.first() {
            lines.push(String::new());
            lines.extend(prompt_example(name, &suggest_arguments(tool)));
        }
        Written {
            text: lines.join("\n") + "\n",
            cases: named.len().min(MAX_CASES),
            enabled,
        }
    }

    fn head(&self) -> Vec<String> {
        let tools = counted(self.tools.len() as u64, "tool", "tools");
        let mut lines = comment(
            0,
            &format!(
                "A starter suite for {}, which lists {tools}: one case per tool, called with \
                 arguments guessed from its schema. No model and no key is needed.",
                escape::line(self.called, 100)
            ),
        );
        lines.push("#".to_owned());
        lines.push(format!("#   strandline run {}", self.file));
        lines.push("#".to_owned());
        lines.extend(comment(
            0,
            "What to do next: put real arguments in, say what must come back, enable the cases \
             that are held back if they may run, and add prompts (see the end).",
        ));
        let server = text(self.server);
        lines.extend([
            "schemaVersion: \"2\"".to_owned(),
            "mode: agentWorkflow".to_owned(),
            "reportingMode: standard".to_owned(),
            format!(
                "suite: {{ id: {}, name: {server} }}",
                text(&format!("s_{}", id_of(self.server)))
            ),
            format!("target: {{ servers: [{{ name: {server} }}] }}"),
        ]);
        if !self.entry.is_empty() {
            let members = self.entry.iter().map(|(key, value)| (*key, value));
            lines.push("mcpServers:".to_owned());
            lines.push(format!("  {server}: {}", flow_members(members)));
        }
        lines.push("defaults:".to_owned());
        lines.extend(comment(
            2,
            "The model of cases with a prompt, as provider/model; its key comes from the \
             environment. No case below needs one.",
        ));
        lines.extend([
            "  model: scripted/none".to_owned(),
            "  iterations: 1".to_owned(),
            "  passThreshold: 1".to_owned(),
            "  validity: {}".to_owned(),
            String::new(),
            "cases:".to_owned(),
        ]);
        lines
    }
}

/// One case of the starter suite.
struct Case<'a> {
    server: &'a str,
    name: &'a str,
    tool: &'a Value,
    id: String,
    suggestion: Suggestion,
    /// Why the case is not run as written.
    held_back: Option<&'static str>,
}

impl<'a> Case<'a> {
    fn new(server: &'a str, name: &'a str, tool: &'a Value, ids: &mut BTreeSet<String>) -> Self {
        let base = id_of(name);
        let id = (1..)
            .map(|number| match number {
                1 => base.clone(),
                number => format!("{base}-{number}"),
            })
            .find(|id| ids.insert(id.clone()))
            .unwrap_or_default();
        Self {
            server,
            name,
            tool,
            id,
            suggestion: suggest_arguments(tool),
            held_back: held_back(name, tool.get("annotations")),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(description) = self.tool.get("description").and_then(Value::as_str) {
            lines.extend(comment(2, &escape::line(description.trim(), MAX_COMMENT)));
        }
        if let Some(doubt) = &self.suggestion.doubt {
            let doubt = escape::line(doubt, MAX_COMMENT);
            lines.extend(comment(2, &format!("Look at the arguments: {doubt}")));
        }
        let title = escape::line(&format!("{} answers", self.name), 150);
        lines.extend([
            format!("  - id: {}", text(&self.id)),
            format!("    title: {}", text(&title)),
        ]);
        if let Some(why) = self.held_back {
            lines.push(format!("    disabled: true # {why}"));
        }
        lines.extend([
            "    steps:".to_owned(),
            "      - id: call".to_owned(),
            "        kind: toolCall".to_owned(),
            format!("        serverName: {}", text(self.server)),
            format!("        toolName: {}", text(self.name)),
            format!(
                "        arguments: {}",
                flow(&Value::Object(self.suggestion.arguments.clone()))
            ),
            "    assertions:".to_owned(),
            "      - { type: noToolErrors }".to_owned(),
        ]);
        let schema = self
            .tool
            .get("outputSchema")
            .filter(|schema| schema.is_object());
        if let Some(schema) = schema.map(flow).filter(|schema| schema.len() <= MAX_SCHEMA) {
            lines.push(format!(
                "      - {{ type: toolResultMatchesSchema, schema: {schema} }}"
            ));
        }
        lines
    }
}

/// Parts of names of tools that only read.
const READS: [&str; 24] = [
    "calculate",
    "check",
    "convert",
    "count",
    "describe",
    "echo",
    "explain",
    "fetch",
    "find",
    "get",
    "help",
    "info",
    "list",
    "lookup",
    "ping",
    "query",
    "read",
    "resolve",
    "search",
    "show",
    "stat",
    "status",
    "validate",
    "view",
];
/// Parts of names of tools that change something.
const WRITES: [&str; 32] = [
    "add", "append", "approve", "book", "cancel", "clear", "close", "commit", "copy", "create",
    "delete", "deploy", "drop", "edit", "execute", "exec", "insert", "merge", "move", "pay",
    "post", "publish", "push", "put", "refund", "remove", "rename", "run", "send", "set", "update",
    "write",
];

/// Returns why a tool is not called as long as nobody has looked at it.
fn held_back(name: &str, annotations: Option<&Value>) -> Option<&'static str> {
    match classify(annotations) {
        ToolClassification::ReadOnly => return None,
        ToolClassification::Destructive => return Some("the tool declares itself destructive"),
        ToolClassification::Unknown => {}
    }
    if annotations.is_some_and(|hints| hints["readOnlyHint"] == false) {
        return Some("the tool declares that it changes something");
    }
    let parts = name_parts(name);
    let has = |known: &[&str]| parts.iter().any(|part| known.contains(&part.as_str()));
    if has(&WRITES) {
        return Some("by its name the tool changes something");
    }
    if has(&READS) {
        return None;
    }
    Some("the tool does not declare itself read-only")
}

/// Returns the words of a tool's name: `getOrder` and `get_order` give two.
fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut previous_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            if character.is_uppercase() && previous_lower && !part.is_empty() {
                parts.push(character.to_lowercase().collect());
            } else {
                part.extend(character.to_lowercase());
            }
        }
        previous_lower = character.is_lowercase() || character.is_numeric();
    }
    parts
}

/// Returns an id made from a name: letters, digits, `_` and `-`.
fn id_of(name: &str) -> String {
    let id: String = name
        .chars()
        .take(100)
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
            _ => '-',
        })
        .collect();
    if id.is_empty() { "tool".to_owned() } else { id }
}

/// Returns a text as a YAML scalar that reads back exactly: bare where it can
/// be nothing else, quoted otherwise.
fn text(value: &str) -> String {
    const OTHER_MEANINGS: [&str; 4] = ["true", "false", "null", "nan"];
    let mut characters = value.chars();
    let bare = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|rest| rest.is_ascii_alphanumeric() || rest == '_' || rest == '-')
        && !OTHER_MEANINGS.contains(&value.to_ascii_lowercase().as_str());
    if bare {
        value.to_owned()
    } else {
        // JSON is flow YAML; invisible characters are written as escapes.
        escape::json(&Value::from(value), usize::MAX)
    }
}

/// Returns a value as flow YAML.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            flow_members(members.iter().map(|(key, value)| (key.as_str(), value)))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            escape::json(value, usize::MAX)
        }
    }
}

fn flow_members<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let members: Vec<String> = members
        .map(|(key, value)| format!("{}: {}", text(key), flow(value)))
        .collect();
    if members.is_empty() {
        return "{}".to_owned();
    }
    format!("{{ {} }}", members.join(", "))
}

fn comment(indent: usize, text: &str) -> Vec<String> {
    wrap(text, COMMENT_WIDTH - indent)
        .into_iter()
        .map(|line| {
            format!("{}# {line}", " ".repeat(indent))
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// Returns a commented case that asks a model.
fn prompt_example(name: &str, suggestion: &Suggestion) -> Vec<String> {
    let mut lines = comment(
        2,
        "A case for a model: what the user says, the call that it must lead to, and what the \
         answer must hold. Set `model` above and its key, then uncomment.",
    );
    lines.push("  #".to_owned());
    lines.extend(
        [
            "- id: asks".to_owned(),
            "  title: Answers a question".to_owned(),
            "  iterations: 5".to_owned(),
            "  passThreshold: 0.8".to_owned(),
            "  steps:".to_owned(),
            "    - { id: ask, kind: prompt, prompt: \"What the user says\" }".to_owned(),
            "    - id: called".to_owned(),
            "      kind: assert".to_owned(),
            "      assertion:".to_owned(),
            "        type: toolCalledWith".to_owned(),
            format!("        toolName: {}", text(name)),
            format!(
                "        args: {{ args: {} }}",
                flow(&Value::Object(suggestion.arguments.clone()))
            ),
            "  assertions:".to_owned(),
            "    - { type: responseContains, needle: \"what the answer must hold\" }".to_owned(),
        ]
        .map(|line| format!("  # {line}")),
    );
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use strandline_suite::{LoadOptions, load};

    use super::*;

    fn written(tools: &[Value]) -> Written {
        let entry = [
            ("command", json!("orders-server")),
            ("args", json!(["--stdio"])),
        ];
        Starter {
            file: "strandline.yaml",
            server: "orders",
            entry: &entry,
            called: "Order desk 1.0",
            tools,
        }
        .write()
    }

    #[test]
    fn a_starter_suite_is_read_at_a_glance() {
        let suite = written(&[
            json!({
                "name": "get_order", "description": "Returns one order.",
                "inputSchema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
                "outputSchema": {"type": "object", "required": ["id"]},
                "annotations": {"readOnlyHint": true}
            }),
            json!({
                "name": "refund_order", "description": "Gives money back.",
                "inputSchema": {"type": "object", "required": ["sku"], "properties": {"sku": {"type": "string", "pattern": "^[A-Z]$"}}},
                "annotations": {"destructiveHint": true}
            }),
        ]);
        assert_eq!((suite.cases, suite.enabled), (2, 1));
        insta::assert_snapshot!(suite.text);
    }

    #[test]
    fn only_tools_that_seem_to_read_are_run() {
        let why = |name: &str, annotations: Value| held_back(name, Some(&annotations));
        assert_eq!(why("wipe", json!({"readOnlyHint": true})), None);
        assert!(why("get", json!({"destructiveHint": true})).is_some());
        assert!(why("get", json!({"readOnlyHint": false})).is_some());
        assert_eq!(held_back("getOrder", None), None);
        assert_eq!(held_back("github_list_repos", None), None);
        assert!(held_back("list_and_delete", None).is_some());
        assert!(held_back("frobnicate", None).is_some());
        assert!(held_back("forget", None).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever a server lists, the suite loads and names its tools exactly.
        #[test]
        fn any_listing_gives_a_suite_that_loads(
            names in prop::collection::vec("\\PC{1,30}|[\\x00-\\x20\u{85}\u{2028}\u{feff}a]{1,9}", 1..6),
            description in any::<String>(),
        ) {
            let tools: Vec<Value> = names
                .iter()
                .map(|name| json!({"name": name, "description": description, "inputSchema": {
                    "type": "object", "required": [description], "properties": {}
                }}))
                .collect();
            let suite = written(&tools);
            let loaded = load(&suite.text, &LoadOptions::authored());
            let loaded = loaded.map_err(|failure| TestCaseError::fail(format!("{:#?}\n{}", failure.findings, suite.text)))?;
            let read: Vec<String> = loaded.resolved.cases.iter().flat_map(|case| &case.steps).filter_map(|step| match step {
                strandline_contract::suite::Step::ToolCall { tool_name, .. } => Some(tool_name.clone()),
                _ => None,
            }).collect();
            prop_assert_eq!(read, names);
        }
    }
}
