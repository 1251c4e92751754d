//! `server` and `servers` of a short file.

use std::sync::Arc;

use super::{
    expand::{block_map, list, map, text},
    places::{Places, place},
};
use crate::{
    rules::{At, Check, Path},
    source::Span,
    yaml::{Entry, Node, Value},
};

/// Name of a server that the file gives no name.
const ONLY: &str = "server";

/// `target` and `mcpServers` of the dialect file.
pub(super) struct Servers {
    pub(super) target: Arc<Node>,
    pub(super) entries: Vec<Entry>,
}

/// Reads what a short file says about servers.
pub(super) fn servers(check: &mut Check, root: &Node, places: &mut Places) -> Servers {
    let mut names: Vec<Arc<Node>> = Vec::new();
    let mut entries = Vec::new();
    match (root.entry("server"), root.entry("servers")) {
        (None, None) => {
            let span = root.entries().first().map(|entry| entry.key_span);
            check
                .report_at(
                    &Path::Key(&Path::Root, "server"),
                    span,
                    "the file needs `server`",
                )
                .label = Some("add `server: COMMAND`, a URL, or a name from `mcp.json`".to_owned());
            names.push(text(ONLY, Span::default()));
        }
        (Some(_), Some(second)) => {
            check.report_at(
                &Path::Key(&Path::Root, "servers"),
                Some(second.key_span),
                "`server` is for one server, `servers` for several: keep one",
            );
            names.push(text(ONLY, Span::default()));
        }
        (Some(entry), None) => {
            places.made(place!["target"], place!["server"]);
            let node = &entry.item.node;
            let at = At {
                node,
                path: &Path::Key(&Path::Root, "server"),
            };
            match reached(check, at, true) {
                Reached::ByName(name) => names.push(text(name, node.span)),
                Reached::Directly(transport) => {
                    if matches!(node.value, Value::String(_)) {
                        places.made(place!["mcpServers", ONLY], place!["server"]);
                    } else {
                        places.moved(place!["mcpServers", ONLY], place!["server"]);
                    }
                    names.push(text(ONLY, node.span));
                    entries.push(Entry::new(ONLY, entry.key_span, transport));
                }
            }
        }
        (None, Some(entry)) => {
            places.made(place!["target"], place!["servers"]);
            several(check, &entry.item.node, &mut names, &mut entries, places);
        }
    }
    let names = names
        .into_iter()
        .map(|name| {
            let span = name.span;
            map(vec![("name", name)], span)
        })
        .collect();
    let servers = list(names, Span::default());
    Servers {
        target: block_map(vec![("servers", servers)], Span::default()),
        entries,
    }
}

/// `servers`: a map of names, or a list of names to look up.
fn several(
    check: &mut Check,
    node: &Arc<Node>,
    names: &mut Vec<Arc<Node>>,
    entries: &mut Vec<Entry>,
    places: &mut Places,
) {
    let above = Path::Key(&Path::Root, "servers");
    let at = At { node, path: &above };
    match &node.value {
        Value::Mapping(members) if !members.is_empty() => {
            for member in members {
                let path = Path::Key(&above, &member.key);
                let name = text(&member.key, member.key_span);
                names.push(name);
                let node = &member.item.node;
                if node.value == Value::Null {
                    continue;
                }
                if let Reached::Directly(transport) =
                    reached(check, At { node, path: &path }, false)
                {
                    let from = place!["servers", member.key.as_str()];
                    let to = place!["mcpServers", member.key.as_str()];
                    if matches!(node.value, Value::String(_)) {
                        places.made(to, from);
                    } else {
                        places.moved(to, from);
                    }
                    entries.push(Entry::new(member.key.as_str(), member.key_span, transport));
                }
            }
        }
        Value::Sequence(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                let path = Path::Index(&above, index);
                match item.node.as_str() {
                    Some(name) if !name.trim().is_empty() => {
                        names.push(text(name, item.node.span));
                    }
                    _ => {
                        let node = &item.node;
                        check.expected(At { node, path: &path }, "the name of a server");
                    }
                }
            }
        }
        _ => {
            check.expected(at, "a map of servers, or a list of names");
        }
    }
    if names.is_empty() {
        names.push(text(ONLY, Span::default()));
    }
}

enum Reached<'a> {
    /// Looked up in `mcp.json` and the other sources.
    ByName(&'a str),
    /// By an entry of its own.
    Directly(Arc<Node>),
}

/// Reads a URL, a command line, an entry, or (where one word may be one) a name.
fn reached<'a>(check: &mut Check, at: At<'a>, may_be_name: bool) -> Reached<'a> {
    let span = at.node.span;
    let Value::String(words) = &at.node.value else {
        if !at.node.is_mapping() {
            check.expected(at, "a command, a URL, or a map with `command` or `url`");
        }
        return Reached::Directly(Arc::new(at.node.clone()));
    };
    let trimmed = words.trim();
    let lower = trimmed.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Reached::Directly(map(vec![("url", text(trimmed, span))], span));
    }
    let one_word = !trimmed.contains(char::is_whitespace);
    if one_word
        && may_be_name
        && !trimmed.is_empty()
        && !trimmed.contains(['/', '\\', '$', '"', '\''])
    {
        return Reached::ByName(trimmed);
    }
    match shlex::split(trimmed).as_deref() {
        Some([program, arguments @ ..]) if !program.is_empty() => {
            let mut members = vec![("command", text(program, span))];
            if !arguments.is_empty() {
                let arguments = arguments.iter().map(|word| text(word, span)).collect();
                members.push(("args", list(arguments, span)));
            }
            Reached::Directly(map(members, span))
        }
        Some(_) => {
            check.expected(at, "a command or a URL");
            Reached::Directly(map(vec![("command", text("unknown", span))], span))
        }
        None => {
            check
                .report(
                    at,
                    format!("`{}` has a quote that is not closed", at.path.name()),
                )
                .label = Some("words are split as a shell would, nothing is expanded".to_owned());
            Reached::Directly(map(vec![("command", text("unknown", span))], span))
        }
    }
}
