//! Findings about the servers; none of them changes a verdict.

use std::collections::BTreeMap;

use strandline_contract::run::RunRecord;

use super::{MAX_NAME, View};
use crate::{escape, layout::hanging, style::Style, words::counted};

/// Findings shown; the rest is counted.
const MAX_LINES: usize = 4;
const MAX_TEXT: usize = 240;

/// What a finding is not.
pub(crate) const NO_VERDICT: &str = "findings about servers change no verdict";

/// Returns the findings about the servers of a run, one line each.
pub(crate) fn findings(run: &RunRecord) -> Vec<String> {
    // The same finding on many tools is one line.
    let mut findings: BTreeMap<(&str, &str), (&str, u64)> = BTreeMap::new();
    for server in &run.servers {
        for lint in &server.lints {
            findings
                .entry((&server.name, &lint.code))
                .or_insert((&lint.message, 0))
                .1 += 1;
        }
    }
    findings
        .into_iter()
        .map(|((server, code), (message, count))| {
            let times = match count {
                1 => String::new(),
                count => format!(" (the first of {})", counted(count, "finding", "findings")),
            };
            format!(
                "{} {}: {}{times}",
                escape::line(server, MAX_NAME),
                escape::line(code, MAX_NAME),
                escape::line(message, MAX_TEXT)
            )
        })
        .collect()
}

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let findings = findings(view.input.run);
    let mut lines = Vec::new();
    let mut label = "findings";
    for text in findings.iter().take(MAX_LINES) {
        lines.extend(hanging(label, text, 1, 11, style.columns()));
        label = "";
    }
    if findings.len() > MAX_LINES {
        let more = findings.len() - MAX_LINES;
        lines.extend(hanging(
            "",
            &format!("and {more} more"),
            1,
            11,
            style.columns(),
        ));
    }
    if !lines.is_empty() {
        lines.extend(hanging("", NO_VERDICT, 1, 11, style.columns()));
    }
    lines
}
