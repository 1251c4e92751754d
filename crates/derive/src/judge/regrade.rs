//! A trial with what judges say → its chain, measurements and result
//! (`chain.md` §14.4–14.5, `verdict.md` §3).
//!
//! Every pass starts from what the checks said before any judge, and writes a
//! whole derivation: rows are never patched.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strandline_contract::{
    chain::{Chain, STAGE_ANALYZER_VERSION},
    chain_input::ChainInput,
    judge_record::{AttributionRecord, JudgeRecord},
    judgement::{ATTRIBUTION_KEY, CONDITION_KEY, GOAL_KEY, JudgePass},
    measurements::MeasurementsInput,
    run::{ErrorLayer, TrialRecord},
    trace::Trace,
    words::{
        AssertionKind, IterationStatus, JudgeRole, JudgeStatus, JudgeVerdict, PendingKind, Stage,
        StageReason, TaskResult, Vocabulary,
    },
};

use super::{attribution::selection_failed, settings::JudgeSettings, transcript};
use crate::{
    chain::{derive_chain, judge_evidence, metadata_attribution},
    kinds::route_of,
    measurements::derive_measurements,
    verdict::has_evaluator_error,
};

/// Metadata key of what the checks said before any judge.
const BEFORE_KEY: &str = "beforeJudge";
/// The goal judge's id among a trial's scorers (`assertions.md` §10).
pub const GOAL_SCORER: &str = "judge:goalCompletion";

/// What the checks of a trial said before any judge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BeforeJudge {
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TaskResult>,
    /// The trial was not graded.
    evaluator_error: bool,
    /// The chain's evidence says that the grader failed; also where the trial
    /// did not complete.
    evaluator_errored: bool,
    /// The chain's assertion rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    predicate_results: Vec<Value>,
}

/// What a judge could still say about a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Askable {
    /// Whether the user's request was satisfied.
    pub goal: bool,
    /// Whether the tools' metadata misled the model.
    pub attribution: bool,
}

/// Returns what a judge can be asked about a trial: only trials that completed
/// or failed, and not where the model's provider or our own setup ended them.
#[must_use]
pub fn askable(trial: &TrialRecord, trace: &Trace) -> Askable {
    let ran = matches!(
        trial.status,
        IterationStatus::Completed | IterationStatus::Failed
    );
    let lost = trial
        .error
        .as_ref()
        .is_some_and(|error| matches!(error.layer, ErrorLayer::Model | ErrorLayer::Setup));
    let asks = ran && !lost && !transcript::requests(trace).is_empty();
    Askable {
        goal: asks,
        attribution: asks && selection_failed(&trial.chain),
    }
}

/// Tells whether an answer that would change the trial's chain is due and has
/// not arrived.
#[must_use]
pub fn is_owed(trial: &TrialRecord) -> bool {
    let shown = trial
        .chain
        .stage_results
        .iter()
        .any(|row| row.reason == Some(StageReason::JudgePending));
    // After a failed stage the row says its position, and the evidence still
    // says what is due.
    let is_due = |key: &str| {
        let evidence = trial.chain_input.pointer(&format!("/evidence/{key}"));
        evidence.is_some_and(|evidence| {
            evidence.get("status") == Some(&json!(JudgeStatus::Pending))
                && evidence.get("pendingKind") != Some(&json!(PendingKind::NotRequested))
        })
    };
    shown || is_due("judgeEvidence") || is_due("metadataAttribution")
}

/// Writes what a pass says into the trial's metadata; what it does not speak of
/// stays.
pub fn adopt(trial: &mut TrialRecord, pass: &JudgePass) {
    put(trial, GOAL_KEY, pass.goal.as_ref());
    put(trial, ATTRIBUTION_KEY, pass.metadata_attribution.as_ref());
    put(trial, CONDITION_KEY, pass.suspected_condition.as_ref());
}

fn put<T: Serialize>(trial: &mut TrialRecord, key: &str, document: Option<&T>) {
    if let Some(value) = document.and_then(|document| serde_json::to_value(document).ok()) {
        trial.metadata.insert(key.to_owned(), value);
    }
}

