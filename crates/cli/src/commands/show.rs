//! `strandline show RUN|TRIAL`.

use futures::TryStreamExt;
use serde_json::{Value, json};
use strandline_contract::{
    exit::ExitCode,
    judgement::JudgePass,
    run::{ExecutionVariant, LOCAL_PROJECT, TrialRecord},
    sequential::SequentialSettings,
};
use strandline_derive::{
    decision::{Page, summarize_run},
    repeating::sequential_report,
};
use strandline_report::{
    escape,
    terminal::{
        RunInput,
        deciding::deciding_report,
        run_report,
        trial::{Detail, FramesKept, RawFrames, TrialInput, trial_report},
    },
};
use strandline_store::{
    FrameState, Frames, Liveness, Named, Store, StoredRun, StoredTrace, TrialFilter,
};

use crate::{
    reporting::source::quoted,
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Case ids listed in an error.
const LISTED: usize = 12;

/// Arguments of `strandline show`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Id of a run or a trial, or its beginning, or `last` for the last run.
    #[arg(value_name = "RUN|TRIAL")]
    reference: String,
    /// Show a trial of this case of the run.
    #[arg(long, value_name = "ID")]
    case: Option<String>,
    /// Which trial of the case, from 1.
    #[arg(long, value_name = "N", requires = "case", value_parser = clap::value_parser!(u32).range(1..))]
    trial: Option<u32>,
    /// Under which model, where the case runs under several.
    #[arg(long, value_name = "PROVIDER/MODEL", requires = "case")]
    model: Option<String>,
    /// Show only what it would take to decide each case of a run by repeating
    /// it; with `--json`, as `strandline schema sequential-report`.
    #[arg(long, conflicts_with_all = ["case", "trace", "frames"])]
    deciding: bool,
    /// Show the texts of a trial's trace in full.
    #[arg(long)]
    trace: bool,
    /// List the raw frames of a trial.
    #[arg(long)]
    frames: bool,
    /// Print JSON: a run's decision summary, or a trial's record, with its
    /// trace where that is asked for.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open_read_only().await?;
        if let Some(case) = &arguments.case {
            let run = store.run(&arguments.reference).await?;
            let trial = trial_of(&store, &run, case, arguments).await?;
            return show_trial(&store, &run, &trial, arguments, ui).await;
        }
        match store.resolve(&arguments.reference).await? {
            Named::Run(id) => show_run(&store, &store.run(&id).await?, arguments, ui).await,
            Named::Trial(id) => {
                let trial = store.trial(&id).await?;
                let run = store.run(&trial.run_id).await?;
                show_trial(&store, &run, &trial, arguments, ui).await
            }
        }
    })
}

async fn show_run(
    store: &Store,
    run: &StoredRun,
    arguments: &Arguments,
    ui: &mut Ui,
) -> CommandResult {
    if arguments.trace || arguments.frames {
        return Err(CommandError::usage(format_args!(
            "`{}` is a run, and `--trace` and `--frames` show one trial",
            escape::line(&arguments.reference, 80)
        ))
        .hint("add `--case ID --trial N`"));
    }
    let everything = TrialFilter::default();
    let trials: Vec<TrialRecord> = store
        .trial_stream(&run.record.id, &everything)
        .try_collect()
        .await?;
    if arguments.deciding {
        let deciding = sequential_report(&run.record, &SequentialSettings::default());
        if arguments.json {
            ui.json(&deciding)?;
        } else {
            ui.out(deciding_report(&deciding, &ui.style));
        }
        return Ok(ExitCode::Passed);
    }
    if arguments.json {
        let page = Page {
            complete: true,
            next_cursor: None,
        };
        let summary = summarize_run(LOCAL_PROJECT, &run.record, &trials, page);
        ui.json(&summary)?;
        return Ok(ExitCode::Passed);
    }
    let traces = quoted(store, &trials).await?;
    let input = RunInput {
        run: &run.record,
        run_reference: &run.short_id,
        trials: &trials,
        traces: &traces,
    };
    ui.out(run_report(&input, &ui.style));
    let deciding = sequential_report(&run.record, &SequentialSettings::default());
    ui.out(format_args!("\n{}", deciding_report(&deciding, &ui.style)));
    if let Liveness::Dead { pid } = run.liveness {
        ui.talk(format_args!(
            "its process {pid} is gone: `strandline run --resume {}` runs what is missing",
            run.short_id
        ));
    }
    Ok(ExitCode::Passed)
}

