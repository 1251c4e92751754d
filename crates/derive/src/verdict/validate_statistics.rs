//! Stored trial statistics → accepted, or the first violation (`verdict.md` §9).

use serde_json::Value;
use strandline_contract::{
    verdict::{Decision, PassRateInterval, TrialStatistics, TrialStatisticsRow},
    words::MeasurementUnit,
};

use super::{identity, statistics, validate};
use crate::document::{Findings, Node, Violation};

/// Reads stored trial statistics, beside the decision they belong to if given.
///
/// # Errors
///
/// Returns the first violation.
pub fn validate_trial_statistics(
    document: &Value,
    decision: Option<&Decision>,
) -> Result<TrialStatistics, Violation> {
    let findings = Findings::default();
    let block = read_block(&Node::root(document, &findings), decision);
    findings.into_result(block).map_err(|violations| {
        let unreadable = || Violation {
            path: String::new(),
            message: "the document cannot be read".to_owned(),
        };
        violations.into_iter().next().unwrap_or_else(unreadable)
    })
}

fn read_block(node: &Node<'_>, decision: Option<&Decision>) -> Option<TrialStatistics> {
    node.closed_object(&["unit", "eligibleTrials", "passedTrials", "cases"])?;
    let unit = node.required("unit")?.word::<MeasurementUnit>()?;
    if unit != MeasurementUnit::CaseVariant {
        return node
            .required("unit")?
            .refuse(format_args!("must be `{}`", MeasurementUnit::CaseVariant));
    }
    let list = node.required("cases")?;
    if let (Some(decision), Value::Array(rows)) = (decision, list.value())
        && rows.len() != decision.cases.len()
    {
        return list.refuse(format_args!(
            "must hold one row per decision row: {}",
            decision.cases.len()
        ));
    }
    let mut index = 0;
    let cases = list.list(|node| {
        let row = read_row(node)?;
        if let Some(decision) = decision {
            check_against(node, &row, &decision.cases[index])?;
        }
        index += 1;
        check_estimates(node, &row)?;
        Some(row)
    })?;
    let total = |key: &str, count: fn(&TrialStatisticsRow) -> u64| {
        let node = node.required(key)?;
        let expected = cases.iter().map(count).fold(0, u64::saturating_add);
        if node.count()? != expected {
            return node.refuse(format_args!("must be the sum over the rows: {expected}"));
        }
        Some(expected)
    };
    Some(TrialStatistics {
        unit,
        eligible_trials: total("eligibleTrials", |row| row.eligible_trials)?,
        passed_trials: total("passedTrials", |row| row.passed_trials)?,
        cases,
    })
}

fn read_row(node: &Node<'_>) -> Option<TrialStatisticsRow> {
    const KEYS: [&str; 8] = [
        "caseId",
        "executionVariant",
        "eligibleTrials",
        "passedTrials",
        "k",
        "passAtK",
        "passHatK",
        "passRateInterval",
    ];
    node.closed_object(&KEYS)?;
    let case_id = validate::read_case_id(&node.required("caseId")?)?;
    let execution_variant = node.optional_with("executionVariant", validate::read_variant)?;
    let eligible_trials = node.required("eligibleTrials")?.count()?;
    let passed_trials = node.required("passedTrials")?.count()?;
    if passed_trials > eligible_trials {
        return node
            .required("passedTrials")?
            .refuse("must be at most `eligibleTrials`");
    }
    Some(TrialStatisticsRow {
        case_id,
        execution_variant,
        eligible_trials,
        passed_trials,
        k: node.required("k")?.count()?,
        pass_at_k: nullable(&node.required("passAtK")?, |node| node.number())?,
        pass_hat_k: nullable(&node.required("passHatK")?, |node| node.number())?,
        pass_rate_interval: nullable(&node.required("passRateInterval")?, read_interval)?,
    })
}

/// Reads a member that must be there and may be `null`.
fn nullable<'a, T>(
    node: &Node<'a>,
    read: impl FnOnce(&Node<'a>) -> Option<T>,
) -> Option<Option<T>> {
    if node.value().is_null() {
        return Some(None);
    }
    read(node).map(Some)
}

fn read_interval(node: &Node<'_>) -> Option<PassRateInterval> {
    node.closed_object(&["confidence", "lower", "upper"])?;
    Some(PassRateInterval {
        confidence: node.required("confidence")?.number()?,
        lower: node.required("lower")?.number()?,
        upper: node.required("upper")?.number()?,
    })
}

/// Checks identity and counts against the decision's row at the same place.
fn check_against(
    node: &Node<'_>,
    row: &TrialStatisticsRow,
    case: &strandline_contract::verdict::CaseAggregate,
) -> Option<()> {
    let key = identity::row_key(&row.case_id, row.execution_variant.as_ref());
    if key != identity::row_key(&case.case_id, case.execution_variant.as_ref()) {
        return node.refuse("must name the decision row's case and variant");
    }
    let counts = (row.eligible_trials, row.passed_trials);
    if counts != (case.eligible_trials, case.passed_trials) {
        return node.refuse("must have the decision row's counts");
    }
    Some(())
}

/// Checks that a row is exactly what its counts give.
fn check_estimates(node: &Node<'_>, row: &TrialStatisticsRow) -> Option<()> {
    let expected = TrialStatisticsRow {
        case_id: row.case_id.clone(),
        execution_variant: row.execution_variant.clone(),
        ..statistics::estimates(row.eligible_trials, row.passed_trials)
    };
    if *row != expected {
        return node.refuse("must be what its two counts give");
    }
    Some(())
}
