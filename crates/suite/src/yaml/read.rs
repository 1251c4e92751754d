//! Events to a tree, with every limit of `suite-file.md` §2.1.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use granit_parser::{Event, Marker, Parser, ScalarStyle, Span as Mark, StructureStyle, Tag};

use super::{
    aliases::{AliasError, Anchors, MAX_ALIAS_WEIGHT},
    message,
    node::{Alias, Entry, Extent, Item, Node, Number, Value},
    printable::Printable,
    scalar::{resolve_plain, resolve_tagged},
};
use crate::{
    finding::{Code, Finding},
    source::{Lines, Span},
};

/// Nesting that every later reader of the document can follow (ours).
pub(crate) const MAX_DEPTH: usize = 100;
/// Values with the aliases written out (ours); a file without aliases stays below.
const MAX_NODES: u64 = 1_048_576;
/// Bytes of text with the aliases written out (ours).
const MAX_BYTES: u64 = 16 * 1_048_576;

/// One document: its tree, and what it says beside its values.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The value of the whole document.
    pub(crate) root: Arc<Node>,
    /// Comments in the order of the text.
    pub(crate) comments: Vec<Comment>,
    /// Tags outside the core schema, which were ignored.
    pub(crate) foreign_tags: Vec<Span>,
}

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    /// The words after `#`, as written.
    pub(crate) text: String,
    /// Where, `#` included.
    pub(crate) span: Span,
}

/// Reads the one document of a text, or says everything that is wrong with it.
pub(crate) fn read(text: &str, lines: &Lines) -> Result<Document, Vec<Finding>> {
    let printable = Printable::new(text);
    let mut reader = Reader {
        text,
        printable: &printable,
        lines,
        anchors: Anchors::default(),
        stack: Vec::new(),
        root: None,
        comments: Vec::new(),
        foreign_tags: Vec::new(),
        findings: Vec::new(),
        overweight: HashSet::new(),
    };
    let mut documents = 0_usize;
    for next in Parser::new_from_str_with_options(printable.text(), parser_options()) {
        let (event, mark) = match next {
            Ok(next) => next,
            Err(error) => {
                reader.syntax(&error);
                break;
            }
        };
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
            if documents > 1 {
                return Err(vec![reader.several_documents(&mark)]);
            }
        }
        if !reader.event(event, mark) {
            break;
        }
    }
    reader.finish(documents)
}

fn parser_options() -> granit_parser::Options {
    let everything = 1 << 21;
    granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: everything,
        simple_key_max_lookahead: everything,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    }
}

struct Reader<'text> {
    text: &'text str,
    printable: &'text Printable<'text>,
    lines: &'text Lines,
    anchors: Anchors,
    stack: Vec<Frame>,
    root: Option<Arc<Node>>,
    comments: Vec<Comment>,
    foreign_tags: Vec<Span>,
    findings: Vec<Finding>,
    /// Anchors already reported as used too often.
    overweight: HashSet<usize>,
}

/// A collection that is still being read.
struct Frame {
    open: Open,
    start: Span,
    anchor: usize,
    flow: bool,
}

enum Open {
    Sequence(Vec<Item>),
    Mapping {
        entries: Vec<Entry>,
        /// Keys seen so far and where.
        seen: HashMap<String, Span>,
        /// A key whose value comes next.
        key: Option<(String, Span, Option<usize>)>,
    },
}

