//! What it would take to decide each case of a run by repeating it.
//!
//! The test is [`crate::statistics::sequential`]; the verdicts of policy v2
//! stay what they are.

use strandline_contract::{
    run::RunRecord,
    sequential::{SequentialReport, SequentialRow, SequentialSettings, sequential_settings},
    verdict::RowVariant,
    words::MeasurementUnit,
};

use crate::{
    decision::{Page, summarize_run},
    statistics::sequential::SequentialTest,
};

/// Assesses every planned case variant of a run, under the bounds that the run
/// itself used, else under `otherwise`.
///
/// A case variant that the run's decision does not tell of has no gradeable
/// trial yet.
#[must_use]
pub fn sequential_report(run: &RunRecord, otherwise: &SequentialSettings) -> SequentialReport {
    let own = sequential_settings(&run.settings).filter(|settings| settings.check().is_ok());
    let settings = own.unwrap_or(*otherwise);
    let summary = summarize_run("", run, [], Page::default());
    let decided = summary.decision.as_ref();
    let cases = run
        .plan
        .iter()
        .map(|plan| {
            let variant = plan.variant.as_ref().map(RowVariant::from);
            let row = decided.and_then(|made| {
                made.cases
                    .iter()
                    .find(|row| row.case_id == plan.case_id && row.execution_variant == variant)
            });
            let (passed, eligible, attempted) = row.map_or((0, 0, 0), |row| {
                (row.passed_trials, row.eligible_trials, row.attempted_trials)
            });
            let failed = eligible.saturating_sub(passed);
            let test = SequentialTest::new(plan.pass_threshold, &settings);
            SequentialRow {
                case_id: plan.case_id.clone(),
                title: plan.title.clone(),
                execution_variant: variant,
                pass_threshold: plan.pass_threshold,
                lower_rate: test.lower(),
                upper_rate: test.upper(),
                eligible_trials: eligible,
                passed_trials: passed,
                decision: test.decide(passed, failed),
                outlook: test.outlook(passed, failed, attempted),
            }
        })
        .collect();
    SequentialReport {
        run_id: run.id.clone(),
        unit: MeasurementUnit::CaseVariant,
        settings,
        used_by_run: own.is_some(),
        cases,
    }
}
