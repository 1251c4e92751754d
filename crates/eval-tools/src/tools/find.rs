//! Runs and trials by what an agent calls them.

use schemars::JsonSchema;
use serde::Deserialize;
use strandline_contract::run::{ExecutionVariant, TrialRecord};
use strandline_report::escape;
use strandline_store::{Store, StoredRun, TrialFilter};

use crate::{desk::Desk, failure::Failure, tool::Halt};

/// Names listed in a failure.
const LISTED: usize = 12;
/// Longest name in a failure.
const NAME: usize = 80;

/// Names one trial: by its id, or by its place in a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TrialName {
    /// The trial's id (`iterationId` in diagnostics) or the beginning of it. Then nothing else is needed.
    #[serde(default)]
    pub(crate) trial: Option<String>,
    /// The run's id, the beginning of it, or `last`; with `case`.
    #[serde(default)]
    pub(crate) run: Option<String>,
    /// The case's id in the suite.
    #[serde(default)]
    pub(crate) case: Option<String>,
    /// Which trial of the case, counted from 1; needed when it has several.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) trial_number: Option<u32>,
    /// `provider/model`, needed when the case runs under several.
    #[serde(default)]
    pub(crate) model: Option<String>,
}

/// Finds the trial that is named.
pub(crate) async fn trial(
    desk: &Desk,
    store: &Store,
    name: &TrialName,
) -> Result<TrialRecord, Halt> {
    if let Some(trial) = &name.trial {
        return Ok(store.trial(trial).await?);
    }
    let (Some(run), Some(case)) = (&name.run, &name.case) else {
        return Err(Failure::new("no trial is named")
            .hint("give `trial`, or `run` and `case` and, where there are several, `trialNumber`")
            .into());
    };
    let run = desk.run(store, run).await?;
    let filter = TrialFilter {
        case_id: Some(case.clone()),
        variant: variant(&run, case, name.model.as_deref())?,
        iteration_number: match name.trial_number {
            Some(0) => {
                return Err(
                    Failure::new("trials are counted from 1, and `trialNumber` is 0").into(),
                );
            }
            number => number.map(|number| number - 1),
        },
        ..TrialFilter::default()
    };
    let page = store.trials(&run.record.id, &filter, None, 2).await?;
    let mut trials = page.items.into_iter();
    match (trials.next(), trials.next()) {
        (Some(trial), None) => Ok(trial),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "case `{}` has several stored trials in run `{}`",
            escape::line(case, NAME),
            run.short_id
        ))
        .hint("add `trialNumber`, counted from 1")
        .into()),
        (None, _) => Err(Failure::new(format!(
            "that trial of case `{}` is not stored in run `{}`",
            escape::line(case, NAME),
            run.short_id
        ))
        .hint("`get_run` says how many trials of each case were attempted")
        .into()),
    }
}

/// Finds the variant of a case; `None` leaves every variant in.
pub(crate) fn variant(
    run: &StoredRun,
    case: &str,
    model: Option<&str>,
) -> Result<Option<Option<ExecutionVariant>>, Failure> {
    let variants: Vec<Option<&ExecutionVariant>> = run
        .record
        .plan
        .iter()
        .filter(|planned| planned.case_id == case)
        .map(|planned| planned.variant.as_ref())
        .collect();
    if variants.is_empty() {
        let ids = run
            .record
            .plan
            .iter()
            .map(|planned| planned.case_id.clone());
        return Err(Failure::new(format!(
            "run `{}` has no case `{}`",
            run.short_id,
            escape::line(case, NAME)
        ))
        .hint(format!("its cases: {}", listed(ids))));
    }
    let Some(model) = model else {
        return Ok(None);
    };
    let found = variants
        .iter()
        .flatten()
        .find(|variant| variant.model == model || model_name(variant) == model);
    match found {
        Some(variant) => Ok(Some(Some((*variant).clone()))),
        None => {
            let models = variants.iter().flatten().map(|variant| model_name(variant));
            Err(Failure::new(format!(
                "case `{}` does not run under `{}`",
                escape::line(case, NAME),
                escape::line(model, NAME)
            ))
            .hint(match listed(models) {
                none if none.is_empty() => {
                    "the run has one model for all of its cases: leave `model` out".to_owned()
                }
                names => format!("its models: {names}"),
            }))
        }
    }
}

/// Returns a variant as `provider/model`.
pub(crate) fn model_name(variant: &ExecutionVariant) -> String {
    match &variant.provider {
        Some(provider) => format!("{provider}/{}", variant.model),
        None => variant.model.clone(),
    }
}

/// Returns names as a safe, bounded list.
pub(crate) fn listed(names: impl Iterator<Item = String>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let mut names: Vec<String> = names
        .map(|name| escape::line(&name, NAME))
        .filter(|name| seen.insert(name.clone()))
        .collect();
    if names.len() > LISTED {
        names.truncate(LISTED);
        names.push("…".to_owned());
    }
    names.join(", ")
}
