//! Credentials written into a suite file (`suite-file.md` §9.3).

use strandline_contract::redact::{is_secret_key, looks_like_credential};

use super::{Found, key};
use crate::{
    binding::has_reference,
    source::Span,
    yaml::{Entry, Node, Value},
};

/// Warns of headers and environment values that look like a credential and
/// do not come from the environment. No message shows a value.
pub(super) fn servers(found: &mut Found, root: &Node) {
    let Some(servers) = root.get("mcpServers") else {
        return;
    };
    for server in servers.entries() {
        for group in ["headers", "env"] {
            let Some(values) = server.item.node.get(group) else {
                continue;
            };
            for entry in values.entries() {
                if is_written_out(entry) {
                    let path = vec![
                        key("mcpServers"),
                        key(&server.key),
                        key(group),
                        key(&entry.key),
                    ];
                    let message = format!(
                        "`{}` looks like a credential: write `${{NAME}}` and set the variable",
                        entry.key
                    );
                    found.warn("secret_in_suite_file", path, entry.key_span, message);
                }
            }
        }
    }
}

/// Returns the places of values that may be secret: environment, headers, and
/// whatever a secret's name stands before.
pub(crate) fn secret_spans(root: &Node) -> Vec<Span> {
    fn walk(node: &Node, secret: bool, spans: &mut Vec<Span>) {
        match &node.value {
            Value::Mapping(entries) => {
                for entry in entries {
                    let key = entry.key.as_str();
                    let secret = secret || matches!(key, "env" | "headers") || is_secret_key(key);
                    walk(&entry.item.node, secret, spans);
                }
            }
            Value::Sequence(items) => {
                for item in items {
                    walk(&item.node, secret, spans);
                }
            }
            Value::String(text) if secret && !has_reference(text) => spans.push(node.span),
            _ => {}
        }
    }
    let mut spans = Vec::new();
    walk(root, false, &mut spans);
    spans
}

fn is_written_out(entry: &Entry) -> bool {
    entry.item.node.as_str().is_some_and(|value| {
        !value.is_empty() && !has_reference(value) && looks_like_credential(&entry.key, value)
    })
}
