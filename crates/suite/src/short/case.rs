//! Cases of a short file.

use std::sync::Arc;

use super::{
    expand::{block_map, list, map, text},
    ids,
    places::{Places, place},
};
use crate::{
    rules::{At, Check, Path, answer_pattern, filled_text},
    yaml::{Entry, Node, Value},
};

/// Keys that go to the case as they are.
const CASE_KEYS: [&str; 13] = [
    "title",
    "intent",
    "kind",
    "suppressedSuiteStandardCheckIds",
    "judge",
    "expectedOutput",
    "isNegativeTest",
    "model",
    "iterations",
    "passThreshold",
    "disabled",
    "matchOptions",
    "script",
];
/// Longest title that is made from a prompt, in characters.
const TITLE: usize = 80;

/// Expands one case.
pub(super) fn case(
    check: &mut Check,
    at: At<'_>,
    index: usize,
    ordinal: usize,
    places: &mut Places,
) -> Arc<Node> {
    let node = at.node;
    let mut case = Case {
        index,
        places,
        steps: Vec::new(),
        assertions: Vec::new(),
        calls_nothing: false,
    };
    let prompt = case.prompt(check, at);
    case.calls(check, at);
    case.answer(check, at);
    case.never_calls(check, at);
    let authored = case.authored_assertions(node);

    let mut members = Vec::new();
    let own_id = node.get("id").cloned();
    let id = own_id.unwrap_or_else(|| text(ids::of_case(&prompt, ordinal), node.span));
    members.push(("id", id));
    if node.get("title").is_none() {
        members.push(("title", text(title(&prompt), node.span)));
    }
    if case.calls_nothing && node.get("isNegativeTest").is_none() {
        let flag = Node::new(Value::Bool(true), node.span);
        members.push(("isNegativeTest", flag));
    }
    for key in CASE_KEYS {
        if let Some(value) = node.get(key) {
            members.push((key, Arc::clone(value)));
        }
    }
    members.push(("steps", list(case.steps, node.span)));
    match authored {
        // What is not a list is reported as it is.
        Some(other) => members.push(("assertions", other)),
        None if !case.assertions.is_empty() => {
            members.push(("assertions", list(case.assertions, node.span)));
        }
        None => {}
    }

    let mut known = vec![
        "id",
        "prompt",
        "calls",
        "neverCalls",
        "answer",
        "assertions",
    ];
    known.extend(CASE_KEYS);
    check.closed(at, &known);
    block_map(members, node.span)
}

struct Case<'places> {
    index: usize,
    places: &'places mut Places,
    steps: Vec<Arc<Node>>,
    assertions: Vec<Arc<Node>>,
    calls_nothing: bool,
}

