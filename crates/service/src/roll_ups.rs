//! Funnels and overviews of stored runs: counted at a run's end, rebuilt after a
//! judge pass, read.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use serde_json::Value;
use strandline_contract::{
    analytics::StageAnalytics,
    overview::RunOverview,
    run::{RunRecord, TrialRecord},
    words::FunnelAbsence,
};
use strandline_derive::{
    analytics::{Materialization, RunFunnel, TrialLabels, validate_stage_analytics},
    overview::OverviewCounter,
};
use strandline_store::{Store, StoreError, StoredRun, TrialFilter};
use strandline_suite::model::split_model;

use crate::Failure;

/// Violations of an invalid funnel that are told.
const TOLD: usize = 3;

/// What is counted over a run's trials and stored with its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RollUps {
    /// How many trials got how far.
    pub funnel: StageAnalytics,
    /// Where and why trials stopped, case variant by case variant.
    pub overview: RunOverview,
}

/// Counts roll-ups, one trial at a time.
#[derive(Debug, Default)]
struct Counter {
    funnel: RunFunnel,
    overview: OverviewCounter,
}

impl Counter {
    fn add(&mut self, trial: &TrialRecord, labels: &Labels) {
        self.funnel.add(trial, labels.of_trial(trial));
        self.overview.add(trial);
    }

    fn finish(self, run: &RunRecord, created_at: Option<u64>) -> RollUps {
        RollUps {
            funnel: finish(run, &self.funnel, created_at),
            overview: self.overview.finish(run),
        }
    }
}

/// Counts the roll-ups of a run whose trials are at hand, in plan order.
pub fn count<'a>(run: &RunRecord, trials: impl IntoIterator<Item = &'a TrialRecord>) -> RollUps {
    let labels = Labels::of(run);
    let mut counter = Counter::default();
    for trial in trials {
        counter.add(trial, &labels);
    }
    counter.finish(run, None)
}

/// Counts the roll-ups of a run from what is stored of it, a few hundred trials
/// in memory at a time.
///
/// # Errors
///
/// When the store cannot be read, or one of its trials.
pub async fn count_stored(
    store: &Store,
    run: &RunRecord,
    created_at: Option<u64>,
) -> Result<RollUps, StoreError> {
    let labels = Labels::of(run);
    let mut counter = Counter::default();
    let everything = TrialFilter::default();
    let mut trials = store.trial_stream(&run.id, &everything);
    while let Some(trial) = trials.try_next().await? {
        counter.add(&trial, &labels);
    }
    Ok(counter.finish(run, created_at))
}

/// Counts the roll-ups of a run that has ended anew and stores them in place of
/// those before; the funnel keeps the time at which it was first made. For
/// every judge pass; they are final once no judge owes an answer any more.
///
/// A run without a valid funnel gets its first one.
///
/// # Errors
///
/// When the run has not ended, or the store cannot be read or written.
pub async fn rebuild(store: &Store, run: &RunRecord) -> Result<RollUps, StoreError> {
    let before = store.funnel(&run.id).await?;
    let created_at = before
        .and_then(|before| validate_stage_analytics(&before).ok())
        .map(|before| before.created_at);
    let counted = count_stored(store, run, created_at).await?;
    store
        .replace_roll_ups(&counted.funnel, &counted.overview)
        .await?;
    Ok(counted)
}

/// Returns the overview of a stored run: the stored one, else one counted from
/// the trials that are stored so far (a run that goes on, or one that an
/// earlier version made).
///
/// # Errors
///
/// When the store cannot be read.
pub async fn overview(store: &Store, run: &StoredRun) -> Result<RunOverview, Failure> {
    match store.overview(&run.record.id).await {
        Ok(Some(overview)) => Ok(overview),
        Ok(None) | Err(StoreError::UnreadableDocument { .. }) => {
            Ok(count_stored(store, &run.record, None).await?.overview)
        }
        Err(error) => Err(error.into()),
    }
}

/// A run's funnel, or why there is none; the two are never mixed up with a
/// funnel of zeros.
#[derive(Debug)]
pub enum Found {
    /// It is stored and passed its check.
    Funnel(Box<StageAnalytics>),
    /// There is none, and why; the text says more where there is more to say.
    Absent(FunnelAbsence, Option<String>),
}

