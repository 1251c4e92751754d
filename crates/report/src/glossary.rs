//! The glossary: every word of every vocabulary, and the search in it.

use std::fmt::Write;

use strandline_contract::words::{
    Entry, FailureCategory, NextAction, Stage, StageState, Vocabulary, VocabularyWords, registry,
};

use crate::{
    glyphs,
    layout::hanging,
    style::{Ink, Style},
};

/// What a search for a term found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Words that are spelled or shown like the term; one per vocabulary that
    /// has it.
    Words(Vec<Entry>),
    /// The term is the name of a whole vocabulary.
    Vocabulary(VocabularyWords),
    /// Nothing is called so; the nearest terms, best first, perhaps none.
    Nothing(Vec<String>),
}

/// Suggestions shown at most.
const MAX_SUGGESTIONS: usize = 4;
/// Jaro-Winkler similarity from which a term is worth suggesting.
const WORTH_SUGGESTING: f64 = 0.82;

/// Searches all vocabularies for `term`.
///
/// Case, spaces, hyphens and underscores do not matter; wire spelling, label
/// and the name of a vocabulary all count.
#[must_use]
pub fn look_up(term: &str) -> Lookup {
    let wanted = folded(term);
    let all = registry();
    let words: Vec<Entry> = all
        .iter()
        .flat_map(|vocabulary| &vocabulary.entries)
        .filter(|entry| folded(entry.wire) == wanted || folded(entry.label) == wanted)
        .copied()
        .collect();
    if !words.is_empty() {
        return Lookup::Words(words);
    }
    let plural = |name: &str| [folded(name), format!("{}s", folded(name))];
    if let Some(vocabulary) = all
        .iter()
        .find(|vocabulary| plural(vocabulary.name).contains(&wanted))
    {
        return Lookup::Vocabulary(vocabulary.clone());
    }
    Lookup::Nothing(suggestions(&wanted, &all))
}

/// Returns the text without case and separators.
fn folded(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn suggestions(wanted: &str, all: &[VocabularyWords]) -> Vec<String> {
    let mut scored: Vec<(f64, &str)> = all
        .iter()
        .flat_map(|vocabulary| {
            let words = vocabulary.entries.iter().map(|entry| {
                let score = similarity(wanted, &folded(entry.wire));
                (
                    score.max(similarity(wanted, &folded(entry.label))),
                    entry.wire,
                )
            });
            let name = similarity(wanted, &folded(vocabulary.name));
            words.chain([(name, vocabulary.name)])
        })
        .filter(|(score, _)| *score >= WORTH_SUGGESTING)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.truncate(MAX_SUGGESTIONS);
    names
}

/// Returns how near two folded terms are, 0 to 1.
fn similarity(wanted: &str, candidate: &str) -> f64 {
    // A part of a term is what people type when they do not know the rest.
    if wanted.chars().count() >= 4 && candidate.contains(wanted) {
        return 0.95;
    }
    strsim::jaro_winkler(wanted, candidate)
}

/// Returns what a person reads about one word.
#[must_use]
pub fn explain(entry: &Entry, style: &Style) -> String {
    let mark = if entry.vocabulary == StageState::NAME {
        StageState::from_wire(entry.wire).map(|word| glyphs::state(word).paint(style) + " ")
    } else {
        None
    };
    let mut lines = vec![format!(
        " {}{}  {}",
        mark.unwrap_or_default(),
        style.paint(Ink::Strong, entry.wire),
        style.paint(Ink::Quiet, entry.vocabulary)
    )];
    let mut fact = |label: &str, text: &str| {
        lines.extend(hanging(label, text, 3, 14, style.columns()));
    };
    fact("shown as", entry.label);
    fact("meaning", entry.meaning);
    for (label, text) in further(entry) {
        fact(label, text);
    }
    lines.join("\n")
}

/// Returns what belongs to a word beside its label and meaning.
#[must_use]
pub fn further(entry: &Entry) -> Vec<(&'static str, &'static str)> {
    if entry.vocabulary == Stage::NAME
        && let Some(stage) = Stage::from_wire(entry.wire)
    {
        return vec![("question", stage.question()), ("good", stage.good())];
    }
    if entry.vocabulary == FailureCategory::NAME
        && let Some(category) = FailureCategory::from_wire(entry.wire)
    {
        return vec![("next", NextAction::from(category).label())];
    }
    Vec::new()
}

/// Returns one vocabulary with all its words.
#[must_use]
pub fn vocabulary(words: &VocabularyWords, style: &Style) -> String {
    let heading = style.paint(Ink::Strong, heading(words.name));
    let about = paragraphs(&words.about).join(" ");
    let mut lines = vec![format!(" {heading}")];
    lines.extend(hanging("", &about, 1, 1, style.columns()));
    for entry in &words.entries {
        lines.push(String::new());
        lines.push(explain(entry, style));
    }
    lines.join("\n")
}

/// Returns the list of vocabularies with the number of their words.
#[must_use]
pub fn overview(style: &Style) -> String {
    let mut lines = Vec::new();
    let mut group = "";
    for words in registry() {
        if words.group != group {
            group = words.group;
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!(" {}", style.paint(Ink::Strong, group)));
        }
        let about = paragraphs(&words.about).into_iter().next();
        let text = format!(
            "{} words. {}",
            words.entries.len(),
            about.unwrap_or_default()
        );
        lines.extend(hanging(words.name, &text, 3, 28, style.columns()));
    }
    lines.join("\n")
}

