//! Resources: the glossary, schemas of every document, a run's decision.
//!
//! | URI | what |
//! |---|---|
//! | `strandline://glossary` | every word of every vocabulary |
//! | `strandline://glossary/{term}` | one word |
//! | `strandline://schemas` | the names of all documents |
//! | `strandline://schema/{name}` | the JSON Schema of one document |
//! | `strandline://run/{run}/decision` | a run's decision summary |

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Value, json};
use strandline_contract::{
    run::LOCAL_PROJECT,
    schemas::{self, DOCUMENTS},
};
use strandline_derive::decision::{Page, summarize_run};
use strandline_report::{
    glossary::{self, Lookup, look_up},
    style::Style,
};

use crate::{bounds::MAX_ANSWER, desk::Desk, failure::Failure, tools::unknown_term};

/// How every URI of ours begins.
const SCHEME: &str = "strandline://";
/// Documents that an author or a reader of reports needs, listed as resources
/// of their own; the template reaches all others.
const LISTED: &[&str] = &[
    "suite-file",
    "decision-summary",
    "chain",
    "trial",
    "trace",
    "stage-analytics",
    "run-comparison",
    "coverage",
    "friction-signals",
    "run-list",
];
/// Characters in a line of the glossary's texts.
const WIDTH: usize = 100;
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";
const SCHEMA: &str = "application/schema+json";

/// Returns the resources that are always there.
pub(crate) fn listed() -> Vec<Resource> {
    let fixed = [
        Resource::new(format!("{SCHEME}glossary"), "glossary")
            .with_title("Glossary")
            .with_description(
                "Every word of every vocabulary, with the label that people read and its meaning.",
            )
            .with_mime_type(MARKDOWN),
        Resource::new(format!("{SCHEME}schemas"), "schemas")
            .with_title("Documents")
            .with_description("Names of all documents with a JSON Schema, and what each is.")
            .with_mime_type(JSON),
    ];
    let documents = LISTED.iter().filter_map(|name| schemas::find(name));
    fixed
        .into_iter()
        .chain(documents.map(|document| {
            Resource::new(format!("{SCHEME}schema/{}", document.name), document.name)
                .with_title(format!("JSON Schema of {}", document.name))
                .with_description(document.about)
                .with_mime_type(SCHEMA)
        }))
        .collect()
}

/// Returns the templates of resources that are made on demand.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SCHEME}glossary/{{term}}"), "glossary-term")
            .with_title("One word")
            .with_description("What one word means; as the tool `explain_term`.")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{SCHEME}schema/{{name}}"), "schema")
            .with_title("JSON Schema of a document")
            .with_description("Names are in `strandline://schemas`.")
            .with_mime_type(SCHEMA),
        ResourceTemplate::new(format!("{SCHEME}run/{{run}}/decision"), "run-decision")
            .with_title("A run's decision summary")
            .with_description("By the run's id, the beginning of it, or `last`; without diagnostics, which `list_diagnostics` pages through.")
            .with_mime_type(JSON),
    ]
}

/// Reads the resource at `uri`.
pub(crate) async fn read(desk: &Desk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = text(desk, uri).await.map_err(|failure| {
        ErrorData::resource_not_found(failure.text(), Some(json!({ "uri": uri })))
    })?;
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn text(desk: &Desk, uri: &str) -> Result<(String, &'static str), Failure> {
    let path = uri.strip_prefix(SCHEME).unwrap_or_default();
    let segments: Vec<String> = path.split('/').map(percent_decoded).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["glossary"] => Ok((glossary::markdown(), MARKDOWN)),
        ["glossary", term] => Ok((explained(term)?, "text/plain")),
        ["schemas"] => Ok((names(), JSON)),
        ["schema", name] => {
            let document = schemas::find(name).ok_or_else(|| {
                Failure::new(format!("no document is called `{name}`"))
                    .hint("`strandline://schemas` has their names")
            })?;
            Ok((document.text(), SCHEMA))
        }
        ["run", run, "decision"] => Ok((decision(desk, run).await?, JSON)),
        _ => Err(Failure::new(format!("there is no resource `{uri}`"))
            .hint("`resources/list` and `resources/templates/list` say what there is")),
    }
}

fn explained(term: &str) -> Result<String, Failure> {
    let style = Style::plain(WIDTH);
    match look_up(term) {
        Lookup::Words(words) => {
            let texts: Vec<String> = words
                .iter()
                .map(|word| glossary::explain(word, &style))
                .collect();
            Ok(texts.join("\n\n"))
        }
        Lookup::Vocabulary(words) => Ok(glossary::vocabulary(&words, &style)),
        Lookup::Nothing(near) => Err(unknown_term(term, &near)),
    }
}

fn names() -> String {
    let documents: Vec<Value> = DOCUMENTS
        .iter()
        .map(|document| {
            json!({
                "name": document.name,
                "about": document.about,
                "uri": format!("{SCHEME}schema/{}", document.name),
            })
        })
        .collect();
    format!("{:#}", json!({ "documents": documents }))
}

async fn decision(desk: &Desk, run: &str) -> Result<String, Failure> {
    let store = desk.store().await?;
    let run = desk.run(&store, run).await?;
    let summary = summarize_run(LOCAL_PROJECT, &run.record, [], Page::default());
    let text = serde_json::to_string_pretty(&summary)
        .map_err(|error| Failure::new(format!("the summary has no JSON form: {error}")))?;
    if text.len() > MAX_ANSWER {
        return Err(Failure::new(format!(
            "the decision summary of run `{}` has {} bytes, and at most {MAX_ANSWER} are sent",
            run.short_id,
            text.len()
        ))
        .hint("`get_run` returns it page by page"));
    }
    Ok(text)
}

/// Decodes `%20` and the like; what is no such escape stays.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| *first == b'%');
        let value = escape
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_document_has_a_schema() {
        assert_eq!(listed().len(), LISTED.len() + 2);
    }

    #[test]
    fn escapes_in_a_uri_are_read_and_others_stay() {
        assert_eq!(percent_decoded("not%20reached"), "not reached");
        assert_eq!(percent_decoded("100%"), "100%");
        assert_eq!(percent_decoded("%zz%C3%BC"), "%zzü");
    }
}
