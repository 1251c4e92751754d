//! Which tools there are, and what was seen of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strandline_contract::run::ServerFacts;

use super::{demands::Demands, evidence::TrialEvidence};

/// One tool: of a server's listing, or only named by the suite.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) server: Option<String>,
    pub(super) name: String,
    /// Declared top-level arguments, with whether the schema demands them.
    pub(super) arguments: BTreeMap<String, bool>,
}

/// Returns every tool: listed ones by server and name, then those that only
/// the suite names.
pub(super) fn all(servers: &[ServerFacts], demands: &Demands) -> Vec<Tool> {
    let mut listed: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    for server in servers {
        for entry in &server.tools {
            if let Some(name) = entry.get("name").and_then(Value::as_str) {
                // A name that is listed twice is one tool; the first counts.
                listed.entry((&server.name, name)).or_insert(entry);
            }
        }
    }
    let known: BTreeSet<&str> = listed.keys().map(|(_, name)| *name).collect();
    let unlisted = demands.named().filter(|name| !known.contains(name));
    let named = unlisted.map(|name| Tool {
        server: None,
        name: name.to_owned(),
        arguments: BTreeMap::new(),
    });
    listed
        .iter()
        .map(|((server, name), entry)| Tool {
            server: Some((*server).to_owned()),
            name: (*name).to_owned(),
            arguments: arguments(entry),
        })
        .chain(named)
        .collect()
}

/// Returns the top-level arguments that a listed tool declares.
fn arguments(entry: &Value) -> BTreeMap<String, bool> {
    let schema = entry.get("inputSchema");
    let required: BTreeSet<&str> = schema
        .and_then(|schema| schema.get("required")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    schema
        .and_then(|schema| schema.get("properties")?.as_object())
        .into_iter()
        .flat_map(|properties| properties.keys())
        .map(|name| (name.clone(), required.contains(name.as_str())))
        .collect()
}

/// What the trials of a run show of one tool.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Seen {
    /// Trials in which it was called.
    pub(super) called: u64,
    /// Some call of it ended in an error.
    pub(super) errored: bool,
    /// A trial that called it lost the trace that would tell.
    pub(super) cannot_tell: bool,
}

impl Seen {
    pub(super) fn of(tool: &str, trials: &[TrialEvidence]) -> Self {
        let mut seen = Self::default();
        for trial in trials {
            let called = trial.called.contains(tool);
            seen.called += u64::from(called);
            match &trial.errored {
                Some(errored) => seen.errored |= errored.contains(tool),
                None => seen.cannot_tell |= called,
            }
        }
        seen
    }
}
