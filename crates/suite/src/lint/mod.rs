//! What is allowed and still worth a look; never an error.

mod secrets;

use strandline_contract::suite::ResolvedSuite;

use crate::{
    finding::{self, Code, Finding, Segment},
    load::Warning,
    rules::Path,
    source::{Lines, Span},
    yaml::{Document, Node, Number, Value},
};

/// Collects warnings.
struct Lint {
    warnings: Vec<Warning>,
}

impl Lint {
    fn warn(&mut self, code: &'static str, path: Vec<Segment>, span: Span, message: String) {
        let finding = Finding::new(Code::Invalid, path, message, Some(span));
        self.warnings.push(Warning { code, finding });
    }
}

/// Returns every warning of a suite that loads, in the order of its findings.
pub(crate) fn lint(
    document: &Document,
    resolved: &ResolvedSuite,
    text: &str,
    lines: &Lines,
) -> Vec<Warning> {
    let mut lint = Lint {
        warnings: Vec::new(),
    };
    for span in &document.foreign_tags {
        let tag = text.get(span.start..span.end).unwrap_or_default();
        let message = format!("tag `{tag}` means nothing here and is ignored");
        lint.warn("unknown_tag", Vec::new(), *span, message);
    }
    let root = &document.root;
    hosts(&mut lint, root);
    secrets::servers(&mut lint, root);
    cases(&mut lint, root, resolved);
    non_finite(&mut lint, root, &Path::Root);

    let mut warnings = lint.warnings;
    warnings.sort_by(|left, right| {
        finding::order(&left.finding, &right.finding).then_with(|| left.code.cmp(right.code))
    });
    for warning in &mut warnings {
        warning.finding.locate(text, lines);
    }
    warnings
}

/// §9.3: a local run ignores host profiles.
fn hosts(lint: &mut Lint, root: &Node) {
    let Some(entry) = root.get("target").and_then(|target| target.entry("hosts")) else {
        return;
    };
    let path = vec![key("target"), key("hosts")];
    let message = "host profiles are ignored by a local run".to_owned();
    lint.warn("hosts_ignored", path, entry.key_span, message);
}

fn cases(lint: &mut Lint, root: &Node, resolved: &ResolvedSuite) {
    let Some(cases) = root.get("cases") else {
        return;
    };
    let servers: Vec<&str> = resolved
        .target
        .servers
        .iter()
        .flatten()
        .flat_map(|server| [Some(server.name.trim()), server.id.as_deref()])
        .flatten()
        .collect();
    for (index, item) in cases.items().iter().enumerate() {
        let case_path = vec![key("cases"), Segment::Index(index)];
        let Some(steps) = item.node.get("steps") else {
            continue;
        };
        for (step_index, step) in steps.items().iter().enumerate() {
            let mut path = case_path.clone();
            path.extend([key("steps"), Segment::Index(step_index)]);
            step_id(lint, &step.node, &path);
            step_server(lint, &step.node, &path, &servers);
        }
    }
}

/// §6: the schema allows an empty step id; nothing can refer to it.
fn step_id(lint: &mut Lint, step: &Node, path: &[Segment]) {
    let Some(id) = step.get("id") else { return };
    if id.as_str() == Some("") {
        let mut path = path.to_vec();
        path.push(key("id"));
        let message = "an empty step id cannot be told apart in reports".to_owned();
        lint.warn("empty_step_id", path, id.span, message);
    }
}

/// A pinned call of a server that the suite does not name fails at run time.
fn step_server(lint: &mut Lint, step: &Node, path: &[Segment], servers: &[&str]) {
    let named = ["serverId", "serverName"]
        .into_iter()
        .find_map(|word| Some((word, step.get(word)?)));
    let Some((word, node)) = named else { return };
    let Some(name) = node.as_str() else { return };
    if !servers.is_empty() && !servers.contains(&name.trim()) {
        let mut path = path.to_vec();
        path.push(key(word));
        let message = format!("`{name}` is not a server of `target.servers`");
        lint.warn("unknown_server", path, node.span, message);
    }
}

/// §2.1: JSON has no infinite number and no `.nan`; they become `null`.
fn non_finite(lint: &mut Lint, node: &Node, path: &Path<'_>) {
    match &node.value {
        Value::Number(Number::Float(number)) if !number.is_finite() => {
            let message = "JSON has no such number: it is read as `null`".to_owned();
            lint.warn("non_finite_number", path.segments(), node.span, message);
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                non_finite(lint, &item.node, &Path::Index(path, index));
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                non_finite(lint, &entry.item.node, &Path::Key(path, &entry.key));
            }
        }
        _ => {}
    }
}

fn key(key: &str) -> Segment {
    Segment::Key(key.to_owned())
}
