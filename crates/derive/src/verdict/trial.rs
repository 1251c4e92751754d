//! One iteration's evidence → what it contributes (`verdict.md` §3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strandline_contract::{
    verdict::{ObservedStatus, TrialObservation},
    words::{IterationStatus, TaskResult, VerdictRefusal, Vocabulary},
};

use super::Refusal;

/// Derives what an iteration `{status, result, metadata?}` contributes.
///
/// # Errors
///
/// Refuses a completed iteration that was neither graded nor lost to the
/// evaluator (`completed_without_task_verdict`).
pub fn derive_trial_observation(iteration: &Value) -> Result<TrialObservation, Refusal> {
    let status = observed_status(iteration.get("status"));

    // 1. Not completed: the status alone, verbatim.
    if status != ObservedStatus::Known(IterationStatus::Completed) {
        return Ok(TrialObservation {
            status,
            task_verdict: None,
            evaluator_error: false,
        });
    }
    // 2. The evaluator broke: wins over the result.
    if has_evaluator_error(iteration.get("metadata")) {
        return Ok(TrialObservation {
            status,
            task_verdict: None,
            evaluator_error: true,
        });
    }
    // 3. Graded.
    if let Some(result) = text_of(iteration, "result").and_then(TaskResult::from_wire) {
        return Ok(TrialObservation {
            status,
            task_verdict: Some(result),
            evaluator_error: false,
        });
    }
    // 4. Otherwise nothing can be said.
    Err(Refusal::new(
        VerdictRefusal::CompletedWithoutTaskVerdict,
        "iteration",
    ))
}

/// Reads a status; anything but a known word is kept as unknown.
pub(super) fn observed_status(status: Option<&Value>) -> ObservedStatus {
    match status.and_then(Value::as_str) {
        Some(word) => IterationStatus::from_wire(word).map_or_else(
            || ObservedStatus::Unknown(word.to_owned()),
            ObservedStatus::Known,
        ),
        None => ObservedStatus::Unknown(String::new()),
    }
}

/// How a scorer that gates a trial is configured.
struct Definition<'a> {
    gating: bool,
    on_error: Option<&'a str>,
    on_skipped: Option<&'a str>,
}

/// Returns whether the grader broke on an iteration with this metadata.
#[must_use]
pub fn has_evaluator_error(metadata: Option<&Value>) -> bool {
    // E0. No metadata.
    let Some(metadata) = metadata.filter(|metadata| !metadata.is_null()) else {
        return false;
    };
    // E1. The scores themselves are not to be trusted.
    if text_of(metadata, "scoreIntegrity") == Some("score_integrity_invalid") {
        return true;
    }
    // E2, E3. The last definition of a scorer wins; only gating ones matter.
    let mut definitions = definitions_of(metadata);
    definitions.retain(|_, definition| definition.gating);
    // E4, E5. A gating scorer that failed, or was skipped, where that counts.
    let mut represented = BTreeSet::new();
    for row in list_of(metadata.get("scores")) {
        let Some((scorer, definition)) = text_of(row, "scorerId")
            .and_then(|scorer| definitions.get(scorer).map(|found| (scorer, found)))
        else {
            continue;
        };
        represented.insert(scorer);
        match text_of(row, "status") {
            Some("error") if definition.on_error == Some("fail") => return true,
            Some("skipped") if definition.on_skipped == Some("fail") => return true,
            _ => {}
        }
    }
    // E6, E7. A gating scorer without any row, unless skipping is ignored.
    definitions.iter().any(|(scorer, definition)| {
        !represented.contains(scorer) && definition.on_skipped != Some("ignore")
    })
}

fn definitions_of(metadata: &Value) -> BTreeMap<&str, Definition<'_>> {
    let definitions = metadata
        .get("evaluationConfig")
        .and_then(|config| config.get("definitions"));
    list_of(definitions)
        .iter()
        .filter_map(|definition| {
            let scorer = text_of(definition, "scorerId")?;
            let definition = Definition {
                gating: matches!(text_of(definition, "role"), Some("gating" | "required")),
                on_error: text_of(definition, "onError"),
                on_skipped: text_of(definition, "onSkipped"),
            };
            Some((scorer, definition))
        })
        .collect()
}

fn list_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text_of<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}
