//! Words of the vocabulary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::words::Entry;
use strandline_report::{
    escape,
    glossary::{Lookup, further, look_up},
};

use crate::{
    desk::Desk,
    failure::Failure,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Explains words.
pub(crate) struct ExplainTerm;

/// What to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExplainTermInput {
    /// A word as it stands in an answer (`notReached`), a label (`not reached`), or the name of a
    /// vocabulary (`stage reason`). Case, spaces and hyphens do not matter.
    term: String,
}

/// Words with their meanings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExplainTermOutput {
    /// The words that are spelled or shown like the term; all of a vocabulary when the term names one.
    words: Vec<Word>,
}

/// One word.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Word {
    /// The vocabulary it belongs to.
    vocabulary: &'static str,
    /// Its exact spelling in documents.
    wire: &'static str,
    /// What a person reads instead.
    label: &'static str,
    /// What it says, and what it does not say.
    meaning: &'static str,
    /// For a stage: the question it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'static str>,
    /// For a stage: what a good answer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    good: Option<&'static str>,
    /// For a failure category: who looks next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

impl From<&Entry> for Word {
    fn from(entry: &Entry) -> Self {
        let further = further(entry);
        let fact = |name: &str| {
            let fact = further.iter().find(|(known, _)| *known == name);
            fact.map(|(_, text)| *text)
        };
        Self {
            vocabulary: entry.vocabulary,
            wire: entry.wire,
            label: entry.label,
            meaning: entry.meaning,
            question: fact("question"),
            good: fact("good"),
            next: fact("next"),
        }
    }
}

impl EvalTool for ExplainTerm {
    type Input = ExplainTermInput;
    type Output = ExplainTermOutput;
    const NAME: &'static str = "explain_term";
    const TITLE: &'static str = "Explain a word";
    const DESCRIPTION: &'static str = "Explains a word that stands in an answer of these tools: a stage, a state, a \
        reason, a category, a verdict, an exclusion, any other. Use it before you interpret a word that you have not \
        looked up: several words sound alike and mean different absences.";

    async fn call(
        _desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let entries = match look_up(&input.term) {
            Lookup::Words(entries) => entries,
            Lookup::Vocabulary(vocabulary) => vocabulary.entries,
            Lookup::Nothing(near) => return Err(unknown(&input.term, &near).into()),
        };
        let lines: Vec<String> = entries
            .iter()
            .map(|entry| {
                let (wire, label, meaning) = (entry.wire, entry.label, entry.meaning);
                format!(
                    "{wire} ({}), shown as “{label}”: {meaning}",
                    entry.vocabulary
                )
            })
            .collect();
        Ok(Answer {
            text: lines.join("\n"),
            content: ExplainTermOutput {
                words: entries.iter().map(Word::from).collect(),
            },
        })
    }
}

/// Says that nothing is called so.
pub(crate) fn unknown(term: &str, near: &[String]) -> Failure {
    let failure = Failure::new(format!("no such term: `{}`", escape::line(term, 80)));
    match near {
        [] => failure.hint("the resource `strandline://glossary` has every vocabulary"),
        near => failure.hint(format!("did you mean `{}`?", near.join("`, `"))),
    }
}
