//! The glossary as a page: every word with an anchor of its own.

use maud::{Markup, html};
use strandline_contract::words::{
    Entry, StageState, SummaryVerdict, Vocabulary, VocabularyWords, registry,
};

use super::{
    mark,
    term::{term_anchor, vocabulary_anchor},
};
use crate::glossary::{further, heading, paragraphs};

/// Returns the glossary: what every word on every surface means.
#[must_use]
pub fn glossary() -> Markup {
    let all = registry();
    html! {
        h1 { "Glossary" }
        p { "Every word that a report, a page or a document uses, as it is written in documents \
            and as it is shown." }
        nav.vocabularies aria-label="Vocabularies" {
            @for (group, names) in groups(&all) {
                p {
                    b { (group) } ": "
                    @for (place, name) in names.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href={ "#" (vocabulary_anchor(name)) } { (name) }
                    }
                }
            }
        }
        @for words in &all { (vocabulary(words)) }
    }
}

/// Returns the vocabularies' names by group, in the registry's order.
fn groups(all: &[VocabularyWords]) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for words in all {
        match groups.last_mut() {
            Some((group, names)) if *group == words.group => names.push(words.name),
            _ => groups.push((words.group, vec![words.name])),
        }
    }
    groups
}

fn vocabulary(words: &VocabularyWords) -> Markup {
    html! {
        section id=(vocabulary_anchor(words.name)) {
            h2 { (heading(words.name)) }
            @for paragraph in paragraphs(&words.about) { p { (spans(&paragraph)) } }
            div.scroll {
                table.glossary {
                    thead {
                        tr {
                            th scope="col" { "written" }
                            th scope="col" { "shown as" }
                            th scope="col" { "meaning" }
                        }
                    }
                    tbody { @for entry in &words.entries { (row(entry)) } }
                }
            }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    html! {
        tr id=(term_anchor(entry)) data-row {
            th scope="row" { code { (entry.wire) } }
            td { (shown(entry)) (entry.label) }
            td {
                (spans(entry.meaning))
                @for (label, text) in further(entry) {
                    div.quiet-text { (label) ": " (text) }
                }
            }
        }
    }
}

/// Returns the mark of a word that has one.
fn shown(entry: &Entry) -> Markup {
    let drawn = if entry.vocabulary == StageState::NAME {
        StageState::from_wire(entry.wire).map(mark::state)
    } else if entry.vocabulary == SummaryVerdict::NAME {
        SummaryVerdict::from_wire(entry.wire).map(mark::verdict)
    } else {
        None
    };
    html! { @if let Some(drawn) = drawn { (drawn) " " } }
}

/// Returns text with its Markdown code spans as code.
fn spans(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_at_its_anchor_with_label_and_meaning() {
        let shown = glossary().into_string();
        for words in registry() {
            let anchor = format!("id=\"{}\"", vocabulary_anchor(words.name));
            assert!(shown.contains(&anchor), "{}", words.name);
            for entry in &words.entries {
                let anchor = format!("id=\"{}\"", term_anchor(entry));
                let at = shown.find(&anchor).expect(entry.wire);
                let row = shown[at..].split("</tr>").next().expect("a row");
                let label = html! { (entry.label) }.into_string();
                assert!(row.contains(&label), "{}: {row}", entry.wire);
            }
        }
    }

    #[test]
    fn code_spans_are_code() {
        let shown = spans("a `b<` c").into_string();
        assert_eq!(shown, "a <code>b&lt;</code> c");
    }
}
