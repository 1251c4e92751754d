//! Two runs beside each other: first whether they may be compared, then the
//! rates, the cases, and what changed in servers and suite.

pub(crate) mod cases;
pub(crate) mod changes;

use strandline_contract::{
    comparison::{
        ComparedRun, GateResult, Parity, PassSample, RateComparison, RateDifference, RunComparison,
        SmallestChange,
    },
    words::{ComparisonCaution, GateOutcome, RegressionVerdict, SummaryVerdict, Vocabulary},
};

pub use changes::surface_report;

use super::MAX_NAME;
use crate::{
    escape,
    glyphs::{self, Mark},
    layout::{flow, hanging, width},
    style::{Ink, Style},
    words::{counted, duration},
};

/// Column under which the facts stand.
const HANG: usize = 11;

/// Returns the comparison of two runs, without a trailing line break.
#[must_use]
pub fn comparison_report(comparison: &RunComparison, style: &Style) -> String {
    let sections = [
        headline(comparison, style),
        overall(comparison, style),
        cases::compared(comparison, style),
        cases::apart(&comparison.base, "base", style),
        cases::apart(&comparison.compared, "compared", style),
        changes::render(comparison, style),
        cautions(comparison, style),
        gates(&comparison.gates, style),
    ];
    let texts: Vec<String> = sections
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    texts.join("\n\n")
}

fn headline(comparison: &RunComparison, style: &Style) -> Vec<String> {
    let RunComparison { base, compared, .. } = comparison;
    let (word, ink) = match comparison.parity.is_comparable() {
        true => ("COMPARED", Ink::Strong),
        false => ("NOT COMPARABLE", Ink::Unsure),
    };
    let indent = (width(word) + 3).max(HANG);
    let facts = which(comparison);
    let dot = format!(" {} ", style.dot());
    let mut wrapped = flow(&facts, &dot, style.columns().saturating_sub(indent)).into_iter();
    let pad = " ".repeat(indent - width(word) - 1);
    let mut lines = vec![format!(
        " {}{pad}{}",
        style.paint(ink, word),
        wrapped.next().unwrap_or_default()
    )];
    lines.extend(wrapped.map(|line| format!("{}{line}", " ".repeat(indent))));
    let mut say = |text: &str| lines.extend(hanging("", text, 0, HANG, style.columns()));
    for reason in blockers(&comparison.parity, [base, compared]) {
        say(&reason);
    }
    if !comparison.parity.is_comparable() && base.cases.is_none() {
        say(&format!(
            "{SAYS_NOTHING}; `--side-by-side` shows each on its own"
        ));
    }
    for (name, run) in [("base", base), ("compared", compared)] {
        lines.extend(verdict(name, run, style));
    }
    lines
}

/// Why no difference is shown of runs that do not compare.
pub(crate) const SAYS_NOTHING: &str = "differences of runs that do not compare would say nothing";

/// Returns which runs are compared, and how far apart they started.
pub(crate) fn which(comparison: &RunComparison) -> [String; 3] {
    let RunComparison { base, compared, .. } = comparison;
    let gap = duration((compared.started_at - base.started_at).abs());
    let order = if compared.started_at < base.started_at {
        "earlier"
    } else {
        "later"
    };
    [
        escape::line(&compared.suite_name, MAX_NAME),
        format!("base run {}", base.short_id),
        format!("compared run {}, {gap} {order}", compared.short_id),
    ]
}

/// Returns why two runs may not be compared, one sentence each.
pub(crate) fn blockers(parity: &Parity, runs: [&ComparedRun; 2]) -> Vec<String> {
    match parity {
        Parity::Comparable {} => Vec::new(),
        Parity::Blocked { blockers } => blockers
            .iter()
            .map(|blocker| blocker.label().to_owned())
            .collect(),
        Parity::Unknown { unmeasured } => unmeasured
            .iter()
            .map(|id| {
                let run = runs.iter().find(|run| run.run_id == *id);
                let name = run.map_or(id.as_str(), |run| run.short_id.as_str());
                format!(
                    "run {} has no stage analytics: it is unmeasured, so whether it compares is \
                     not known",
                    escape::line(name, MAX_NAME)
                )
            })
            .collect(),
    }
}

/// Returns what a run decided, in one line.
pub(crate) fn decided(run: &ComparedRun) -> String {
    let mut text = run.verdict.label().to_owned();
    if let Some(counts) = &run.counts {
        let passed = super::runs::passed(counts);
        if !passed.is_empty() {
            text = format!("{text}, {passed} passed");
        }
    }
    if let Some(undecided) = &run.undecided {
        text = format!("{text}: {}", undecided.reason.label());
    }
    if run.verdict == SummaryVerdict::NotEstablished {
        text.push_str("; that is neither a failure nor a regression");
    }
    text
}

fn verdict(name: &str, run: &ComparedRun, style: &Style) -> Vec<String> {
    let mark = glyphs::verdict(run.verdict);
    let text = decided(run);
    let lines = hanging(name, &text, 1, HANG + 2, style.columns());
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    // The mark stands before the text, in the two columns left free for it.
    let (label, rest) = first.split_at(HANG.min(first.len()));
    let mut marked = vec![format!(
        "{label}{} {}",
        mark.paint(style),
        rest.trim_start()
    )];
    marked.extend(lines);
    marked
}

