//! What calls show about avoidable work: rates over trials, and one trial.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{
    friction::FrictionSignals,
    rate::Rate,
    run::ExecutionVariant,
    words::{FrictionGap, FrictionSignalKind, Vocabulary},
};
use strandline_derive::friction::{
    FrictionRates, StoredFriction, derive_friction_rates, project_friction_signals,
};
use strandline_report::{escape, friction::benign, words::counted};
use strandline_store::TrialFilter;

use super::find::{self, TrialName};
use crate::{
    bounds::{self, PageInfo},
    desk::Desk,
    failure::Failure,
    tool::{Answer, Call, EvalTool, Halt},
};

/// Case variants on a page unless asked otherwise, and at most.
const ROWS: (usize, usize) = (25, 100);

/// Shows friction signals.
pub(crate) struct GetFriction;

/// Of a run, case by case, or of one trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetFrictionInput {
    /// The run's id, the beginning of it, or `last`.
    #[serde(default)]
    run: Option<String>,
    /// Only this case.
    #[serde(default)]
    case: Option<String>,
    /// One trial instead of a run: its id or the beginning of it.
    #[serde(default)]
    trial: Option<String>,
    /// Case variants on a page, 25 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// `caseVariants.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// Friction of a run's case variants, or of one trial.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetFrictionOutput {
    /// The run.
    run_id: String,
    /// One row per case variant, in plan order.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<FrictionRow>>,
    /// What the page of rows leaves open.
    #[serde(skip_serializing_if = "Option::is_none")]
    case_variants: Option<PageInfo>,
    /// One trial's signals; absent where it has none to be believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<FrictionSignals>,
    /// Of one trial: `recorded`, `notRecorded` (never measured, which is not "none") or `withheld` (stored and
    /// invalid).
    #[serde(skip_serializing_if = "Option::is_none")]
    signals_state: Option<SignalsState>,
}

/// Whether a trial's signals are there.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SignalsState {
    /// They are.
    Recorded,
    /// They were never measured.
    NotRecorded,
    /// They are stored and invalid.
    Withheld,
}

/// What the trials of one case variant show.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FrictionRow {
    /// The case's id in the suite.
    case_id: String,
    /// The model, where the run fans out over several.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<ExecutionVariant>,
    /// Stored trials.
    stored_trials: u64,
    /// Of these, trials whose signals were recorded and may be believed.
    recorded_trials: u64,
    /// Per kind, trials that show it of trials in which it was looked for; absent where nothing was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<BTreeMap<FrictionSignalKind, Rate<FrictionGap>>>,
}

impl EvalTool for GetFriction {
    type Input = GetFrictionInput;
    type Output = GetFrictionOutput;
    const NAME: &'static str = "get_friction";
    const TITLE: &'static str = "Get friction signals";
    const DESCRIPTION: &'static str = "Returns what the calls of trials show about avoidable work: identical retries, \
        identifiers that came back unused, repeated searches, paging. Per case variant with k of n trials, or one \
        trial's signals with `trial`. Use it to improve a server that passes its cases but makes models work hard. \
        It is never a verdict, and every signal has a benign reading.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let store = desk.store().await?;
        if let Some(trial) = input.trial {
            let name = TrialName {
                trial: Some(trial),
                ..TrialName::default()
            };
            let trial = find::trial(desk, &store, &name).await?;
            return Ok(of_trial(&trial));
        }
        let Some(reference) = &input.run else {
            return Err(Failure::new("neither a run nor a trial is named")
                .hint("give `run`, or `trial` for the signals of one trial")
                .into());
        };
        let run = desk.run(&store, reference).await?;
        if let Some(case) = &input.case {
            find::variant(&run, case, None)?;
        }
        let planned: Vec<(String, Option<ExecutionVariant>)> = run
            .record
            .plan
            .iter()
            .filter(|planned| {
                input
                    .case
                    .as_ref()
                    .is_none_or(|case| planned.case_id == *case)
            })
            .map(|planned| (planned.case_id.clone(), planned.variant.clone()))
            .collect();
        let limit = input.limit.unwrap_or(ROWS.0).clamp(1, ROWS.1);
        let (planned, info) = bounds::page(planned, input.cursor.as_deref(), limit)?;
        let mut rows = Vec::new();
        for (case_id, variant) in planned {
            let filter = TrialFilter {
                case_id: Some(case_id.clone()),
                variant: Some(variant.clone()),
                ..TrialFilter::default()
            };
            let mut stored_trials = 0;
            let mut documents = Vec::new();
            let mut trials = store.trial_stream(&run.record.id, &filter);
            while let Some(trial) = trials.try_next().await? {
                stored_trials += 1;
                if let StoredFriction::Verified(document) =
                    project_friction_signals(&trial.metadata)
                {
                    documents.push(document);
                }
            }
            rows.push(FrictionRow {
                case_id,
                variant,
                stored_trials,
                recorded_trials: documents.len() as u64,
                kinds: derive_friction_rates(&documents),
            });
        }
        let lines: Vec<String> = rows.iter().flat_map(told).collect();
        Ok(Answer {
            text: if lines.is_empty() {
                "No trial on this page shows a friction signal.".to_owned()
            } else {
                lines.join("\n")
            },
            content: GetFrictionOutput {
                run_id: run.record.id,
                rows: Some(rows),
                case_variants: Some(info),
                signals: None,
                signals_state: None,
            },
        })
    }
}

fn of_trial(trial: &strandline_contract::run::TrialRecord) -> Answer<GetFrictionOutput> {
    let (state, signals, text) = match project_friction_signals(&trial.metadata) {
        StoredFriction::Verified(signals) => {
            let kinds = signals.signals.iter().map(|signal| signal.kind());
            let lines: Vec<String> = kinds
                .map(|kind| format!("{} ({})", kind.label(), benign(kind)))
                .collect();
            let text = if lines.is_empty() {
                "No signal was seen among the calls that were looked at.".to_owned()
            } else {
                lines.join("\n")
            };
            (SignalsState::Recorded, Some(signals), text)
        }
        StoredFriction::Absent => (
            SignalsState::NotRecorded,
            None,
            "Friction was never measured in this trial, which is not the same as none.".to_owned(),
        ),
        StoredFriction::Unverified => (
            SignalsState::Withheld,
            None,
            "Friction signals are stored and do not pass their check, so none is shown.".to_owned(),
        ),
    };
    Answer {
        text,
        content: GetFrictionOutput {
            run_id: trial.run_id.clone(),
            rows: None,
            case_variants: None,
            signals,
            signals_state: Some(state),
        },
    }
}

fn told(row: &FrictionRow) -> Vec<String> {
    let case = escape::line(&row.case_id, 80);
    let model = row.variant.as_ref().map(find::model_name);
    let model = model.map(|model| format!(" under {}", escape::line(&model, 80)));
    let model = model.unwrap_or_default();
    let none = FrictionRates::new();
    let kinds = row.kinds.as_ref().unwrap_or(&none);
    kinds
        .iter()
        .filter(|(_, rate)| rate.numerator() > 0)
        .map(|(kind, rate)| {
            format!(
                "{case}{model}: {} in {} of {} measured ({})",
                kind.label(),
                rate.numerator(),
                counted(rate.denominator(), "trial", "trials"),
                benign(*kind)
            )
        })
        .collect()
}
