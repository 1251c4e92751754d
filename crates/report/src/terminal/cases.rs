//! The table of case variants with their strips.

use strandline_contract::words::Verdict;
use strandline_derive::verdict::{case_passes_needed, pass_rate_interval};

use super::{Row, View, rollup};
use crate::{
    glyphs,
    layout::{cut, hanging, left, width},
    style::{Ink, Style},
};

/// Rows shown at most; more passing ones are counted instead.
const MAX_ROWS: usize = 40;
/// Columns of "100/100".
const NEEDS: usize = 7;
/// Columns that a title should have before cells take more room.
const TITLE: usize = 24;

/// How much room the strip takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// Stage names, counts, intervals.
    Wide,
    /// Stage letters, counts, intervals.
    Medium,
    /// Stage letters and marks only.
    Narrow,
}

impl Room {
    /// Columns of one cell.
    const fn cell(self) -> usize {
        match self {
            Self::Wide => 5,
            Self::Medium => 4,
            Self::Narrow => 2,
        }
    }

    /// Returns whether counts and intervals are shown.
    const fn is_roomy(self) -> bool {
        match self {
            Self::Wide | Self::Medium => true,
            Self::Narrow => false,
        }
    }
}

/// Column headings of the strip, wide and narrow, in stage order.
const HEADINGS: [(&str, &str); 6] = [
    ("conn", "c"),
    ("disc", "d"),
    ("sel", "s"),
    ("call", "t"),
    ("resp", "r"),
    ("user", "u"),
];

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    if view.rows.is_empty() {
        return Vec::new();
    }
    let shown = shown(&view.rows);
    let table = Table::new(&shown, style);
    let mut lines = vec![table.heading()];
    lines.extend(shown.iter().map(|row| table.row(row)));
    let hidden = view.rows.len() - shown.len();
    if hidden > 0 {
        let dots = style.mark("…", "...");
        lines.push(format!(
            " {dots} {hidden} more case variants passed in every trial"
        ));
    }
    if let Some(legend) = table.legend(&shown) {
        let legend = hanging("", &legend, 1, 3, style.columns());
        lines.extend(legend.into_iter().map(|line| style.paint(Ink::Quiet, line)));
    }
    lines
}

/// Returns the rows to print: in a long table the wholly passed ones are left
/// out once the limit is reached.
fn shown<'a, 'b>(rows: &'b [Row<'a>]) -> Vec<&'b Row<'a>> {
    if rows.len() <= MAX_ROWS {
        return rows.iter().collect();
    }
    let telling = rows.iter().filter(|row| !is_clean(row)).count();
    let mut room = MAX_ROWS.saturating_sub(telling);
    rows.iter()
        .filter(|row| {
            if !is_clean(row) {
                return true;
            }
            let fits = room > 0;
            room = room.saturating_sub(1);
            fits
        })
        .collect()
}

/// Returns whether every configured trial of a passed case variant passed.
fn is_clean(row: &Row<'_>) -> bool {
    row.decided.as_ref().is_some_and(|decided| {
        decided.verdict == Verdict::Passed && decided.passed_trials == decided.configured_trials
    })
}

struct Table<'a> {
    style: &'a Style,
    room: Room,
    title: usize,
    share: usize,
    passed: usize,
}

