//! `strandline explain [TERM]`.

use serde_json::{Value, json};
use strandline_contract::{exit::ExitCode, words::Entry, words::registry};
use strandline_report::{
    escape,
    glossary::{self, Lookup},
};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline explain`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A word, a label or the name of a vocabulary; without it, all
    /// vocabularies are listed.
    #[arg(num_args = 0..)]
    term: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    // Labels have spaces; people do not quote.
    let term = arguments.term.join(" ");
    if term.is_empty() {
        if arguments.json {
            let all: Vec<Value> = registry()
                .iter()
                .map(|words| json!({"name": words.name, "about": words.about, "words": entries(&words.entries)}))
                .collect();
            ui.out(format_args!("{:#}", Value::from(all)));
        } else {
            ui.out(glossary::overview(&ui.style));
        }
        return Ok(ExitCode::Passed);
    }
    match glossary::look_up(&term) {
        Lookup::Words(found) if arguments.json => ui.out(format_args!("{:#}", entries(&found))),
        Lookup::Words(found) => {
            let texts: Vec<String> = found
                .iter()
                .map(|entry| glossary::explain(entry, &ui.style))
                .collect();
            ui.out(texts.join("\n\n"));
        }
        Lookup::Vocabulary(words) if arguments.json => {
            ui.out(format_args!("{:#}", entries(&words.entries)));
        }
        Lookup::Vocabulary(words) => ui.out(glossary::vocabulary(&words, &ui.style)),
        Lookup::Nothing(near) => {
            let error =
                CommandError::usage(format_args!("no such term: `{}`", escape::line(&term, 80)));
            return Err(match near.as_slice() {
                [] => error.hint("`strandline explain` lists every vocabulary"),
                near => error.hint(format_args!("did you mean `{}`?", near.join("`, `"))),
            });
        }
    }
    Ok(ExitCode::Passed)
}

fn entries(entries: &[Entry]) -> Value {
    entries
        .iter()
        .map(|entry| {
            let mut value = json!({
                "vocabulary": entry.vocabulary,
                "wire": entry.wire,
                "label": entry.label,
                "meaning": entry.meaning,
            });
            for (name, text) in glossary::further(entry) {
                value[name] = text.into();
            }
            value
        })
        .collect()
}
