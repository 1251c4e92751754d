//! The checks of `strandline doctor` as a person reads them.

use strandline_contract::words::{CheckVerdict, Vocabulary};

use crate::{
    escape, glyphs,
    layout::{hanging, left, width},
    style::{Ink, Style},
    words::counted,
};

/// Findings shown under one check; the rest is counted.
const MAX_FINDINGS: usize = 8;
const MAX_TEXT: usize = 400;

/// One check with its verdict.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Short stable word: `connect`, `list`, `providers`, …
    pub check: &'static str,
    /// What was checked: a server, a model, a file.
    pub subject: String,
    /// The verdict.
    pub verdict: CheckVerdict,
    /// What was seen, in one line.
    pub detail: String,
    /// Single findings, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What to do, when there is something to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Returns the checks as text: what they say together, then one by one.
#[must_use]
pub fn checks(checks: &[Check], style: &Style) -> String {
    let mut lines = vec![summary(checks, style)];
    let columns = style.columns();
    let words = CheckVerdict::ALL
        .iter()
        .map(|verdict| width(verdict.label()));
    let word_columns = words.max().unwrap_or(0);
    let names = checks.iter().map(|check| width(check.check));
    let hang = 3 + word_columns + 2 + names.max().unwrap_or(0) + 2;
    let mut subject = "";
    for check in checks {
        if check.subject != subject {
            subject = &check.subject;
            lines.push(String::new());
            let shown = escape::line(subject, MAX_TEXT);
            lines.push(format!(" {}", style.paint(Ink::Strong, shown)));
        }
        let mark = glyphs::check(check.verdict);
        let label = format!(
            "{} {}  {}",
            mark.text(style),
            left(check.verdict.label(), word_columns),
            check.check
        );
        let mut text = hanging(
            &label,
            &escape::line(&check.detail, MAX_TEXT),
            1,
            hang,
            columns,
        );
        if let Some(first) = text.first_mut()
            && let Some(rest) = first.strip_prefix(&format!(" {}", mark.text(style)))
        {
            *first = format!(" {}{rest}", mark.paint(style));
        }
        lines.extend(text);
        for finding in check.findings.iter().take(MAX_FINDINGS) {
            let finding = escape::line(finding, MAX_TEXT);
            lines.extend(hanging(
                "",
                &format!("{} {finding}", style.dot()),
                hang,
                hang,
                columns,
            ));
        }
        if check.findings.len() > MAX_FINDINGS {
            let more = check.findings.len() - MAX_FINDINGS;
            let more = counted(more as u64, "finding", "findings");
            lines.extend(hanging(
                "",
                &format!("and {more} more"),
                hang,
                hang,
                columns,
            ));
        }
        if let Some(next) = &check.next {
            let label = left("", hang.saturating_sub(6)) + "next";
            lines.extend(hanging(&label, next, 0, hang, columns));
        }
    }
    lines.join("\n")
}

/// Returns "9 checks: 6 ok, 1 warning, 1 failed, 1 not checked".
fn summary(checks: &[Check], style: &Style) -> String {
    let count = |verdict: CheckVerdict| {
        let found = checks.iter().filter(|check| check.verdict == verdict);
        found.count()
    };
    let parts: Vec<String> = CheckVerdict::ALL
        .iter()
        .map(|verdict| format!("{} {}", count(*verdict), verdict.label()))
        .collect();
    let worst = CheckVerdict::ALL
        .iter()
        .rfind(|verdict| **verdict != CheckVerdict::NotChecked && count(**verdict) > 0)
        .copied()
        .unwrap_or(CheckVerdict::NotChecked);
    format!(
        " {} {}: {}",
        glyphs::check(worst).paint(style),
        counted(checks.len() as u64, "check", "checks"),
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Check> {
        let check = |check, subject: &str, verdict, detail: &str| Check {
            check,
            subject: subject.to_owned(),
            verdict,
            detail: detail.to_owned(),
            findings: Vec::new(),
            next: None,
        };
        let mut describe = check(
            "describe",
            "server orders",
            CheckVerdict::Warning,
            "2 of 6 tools describe themselves in fewer than 20 characters",
        );
        describe.findings = (0..10)
            .map(|number| format!("tool\u{1b} {number}"))
            .collect();
        describe.next = Some("say in each description when to use the tool".to_owned());
        vec![
            check(
                "key",
                "model openai/gpt-x",
                CheckVerdict::Failed,
                "`OPENAI_API_KEY` is not set",
            ),
            check(
                "connect",
                "server orders",
                CheckVerdict::Ok,
                "initialized in 43 ms",
            ),
            describe,
            check(
                "list",
                "server billing",
                CheckVerdict::NotChecked,
                "not connected",
            ),
        ]
    }

    #[test]
    fn checks_are_grouped_by_what_they_are_about() {
        insta::assert_snapshot!(checks(&examples(), &Style::plain(80)));
        insta::assert_snapshot!(checks(&examples(), &Style::ascii(60)));
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let colour = checks(&examples(), &Style::colour(80));
        let mut plain = String::new();
        let mut rest = colour.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain.push_str(before);
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        plain.push_str(rest);
        assert_eq!(plain, checks(&examples(), &Style::plain(80)));
    }
}
