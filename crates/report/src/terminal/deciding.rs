//! What it would take to decide each case by repeating it.

use strandline_contract::{
    sequential::{SequentialOutlook, SequentialReport, SequentialRow},
    verdict::RowVariant,
    words::{MeasurementUnit, SequentialDecision, Vocabulary},
};

use super::MAX_NAME;
use crate::{
    escape, glyphs,
    layout::{cut, hanging, left, width},
    style::{Ink, Style},
    words::{counted, percent},
};

/// Column under which the facts stand.
const HANG: usize = 11;
/// Rows shown at most; more are counted instead.
const MAX_ROWS: usize = 40;
/// Columns that a title may take.
const TITLE: usize = 36;
/// Columns that what the trials show should have.
const SHOWN: usize = 34;

/// Returns the section, without a trailing line break; empty without cases.
#[must_use]
pub fn deciding_report(report: &SequentialReport, style: &Style) -> String {
    if report.cases.is_empty() {
        return String::new();
    }
    let columns = style.columns();
    let total = report.cases.len() as u64;
    let open = report
        .cases
        .iter()
        .filter(|row| row.decision == SequentialDecision::Undecided);
    let open = open.count() as u64;
    let unit = MeasurementUnit::CaseVariant.words(total);
    let mut lines = hanging(
        "deciding",
        &format!(
            "{} of {total} {unit} decided by repeating: {}",
            total - open,
            bounds(report)
        ),
        1,
        HANG,
        columns,
    );
    let note = if report.used_by_run {
        "this run repeated its cases until decided, so its numbers of trials depend on its \
         results: 95 % intervals cover a little less than they say"
    } else {
        "it says how sure the trials make one of a case; the verdict does not depend on it"
    };
    lines.extend(
        hanging("", note, 1, HANG, columns)
            .into_iter()
            .map(|line| style.paint(Ink::Quiet, line)),
    );
    lines.push(String::new());
    lines.extend(table(&report.cases, style));
    lines.join("\n")
}

fn bounds(report: &SequentialReport) -> String {
    let settings = &report.settings;
    let rates = if settings.alpha.to_bits() == settings.beta.to_bits() {
        format!(
            "is misjudged at most {} of the time",
            percent(settings.alpha)
        )
    } else {
        format!(
            "is wrongly taken to meet it at most {} of the time, and to miss it at most {}",
            percent(settings.alpha),
            percent(settings.beta)
        )
    };
    format!(
        "a case farther than {} points from its threshold {rates}; at most {} a case",
        percent(settings.indifference).trim_end_matches(" %"),
        counted(u64::from(settings.max_trials), "trial", "trials")
    )
}

fn table(rows: &[SequentialRow], style: &Style) -> Vec<String> {
    let several = |row: &SequentialRow| {
        let same = rows.iter().filter(|other| other.case_id == row.case_id);
        same.count() > 1
    };
    let named: Vec<(String, &SequentialRow)> = rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| {
            let variant = row.execution_variant.as_ref().filter(|_| several(row));
            (case_name(&row.title, variant), row)
        })
        .collect();
    let widest = |text: &dyn Fn(&(String, &SequentialRow)) -> usize| {
        named.iter().map(text).max().unwrap_or(0)
    };
    let share_width = widest(&|(_, row)| width(&share(row))).max(width("passed"));
    let room = style.columns().saturating_sub(share_width + SHOWN + 6);
    let title = widest(&|(name, _)| width(name)).clamp(4, room.clamp(12, TITLE));
    let heading = format!(
        "   {} {}  what the trials show",
        left("case", title),
        left("passed", share_width)
    );
    let mut lines = vec![style.paint(Ink::Quiet, heading)];
    for (name, row) in &named {
        let name = cut(name, title, style.mark("…", "..."));
        let head = format!("{} {}", left(&name, title), left(&share(row), share_width));
        let text = shown(row);
        let hang = 3 + width(&head) + 2;
        let mut wrapped = hanging("", &text, 0, hang, style.columns()).into_iter();
        let first = wrapped.next().unwrap_or_default();
        lines.push(format!(
            " {} {head}  {}",
            glyphs::sequential(row.decision).paint(style),
            first.trim_start()
        ));
        lines.extend(wrapped);
    }
    if rows.len() > MAX_ROWS {
        let rest = (rows.len() - MAX_ROWS) as u64;
        lines.push(format!(
            " {} {rest} more {}",
            style.mark("…", "..."),
            MeasurementUnit::CaseVariant.words(rest)
        ));
    }
    lines
}

/// Returns a case's title, with its model where it is given.
pub(crate) fn case_name(title: &str, variant: Option<&RowVariant>) -> String {
    let title = escape::line(title, MAX_NAME);
    match variant {
        None => title,
        Some(variant) => {
            let model = match &variant.provider {
                Some(provider) => format!("{provider}/{}", variant.model),
                None => variant.model.clone(),
            };
            format!("{title} [{}]", escape::line(&model, MAX_NAME))
        }
    }
}

fn share(row: &SequentialRow) -> String {
    if row.eligible_trials == 0 {
        return "not measured".to_owned();
    }
    format!("{}/{}", row.passed_trials, row.eligible_trials)
}

fn shown(row: &SequentialRow) -> String {
    let label = row.decision.label();
    match &row.outlook {
        None => format!("{label} of {}", percent(row.pass_threshold)),
        Some(outlook) => format!("{label}: {}", outlook_words(outlook)),
    }
}

fn outlook_words(outlook: &SequentialOutlook) -> String {
    let fits = |count: &u64| *count <= outlook.trials_left;
    let ways: Vec<String> = [
        (outlook.fewest_passes.filter(fits), "pass", "passes"),
        (outlook.fewest_failures.filter(fits), "failure", "failures"),
    ]
    .into_iter()
    .filter_map(|(count, one, many)| Some(counted(count?, one, many)))
    .collect();
    let nearest = if ways.is_empty() {
        format!(
            "not within the {} left below the maximum",
            counted(outlook.trials_left, "trial", "trials")
        )
    } else {
        format!("{} in a row would decide it", ways.join(" or "))
    };
    match (outlook.expected_trials, outlook.undecided_chance) {
        (Some(expected), Some(undecided)) if !ways.is_empty() => {
            let expected = counted(expected.ceil() as u64, "more trial", "more trials");
            let chance = if undecided >= 0.005 {
                format!(
                    ", and undecided at the maximum with a chance of {:.0} %",
                    undecided * 100.0
                )
            } else {
                String::new()
            };
            format!("{nearest}; at the rate so far about {expected}{chance}")
        }
        _ => nearest,
    }
}
