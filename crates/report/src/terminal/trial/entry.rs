//! One entry of a timeline: when, what kind of thing, its facts, its texts.

use strandline_contract::trace::{Part, Span};

use super::Detail;
use crate::{
    layout::{left, right, width, wrap},
    style::{Ink, Style},
};

/// Columns of the time since the trial began.
const TIME: usize = 10;
/// Columns of the kind of entry.
const KIND: usize = 8;
/// Column under which an entry's text stands.
const TEXT: usize = TIME + 2 + KIND + 1;

/// One thing that happened.
pub(crate) struct Entry<'a> {
    /// Time since the trial began, ms; absent where nobody measured it.
    pub(crate) at: Option<f64>,
    /// What kind of thing.
    pub(crate) kind: &'static str,
    /// How it reads at a glance.
    pub(crate) ink: Option<Ink>,
    /// Safe facts in order of weight.
    pub(crate) facts: Vec<String>,
    /// Foreign text, made safe when it is rendered.
    pub(crate) text: Option<String>,
    /// Evidence of the first failed stage.
    pub(crate) cited: bool,
    /// The turn that it belongs to, from 0.
    pub(crate) turn: Option<u32>,
    /// The span that timed it.
    pub(crate) span: Option<&'a Span>,
    /// The part of a message that it tells.
    pub(crate) part: Option<&'a Part>,
}

impl<'a> Entry<'a> {
    pub(super) const fn new(kind: &'static str) -> Self {
        Self {
            at: None,
            kind,
            ink: None,
            facts: Vec::new(),
            text: None,
            cited: false,
            turn: None,
            span: None,
            part: None,
        }
    }

    pub(super) const fn part(mut self, part: &'a Part) -> Self {
        self.part = Some(part);
        self
    }

    pub(super) fn at(mut self, at: Option<f64>) -> Self {
        self.at = at;
        self
    }

    pub(super) fn ink(mut self, ink: Ink) -> Self {
        self.ink = Some(ink);
        self
    }

    pub(super) fn fact(mut self, fact: impl Into<String>) -> Self {
        self.facts.push(fact.into());
        self
    }

    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    pub(super) fn render(&self, detail: Detail, style: &Style) -> Vec<String> {
        let room = style.columns().saturating_sub(TEXT);
        let dot = format!(" {} ", style.dot());
        let mut facts = self.facts.clone();
        if self.cited {
            facts.push("cited as evidence".to_owned());
        }
        // Foreign text has lines of its own: it cannot pass for our facts.
        let mut body = match facts.as_slice() {
            [] => Vec::new(),
            facts => wrap(&facts.join(&dot), room),
        };
        let text = self.text.as_deref().map(|text| detail.lines(text));
        for line in text.iter().flatten() {
            body.extend(kept(line, room));
        }
        if body.is_empty() {
            body.push(String::new());
        }
        let time = self.at.map_or(String::new(), since);
        let kind = left(self.kind, KIND);
        let kind = match self.ink {
            Some(ink) => style.paint(ink, kind),
            None => kind,
        };
        let time = style.paint(Ink::Quiet, right(&time, TIME));
        body.into_iter()
            .enumerate()
            .map(|(index, line)| match index {
                0 => format!("{time}  {kind} {line}").trim_end().to_owned(),
                _ => format!("{}{line}", " ".repeat(TEXT)),
            })
            .collect()
    }
}

/// Wraps a line of foreign text, keeping its indentation.
fn kept(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let text = line.trim_start_matches(' ');
    let indent = " ".repeat((line.len() - text.len()).min(columns / 2));
    wrap(text, columns - indent.len())
        .into_iter()
        .map(|part| format!("{indent}{part}"))
        .collect()
}

/// Returns a time since the beginning: `+403 ms`, `+12.40 s`.
pub(crate) fn since(milliseconds: f64) -> String {
    if milliseconds < 999.5 {
        format!("+{:.0} ms", milliseconds.max(0.0))
    } else {
        format!("+{:.2} s", milliseconds / 1_000.0)
    }
}

/// Returns how long something took, with the precision it was measured with.
pub(crate) fn took(milliseconds: f64) -> String {
    match milliseconds {
        time if time < 0.0 || !time.is_finite() => "no duration".to_owned(),
        time if time < 9.95 => format!("{time:.1} ms"),
        time if time < 999.5 => format!("{time:.0} ms"),
        time => format!("{:.2} s", time / 1_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_what_was_measured() {
        assert_eq!(since(-3.0), "+0 ms");
        assert_eq!(since(403.4), "+403 ms");
        assert_eq!(since(12_400.0), "+12.40 s");
        assert_eq!(took(0.25), "0.2 ms");
        assert_eq!(took(12.5), "12 ms");
        assert_eq!(took(1_250.0), "1.25 s");
        assert_eq!(took(-1.0), "no duration");
    }
}
