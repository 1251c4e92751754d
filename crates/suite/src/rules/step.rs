//! Steps, widget actions and widget assertions (`suite-file.md` §6).

use super::{
    At, Check, Path, assertion,
    value::{
        self, boolean, bounded_text, filled_text, integer, json_size, natural, positive, text, word,
    },
};
use crate::yaml::Value;

const KINDS: [&str; 4] = ["prompt", "toolCall", "interact", "assert"];
const ACTION_KINDS: [&str; 5] = ["click", "type", "key", "scroll", "wait"];
/// Kinds of widget assertions.
pub(crate) const WIDGET_KINDS: [&str; 5] = [
    "textVisible",
    "elementVisible",
    "elementHidden",
    "inputValue",
    "widgetToolCalled",
];
/// Longest serialized `arguments` of a `toolCall` step.
const MAX_ARGUMENTS: usize = 100_000;

pub(super) fn step(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    // §2.3: without a readable tag, nothing else inside is checked.
    let Some(kind) = tag(check, at, "kind", &KINDS) else {
        return;
    };
    check.required(at, "id", text);
    match kind {
        "prompt" => {
            check.required(at, "prompt", text);
            check.closed(at, &["id", "kind", "prompt"]);
        }
        "toolCall" => {
            check.required(at, "serverName", filled_text);
            check.optional(at, "serverId", filled_text);
            check.required(at, "toolName", filled_text);
            check.required(at, "arguments", arguments);
            check.optional(at, "renderTimeoutMs", |check, at| {
                integer(check, at, 1, 120_000);
            });
            check.closed(
                at,
                &[
                    "id",
                    "kind",
                    "serverName",
                    "serverId",
                    "toolName",
                    "arguments",
                    "renderTimeoutMs",
                ],
            );
        }
        "interact" => {
            check.required(at, "toolName", filled_text);
            check.required(at, "action", action);
            check.closed(at, &["id", "kind", "toolName", "action"]);
        }
        _ => {
            check.required(at, "assertion", assertion::in_step);
            check.closed(at, &["id", "kind", "assertion"]);
        }
    }
}

/// Takes the tag of an object, or reports it at the tag.
pub(super) fn tag<'known>(
    check: &mut Check,
    at: At<'_>,
    key: &str,
    known: &[&'known str],
) -> Option<&'known str> {
    let Some(node) = at.node.get(key) else {
        check.missing(at, key);
        return None;
    };
    let found = node
        .as_str()
        .and_then(|text| known.iter().find(|word| **word == text));
    if found.is_none() {
        let path = Path::Key(at.path, key);
        word(check, At { node, path: &path }, known);
    }
    found.copied()
}

fn arguments(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let (length, _) = json_size(at.node);
    if length > MAX_ARGUMENTS {
        let message = format!(
            "`arguments` must have at most {MAX_ARGUMENTS} characters as JSON, not {length}"
        );
        check.report(at, message);
    }
}

fn action(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    let Some(kind) = tag(check, at, "kind", &ACTION_KINDS) else {
        return;
    };
    match kind {
        "click" => {
            check.required(at, "target", locator);
            check.optional(at, "clickType", |check, at| {
                word(check, at, &["left", "double", "right"]);
            });
            check.closed(at, &["kind", "target", "clickType"]);
        }
        "type" => {
            check.required(at, "target", locator);
            check.required(at, "text", |check, at| bounded_text(check, at, 0, 5000));
            check.closed(at, &["kind", "target", "text"]);
        }
        "key" => {
            check.required(at, "key", filled_text);
            check.closed(at, &["kind", "key"]);
        }
        "scroll" => {
            check.required(at, "direction", |check, at| {
                word(check, at, &["up", "down"]);
            });
            check.optional(at, "amount", positive);
            check.closed(at, &["kind", "direction", "amount"]);
        }
        _ => {
            check.required(at, "ms", |check, at| integer(check, at, 1, 30_000));
            check.closed(at, &["kind", "ms"]);
        }
    }
}

fn locator(check: &mut Check, at: At<'_>) {
    if !check.is_map(at) {
        return;
    }
    check.optional(at, "role", |check, at| {
        if !check.is_map(at) {
            return;
        }
        check.required(at, "role", filled_text);
        check.optional(at, "name", text);
        check.optional(at, "exact", boolean);
        check.closed(at, &["role", "name", "exact"]);
    });
    for key in ["text", "css", "testId"] {
        check.optional(at, key, filled_text);
    }
    check.optional(at, "nth", natural);
    let ways = ["role", "text", "css", "testId"];
    if ways.iter().all(|way| at.node.get(way).is_none()) {
        let message = format!("`{}` needs one of {}", at.path.name(), value::one_of(&ways));
        check.report(at, message);
    }
    check.closed(at, &["role", "text", "css", "testId", "nth"]);
}

/// A widget assertion of a known kind.
pub(super) fn widget_assertion(check: &mut Check, at: At<'_>, kind: &str) {
    check.required(at, "toolName", filled_text);
    match kind {
        "textVisible" => {
            check.required(at, "text", |check, at| bounded_text(check, at, 1, 5000));
            check.closed(at, &["kind", "toolName", "text"]);
        }
        "inputValue" => {
            check.required(at, "target", locator);
            check.required(at, "equals", |check, at| bounded_text(check, at, 0, 5000));
            check.closed(at, &["kind", "toolName", "target", "equals"]);
        }
        "widgetToolCalled" => {
            check.required(at, "calledToolName", filled_text);
            check.closed(at, &["kind", "toolName", "calledToolName"]);
        }
        _ => {
            check.required(at, "target", locator);
            check.closed(at, &["kind", "toolName", "target"]);
        }
    }
}

/// Returns whether a value is a text and one of `known`.
pub(super) fn is_word(value: &Value, known: &[&str]) -> bool {
    matches!(value, Value::String(text) if known.contains(&text.as_str()))
}