/// Returns the whole glossary as text.
#[must_use]
pub fn text(style: &Style) -> String {
    let all: Vec<String> = registry()
        .iter()
        .map(|words| vocabulary(words, style))
        .collect();
    all.join("\n\n")
}

/// Returns the whole glossary as Markdown, ending in a line break.
#[must_use]
pub fn markdown() -> String {
    let page = String::from(
        "# Glossary\n\n\
         Every word of every closed vocabulary, with the words a person reads instead of it.\n\
         `strandline explain TERM` shows one of them. This page is written by\n\
         `strandline glossary --markdown`; a test fails when it is out of date.\n",
    );
    with_tables(page)
}

/// Returns the glossary as a skill for coding agents, with how to read it.
#[must_use]
pub fn skill() -> String {
    let page = String::from(
        "---\n\
         name: strandline-glossary\n\
         description: What every word of a Strandline report means and how its figures may be \
         read. Use when reading a run, a trial, a funnel or an export of Strandline, before \
         drawing a conclusion from it.\n\
         ---\n\n\
         # Reading Strandline\n\n\
         - A first failed stage is a location and a failure category is a bucket; neither is a cause.\n\
         - A rate is k of n gradeable trials, and means nothing without both. Trials that were not \
         graded are no failures.\n\
         - Never ran, not measured and not applicable are three different absences; none is a pass.\n\
         - Inconclusive means that validity checks withheld the verdict; no verdict established means \
         that there is none. Neither is a failure or a regression.\n\
         - Friction signals and suspected conditions never decide anything; read their benign \
         reading first.\n\
         - Quote labels as they stand here; wire words are for programs.\n\n\
         `strandline explain TERM` shows one word. This skill is written by \
         `strandline glossary --skill`; a test fails when it is out of date.\n",
    );
    with_tables(page)
}

fn with_tables(mut page: String) -> String {
    let mut group = "";
    for words in registry() {
        if words.group != group {
            group = words.group;
            let _ = writeln!(page, "\n## {group}");
        }
        let _ = writeln!(page, "\n### {}\n\n{}", heading(words.name), words.about);
        let extra: Vec<&str> = words
            .entries
            .first()
            .map(further)
            .unwrap_or_default()
            .iter()
            .map(|(label, _)| *label)
            .collect();
        page += "\n| word | shown as | meaning |";
        for label in &extra {
            let _ = write!(page, " {label} |");
        }
        page += "\n|---|---|---|";
        page += &"---|".repeat(extra.len());
        page.push('\n');
        for entry in &words.entries {
            let _ = write!(
                page,
                "| `{}` | {} | {} |",
                entry.wire, entry.label, entry.meaning
            );
            for (_, text) in further(entry) {
                let _ = write!(page, " {text} |");
            }
            page.push('\n');
        }
    }
    page
}

/// Returns a vocabulary's name as a heading.
pub(crate) fn heading(name: &str) -> String {
    let mut characters = name.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + characters.as_str())
        .unwrap_or_default()
}

/// Returns Markdown paragraphs as single lines.
pub(crate) fn paragraphs(about: &str) -> Vec<String> {
    about
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wires(lookup: Lookup) -> Vec<&'static str> {
        match lookup {
            Lookup::Words(entries) => entries.iter().map(|entry| entry.wire).collect(),
            other => panic!("no words: {other:?}"),
        }
    }

    #[test]
    fn wire_words_and_labels_are_found_however_they_are_written() {
        for term in [
            "notMeasured",
            "NOT_MEASURED",
            "not measured",
            "not-measured",
        ] {
            assert!(wires(look_up(term)).contains(&"notMeasured"), "{term}");
        }
        assert!(wires(look_up("Tool call")).contains(&"call"));
        assert!(wires(look_up("timed out")).contains(&"timed_out"));
    }

    #[test]
    fn one_word_of_several_vocabularies_gives_all_of_them() {
        let Lookup::Words(entries) = look_up("passed") else {
            panic!("`passed` is a word");
        };
        let names: Vec<_> = entries.iter().map(|entry| entry.vocabulary).collect();
        assert!(names.contains(&"stage state") && names.contains(&"task result"));
    }

    #[test]
    fn a_vocabulary_is_found_by_its_name() {
        for term in ["stage reason", "stage reasons", "StageReason"] {
            let Lookup::Vocabulary(words) = look_up(term) else {
                panic!("{term} is a vocabulary");
            };
            assert_eq!(words.entries.len(), 29);
        }
    }

    #[test]
    fn near_misses_are_suggested_and_far_ones_are_not() {
        let near = |term| match look_up(term) {
            Lookup::Nothing(terms) => terms,
            other => panic!("{term} is no word: {other:?}"),
        };
        assert_eq!(near("misingToolCal")[0], "missingToolCall");
        assert!(near("mismatch").contains(&"argumentMismatch".to_owned()));
        assert_eq!(near("zzzzzz"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
    }

    #[test]
    fn every_text_fits_its_width() {
        for columns in [60, 80, 200] {
            for line in text(&Style::plain(columns)).lines() {
                assert!(crate::layout::width(line) <= columns, "{line}");
            }
        }
    }
}