impl<'a> Table<'a> {
    fn new(rows: &[&Row<'_>], style: &'a Style) -> Self {
        let widest = |text: &dyn Fn(&Row<'_>) -> String| {
            rows.iter().map(|row| width(&text(row))).max().unwrap_or(0)
        };
        let share = widest(&share);
        let longest = widest(&|row| row.name.clone());
        let sized = |room: Room| {
            let passed = widest(&|row| passed(row, share, room, style)).max(width("passed"));
            // Mark and five gaps of two columns beside the strip.
            let fixed = 3 + 2 + room.cell() * HEADINGS.len() + 2 + passed + 2 + NEEDS;
            let free = style.columns().saturating_sub(fixed);
            (room, passed, free)
        };
        let (room, passed, free) = [Room::Wide, Room::Medium]
            .into_iter()
            .map(sized)
            .find(|(_, _, free)| *free >= longest.min(TITLE))
            .unwrap_or_else(|| sized(Room::Narrow));
        Self {
            style,
            room,
            title: longest.clamp(4, free.max(8)),
            share,
            passed,
        }
    }

    fn heading(&self) -> String {
        let stages: String = HEADINGS
            .iter()
            .map(|(word, letter)| match self.room {
                Room::Wide => left(word, self.room.cell()),
                Room::Medium | Room::Narrow => left(&format!(" {letter}"), self.room.cell()),
            })
            .collect();
        let line = format!(
            "   {} {stages}   {}  needs",
            left("case", self.title),
            left("passed", self.passed),
        );
        self.style.paint(Ink::Quiet, line)
    }

    fn row(&self, row: &Row<'_>) -> String {
        let style = self.style;
        let mark = match &row.decided {
            Some(decided) => glyphs::case_verdict(decided.verdict).paint(style),
            None => style.paint(Ink::Quiet, style.mark("○", "?")),
        };
        let title = cut(&row.name, self.title, style.mark("…", "..."));
        format!(
            " {mark} {} {}   {}  {}",
            left(&title, self.title),
            self.strip(row),
            left(&passed(row, self.share, self.room, style), self.passed),
            needs(row)
        )
    }

    fn strip(&self, row: &Row<'_>) -> String {
        let columns = self.room.cell() * HEADINGS.len();
        let strip = rollup::strip(&row.trials);
        // Without a trial or a chain there is no state: a mark would claim one.
        let absent = match row.trials.as_slice() {
            [] => " no trial recorded",
            _ => " no chain to show",
        };
        if strip.iter().all(Option::is_none) {
            return left(&cut(absent, columns, ""), columns);
        }
        strip
            .into_iter()
            .map(|cell| {
                let text = cell.map_or(String::new(), |cell| {
                    let mark = glyphs::state(cell.state);
                    let count = cell.part().filter(|_| self.room.is_roomy());
                    let count = count.map_or(String::new(), |count| count.to_string());
                    self.style
                        .paint(mark.ink, format!("{}{count}", mark.text(self.style)))
                });
                left(&format!(" {text}"), self.room.cell())
            })
            .collect()
    }

    /// Returns how to read the strips, as far as they do not say it.
    fn legend(&self, rows: &[&Row<'_>]) -> Option<String> {
        let partial = rows
            .iter()
            .flat_map(|row| rollup::strip(&row.trials))
            .flatten()
            .any(|cell| cell.part().is_some());
        let stages = match self.room {
            Room::Wide => None,
            Room::Medium | Room::Narrow => {
                Some("connection, discovery, selection, tool call, response, user value")
            }
        };
        let counts = match (partial, self.room.is_roomy()) {
            (false, _) => None,
            (true, true) => Some(
                "a number beside a mark: that many of the case's trials; no number: all of them",
            ),
            (true, false) => Some("a mark is the least favourable state among the case's trials"),
        };
        let parts: Vec<&str> = stages.into_iter().chain(counts).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns passed of gradeable trials.
pub(crate) fn share(row: &Row<'_>) -> String {
    match &row.decided {
        None => "no verdict".to_owned(),
        Some(decided) if decided.eligible_trials == 0 => "not measured".to_owned(),
        Some(decided) => format!("{}/{}", decided.passed_trials, decided.eligible_trials),
    }
}

/// Returns passed of gradeable trials with the interval of the pass rate.
fn passed(row: &Row<'_>, columns: usize, room: Room, style: &Style) -> String {
    let share = share(row);
    match interval(row, style).filter(|_| room.is_roomy()) {
        None => share,
        Some(interval) => format!("{}  {interval}", left(&share, columns)),
    }
}

/// Returns the interval of the pass rate: `[ 9–91 %]`.
pub(crate) fn interval(row: &Row<'_>, style: &Style) -> Option<String> {
    let counts = row.decided.as_ref()?;
    let interval = pass_rate_interval(counts.eligible_trials, counts.passed_trials).ok()??;
    Some(format!(
        "[{:>2.0}{}{:.0} %]",
        interval.lower * 100.0,
        style.mark("–", "-"),
        interval.upper * 100.0
    ))
}

/// Returns how many of the gradeable trials must pass; of the configured ones
/// while none is gradeable.
pub(crate) fn needs(row: &Row<'_>) -> String {
    let configured = u64::from(row.plan.configured_trials);
    let (trials, threshold) = match &row.decided {
        Some(decided) if decided.eligible_trials > 0 => {
            (decided.eligible_trials, decided.effective_pass_threshold)
        }
        _ => (configured, row.plan.pass_threshold),
    };
    format!("{}/{trials}", case_passes_needed(trials as f64, threshold))
}
