//! Words of the vocabularies: each carries its meaning wherever it stands.

use maud::{Markup, html};
use strandline_contract::words::{Entry, Vocabulary};

use super::Links;

/// Returns a word's label, underlined, with its meaning.
///
/// It is a link to the glossary whose title is the meaning: both work without
/// the script, which shows the meaning in place.
#[must_use]
pub fn term(links: &dyn Links, word: impl Vocabulary) -> Markup {
    entry(links, &word.entry(), word.label())
}

/// Returns `label` as a word of a vocabulary: for a plural or a short form.
#[must_use]
pub fn labelled(links: &dyn Links, word: impl Vocabulary, label: &str) -> Markup {
    entry(links, &word.entry(), label)
}

fn entry(links: &dyn Links, entry: &Entry, label: &str) -> Markup {
    html! {
        a.term href=(links.term(entry)) title=(entry.meaning)
            data-vocabulary=(entry.vocabulary) data-word=(entry.wire) { (label) }
    }
}

/// Returns the id of a word's entry in the glossary: `term-stage-state-passed`.
#[must_use]
pub fn term_anchor(entry: &Entry) -> String {
    format!("term-{}-{}", slug(entry.vocabulary), slug(entry.wire))
}

/// Returns the id of a vocabulary in the glossary.
#[must_use]
pub fn vocabulary_anchor(name: &str) -> String {
    format!("vocabulary-{}", slug(name))
}

fn slug(text: &str) -> String {
    let plain = |character: char| {
        if character.is_ascii_alphanumeric() || character == '_' {
            character
        } else {
            '-'
        }
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use strandline_contract::words::{StageState, registry};

    use super::*;

    #[test]
    fn every_word_has_an_anchor_of_its_own() {
        let entries: Vec<Entry> = registry()
            .into_iter()
            .flat_map(|words| words.entries)
            .collect();
        let anchors: BTreeSet<String> = entries.iter().map(term_anchor).collect();
        assert_eq!(anchors.len(), entries.len());
        assert_eq!(
            term_anchor(&StageState::NotMeasured.entry()),
            "term-stage-state-notMeasured"
        );
    }
}