/// Derives a trial again from its stored evidence and the judgements in its
/// metadata.
///
/// A trial that a suite without judges ran, and that nobody judged, stays as it
/// is.
pub fn regrade(trial: &mut TrialRecord, trace: &Trace, settings: &JudgeSettings) {
    let judged =
        trial.metadata.contains_key(GOAL_KEY) || trial.metadata.contains_key(ATTRIBUTION_KEY);
    if !judged && !settings.authored {
        return;
    }
    if !matches!(
        trial.status,
        IterationStatus::Completed | IterationStatus::Failed
    ) {
        return;
    }
    let required = settings.is_required();
    let before = before(trial, required);
    let mut input = trial.chain_input.clone();
    let Some(evidence) = input.get_mut("evidence").and_then(Value::as_object_mut) else {
        return;
    };
    evidence.remove("judgeEvidence");
    evidence.remove("metadataAttribution");
    put_list(evidence, before.predicate_results.clone());
    put_flag(evidence, "evaluatorErrored", before.evaluator_errored);
    recover_step_error(evidence, trial);

    // Selection does not depend on what a judge says.
    let unjudged = derive_trial_chain(&input);
    let askable = Askable {
        attribution: askable(trial, trace).goal && selection_failed(&unjudged),
        ..askable(trial, trace)
    };
    let record = trial.metadata.get(GOAL_KEY).cloned();
    let goal = record
        .as_ref()
        .and_then(|record| JudgeRecord::deserialize(record).ok());
    let attribution = trial.metadata.get(ATTRIBUTION_KEY).cloned();
    let said = attribution
        .as_ref()
        .and_then(|record| AttributionRecord::deserialize(record).ok());
    let pending = settings.pending_kind();
    let due = |kind: PendingKind| json!({"status": JudgeStatus::Pending, "pendingKind": kind});

    let Some(evidence) = input.get_mut("evidence").and_then(Value::as_object_mut) else {
        return;
    };
    let judge = match (&goal, pending) {
        (Some(goal), _) => serde_json::to_value(judge_evidence(Some(goal))).ok(),
        (None, Some(kind)) if askable.goal => Some(due(kind)),
        (None, _) => None,
    };
    if let Some(judge) = judge {
        evidence.insert("judgeEvidence".to_owned(), judge);
    }
    let attribution = match (&said, pending) {
        (Some(said), _) => serde_json::to_value(metadata_attribution(Some(said))).ok(),
        (None, Some(PendingKind::Scheduled)) if askable.attribution => {
            Some(due(PendingKind::Scheduled))
        }
        (None, _) => None,
    };
    if let Some(attribution) = attribution {
        evidence.insert("metadataAttribution".to_owned(), attribution);
    }

    if required {
        require(trial, evidence, &before, goal.as_ref(), askable.goal);
    } else {
        trial.result = before.result;
        trial.evaluator_error = before.evaluator_error;
        score(trial, settings, goal.as_ref());
    }
    trial.chain = derive_trial_chain(&input);
    trial.stage_measurements = derive_trial_measurements(&trial.chain, trace);
    trial.chain_input = input;
}

/// Lets a required judge decide: the trial passes only if its checks pass and
/// the judge's score reaches the threshold, and is not graded without a score.
///
/// Rows judged at user value that hold are set aside, so that user value is
/// decided by who decides the trial (the rule of judge-decisive sessions,
/// `chain.md` §15); one that fails still decides first.
fn require(
    trial: &mut TrialRecord,
    evidence: &mut Map<String, Value>,
    before: &BeforeJudge,
    goal: Option<&JudgeRecord<'_>>,
    asked: bool,
) {
    let status = goal.and_then(|goal| goal.status);
    let applies = asked || goal.is_some();
    let row = match (applies, status) {
        (false, _) | (true, Some(JudgeStatus::NotApplicable)) => Some(JudgeStatus::NotApplicable),
        (
            true,
            Some(status @ (JudgeStatus::Scored | JudgeStatus::Error | JudgeStatus::Skipped)),
        ) => Some(status),
        (true, Some(JudgeStatus::Pending) | None) => None,
    };
    put_score(
        trial,
        JudgeRole::Required,
        row,
        goal.and_then(|goal| goal.score),
    );
    let lost =
        before.evaluator_error || has_evaluator_error(Some(&Value::Object(trial.metadata.clone())));
    trial.evaluator_error = trial.status == IterationStatus::Completed && lost;
    trial.result = match (trial.evaluator_error, before.result, row) {
        (true, ..) | (_, None, _) => None,
        (false, Some(TaskResult::Passed), Some(JudgeStatus::Scored)) => {
            let passes = goal.and_then(|goal| goal.verdict) == Some(JudgeVerdict::Pass);
            Some(if passes {
                TaskResult::Passed
            } else {
                TaskResult::Failed
            })
        }
        (false, Some(result), _) => Some(result),
    };
    if applies {
        let kept = before
            .predicate_results
            .iter()
            .filter(|row| !holds_at_user_value(row))
            .cloned()
            .collect();
        put_list(evidence, kept);
    }
    // A judge that broke, not one that is due, is a grader that failed.
    let broke = row == Some(JudgeStatus::Error) || row == Some(JudgeStatus::Skipped);
    put_flag(
        evidence,
        "evaluatorErrored",
        before.evaluator_errored || broke,
    );
}