/// Reads the funnel of a stored run.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn read(store: &Store, run: &StoredRun) -> Result<Found, Failure> {
    let stored = match store.funnel(&run.record.id).await {
        Ok(stored) => stored,
        Err(StoreError::UnreadableDocument { detail, .. }) => {
            return Ok(Found::Absent(FunnelAbsence::Withheld, Some(detail)));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(stored) = stored else {
        let absence = match run.record.ended_at {
            None => FunnelAbsence::NotYet,
            Some(_) => FunnelAbsence::NotRecorded,
        };
        return Ok(Found::Absent(absence, None));
    };
    Ok(match validate_stage_analytics(&stored) {
        Ok(funnel) => Found::Funnel(Box::new(funnel)),
        Err(violations) => {
            let more = violations.len().saturating_sub(TOLD);
            let mut told: Vec<String> = violations
                .iter()
                .take(TOLD)
                .map(ToString::to_string)
                .collect();
            if more > 0 {
                told.push(format!("and {more} more"));
            }
            Found::Absent(FunnelAbsence::Withheld, Some(told.join("; ")))
        }
    })
}

fn finish(run: &RunRecord, funnel: &RunFunnel, created_at: Option<u64>) -> StageAnalytics {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let how = Materialization {
        state: funnel.state(),
        now: u64::try_from(now.as_millis()).unwrap_or_default(),
        created_at,
    };
    funnel.finish(run, how)
}

/// What the trials of each case are filed under, as the run's frozen suite and
/// its settings have it.
struct Labels(BTreeMap<String, CaseLabels>);

#[derive(Default)]
struct CaseLabels {
    intent: Option<String>,
    /// Provider and model of a case that does not run under several.
    model: Option<(String, String)>,
}

impl Labels {
    fn of(run: &RunRecord) -> Self {
        let models: Vec<&str> = texts(run.settings.get("models"));
        let cases = run.resolved_suite.get("cases").and_then(Value::as_array);
        let labels = cases.into_iter().flatten().filter_map(|case| {
            let id = case.get("id")?.as_str()?;
            Some((id.to_owned(), CaseLabels::of(case, &models)))
        });
        Self(labels.collect())
    }

    fn of_trial<'a>(&'a self, trial: &'a TrialRecord) -> TrialLabels<'a> {
        let case = self.0.get(&trial.case_id);
        let (provider, model) = match &trial.variant {
            Some(variant) => (variant.provider.as_deref(), Some(variant.model.as_str())),
            None => case
                .and_then(|case| case.model.as_ref())
                .map_or((None, None), |(provider, model)| {
                    (Some(provider.as_str()), Some(model.as_str()))
                }),
        };
        TrialLabels {
            intent: case.and_then(|case| case.intent.as_deref()),
            provider,
            model,
        }
    }
}

impl CaseLabels {
    fn of(case: &Value, models: &[&str]) -> Self {
        let text = |key: &str| case.get(key).and_then(Value::as_str);
        let steps = case.get("steps").and_then(Value::as_array);
        let needs_model = steps
            .into_iter()
            .flatten()
            .any(|step| step.get("kind").and_then(Value::as_str) == Some("prompt"));
        // A model of the command line is complete by itself.
        let model = match models {
            [] => text("model").map(|model| (model, text("provider"))),
            [model] => Some((*model, None)),
            _ => None,
        };
        Self {
            intent: text("intent").map(str::to_owned),
            model: model
                .filter(|_| needs_model)
                .and_then(|(model, provider)| split_model(model, provider).ok())
                .map(|(provider, model)| (provider.name.to_owned(), model)),
        }
    }
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_case_is_filed_under_the_model_it_ran_under() {
        let prompt = json!([{"kind": "prompt", "prompt": "hello"}]);
        let case =
            json!({"model": "small-1", "provider": "openai", "steps": prompt, "intent": "refunds"});
        let labels = CaseLabels::of(&case, &[]);
        let own = ("openai".to_owned(), "small-1".to_owned());
        assert_eq!(labels.model, Some(own));
        assert_eq!(labels.intent.as_deref(), Some("refunds"));
        let overridden = CaseLabels::of(&case, &["anthropic/large"]).model;
        assert_eq!(
            overridden,
            Some(("anthropic".to_owned(), "large".to_owned()))
        );
        // Trials of several models carry theirs themselves.
        assert_eq!(CaseLabels::of(&case, &["openai/a", "openai/b"]).model, None);
        let free = json!({"model": "openai/small-1", "steps": [{"kind": "toolCall"}]});
        assert_eq!(CaseLabels::of(&free, &[]).model, None);
    }
}
