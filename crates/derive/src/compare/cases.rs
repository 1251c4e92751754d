//! What became of each case variant.

use std::collections::BTreeMap;

use strandline_contract::{
    comparison::{CaseComparison, CaseOutcome, RunCase},
    run::RunRecord,
    verdict::{CaseAggregate, Decision, RowVariant},
    words::{CaseChange, Verdict},
};

use super::rates::{compare_rates, pass_sample};
use crate::statistics::Sample;

/// What tells case variants apart.
type Key<'a> = (&'a str, Option<RowVariant>);

/// A run with its decision, if it can be read.
type Decided<'a> = (&'a RunRecord, Option<&'a Decision>);

/// Pairs the case variants of two runs: the base run's plan order first.
pub(super) fn compare_cases(base: Decided<'_>, compared: Decided<'_>) -> Vec<CaseComparison> {
    let (base_rows, compared_rows) = (rows(base.1), rows(compared.1));
    let mut seen = std::collections::BTreeSet::new();
    let mut comparisons = Vec::new();
    for plan in base.0.plan.iter().chain(&compared.0.plan) {
        let key: Key<'_> = (
            plan.case_id.as_str(),
            plan.variant.as_ref().map(RowVariant::from),
        );
        if !seen.insert(key.clone()) {
            continue;
        }
        let of = |run: &RunRecord| {
            run.plan
                .iter()
                .any(|planned| planned.case_id == plan.case_id && planned.variant == plan.variant)
        };
        let (in_base, in_compared) = (of(base.0), of(compared.0));
        let (before, after) = (base_rows.get(&key), compared_rows.get(&key));
        let rates = before
            .and_then(|row| sample(row))
            .zip(after.and_then(|row| sample(row)))
            .filter(|(before, after)| before.total() > 0 && after.total() > 0)
            .map(|(before, after)| compare_rates(before, after));
        comparisons.push(CaseComparison {
            case_id: plan.case_id.clone(),
            title: plan.title.clone(),
            execution_variant: key.1.clone(),
            change: match (in_base, in_compared) {
                (true, false) => CaseChange::OnlyInBase,
                (false, _) => CaseChange::OnlyInCompared,
                (true, true) => change(before.map(|row| row.verdict), after.map(|row| row.verdict)),
            },
            base: before.and_then(|row| outcome(row)),
            compared: after.and_then(|row| outcome(row)),
            rates,
        });
    }
    comparisons
}

/// Returns a run's case variants on their own, in plan order.
pub(super) fn run_cases(run: &RunRecord, decision: Option<&Decision>) -> Vec<RunCase> {
    let rows = rows(decision);
    run.plan
        .iter()
        .filter_map(|plan| {
            let variant = plan.variant.as_ref().map(RowVariant::from);
            let row = rows.get(&(plan.case_id.as_str(), variant.clone()))?;
            Some(RunCase {
                case_id: plan.case_id.clone(),
                title: plan.title.clone(),
                execution_variant: variant,
                outcome: outcome(row)?,
            })
        })
        .collect()
}

fn rows(decision: Option<&Decision>) -> BTreeMap<Key<'_>, &CaseAggregate> {
    decision
        .into_iter()
        .flat_map(|made| &made.cases)
        .map(|row| ((row.case_id.as_str(), row.execution_variant.clone()), row))
        .collect()
}

fn sample(row: &CaseAggregate) -> Option<Sample> {
    Sample::new(row.passed_trials, row.eligible_trials)
}

fn outcome(row: &CaseAggregate) -> Option<CaseOutcome> {
    Some(CaseOutcome {
        verdict: row.verdict,
        pass_threshold: row.effective_pass_threshold,
        trials: pass_sample(sample(row)?),
        flaky: row.mixed_verdict,
    })
}

const fn change(before: Option<Verdict>, after: Option<Verdict>) -> CaseChange {
    match (before, after) {
        (Some(Verdict::Passed), Some(Verdict::Passed)) => CaseChange::StillPassing,
        (Some(Verdict::Passed), Some(Verdict::Failed)) => CaseChange::NewlyFailing,
        (Some(Verdict::Failed), Some(Verdict::Passed)) => CaseChange::Fixed,
        (Some(Verdict::Failed), Some(Verdict::Failed)) => CaseChange::StillFailing,
        (None | Some(Verdict::Inconclusive), _) | (_, None | Some(Verdict::Inconclusive)) => {
            CaseChange::NotMeasured
        }
    }
}