fn holds_at_user_value(row: &Value) -> bool {
    let kind = row
        .pointer("/predicate/type")
        .and_then(Value::as_str)
        .and_then(AssertionKind::from_wire);
    let held = row.get("passed") != Some(&Value::Bool(false));
    let scored = row.get("status").and_then(Value::as_str) != Some("error");
    held && scored && route_of(kind).judged_at == Stage::UserValue
}

/// Notes an advisory judge among the trial's scorers.
fn score(trial: &mut TrialRecord, settings: &JudgeSettings, goal: Option<&JudgeRecord<'_>>) {
    let Some(goal) = goal else { return };
    debug_assert!(!settings.is_required());
    put_score(trial, JudgeRole::Advisory, goal.status, goal.score);
}

/// Writes the goal judge's definition and row; other scorers stay.
fn put_score(
    trial: &mut TrialRecord,
    role: JudgeRole,
    status: Option<JudgeStatus>,
    score: Option<f64>,
) {
    let on_trouble = match role {
        JudgeRole::Required => "fail",
        JudgeRole::Advisory => "ignore",
    };
    let definition = json!({
        "scorerId": GOAL_SCORER, "role": role, "onError": on_trouble, "onSkipped": on_trouble,
    });
    let config = trial
        .metadata
        .entry("evaluationConfig")
        .or_insert_with(|| json!({}));
    if !config.is_object() {
        *config = json!({});
    }
    let definitions = config.get("definitions").and_then(Value::as_array);
    config["definitions"] = replaced(definitions, Some(definition)).into();
    let row = status.map(|status| {
        let mut row = json!({"scorerId": GOAL_SCORER, "status": status});
        if let Some(score) = score {
            row["score"] = score.into();
        }
        row
    });
    let scores = trial.metadata.get("scores").and_then(Value::as_array);
    let scores = replaced(scores, row);
    trial.metadata.insert("scores".to_owned(), scores.into());
}

fn replaced(rows: Option<&Vec<Value>>, own: Option<Value>) -> Vec<Value> {
    let others = rows.into_iter().flatten();
    others
        .filter(|row| row.get("scorerId").and_then(Value::as_str) != Some(GOAL_SCORER))
        .cloned()
        .chain(own)
        .collect()
}

/// Returns what the checks said; remembered where a judge may change it.
fn before(trial: &mut TrialRecord, required: bool) -> BeforeJudge {
    if let Some(before) = trial
        .metadata
        .get(BEFORE_KEY)
        .and_then(|before| BeforeJudge::deserialize(before).ok())
    {
        return before;
    }
    let rows = trial
        .chain_input
        .pointer("/evidence/predicateResults")
        .and_then(Value::as_array);
    let before = BeforeJudge {
        result: trial.result,
        evaluator_error: trial.evaluator_error,
        evaluator_errored: trial.chain_input.pointer("/evidence/evaluatorErrored")
            == Some(&Value::Bool(true)),
        predicate_results: rows.cloned().unwrap_or_default(),
    };
    if required && let Ok(value) = serde_json::to_value(&before) {
        trial.metadata.insert(BEFORE_KEY.to_owned(), value);
    }
    before
}

/// A provider failure is remembered even where the evidence lost it (§14.5).
fn recover_step_error(evidence: &mut Map<String, Value>, trial: &TrialRecord) {
    let named = trial
        .chain
        .stage_results
        .iter()
        .any(|row| row.reason == Some(StageReason::ProviderError));
    if named && !evidence.contains_key("stepError") {
        evidence.insert("stepError".to_owned(), json!({"source": "model"}));
    }
}

fn put_list(evidence: &mut Map<String, Value>, rows: Vec<Value>) {
    if rows.is_empty() {
        evidence.remove("predicateResults");
    } else {
        evidence.insert("predicateResults".to_owned(), rows.into());
    }
}

fn put_flag(evidence: &mut Map<String, Value>, key: &str, set: bool) {
    if set {
        evidence.insert(key.to_owned(), true.into());
    } else {
        evidence.remove(key);
    }
}

/// Derives the chain from the exact document that is stored beside it.
#[must_use]
pub fn derive_trial_chain(chain_input: &Value) -> Chain<'static> {
    let input = ChainInput::deserialize(chain_input);
    debug_assert!(input.is_ok(), "{input:?}");
    input.map_or_else(
        |_| Chain {
            stage_results: Vec::new(),
            first_failed_stage: None,
            failure_category: None,
            stage_analyzer_version: STAGE_ANALYZER_VERSION,
        },
        |input| derive_chain(&input).into_owned(),
    )
}

/// Derives the measurements from a chain and the spans of its trace.
#[must_use]
pub fn derive_trial_measurements(chain: &Chain<'_>, trace: &Trace) -> Value {
    let measured = derive_measurements(&MeasurementsInput::of_trial(chain, &trace.spans));
    serde_json::to_value(measured).unwrap_or(Value::Null)
}
