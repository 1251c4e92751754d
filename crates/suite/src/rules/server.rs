//! An entry that says how a server is reached (`suite-file.md` §9.2).
//!
//! Values may be secret: no message shows one.

use super::{At, Check, Path, Rule};
use crate::yaml::{Node, Value};

/// Every key of an entry, `disabled` included.
pub(crate) const KEYS: [&str; 10] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "credentialsFile",
    "disabled",
];

/// Which transport an entry asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP+SSE.
    Sse,
}

/// Checks an entry; other keys than those of §9.2 are the caller's business.
pub(crate) fn entry(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let text: Rule = |check, at| {
        secret_text(check, at);
    };
    let kind = kind(check, at);
    for key in ["command", "cwd", "url", "credentialsFile"] {
        check.optional(at, key, text);
    }
    check.optional(at, "args", |check, at| {
        if !matches!(at.node.value, Value::Sequence(_)) {
            check.report(at, format!("`{}` must be a list of text", at.path.name()));
            return;
        }
        for (index, item) in at.node.items().iter().enumerate() {
            let path = Path::Index(at.path, index);
            let node = &item.node;
            secret_text(check, At { node, path: &path });
        }
    });
    for key in ["env", "headers"] {
        check.optional(at, key, text_map);
    }
    match kind {
        Some(Kind::Stdio) => filled(check, at, "command"),
        Some(Kind::Http | Kind::Sse) => filled(check, at, "url"),
        None => {}
    }
}

/// Returns the transport of an entry, or reports why there is none.
fn kind(check: &mut Check, at: At<'_>) -> Option<Kind> {
    let mut named = None;
    for key in ["type", "transport"] {
        let Some(node) = at.node.get(key) else {
            continue;
        };
        let path = Path::Key(at.path, key);
        let place = At { node, path: &path };
        let kind = node.as_str().and_then(kind_of);
        if kind.is_none() {
            check.report(
                place,
                format!("`{key}` must be `stdio`, `http`, `sse` or `streamable-http`"),
            );
            return None;
        }
        if named.is_some_and(|named| kind != Some(named)) {
            check.report(
                place,
                "`type` and `transport` name two different transports",
            );
            return None;
        }
        named = kind;
    }
    if named.is_some() {
        return named;
    }
    let message = match (at.node.get("command"), at.node.get("url")) {
        (Some(_), None) => return Some(Kind::Stdio),
        (None, Some(_)) => return Some(Kind::Http),
        (Some(_), Some(_)) => "has both `command` and `url`: say which with `type`",
        (None, None) => "needs `command` or `url`",
    };
    let message = format!("server `{}` {message}", at.path.name());
    check.report(at, message);
    None
}

/// Reads a transport's name: case, spaces, `_` and `-` do not matter.
pub(crate) fn kind_of(text: &str) -> Option<Kind> {
    let plain: String = text
        .chars()
        .filter(|character| !matches!(character, ' ' | '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    match plain.as_str() {
        "stdio" => Some(Kind::Stdio),
        "http" | "streamablehttp" => Some(Kind::Http),
        "sse" => Some(Kind::Sse),
        _ => None,
    }
}

/// Returns the transport of an entry that was checked.
pub(crate) fn kind_of_entry(entry: &Node) -> Option<Kind> {
    let named = ["type", "transport"].iter().find_map(|key| entry.get(key));
    match named {
        Some(name) => kind_of(name.as_str()?),
        None if entry.get("command").is_some() => Some(Kind::Stdio),
        None => entry.get("url").map(|_| Kind::Http),
    }
}

fn filled(check: &mut Check, at: At<'_>, key: &str) {
    match at.node.get(key) {
        None => check.missing(at, key),
        Some(node) if node.as_str() == Some("") => {
            let path = Path::Key(at.path, key);
            check.report(
                At { node, path: &path },
                format!("`{key}` must not be empty"),
            );
        }
        Some(_) => {}
    }
}

fn text_map(check: &mut Check, at: At<'_>) {
    if !at.node.is_mapping() {
        check.report(at, format!("`{}` must be a map of text", at.path.name()));
        return;
    }
    for entry in at.node.entries() {
        let path = Path::Key(at.path, &entry.key);
        let node = &entry.item.node;
        secret_text(check, At { node, path: &path });
    }
}

fn secret_text(check: &mut Check, at: At<'_>) {
    if at.node.as_str().is_none() {
        check
            .report(at, format!("`{}` must be text", at.path.name()))
            .label = Some("put it in quotes".to_owned());
    }
}
