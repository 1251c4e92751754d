//! How much was measured: every count with its unit and what it is out of.

use std::collections::BTreeMap;

use strandline_contract::{
    verdict::{Decision, Validity},
    words::{ExclusionReason, MeasurementUnit, Vocabulary},
};

use super::{View, model_name};
use crate::{
    layout::{flow, hanging},
    style::Style,
    words::{counted, percent},
};

/// Column under which the facts stand.
const HANG: usize = 11;

pub(super) fn render(view: &View<'_>, style: &Style) -> Vec<String> {
    let columns = style.columns();
    let mut lines = Vec::new();
    match &view.summary.decision {
        Some(decision) => {
            let facts = measured(&decision.validity);
            let separator = format!(" {} ", style.dot());
            let mut label = "measured";
            for line in flow(&facts, &separator, columns - HANG) {
                lines.extend(hanging(label, &line, 1, HANG, columns));
                label = "";
            }
            if let Some(text) = excluded(decision) {
                lines.extend(hanging("excluded", &text, 1, HANG, columns));
            }
        }
        // Without a decision the counts describe a sample, and say so.
        None => lines.extend(hanging("recorded", &recorded(view), 1, HANG, columns)),
    }
    if let Some(text) = models(view) {
        lines.extend(hanging("model", &text, 1, HANG, columns));
    }
    lines
}

/// Returns how much was measured, and what is missing from the rates.
pub(crate) fn facts(view: &View<'_>) -> Vec<String> {
    match &view.summary.decision {
        None => vec![recorded(view)],
        Some(decision) => {
            let mut facts = measured(&decision.validity);
            facts.extend(excluded(decision).map(|text| format!("excluded: {text}")));
            facts
        }
    }
}

/// Returns how much of what was configured was attempted and graded.
pub(crate) fn measured(validity: &Validity) -> Vec<String> {
    let Validity {
        policy,
        configured_trials: configured,
        attempted_trials: attempted,
        eligible_trials: eligible,
        completion_rate,
        evaluator_error_rate,
        ..
    } = validity;
    let unit = MeasurementUnit::Trial.words(*configured);
    let mut facts = vec![format!(
        "{attempted} of {configured} configured {unit} attempted"
    )];
    if *attempted == 0 {
        // A rate without a denominator is not measured; it is not 0 %.
        facts.push("completion and evaluator-error rates not measured".to_owned());
        return facts;
    }
    let completed = completion_rate.numerator();
    if completed < *attempted {
        facts.push(format!(
            "{completed} completed ({}, floor {})",
            percent(completion_rate.value().unwrap_or(0.0)),
            percent(policy.min_completion_rate)
        ));
    }
    facts.push(format!("{eligible} gradeable"));
    let errors = evaluator_error_rate.numerator();
    facts.push(format!(
        "{} ({} of {attempted}, limit {})",
        counted(errors, "evaluator error", "evaluator errors"),
        percent(evaluator_error_rate.value().unwrap_or(0.0)),
        percent(policy.max_evaluator_error_rate)
    ));
    facts
}

/// Returns why configured trials are missing from the pass rates, unless the
/// evaluator-error rate beside it has said it all.
pub(crate) fn excluded(decision: &Decision) -> Option<String> {
    let mut counts: BTreeMap<ExclusionReason, u64> = BTreeMap::new();
    for row in &decision.cases {
        for (reason, count) in row.pass_rate.exclusions() {
            *counts.entry(*reason).or_default() += count;
        }
    }
    let total: u64 = counts.values().sum();
    if total
        == counts
            .get(&ExclusionReason::EvaluatorError)
            .copied()
            .unwrap_or(0)
    {
        return None;
    }
    let configured = decision.validity.configured_trials;
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| format!("{} {count}", reason.label()))
        .collect();
    Some(format!(
        "{total} of {configured} configured {} from the pass rates: {}",
        MeasurementUnit::Trial.words(configured),
        parts.join(", ")
    ))
}

/// Returns how much is recorded of a run without a decision.
pub(crate) fn recorded(view: &View<'_>) -> String {
    let configured: u64 = view
        .rows
        .iter()
        .map(|row| u64::from(row.plan.configured_trials))
        .sum();
    let stored = view.stored;
    format!(
        "{stored} of {configured} configured {}; without a decision these are a sample and \
         carry no rate",
        MeasurementUnit::Trial.words(configured)
    )
}

/// Returns the models that cases ran under; one model is named here, several
/// are named on their rows.
pub(crate) fn models(view: &View<'_>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for row in &view.rows {
        let name = row.plan.variant.as_ref().map(model_name);
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}
