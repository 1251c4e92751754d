//! The glossary: every word of every vocabulary.

use http::HeaderMap;
use schemars::JsonSchema;
use serde::Serialize;
use strandline_contract::words::{Entry, VocabularyWords, registry};
use strandline_report::glossary::{Lookup, further, look_up};

use super::Answered;
use crate::{document, params::In, problem::Problem};

/// Every vocabulary.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Glossary {
    /// The vocabularies.
    vocabularies: Vec<TermVocabulary>,
}

/// One closed vocabulary.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TermVocabulary {
    /// Its name.
    name: &'static str,
    /// What it is for.
    about: String,
    /// Its words, in normative order.
    terms: Vec<Term>,
}

/// One word.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Term {
    /// The name of its vocabulary.
    vocabulary: &'static str,
    /// The exact spelling in documents.
    wire: &'static str,
    /// The words a person reads instead.
    label: &'static str,
    /// What it says, and what it does not say.
    meaning: &'static str,
    /// What else belongs to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<Further>,
}

/// Something that belongs to a word.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Further {
    /// What it is.
    name: &'static str,
    /// What it says.
    text: &'static str,
}

/// What is called so.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Terms {
    /// The words; one per vocabulary that has it, or all of one vocabulary.
    terms: Vec<Term>,
}

fn term(entry: &Entry) -> Term {
    let further = further(entry).into_iter();
    Term {
        vocabulary: entry.vocabulary,
        wire: entry.wire,
        label: entry.label,
        meaning: entry.meaning,
        further: further.map(|(name, text)| Further { name, text }).collect(),
    }
}

fn vocabulary(words: &VocabularyWords) -> TermVocabulary {
    TermVocabulary {
        name: words.name,
        about: words.about.to_string(),
        terms: words.entries.iter().map(term).collect(),
    }
}

/// Lists every word.
pub(crate) async fn list(headers: HeaderMap) -> Answered {
    let vocabularies = registry().iter().map(vocabulary).collect();
    document::json(&headers, &Glossary { vocabularies })
}

/// Says what a word means.
pub(crate) async fn read(In(name): In<String>, headers: HeaderMap) -> Answered {
    let terms = match look_up(&name) {
        Lookup::Words(words) => words.iter().map(term).collect(),
        Lookup::Vocabulary(words) => words.entries.iter().map(term).collect(),
        Lookup::Nothing(near) => {
            let problem = Problem::not_found(&format!("no word is called `{name}`"));
            return Err(match near.as_slice() {
                [] => problem.hint("`/api/v1/terms` lists every word"),
                near => problem.hint(&format!("near it: {}", near.join(", "))),
            });
        }
    };
    document::json(&headers, &Terms { terms })
}
