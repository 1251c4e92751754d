//! What is allowed and still worth a look; never an error.

mod secrets;

pub(crate) use secrets::secret_spans;

use strandline_contract::{suite::ResolvedSuite, words::Vacuity};
use strandline_derive::{assertions::vacuity::vacuity, judge::JudgeSettings};

use crate::{
    finding::{self, Code, Finding, Segment},
    load::Warning,
    preflight::requires_judge,
    rules::{Path, head},
    short::Expanded,
    source::{Lines, Span},
    yaml::{Document, Node, Number, Value},
};

/// A suite that loads, looked at once more.
pub(crate) struct Lint<'a> {
    pub(crate) document: &'a Document,
    /// The dialect file.
    pub(crate) root: &'a Node,
    /// What a short file stands for.
    pub(crate) expanded: Option<&'a Expanded>,
    pub(crate) resolved: &'a ResolvedSuite,
}

impl Lint<'_> {
    /// Returns every warning, in the order of findings.
    pub(crate) fn warnings(&self, text: &str, lines: &Lines) -> Vec<Warning> {
        let mut found = Found::default();
        hosts(&mut found, self.root);
        secrets::servers(&mut found, self.root);
        cases(&mut found, self.root, self.resolved);
        empty_answers(&mut found, self.root, self.resolved);
        unreachable_thresholds(&mut found, self.root, self.resolved);
        non_finite(&mut found, self.root, &Path::Root);
        if let Some(expanded) = self.expanded {
            for warning in &mut found.warnings {
                expanded.places.take_back(&mut warning.finding);
            }
            ordered_ids(&mut found, expanded);
        }
        for span in &self.document.foreign_tags {
            let tag = text.get(span.start..span.end).unwrap_or_default();
            let message = format!("tag `{tag}` means nothing here and is ignored");
            found.warn("unknown_tag", Vec::new(), *span, message);
        }

        let mut warnings = found.warnings;
        warnings.sort_by(|left, right| {
            finding::order(&left.finding, &right.finding).then_with(|| left.code.cmp(right.code))
        });
        for warning in &mut warnings {
            warning.finding.locate(text, lines);
        }
        warnings
    }
}

/// Collects warnings.
#[derive(Default)]
struct Found {
    warnings: Vec<Warning>,
}

impl Found {
    fn warn(&mut self, code: &'static str, path: Vec<Segment>, span: Span, message: String) {
        let finding = Finding::new(Code::Invalid, path, message, Some(span));
        self.warnings.push(Warning { code, finding });
    }
}

/// Short form: equal prompts are told apart by their order.
fn ordered_ids(found: &mut Found, expanded: &Expanded) {
    let Some(cases) = expanded.root.get("cases") else {
        return;
    };
    for index in &expanded.ordered_ids {
        let Some(case) = cases.items().get(*index) else {
            continue;
        };
        let path = vec![key("cases"), Segment::Index(*index)];
        let message = "a case above asks the same, so this one is told apart by its order only: \
                       give it an `id`";
        found.warn("case_id_by_order", path, case.node.span, message.to_owned());
    }
}

/// §9.3: a local run ignores host profiles.
fn hosts(found: &mut Found, root: &Node) {
    let Some(entry) = root.get("target").and_then(|target| target.entry("hosts")) else {
        return;
    };
    let path = vec![key("target"), key("hosts")];
    let message = "host profiles are ignored by a local run".to_owned();
    found.warn("hosts_ignored", path, entry.key_span, message);
}

fn cases(found: &mut Found, root: &Node, resolved: &ResolvedSuite) {
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
            step_id(found, &step.node, &path);
            step_server(found, &step.node, &path, &servers);
        }
    }
}

/// §8.1: a case that passes when nothing is called and nothing is said.
fn empty_answers(found: &mut Found, root: &Node, resolved: &ResolvedSuite) {
    let Some(cases) = root.get("cases") else {
        return;
    };
    let judge = resolved.defaults.judge.as_ref();
    for (index, (case, item)) in resolved.cases.iter().zip(cases.items()).enumerate() {
        if case.disabled || vacuity(case, requires_judge(case, judge)) != Vacuity::Vacuous {
            continue;
        }
        let path = vec![key("cases"), Segment::Index(index)];
        let message = format!(
            "case `{}` passes when nothing is called and nothing is answered: add what the \
             answer must hold",
            case.id
        );
        let span = head(&item.node);
        found.warn("case_passes_with_empty_answer", path, span, message);
    }
}

/// §4.3: without a rubric a score is capped, and a threshold may lie above.
fn unreachable_thresholds(found: &mut Found, root: &Node, resolved: &ResolvedSuite) {
    let Some(cases) = root.get("cases") else {
        return;
    };
    for (index, (case, item)) in resolved.cases.iter().zip(cases.items()).enumerate() {
        let judge = JudgeSettings::of(resolved, case);
        let cap = judge.score_cap().filter(|cap| judge.threshold > *cap);
        let (Some(cap), true) = (cap, judge.authored && judge.enabled && !case.disabled) else {
            continue;
        };
        let path = vec![key("cases"), Segment::Index(index)];
        let message = format!(
            "case `{}` can never reach the judge's threshold {}: without `expectedOutput` or \
             criteria a score is at most {cap}",
            case.id, judge.threshold
        );
        let span = head(&item.node);
        found.warn("judge_threshold_out_of_reach", path, span, message);
    }
}

/// §6: the schema allows an empty step id; nothing can refer to it.
fn step_id(found: &mut Found, step: &Node, path: &[Segment]) {
    let Some(id) = step.get("id") else { return };
    if id.as_str() == Some("") {
        let mut path = path.to_vec();
        path.push(key("id"));
        let message = "an empty step id cannot be told apart in reports".to_owned();
        found.warn("empty_step_id", path, id.span, message);
    }
}

/// A pinned call of a server that the suite does not name fails at run time.
fn step_server(found: &mut Found, step: &Node, path: &[Segment], servers: &[&str]) {
    let named = ["serverId", "serverName"]
        .into_iter()
        .find_map(|word| Some((word, step.get(word)?)));
    let Some((word, node)) = named else { return };
    let Some(name) = node.as_str() else { return };
    if !servers.is_empty() && !servers.contains(&name.trim()) {
        let mut path = path.to_vec();
        path.push(key(word));
        let message = format!("`{name}` is not a server of `target.servers`");
        found.warn("unknown_server", path, node.span, message);
    }
}

/// §2.1: JSON has no infinite number and no `.nan`; they become `null`.
fn non_finite(found: &mut Found, node: &Node, path: &Path<'_>) {
    match &node.value {
        Value::Number(Number::Float(number)) if !number.is_finite() => {
            let message = "JSON has no such number: it is read as `null`".to_owned();
            found.warn("non_finite_number", path.segments(), node.span, message);
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                non_finite(found, &item.node, &Path::Index(path, index));
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                non_finite(found, &entry.item.node, &Path::Key(path, &entry.key));
            }
        }
        _ => {}
    }
}

fn key(key: &str) -> Segment {
    Segment::Key(key.to_owned())
}
