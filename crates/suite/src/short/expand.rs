//! The whole file.

use std::{collections::HashMap, sync::Arc};

use super::{
    Expanded, case, ids,
    places::{Places, place},
    server,
};
use crate::{
    rules::{At, Check, Path},
    source::Span,
    yaml::{Entry, Item, Node, Number, Value},
};

/// Trials per case where the file says nothing.
const ITERATIONS: i64 = 5;
/// Pass threshold where the file says nothing.
const PASS_THRESHOLD: f64 = 0.8;

/// Keys that go to `defaults` as they are.
const DEFAULTS_KEYS: [&str; 8] = [
    "provider",
    "systemPrompt",
    "temperature",
    "iterations",
    "passThreshold",
    "validity",
    "toolPolicy",
    "judge",
];

pub(super) fn file(check: &mut Check, root: &Arc<Node>, name: Option<&str>) -> Expanded {
    let mut places = Places::default();
    let at = At {
        node: root,
        path: &Path::Root,
    };
    let start = Span {
        start: root.span.start,
        end: root.span.start,
    };

    let suite = suite(root, name, start, &mut places);
    let servers = server::servers(check, root, &mut places);
    let defaults = defaults(check, root, start, &mut places);
    let (cases, ordered_ids) = cases(check, root, &mut places);

    let mut members = vec![
        ("schemaVersion", text("2", start)),
        ("mode", text("agentWorkflow", start)),
        ("reportingMode", text("standard", start)),
        ("suite", suite),
        ("target", servers.target),
    ];
    if !servers.entries.is_empty() {
        members.push((
            "mcpServers",
            Node::new(Value::Mapping(servers.entries), start),
        ));
    }
    members.push(("defaults", defaults));
    if let Some(execution) = root.get("execution") {
        members.push(("execution", Arc::clone(execution)));
    }
    members.push(("cases", cases));

    let mut known = vec![
        "server",
        "servers",
        "model",
        "name",
        "id",
        "description",
        "execution",
        "matchOptions",
        "cases",
    ];
    known.extend(DEFAULTS_KEYS);
    check.closed(at, &known);
    Expanded {
        root: block_map(members, root.span),
        places,
        ordered_ids,
    }
}

fn suite(root: &Node, name: Option<&str>, start: Span, places: &mut Places) -> Arc<Node> {
    places.moved(place!["suite"], place![]);
    let name = match root.get("name") {
        Some(name) => Arc::clone(name),
        None => text(name.unwrap_or("Suite"), start),
    };
    let id = match root.get("id") {
        Some(id) => Arc::clone(id),
        None => text(ids::derived("s_", name.as_str().unwrap_or_default()), start),
    };
    let mut members = vec![("id", id), ("name", name)];
    if let Some(description) = root.get("description") {
        members.push(("description", Arc::clone(description)));
    }
    map(members, start)
}

fn defaults(check: &mut Check, root: &Node, start: Span, places: &mut Places) -> Arc<Node> {
    places.moved(place!["defaults"], place![]);
    let mut entries = Vec::new();
    match root.entry("model") {
        Some(entry) => entries.push(entry.clone()),
        None => {
            let span = root.entries().first().map(|entry| entry.key_span);
            check
                .report_at(
                    &Path::Key(&Path::Root, "model"),
                    span,
                    "the file needs `model`",
                )
                .label = Some("add `model: provider/model`".to_owned());
            entries.push(Entry::new("model", start, text("unknown", start)));
        }
    }
    for key in DEFAULTS_KEYS.into_iter().chain(["matchOptions"]) {
        let default = match key {
            "iterations" => Some(Value::Number(Number::Integer(ITERATIONS))),
            "passThreshold" => Some(Value::Number(Number::Float(PASS_THRESHOLD))),
            "validity" => Some(Value::Mapping(Vec::new())),
            _ => None,
        };
        match (root.entry(key), default) {
            (Some(entry), _) => entries.push(entry.clone()),
            (None, Some(value)) => entries.push(Entry::new(key, start, Node::new(value, start))),
            (None, None) => {}
        }
    }
    Node::new(Value::Mapping(entries), start)
}

fn cases(check: &mut Check, root: &Node, places: &mut Places) -> (Arc<Node>, Vec<usize>) {
    let Some(written) = root.get("cases") else {
        return (list(Vec::new(), root.span), Vec::new());
    };
    if !matches!(written.value, Value::Sequence(_)) {
        return (Arc::clone(written), Vec::new());
    }
    // How many cases above ask the same, so that equal prompts get ids of their own.
    let mut asked: HashMap<String, usize> = HashMap::new();
    let mut ordered_ids = Vec::new();
    let above = Path::Key(&Path::Root, "cases");
    let cases = written
        .items()
        .iter()
        .enumerate()
        .map(|(index, item)| {
            if !item.node.is_mapping() {
                return item.clone();
            }
            let prompt = item.node.get("prompt").and_then(|prompt| prompt.as_str());
            let ordinal = asked
                .entry(prompt.unwrap_or_default().to_owned())
                .or_default();
            if *ordinal > 0 && item.node.get("id").is_none() {
                ordered_ids.push(index);
            }
            let path = Path::Index(&above, index);
            let at = At {
                node: &item.node,
                path: &path,
            };
            let case = case::case(check, at, index, *ordinal, places);
            *ordinal += 1;
            Item::new(case)
        })
        .collect();
    let node = Node::new(Value::Sequence(cases), written.span);
    (node, ordered_ids)
}

pub(super) fn text(text: impl Into<String>, span: Span) -> Arc<Node> {
    Node::text(text, span)
}

pub(super) fn list(items: Vec<Arc<Node>>, span: Span) -> Arc<Node> {
    let items = items.into_iter().map(Item::new).collect();
    Node::new(Value::Sequence(items), span)
}

/// Makes a map that is written on one line where it fits.
pub(super) fn map(members: Vec<(&str, Arc<Node>)>, span: Span) -> Arc<Node> {
    let block = block_map(members, span);
    Arc::new(Node {
        flow: true,
        ..(*block).clone()
    })
}

/// Makes a map whose keys stand where their values were written.
pub(super) fn block_map(members: Vec<(&str, Arc<Node>)>, span: Span) -> Arc<Node> {
    let entries = members
        .into_iter()
        .map(|(key, node)| {
            let at = Span {
                start: node.span.start,
                end: node.span.start,
            };
            Entry::new(key, at, node)
        })
        .collect();
    Node::new(Value::Mapping(entries), span)
}