fn overall(comparison: &RunComparison, style: &Style) -> Vec<String> {
    let mut label = "overall";
    let mut lines = Vec::new();
    for text in overall_says(comparison, style) {
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    lines
}

/// Returns what all gradeable trials of the two runs say, one sentence each;
/// nothing where the runs do not compare.
pub(crate) fn overall_says(comparison: &RunComparison, style: &Style) -> Vec<String> {
    let Some(rates) = &comparison.overall else {
        if comparison.cases.is_none() {
            return Vec::new();
        }
        return vec![
            "not compared: the cases have so different numbers of gradeable trials in the two \
             runs that the rate over all trials would move without any case having changed; \
             read the rows"
                .to_owned(),
        ];
    };
    let side = |sample: &PassSample| {
        let of = counted(
            sample.eligible_trials,
            "gradeable trial",
            "gradeable trials",
        );
        format!(
            "{} of {of}{}",
            sample.passed_trials,
            interval(sample, style).map_or(String::new(), |text| format!(" [{text}]"))
        )
    };
    let mut says = vec![format!(
        "{} passed, before {}",
        side(&rates.compared),
        side(&rates.base)
    )];
    says.push(match &rates.difference {
        None => "not measured on both sides, so there is no difference".to_owned(),
        Some(difference) => {
            let said = match rates.verdict {
                RegressionVerdict::NoRegression if difference.lower > 0.0 => "a rise is shown",
                verdict => verdict.label(),
            };
            format!("{}: {said}", difference_words(difference, style))
        }
    });
    says.extend(rates.reason.clone());
    says.push(smallest(rates));
    says
}

/// Returns "−24.4 points, 95 % interval −40.1 to −7.2".
fn difference_words(difference: &RateDifference, style: &Style) -> String {
    format!(
        "{} points, 95 % interval {} to {}",
        signed(difference.delta, style),
        signed(difference.lower, style),
        signed(difference.upper, style)
    )
}

/// Says how small a change the samples could have shown.
fn smallest(rates: &RateComparison) -> String {
    let change = |change: &SmallestChange, word: &str| {
        let seen = format!("no {word} of less than {} points", points(change.shown));
        match change.true_change {
            Some(truth) => format!(
                "{seen} (a true {word} of {} points would have been shown with a chance of {} %)",
                points(truth),
                points(change.power)
            ),
            None => seen,
        }
    };
    match (&rates.smallest_drop, &rates.smallest_rise) {
        (None, None) => "these samples could not have shown any change".to_owned(),
        (Some(drop), None) => {
            format!("these samples could have shown {}", change(drop, "drop"))
        }
        (None, Some(rise)) => format!(
            "these samples could not have shown any drop, and {}",
            change(rise, "rise")
        ),
        (Some(drop), Some(rise)) => format!(
            "these samples could have shown {}, and {}",
            change(drop, "drop"),
            change(rise, "rise")
        ),
    }
}

/// Returns a fraction in points: whole where it is whole, else one decimal.
pub(crate) fn points(fraction: f64) -> String {
    let points = (fraction * 1_000.0).round() / 10.0;
    if (points - points.round()).abs() < 1e-9 {
        format!("{points:.0}")
    } else {
        format!("{points:.1}")
    }
}

/// Returns a difference in points with its sign.
pub(crate) fn signed(fraction: f64, style: &Style) -> String {
    let text = points(fraction.abs());
    if text == "0" {
        return text;
    }
    let sign = if fraction < 0.0 {
        style.mark("−", "-")
    } else {
        "+"
    };
    format!("{sign}{text}")
}

/// Returns "57–100 %"; none without a trial.
pub(crate) fn interval(sample: &PassSample, style: &Style) -> Option<String> {
    sample.pass_rate_interval.map(|interval| {
        format!(
            "{:.0}{}{:.0} %",
            interval.lower * 100.0,
            style.mark("–", "-"),
            interval.upper * 100.0
        )
    })
}

fn cautions(comparison: &RunComparison, style: &Style) -> Vec<String> {
    let mut label = "caution";
    let mut lines = Vec::new();
    for text in cautions_say(comparison) {
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    lines
        .into_iter()
        .map(|line| style.paint(Ink::Quiet, line))
        .collect()
}

/// Returns what to keep in mind while reading the numbers.
pub(crate) fn cautions_say(comparison: &RunComparison) -> Vec<String> {
    let says = |caution: &ComparisonCaution| {
        let entry = caution.entry();
        format!("{}: {}", entry.label, lower_first(entry.meaning))
    };
    comparison.cautions.iter().map(says).collect()
}

/// Returns a sentence as it goes on after a colon.
fn lower_first(sentence: &str) -> String {
    let mut characters = sentence.trim_end_matches('.').chars();
    characters.next().map_or(String::new(), |first| {
        format!("{}{}", first.to_lowercase(), characters.as_str())
    })
}

fn gates(gates: &[GateResult], style: &Style) -> Vec<String> {
    gates
        .iter()
        .flat_map(|gate| {
            let mark = gate_mark(gate);
            let text = gate_says(gate);
            let mut lines = hanging("gate", &text, 3, HANG, style.columns());
            if let Some(first) = lines.first_mut() {
                *first = format!(" {}{}", mark.paint(style), &first[2..]);
            }
            lines
        })
        .collect()
}

/// Returns the mark of a gate.
pub(crate) const fn gate_mark(gate: &GateResult) -> Mark {
    glyphs::verdict(match gate.outcome {
        GateOutcome::Held => SummaryVerdict::Passed,
        GateOutcome::NotHeld => SummaryVerdict::Failed,
        GateOutcome::NotEstablished => SummaryVerdict::NotEstablished,
    })
}

/// Returns what became of a gate, and on what grounds.
pub(crate) fn gate_says(gate: &GateResult) -> String {
    format!(
        "{} {}: {}",
        gate.gate,
        gate.outcome.label(),
        escape::line(&gate.reason, 500)
    )
}