async fn show_trial(
    store: &Store,
    run: &StoredRun,
    trial: &TrialRecord,
    arguments: &Arguments,
    ui: &mut Ui,
) -> CommandResult {
    if arguments.json {
        let frames = if arguments.frames {
            Frames::Load
        } else {
            Frames::Skip
        };
        let mut document = json!({ "trial": trial });
        let passes = store.judge_passes(&trial.id).await?;
        if !passes.is_empty() {
            document["judgePasses"] = passes
                .iter()
                .map(|stored| {
                    json!({
                        "number": stored.number,
                        "superseded": stored.superseded,
                        "pass": stored.pass,
                    })
                })
                .collect();
        }
        if arguments.trace || arguments.frames {
            document["trace"] = match store.trace(&trial.id, frames).await? {
                None => Value::Null,
                Some(stored) => json!(stored.trace),
            };
        }
        ui.out(format_args!("{document:#}"));
        return Ok(ExitCode::Passed);
    }
    // Standard error is among the frames and always told.
    let stored = store.trace(&trial.id, Frames::Load).await?;
    let passes: Vec<JudgePass> = store
        .judge_passes(&trial.id)
        .await?
        .into_iter()
        .map(|stored| stored.pass)
        .collect();
    let input = TrialInput {
        run: &run.record,
        run_reference: &run.short_id,
        trial,
        trace: stored.as_ref().map(|stored| &stored.trace),
        frames: stored.as_ref().map_or(FramesKept::InTrace, kept),
        judge_passes: &passes,
    };
    let detail = if arguments.trace {
        Detail::Full
    } else {
        Detail::Brief
    };
    let frames = if arguments.frames {
        RawFrames::Listed
    } else {
        RawFrames::Counted
    };
    ui.out(trial_report(&input, detail, frames, &ui.style));
    Ok(ExitCode::Passed)
}

fn kept(stored: &StoredTrace) -> FramesKept {
    match stored.frame_state {
        FrameState::Loaded | FrameState::NotLoaded => FramesKept::InTrace,
        FrameState::Pruned => FramesKept::Pruned(stored.frame_count),
    }
}

/// Finds the trial that `--case`, `--model` and `--trial` name.
async fn trial_of(
    store: &Store,
    run: &StoredRun,
    case: &str,
    arguments: &Arguments,
) -> Result<TrialRecord, CommandError> {
    let variants: Vec<Option<&ExecutionVariant>> = run
        .record
        .plan
        .iter()
        .filter(|plan| plan.case_id == case)
        .map(|plan| plan.variant.as_ref())
        .collect();
    if variants.is_empty() {
        let ids = run.record.plan.iter().map(|plan| plan.case_id.as_str());
        return Err(CommandError::usage(format_args!(
            "run `{}` has no case `{}`",
            run.short_id,
            escape::line(case, 80)
        ))
        .hint(format_args!("its cases: {}", listed(ids))));
    }
    let names = || variants.iter().flatten().map(|variant| model_name(variant));
    let named: Vec<_> = match &arguments.model {
        None => variants.clone(),
        Some(model) => variants
            .iter()
            .copied()
            .filter(|variant| {
                variant
                    .is_some_and(|variant| variant.model == *model || model_name(variant) == *model)
            })
            .collect(),
    };
    let variant = match named.as_slice() {
        [variant] => *variant,
        [] => {
            return Err(CommandError::usage(format_args!(
                "case `{case}` does not run under `{}`",
                escape::line(arguments.model.as_deref().unwrap_or_default(), 80)
            ))
            .hint(format_args!("its models: {}", listed(names()))));
        }
        _ => {
            return Err(CommandError::usage(format_args!(
                "case `{case}` runs under several models"
            ))
            .hint(format_args!("add `--model`, one of: {}", listed(names()))));
        }
    };
    let filter = TrialFilter {
        case_id: Some(case.to_owned()),
        variant: Some(variant.cloned()),
        iteration_number: arguments.trial.map(|number| number - 1),
        ..TrialFilter::default()
    };
    let page = store.trials(&run.record.id, &filter, None, 2).await?;
    let mut trials = page.items.into_iter();
    match (trials.next(), trials.next()) {
        (Some(trial), None) => Ok(trial),
        (Some(_), Some(_)) => Err(CommandError::usage(format_args!(
            "case `{case}` has several trials"
        ))
        .hint("add `--trial N`, from 1")),
        (None, _) => Err(CommandError::usage(format_args!(
            "that trial of case `{case}` is not stored"
        ))
        .hint(format_args!(
            "`strandline show {}` says how many were attempted",
            run.short_id
        ))),
    }
}

fn model_name(variant: &ExecutionVariant) -> String {
    match &variant.provider {
        Some(provider) => format!("{provider}/{}", variant.model),
        None => variant.model.clone(),
    }
}

/// Returns names as a safe, bounded list.
fn listed(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let mut names: Vec<String> = names
        .map(|name| escape::line(name.as_ref(), 80))
        .filter(|name| seen.insert(name.clone()))
        .collect();
    if names.len() > LISTED {
        names.truncate(LISTED);
        names.push("…".to_owned());
    }
    names.join(", ")
}
