//! `strandline run --resume RUN`: finishes only what is missing.

use std::path::Path;

use strandline_contract::{canonical::sha256_canonical, run::TrialRecord, words::IterationStatus};
use strandline_engine::run::TrialKey;
use strandline_service::recording::stored_trials;
use strandline_store::Store;

use super::{Arguments, Prepared, prepare};
use crate::ui::{CommandError, Ui};

/// Claims a stored run and plans the rest of it.
///
/// The suite must be the one that the run was started with, and so must the
/// models: what is stored and what is added form one run.
pub(super) async fn plan(
    reference: &str,
    arguments: &Arguments,
    store: Option<&Store>,
    ui: &mut Ui,
) -> Result<Prepared, CommandError> {
    let Some(store) = store else {
        return Err(CommandError::usage("`--resume` needs the store"));
    };
    let stored = store.run(reference).await?;
    let run = &stored.record;
    let file = ui.suite(Path::new(&run.suite_path))?;
    let resolved = serde_json::to_value(&file.loaded.resolved).unwrap_or_default();
    if sha256_canonical(&resolved) != run.resolved_hash {
        return Err(CommandError::usage(format_args!(
            "`{}` has changed since run {} was started, so the rest would be another run",
            run.suite_path, stored.short_id
        ))
        .hint("start a new run"));
    }
    let mut again = prepare::plan(&file, &arguments.request()?.as_started(&run.settings), ui)?;
    if again.until_decided.is_some() {
        // Trials that were added belong to the plan.
        for (planned, stored) in again.case_variants.iter_mut().zip(&run.plan) {
            planned.trials = planned.trials.max(stored.configured_trials);
        }
    }
    if again.planned_cases() != run.plan {
        return Err(CommandError::usage(format_args!(
            "the plan of run {} cannot be made again: its cases or models differ",
            stored.short_id
        )));
    }
    let missing = store.missing_trials(&run.id).await?;
    if missing.is_empty() && run.ended_at.is_some() {
        return Err(CommandError::usage(format_args!(
            "nothing is missing in run {}: every configured trial was attempted",
            stored.short_id
        ))
        .hint(format_args!("strandline show {}", stored.short_id)));
    }
    let claimed = store.claim_run(&run.id).await?;
    again.run_id.clone_from(&claimed.record.id);
    again.first_started_at = Some(claimed.record.started_at);
    again.settings = claimed.record.settings.clone();
    again.finished = stored_trials(store, &claimed.record.id)
        .await?
        .iter()
        .filter(|trial| was_attempted(trial))
        .map(|trial| (TrialKey::of(trial), trial.into()))
        .collect();
    Ok(Prepared {
        plan: again,
        resumed: true,
    })
}

/// A trial that was never attempted is run again (`verdict.md` §4.1).
fn was_attempted(trial: &TrialRecord) -> bool {
    !matches!(
        trial.status,
        IterationStatus::Pending | IterationStatus::Skipped | IterationStatus::Cancelled
    )
}
