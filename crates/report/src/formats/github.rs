//! Annotations for GitHub's workflow log, at the suite file's lines.
//!
//! A case that missed its threshold is an error, a case without a verdict a
//! warning, and a passed case with trials that stopped a notice.

use std::{collections::BTreeMap, fmt::Write};

use strandline_contract::words::{SummaryVerdict, Verdict, Vocabulary};

use super::told;
use crate::{
    escape,
    terminal::{
        MAX_NAME, Row, RunInput, View,
        cases::{needs, share},
        failures::groups_of,
        headline::reasons,
    },
};

/// Annotations that GitHub shows of one kind and step; more would be dropped in
/// silence.
const SHOWN: usize = 10;

/// Returns the workflow commands of a run, one a line.
///
/// `lines` has the line of each case in the suite file, from 1, as far as it
/// is known.
#[must_use]
pub fn annotations(input: &RunInput<'_>, lines: &BTreeMap<String, usize>) -> String {
    let view = View::new(input);
    let mut out = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &view.rows {
        let Some((kind, message)) = annotation(&view, row) else {
            continue;
        };
        let count = counts.entry(kind).or_default();
        *count += 1;
        if *count > SHOWN {
            continue;
        }
        let line = lines
            .get(&row.plan.case_id)
            .map_or(String::new(), |line| format!(",line={line}"));
        let _ = writeln!(
            out,
            "::{kind} file={}{line},title={}::{}",
            property(&input.run.suite_path),
            property(&row.name),
            data(&message)
        );
    }
    for (kind, count) in counts.iter().filter(|(_, count)| **count > SHOWN) {
        let _ = writeln!(
            out,
            "::{kind} title=Strandline::{} more case variants: strandline show {}",
            count - SHOWN,
            data(input.run_reference)
        );
    }
    let verdict = view.summary.verdict;
    let kind = match verdict {
        SummaryVerdict::Passed => "notice",
        SummaryVerdict::Failed => "error",
        SummaryVerdict::Inconclusive | SummaryVerdict::NotEstablished => "warning",
    };
    let story: Vec<String> = reasons(&view).into_iter().map(|said| said.text).collect();
    let _ = writeln!(
        out,
        "::{kind} title={}::{}",
        property(&format!(
            "{}: {}",
            escape::line(&input.run.suite_name, MAX_NAME),
            verdict.label()
        )),
        data(&story.join("\n"))
    );
    out
}

/// Returns what is said at a case's line, and how loudly.
fn annotation(view: &View<'_>, row: &Row<'_>) -> Option<(&'static str, String)> {
    let groups = groups_of(row);
    let mut lines = Vec::new();
    for group in &groups {
        lines.extend(told(view, group));
        lines.push(group.look(view));
    }
    let counts = format!(
        "{} gradeable trials passed, needs {}",
        share(row),
        needs(row)
    );
    let kind = match row.decided.as_ref().map(|decided| decided.verdict) {
        Some(Verdict::Passed) if groups.is_empty() => return None,
        Some(Verdict::Passed) => "notice",
        Some(Verdict::Failed) => "error",
        Some(Verdict::Inconclusive) => {
            lines.insert(0, Verdict::Inconclusive.label().to_owned());
            "warning"
        }
        None => {
            lines.insert(0, SummaryVerdict::NotEstablished.label().to_owned());
            "warning"
        }
    };
    if row.decided.is_some() {
        lines.insert(0, counts);
    }
    Some((kind, lines.join("\n")))
}

/// Escapes a command's message.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_command_or_begins_another() {
        assert_eq!(data("50 %\n::error::x"), "50 %25%0A::error::x");
        assert_eq!(property("a,line=1::b"), "a%2Cline=1%3A%3Ab");
    }
}
