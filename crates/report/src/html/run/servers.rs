//! The servers under test: what they say of themselves, and findings about
//! them, none of which changes a verdict.

use maud::{Markup, html};
use serde_json::Value;
use strandline_contract::run::{RunRecord, ServerFacts};

use crate::{
    html::text,
    terminal::servers::{NO_VERDICT, findings},
    words::counted,
};

/// Findings shown; the rest is counted.
const MAX_FINDINGS: usize = 12;

pub(super) fn section(run: &RunRecord) -> Markup {
    let findings = findings(run);
    html! {
        @if !run.servers.is_empty() {
            section #servers {
                h2 { "Servers" }
                div.scroll {
                    table {
                        thead {
                            tr {
                                th scope="col" { "server" }
                                th scope="col" { "says it is" }
                                th scope="col" { "over" }
                                th scope="col" { "protocol" }
                                th scope="col" { "offers" }
                            }
                        }
                        tbody { @for server in &run.servers { (row(server)) } }
                    }
                }
                @if !findings.is_empty() {
                    ul.notes {
                        @for finding in findings.iter().take(MAX_FINDINGS) {
                            li { bdi { (finding) } }
                        }
                        @if findings.len() > MAX_FINDINGS {
                            li { "and " (findings.len() - MAX_FINDINGS) " more findings" }
                        }
                        li { (NO_VERDICT) }
                    }
                }
            }
        }
    }
}

fn row(server: &ServerFacts) -> Markup {
    let said = |key: &str| {
        let info = server.server_info.as_ref();
        info.and_then(|info| info.get(key)).and_then(Value::as_str)
    };
    let offered: Vec<String> = [
        (server.tool_count, "tool", "tools"),
        (server.prompt_count, "prompt", "prompts"),
        (server.resource_count, "resource", "resources"),
    ]
    .into_iter()
    .filter_map(|(count, one, many)| Some(counted(count?, one, many)))
    .collect();
    html! {
        tr {
            th scope="row" { (text::name(&server.name)) }
            td {
                @match said("name") {
                    Some(name) => {
                        (text::name(name))
                        @if let Some(version) = said("version") { " " (text::name(version)) }
                    }
                    None => span.quiet-text { "nothing recorded" },
                }
            }
            td { (text::name(&server.transport)) }
            td {
                @match &server.protocol_version {
                    Some(version) => (text::name(version)),
                    None => span.quiet-text { "not negotiated" },
                }
            }
            td {
                @if offered.is_empty() { span.quiet-text { "not listed" } }
                @else { (text::facts(&offered)) }
            }
        }
    }
}