impl Reader<'_> {
    /// Takes one event; false stops the reading.
    fn event(&mut self, event: Event<'_>, mark: Mark) -> bool {
        let span = self.span(&mark);
        match event {
            Event::Comment(text, _) => self.comments.push(Comment {
                text: self.printable.restore(&text).into_owned(),
                span,
            }),
            Event::Scalar(text, style, anchor, tag) => {
                let text = self.printable.restore(&text);
                let value = self.scalar(&text, style, tag.as_deref(), &mark);
                let node = Self::node(value, span, false);
                if anchor > 0 {
                    self.anchors.define(anchor, &node);
                }
                self.add(Item::new(node));
            }
            Event::SequenceStart(style, anchor, tag) => {
                return self.begin(
                    Open::Sequence(Vec::new()),
                    style,
                    anchor,
                    tag.as_deref(),
                    &mark,
                );
            }
            Event::MappingStart(style, anchor, tag) => {
                let open = Open::Mapping {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: None,
                };
                return self.begin(open, style, anchor, tag.as_deref(), &mark);
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => {
                let message = format!("alias `*{name}` names no anchor above it");
                self.invalid(span, message, format!("no `&{name}` before this"));
                self.add(Item::new(Self::node(Value::Null, span, false)));
            }
            _ => {}
        }
        true
    }

    fn begin(
        &mut self,
        open: Open,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        mark: &Mark,
    ) -> bool {
        let start = self.span(mark);
        if self.stack.len() >= MAX_DEPTH {
            self.too_deep(start);
            return false;
        }
        self.note_tag(tag, &["map", "seq"], mark);
        if anchor > 0 {
            self.anchors.open(anchor);
        }
        self.stack.push(Frame {
            open,
            start,
            anchor,
            flow: style == StructureStyle::Flow,
        });
        true
    }

    fn end(&mut self, end: Span) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let (value, last) = match frame.open {
            Open::Sequence(items) => {
                let last = items
                    .last()
                    .map_or(frame.start.end, |item| item.node.span.end);
                (Value::Sequence(items), last)
            }
            Open::Mapping { entries, .. } => {
                let last = entries
                    .last()
                    .map_or(frame.start.end, |entry| entry.item.node.span.end);
                (Value::Mapping(entries), last)
            }
        };
        // A block collection ends with its last member, not where the parser noticed.
        let end = if frame.flow { end.end } else { last };
        let span = Span {
            start: frame.start.start,
            end: end.max(frame.start.start),
        };
        let node = Self::node(value, span, frame.flow);
        if frame.anchor > 0 {
            self.anchors.define(frame.anchor, &node);
        }
        self.add(Item::new(node));
    }

    fn alias(&mut self, anchor: usize, span: Span) {
        let item = match self.anchors.follow(anchor) {
            Ok(node) => {
                if self.stack.len() + node.extent.depth > MAX_DEPTH {
                    self.too_deep(span);
                }
                Item {
                    node,
                    alias: Some(Alias { anchor, span }),
                }
            }
            Err(AliasError::Inside) => {
                self.invalid(
                    span,
                    "an alias cannot stand inside the value that it names".to_owned(),
                    "would contain itself".to_owned(),
                );
                Item::new(Self::node(Value::Null, span, false))
            }
            Err(AliasError::Overweight) => {
                if self.overweight.insert(anchor) {
                    self.invalid(
                        span,
                        format!(
                            "this anchor is used too often: uses times size may not pass \
                             {MAX_ALIAS_WEIGHT}"
                        ),
                        "write the value out instead".to_owned(),
                    );
                }
                Item::new(Self::node(Value::Null, span, false))
            }
        };
        self.add(item);
    }

    /// Puts a complete value where it belongs.
    fn add(&mut self, item: Item) {
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(item.node);
            return;
        };
        match &mut frame.open {
            Open::Sequence(items) => items.push(item),
            Open::Mapping { entries, seen, key } => match key.take() {
                None => {
                    let text = key_text(&item.node, self.text);
                    let span = item.node.span;
                    if let Some(first) = seen.insert(text.clone(), span) {
                        let place = self.lines.locate(self.text, first.start);
                        let finding = Finding::at_span(
                            Code::YamlInvalid,
                            format!("`{text}` is given twice in one map"),
                            span,
                        )
                        .label(format!("first given on line {}", place.line));
                        self.findings.push(finding);
                    }
                    *key = Some((text, span, item.alias.map(|alias| alias.anchor)));
                }
                Some((text, key_span, key_alias)) => entries.push(Entry {
                    key: text,
                    key_span,
                    key_alias,
                    item,
                }),
            },
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, mark: &Mark) -> Value {
        match tag {
            None if style == ScalarStyle::Plain => resolve_plain(text),
            None => Value::String(text.to_owned()),
            Some(tag) => {
                self.note_tag(Some(tag), &["str", "null", "bool", "int", "float"], mark);
                resolve_tagged(tag.core_suffix(), text)
            }
        }
    }

    /// Remembers a tag that says nothing to the core schema here.
    fn note_tag(&mut self, tag: Option<&Tag>, known: &[&str], mark: &Mark) {
        let Some(tag) = tag else { return };
        let non_specific = tag.original() == "!";
        if non_specific
            || tag
                .core_suffix()
                .is_some_and(|suffix| known.contains(&suffix))
        {
            return;
        }
        let span = mark
            .tag_span()
            .map_or_else(|| self.span(mark), |span| self.span(&span));
        self.foreign_tags.push(span);
    }

    fn node(value: Value, span: Span, flow: bool) -> Arc<Node> {
        let extent = Extent::of(&value);
        Arc::new(Node {
            value,
            span,
            flow,
            extent,
        })
    }

    fn finish(mut self, documents: usize) -> Result<Document, Vec<Finding>> {
        if let Some(root) = &self.root
            && (root.extent.nodes > MAX_NODES || root.extent.bytes > MAX_BYTES)
        {
            let span = Span::default();
            self.invalid(
                span,
                "the file is too large once its aliases are written out".to_owned(),
                format!("at most {MAX_NODES} values and {MAX_BYTES} bytes of text"),
            );
        }
        if !self.findings.is_empty() {
            return Err(self.findings);
        }
        match self.root {
            Some(root) if documents == 1 => Ok(Document {
                root,
                comments: self.comments,
                foreign_tags: self.foreign_tags,
            }),
            _ => Err(vec![Finding::of_file(
                Code::Empty,
                "the file holds no document",
            )]),
        }
    }

    fn several_documents(&self, mark: &Mark) -> Finding {
        let span = self.span(mark);
        Finding::at_span(
            Code::MultipleDocuments,
            "a suite file holds one document, this one holds several".to_owned(),
            span,
        )
        .label("a second document starts here")
    }

    fn syntax(&mut self, error: &granit_parser::ScanError) {
        let start = self.offset(error.marker());
        let span = Span {
            start,
            end: start + self.text[start..].chars().next().map_or(0, char::len_utf8),
        };
        let words = message::words(error.kind(), MAX_DEPTH, self.printable);
        let mut finding = Finding::at_span(Code::YamlInvalid, words.message, span);
        if let Some(label) = words.label {
            finding = finding.label(label);
        }
        self.findings.push(finding);
    }

    fn too_deep(&mut self, span: Span) {
        self.invalid(
            span,
            format!("values are nested deeper than {MAX_DEPTH} levels"),
            "one level too many".to_owned(),
        );
    }

    fn invalid(&mut self, span: Span, message: String, label: String) {
        self.findings
            .push(Finding::at_span(Code::YamlInvalid, message, span).label(label));
    }

    fn span(&self, mark: &Mark) -> Span {
        let start = self.offset(&mark.start);
        let end = self.offset(&mark.end).max(start);
        let trimmed = self.text[start..end].trim_end();
        Span {
            start,
            end: start + trimmed.len(),
        }
    }

    /// A byte offset that is a character boundary of the text.
    fn offset(&self, marker: &Marker) -> usize {
        let offset = self.printable.offset(marker.byte_offset(), marker.index());
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// A key as text: JSON has no other keys.
fn key_text(node: &Node, text: &str) -> String {
    match &node.value {
        Value::String(key) => key.clone(),
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(Number::Integer(number)) => number.to_string(),
        Value::Number(Number::Float(number)) => number.to_string(),
        Value::Sequence(_) | Value::Mapping(_) => text
            .get(node.span.start..node.span.end)
            .unwrap_or_default()
            .to_owned(),
    }
}
