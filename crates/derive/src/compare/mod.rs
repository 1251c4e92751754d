//! Two runs beside each other, and the runs of a suite one after the other.
//!
//! | question | module |
//! |---|---|
//! | what do two samples of trials say? | `rates` |
//! | what became of each case? | `cases` |
//! | what differs in servers and suite? | `changes` |
//! | does a demanded gate hold? | [`gates`] |
//! | how do a suite's runs follow each other? | `trend` |

mod cases;
mod changes;
pub mod gates;
mod rates;
mod trend;

use strandline_contract::{
    analytics::StageAnalytics,
    comparison::{CaseComparison, CaseOutcome, ComparedRun, Parity, RunComparison},
    decision::DecisionSummary,
    run::RunRecord,
    sequential::sequential_settings,
    verdict::Decision,
    words::{ComparisonCaution, SummaryVerdict},
};

pub use changes::{settings_changes, suite_changes, surface_changes};
pub use rates::{compare_rates, pass_sample};
pub use trend::suite_trend;

use crate::{
    analytics::parity_blockers,
    decision::{Page, summarize_run},
    statistics::Sample,
};
use gates::Gate;

/// A stored run as it is compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The beginning of its id that tells it from all others.
    pub short_id: &'a str,
    /// Its stage analytics; absent when it has none.
    pub analytics: Option<&'a StageAnalytics>,
}

/// How two runs that may not be compared are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Not at all: only why.
    Refused,
    /// Each on its own.
    SideBySide,
}

/// Compares two runs: first whether they may be compared at all.
#[must_use]
pub fn compare_runs(
    base: Side<'_>,
    compared: Side<'_>,
    apart: Apart,
    gates: &[Gate],
) -> RunComparison {
    let parity = parity(&base, &compared);
    let (base_summary, compared_summary) = (summary(base.run), summary(compared.run));
    let mut comparison = RunComparison {
        base: compared_run(&base, &base_summary),
        compared: compared_run(&compared, &compared_summary),
        cautions: Vec::new(),
        overall: None,
        cases: None,
        surface: surface_changes(&base.run.servers, &compared.run.servers),
        suite: suite_changes(base.run, compared.run),
        settings: settings_changes(&base.run.settings, &compared.run.settings),
        gates: Vec::new(),
        parity,
    };
    if comparison.parity.is_comparable() {
        let rows = cases::compare_cases(
            (base.run, base_summary.decision.as_ref()),
            (compared.run, compared_summary.decision.as_ref()),
        );
        let (base, compared) = (pooled(&base_summary), pooled(&compared_summary));
        comparison.overall = base
            .zip(compared)
            .filter(|_| composition_shift(&rows) <= MOST_COMPOSITION_SHIFT)
            .map(|(base, compared)| compare_rates(base, compared));
        comparison.cases = Some(rows);
    } else if apart == Apart::SideBySide {
        comparison.base.cases = Some(cases::run_cases(base.run, base_summary.decision.as_ref()));
        comparison.compared.cases = Some(cases::run_cases(
            compared.run,
            compared_summary.decision.as_ref(),
        ));
    }
    comparison.cautions = cautions(&comparison);
    comparison.gates = gates.iter().map(|gate| gate.judge(&comparison)).collect();
    comparison
}

/// How far the rate over all trials may move by the cases' weights alone before
/// it is not compared: one point.
const MOST_COMPOSITION_SHIFT: f64 = 0.01;

/// Returns the most that the rate over all trials can differ between two runs in
/// which no case changed: half of the summed differences of the cases' shares of
/// all gradeable trials.
fn composition_shift(rows: &[CaseComparison]) -> f64 {
    let trials = |outcome: &Option<CaseOutcome>| {
        outcome
            .as_ref()
            .map_or(0, |made| made.trials.eligible_trials)
    };
    let base: u64 = rows.iter().map(|row| trials(&row.base)).sum();
    let compared: u64 = rows.iter().map(|row| trials(&row.compared)).sum();
    if base == 0 || compared == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "trials are far below 2^53")]
    let share = |count: u64, of: u64| count as f64 / of as f64;
    let differences = rows
        .iter()
        .map(|row| (share(trials(&row.base), base) - share(trials(&row.compared), compared)).abs());
    differences.sum::<f64>() / 2.0
}

/// Says whether two runs may be compared (`analytics.md` §9).
fn parity(base: &Side<'_>, compared: &Side<'_>) -> Parity {
    match (base.analytics, compared.analytics) {
        (Some(left), Some(right)) => {
            let blockers = parity_blockers(left, right);
            if blockers.is_empty() {
                Parity::Comparable {}
            } else {
                Parity::Blocked { blockers }
            }
        }
        _ => Parity::Unknown {
            unmeasured: [base, compared]
                .into_iter()
                .filter(|side| side.analytics.is_none())
                .map(|side| side.run.id.clone())
                .collect(),
        },
    }
}

fn summary(run: &RunRecord) -> DecisionSummary {
    summarize_run("", run, [], Page::default())
}

fn compared_run(side: &Side<'_>, summary: &DecisionSummary) -> ComparedRun {
    let run = side.run;
    ComparedRun {
        run_id: run.id.clone(),
        short_id: side.short_id.to_owned(),
        suite_id: run.suite_id.clone(),
        suite_name: run.suite_name.clone(),
        started_at: run.started_at,
        verdict: summary.verdict,
        undecided: summary.undecided.clone(),
        counts: summary.counts,
        trials: pooled(summary).map(pass_sample),
        cases: None,
        until_decided: sequential_settings(&run.settings),
        scripted: run.scripted,
    }
}

/// Returns all gradeable trials of a run taken together (`verdict.md` §9);
/// `None` without a readable decision.
fn pooled(summary: &DecisionSummary) -> Option<Sample> {
    let decision: &Decision = summary.decision.as_ref()?;
    let rows = &decision.cases;
    let sum = |counts: Vec<u64>| counts.into_iter().fold(0, u64::saturating_add);
    Sample::new(
        sum(rows.iter().map(|row| row.passed_trials).collect()),
        sum(rows.iter().map(|row| row.eligible_trials).collect()),
    )
}

/// Returns what to keep in mind, in vocabulary order.
fn cautions(comparison: &RunComparison) -> Vec<ComparisonCaution> {
    let runs = [&comparison.base, &comparison.compared];
    let rows = comparison.cases.as_deref().unwrap_or_default();
    let eligible =
        |outcome: &Option<CaseOutcome>| outcome.as_ref().map(|made| made.trials.eligible_trials);
    let undecided = |run: &&ComparedRun| {
        matches!(
            run.verdict,
            SummaryVerdict::Inconclusive | SummaryVerdict::NotEstablished
        )
    };
    [
        (
            ComparisonCaution::RepeatedUntilDecided,
            runs.iter().any(|run| run.until_decided.is_some()),
        ),
        (
            ComparisonCaution::DifferentTrialCounts,
            rows.iter()
                .any(|row| eligible(&row.base) != eligible(&row.compared)),
        ),
        (ComparisonCaution::NoMultiplicityCorrection, rows.len() > 1),
        (
            ComparisonCaution::Scripted,
            runs.iter().any(|run| run.scripted),
        ),
        (ComparisonCaution::NotDecided, runs.iter().any(undecided)),
    ]
    .into_iter()
    .filter_map(|(caution, holds)| holds.then_some(caution))
    .collect()
}