impl Case<'_> {
    fn prompt(&mut self, check: &mut Check, at: At<'_>) -> String {
        check.required(at, "prompt", filled_text);
        let written = at.node.get("prompt");
        let prompt = written
            .and_then(|prompt| prompt.as_str())
            .unwrap_or("unknown");
        let span = written.map_or(at.node.span, |prompt| prompt.span);
        self.step(
            vec![
                ("id", text("ask", span)),
                ("kind", text("prompt", span)),
                ("prompt", text(prompt, span)),
            ],
            place!["cases", self.index, "prompt"],
            true,
        );
        prompt.to_owned()
    }

    /// `calls`: a tool, tools with arguments, a list of either, or an empty
    /// list for an answer that needs no tool.
    fn calls(&mut self, check: &mut Check, at: At<'_>) {
        let Some(node) = at.node.get("calls") else {
            return;
        };
        let path = Path::Key(at.path, "calls");
        let written = place!["cases", self.index, "calls"];
        let at = At { node, path: &path };
        match &node.value {
            Value::Sequence(items) if items.is_empty() => self.calls_nothing = true,
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = Path::Index(at.path, index);
                    let mut written = written.clone();
                    written.push(crate::Segment::Index(index));
                    let node = &item.node;
                    self.call(check, At { node, path: &path }, written);
                }
            }
            _ => self.call(check, at, written),
        }
    }

    fn call(&mut self, check: &mut Check, at: At<'_>, written: Vec<crate::Segment>) {
        match &at.node.value {
            Value::String(_) => {
                let before = check.findings.len();
                filled_text(check, at);
                if check.findings.len() == before {
                    let tool = Arc::new(at.node.clone());
                    let nothing = Node::new(Value::Mapping(Vec::new()), at.node.span);
                    self.expectation(tool, nothing, written, true);
                }
            }
            Value::Mapping(entries) if !entries.is_empty() => {
                for entry in entries {
                    let mut written = written.clone();
                    written.push(crate::Segment::Key(entry.key.clone()));
                    self.call_with(check, at, entry, written);
                }
            }
            _ => {
                check
                    .expected(at, "a tool, or tools with their arguments")
                    .label = Some("write `TOOL` or `{ TOOL: { ARGUMENT: value } }`".to_owned());
            }
        }
    }

    fn call_with(
        &mut self,
        check: &mut Check,
        at: At<'_>,
        entry: &Entry,
        written: Vec<crate::Segment>,
    ) {
        let path = Path::Key(at.path, &entry.key);
        let node = &entry.item.node;
        let tool = text(entry.key.as_str(), entry.key_span);
        match &node.value {
            Value::Mapping(_) => self.expectation(tool, Arc::clone(node), written, false),
            Value::Null => {
                let nothing = Node::new(Value::Mapping(Vec::new()), node.span);
                self.expectation(tool, nothing, written, true);
            }
            _ => {
                check
                    .expected(At { node, path: &path }, "a map of arguments")
                    .label = Some("write `{ ARGUMENT: value }`".to_owned());
            }
        }
    }

    /// An assert step that expects a call with at least these arguments.
    fn expectation(
        &mut self,
        tool: Arc<Node>,
        arguments: Arc<Node>,
        written: Vec<crate::Segment>,
        whole: bool,
    ) {
        let span = tool.span;
        let id = format!("call-{}", self.steps.len());
        let step = self.steps.len();
        if !whole {
            let arguments = place![
                "cases",
                self.index,
                "steps",
                step,
                "assertion",
                "args",
                "args"
            ];
            self.places.moved(arguments, written.clone());
        }
        let args = map(vec![("args", arguments)], span);
        let assertion = map(
            vec![
                ("type", text("toolCalledWith", span)),
                ("toolName", tool),
                ("args", args),
            ],
            span,
        );
        self.step(
            vec![
                ("id", text(id, span)),
                ("kind", text("assert", span)),
                ("assertion", assertion),
            ],
            written,
            true,
        );
    }

    fn step(&mut self, members: Vec<(&str, Arc<Node>)>, written: Vec<crate::Segment>, whole: bool) {
        let place = place!["cases", self.index, "steps", self.steps.len()];
        if whole {
            self.places.made(place, written);
        } else {
            self.places.moved(place, written);
        }
        let span = members
            .first()
            .map(|(_, node)| node.span)
            .unwrap_or_default();
        self.steps.push(map(members, span));
    }

    /// `answer`: a text it contains, several of them, or `contains` and `matches`.
    fn answer(&mut self, check: &mut Check, at: At<'_>) {
        let Some(node) = at.node.get("answer") else {
            return;
        };
        let path = Path::Key(at.path, "answer");
        let at = At { node, path: &path };
        let written = place!["cases", self.index, "answer"];
        if !node.is_mapping() {
            self.texts(
                check,
                at,
                &written,
                filled_text,
                "responseContains",
                "needle",
            );
            return;
        }
        for (key, rule, kind, parameter) in [
            (
                "contains",
                filled_text as crate::rules::Rule,
                "responseContains",
                "needle",
            ),
            ("matches", answer_pattern, "responseMatches", "pattern"),
        ] {
            if let Some(node) = node.get(key) {
                let path = Path::Key(at.path, key);
                let mut written = written.clone();
                written.push(crate::Segment::Key(key.to_owned()));
                self.texts(
                    check,
                    At { node, path: &path },
                    &written,
                    rule,
                    kind,
                    parameter,
                );
            }
        }
        check.closed(at, &["contains", "matches"]);
    }

    fn never_calls(&mut self, check: &mut Check, at: At<'_>) {
        let Some(node) = at.node.get("neverCalls") else {
            return;
        };
        let path = Path::Key(at.path, "neverCalls");
        let written = place!["cases", self.index, "neverCalls"];
        let at = At { node, path: &path };
        self.texts(
            check,
            at,
            &written,
            filled_text,
            "toolNeverCalled",
            "toolName",
        );
    }

    /// One assertion for a text, or for each text of a list.
    fn texts(
        &mut self,
        check: &mut Check,
        at: At<'_>,
        written: &[crate::Segment],
        rule: crate::rules::Rule,
        kind: &str,
        parameter: &'static str,
    ) {
        let mut one = |this: &mut Self, at: At<'_>, written: Vec<crate::Segment>| {
            let before = check.findings.len();
            rule(check, at);
            if check.findings.len() == before {
                let span = at.node.span;
                let assertion = map(
                    vec![
                        ("type", text(kind, span)),
                        (parameter, Arc::new(at.node.clone())),
                    ],
                    span,
                );
                this.assertion(assertion, written);
            }
        };
        match &at.node.value {
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = Path::Index(at.path, index);
                    let node = &item.node;
                    let mut written = written.to_vec();
                    written.push(crate::Segment::Index(index));
                    one(self, At { node, path: &path }, written);
                }
            }
            _ => one(self, at, written.to_vec()),
        }
    }

    fn assertion(&mut self, assertion: Arc<Node>, written: Vec<crate::Segment>) {
        let place = place!["cases", self.index, "assertions", self.assertions.len()];
        self.places.made(place, written);
        self.assertions.push(assertion);
    }

    /// `assertions` come after those that were made; anything but a list is
    /// returned to be reported as it is.
    fn authored_assertions(&mut self, node: &Node) -> Option<Arc<Node>> {
        let authored = node.get("assertions")?;
        if !matches!(authored.value, Value::Sequence(_)) {
            return Some(Arc::clone(authored));
        }
        for (index, item) in authored.items().iter().enumerate() {
            let place = place!["cases", self.index, "assertions", self.assertions.len()];
            self.places
                .moved(place, place!["cases", self.index, "assertions", index]);
            self.assertions.push(Arc::clone(&item.node));
        }
        None
    }
}

/// The first line of a prompt, cut to a length.
fn title(prompt: &str) -> String {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("Untitled");
    if line.chars().count() <= TITLE {
        return line.to_owned();
    }
    let head: String = line.chars().take(TITLE - 1).collect();
    format!("{}…", head.trim_end())
}
