//! `strandline judge RUN`: asks LLM judges about the trials of a stored run.

use std::{collections::BTreeMap, sync::Arc};

use futures::{StreamExt, TryStreamExt, stream};
use strandline_contract::{
    exit::ExitCode,
    run::{RunRecord, TrialRecord},
    suite::ResolvedSuite,
    verdict::{CaseInput, ValidityPolicy},
    words::{MeasurementUnit, Verdict, Vocabulary},
};
use strandline_derive::{
    judge::{JudgeSettings, suite_of},
    verdict::derive_decision,
};
use strandline_engine::{
    judge::{JudgePlan, JudgeRun, Judged, NotJudged, Subject, Wanted, case_of},
    run::Stop,
};
use strandline_report::{
    escape,
    terminal::{RunInput, run_report},
};
use strandline_service::{
    judging::{JudgeRequest, NoJudge},
    roll_ups,
};
use strandline_store::{Frames, Liveness, Store, StoredRun, TrialFilter};

use crate::{
    judging::JudgeArguments,
    store::{StoreArguments, block_on},
    ui::{CommandError, CommandResult, Ui},
};

/// Arguments of `strandline judge`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Id of a run, or its beginning, or `last`.
    run: String,
    /// Judge only this case, by id.
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
    /// Judge again what was judged; the judgements before are kept as superseded.
    #[arg(long)]
    force: bool,
    /// Base URL that replaces every provider's own.
    #[arg(long, value_name = "URL")]
    model_base_url: Option<String>,
    /// No report.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    judge: JudgeArguments,
    #[command(flatten, next_help_heading = "Options")]
    store: StoreArguments,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    block_on(async {
        let store = arguments.store.open().await?;
        let outcome = judge_run(&store, arguments, ui).await;
        store.close().await?;
        outcome
    })
}

/// A stored run with what judging it needs.
struct Work {
    run: StoredRun,
    suite: ResolvedSuite,
    trials: Vec<TrialRecord>,
}

async fn judge_run(store: &Store, arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let work = read(store, arguments).await?;
    let tested = work.run.record.settings.pointer("/models/0");
    let plan = JudgeRequest::from(&arguments.judge)
        .judge(
            &work.suite,
            tested.and_then(serde_json::Value::as_str),
            arguments.model_base_url.as_deref(),
        )?
        .map_err(NoJudge::into_failure)?;
    let stop = Stop::new();
    let watching = super::run::watch_signals(stop.clone());
    let counts = judge_trials(store, arguments, work, plan, &stop, ui).await;
    watching.abort();
    counts
}

async fn read(store: &Store, arguments: &Arguments) -> Result<Work, CommandError> {
    let run = store.run(&arguments.run).await?;
    if let Liveness::Live { pid } = run.liveness {
        return Err(CommandError::usage(format_args!(
            "run `{}` is still being run by process {pid}, which judges it itself",
            run.short_id
        ))
        .hint("wait for it to end"));
    }
    let suite = suite_of(&run.record).map_err(|error| {
        CommandError::new(
            ExitCode::NoDecision,
            format_args!(
                "the suite of run `{}` cannot be read, so its trials cannot be judged: {error}",
                run.short_id
            ),
        )
    })?;
    for case in &arguments.cases {
        if !run.record.plan.iter().any(|plan| plan.case_id == *case) {
            return Err(CommandError::usage(format_args!(
                "run `{}` has no case `{}`",
                run.short_id,
                escape::line(case, 80)
            ))
            .hint(format_args!(
                "`strandline show {}` lists them",
                run.short_id
            )));
        }
    }
    let everything = TrialFilter::default();
    let trials = store
        .trial_stream(&run.record.id, &everything)
        .try_collect()
        .await?;
    Ok(Work { run, suite, trials })
}

/// What became of the trials of a run.
#[derive(Debug, Default)]
struct Counts {
    judged: usize,
    /// Nothing was wanted or could be asked.
    left: usize,
    /// The trace was pruned.
    without_trace: usize,
    blocked: usize,
}

async fn judge_trials(
    store: &Store,
    arguments: &Arguments,
    work: Work,
    plan: JudgePlan,
    stop: &Stop,
    ui: &mut Ui,
) -> CommandResult {
    let Work {
        run,
        suite,
        mut trials,
    } = work;
    let concurrency = plan.concurrency;
    let judge = Arc::new(JudgeRun::new(plan));
    let wanted = if arguments.force {
        Wanted::All
    } else {
        Wanted::Missing
    };
    let mut record = run.record.clone();
    let mut counts = Counts::default();
    let chosen: Vec<usize> = (0..trials.len())
        .filter(|index| {
            let case = &trials[*index].case_id;
            arguments.cases.is_empty() || arguments.cases.contains(case)
        })
        .collect();
    let subjects: Vec<(usize, TrialRecord)> = chosen
        .into_iter()
        .map(|index| (index, trials[index].clone()))
        .collect();
    let total = subjects.len();
    let mut outcomes = stream::iter(subjects)
        .map(|(index, trial)| {
            let judge = Arc::clone(&judge);
            let (record, suite) = (&run.record, &suite);
            async move {
                let outcome = judge_one(store, &judge, record, suite, &trial, wanted, stop).await;
                (index, outcome)
            }
        })
        .buffer_unordered(concurrency);
    while let Some((index, outcome)) = outcomes.next().await {
        match outcome? {
            Outcome::Judged(judged) => {
                counts.judged += 1;
                let changed = trials[index].result != judged.trial.result
                    || trials[index].evaluator_error != judged.trial.evaluator_error;
                trials[index] = judged.trial;
                if changed {
                    decide(&mut record, &suite, &trials);
                }
                let replaced = changed.then_some(&record);
                store
                    .save_judgement(&trials[index], &judged.pass, replaced)
                    .await?;
                if !arguments.quiet {
                    ui.talk(format_args!(
                        "[{}/{total}] judged {} · trial {}",
                        counts.judged + counts.left + counts.without_trace + counts.blocked,
                        escape::line(&trials[index].title, 80),
                        trials[index].iteration_number + 1
                    ));
                }
            }
            Outcome::NoTrace => counts.without_trace += 1,
            Outcome::Left(NotJudged::NothingToAsk) => counts.left += 1,
            Outcome::Left(NotJudged::BudgetUsedUp) => counts.blocked += 1,
            Outcome::Left(NotJudged::Stopped) => {}
        }
    }
    drop(outcomes);
    // A run that never ended has no funnel to build anew.
    if counts.judged > 0 && record.ended_at.is_some() {
        roll_ups::rebuild(store, &record).await?;
    }
    say(&counts, &run, arguments, stop, ui);
    if !arguments.quiet {
        let input = RunInput {
            run: &record,
            run_reference: &run.short_id,
            trials: &trials,
            traces: &BTreeMap::new(),
        };
        ui.out(run_report(&input, &ui.style));
    }
    Ok(exit_code(&record))
}

/// What became of one trial.
enum Outcome {
    Judged(Box<Judged>),
    NoTrace,
    Left(NotJudged),
}

async fn judge_one(
    store: &Store,
    judge: &JudgeRun,
    run: &RunRecord,
    suite: &ResolvedSuite,
    trial: &TrialRecord,
    wanted: Wanted,
    stop: &Stop,
) -> Result<Outcome, CommandError> {
    if stop.is_cancelled() {
        return Ok(Outcome::Left(NotJudged::Stopped));
    }
    let Some(case) = case_of(suite, trial) else {
        return Ok(Outcome::Left(NotJudged::NothingToAsk));
    };
    let settings = JudgeSettings::of(suite, case);
    if !settings.enabled {
        return Ok(Outcome::Left(NotJudged::NothingToAsk));
    }
    let Some(stored) = store.trace(&trial.id, Frames::Skip).await? else {
        return Ok(Outcome::NoTrace);
    };
    let tested = tested_model(suite, trial);
    let subject = Subject {
        settings: &settings,
        trial,
        trace: &stored.trace,
        servers: &run.servers,
        tested_model: Some(&tested),
    };
    Ok(match judge.judge(&subject, wanted, stop).await {
        Ok(judged) => Outcome::Judged(Box::new(judged)),
        Err(why) => Outcome::Left(why),
    })
}

/// Returns the model under test as `provider/model`, as far as it is known.
fn tested_model(suite: &ResolvedSuite, trial: &TrialRecord) -> String {
    let named = trial
        .variant
        .as_ref()
        .map(|variant| match &variant.provider {
            Some(provider) => format!("{provider}/{}", variant.model),
            None => variant.model.clone(),
        });
    let of_case = || {
        let case = case_of(suite, trial)?;
        Some(match &case.provider {
            Some(provider) if !case.model.starts_with(&format!("{provider}/")) => {
                format!("{provider}/{}", case.model)
            }
            _ => case.model.clone(),
        })
    };
    named.or_else(of_case).unwrap_or_default()
}

/// Takes the run's decision again over every configured trial.
fn decide(record: &mut RunRecord, suite: &ResolvedSuite, trials: &[TrialRecord]) {
    // A run that never got to a decision keeps none.
    if record.decision.is_none() && record.integrity_error.is_none() {
        return;
    }
    let cases: Vec<CaseInput> = record
        .plan
        .iter()
        .map(|planned| CaseInput {
            case_id: planned.case_id.clone(),
            execution_variant: planned.variant.clone(),
            configured_trials: planned.configured_trials.into(),
            effective_pass_threshold: planned.pass_threshold,
            trials: trials
                .iter()
                .filter(|trial| {
                    trial.case_id == planned.case_id && trial.variant == planned.variant
                })
                .map(Into::into)
                .collect(),
        })
        .collect();
    let policy = ValidityPolicy::from(&suite.defaults.validity);
    let decision = derive_decision(&policy, &cases)
        .map_err(|refusal| refusal.to_string())
        .and_then(|decision| serde_json::to_value(decision).map_err(|error| error.to_string()));
    match decision {
        Ok(decision) => {
            record.decision = Some(decision);
            record.integrity_error = None;
        }
        Err(message) => {
            record.decision = None;
            record.integrity_error = Some(message);
        }
    }
}

fn say(counts: &Counts, run: &StoredRun, arguments: &Arguments, stop: &Stop, ui: &mut Ui) {
    let trials = |count: usize| {
        let unit = MeasurementUnit::Trial.words(count as u64);
        format!("{count} {unit}")
    };
    ui.talk(format_args!("judged {}", trials(counts.judged)));
    if counts.left > 0 {
        let why = if arguments.force {
            "nothing can be asked about them"
        } else {
            "they are judged already, or nothing can be asked about them"
        };
        ui.talk(format_args!(
            "left {} as they are: {why}",
            trials(counts.left)
        ));
        if !arguments.force && counts.judged == 0 {
            ui.talk("hint: `--force` judges again");
        }
    }
    if counts.without_trace > 0 {
        ui.talk(format_args!(
            "left {} as they are: their traces were pruned",
            trials(counts.without_trace)
        ));
    }
    if counts.blocked > 0 {
        ui.talk(format_args!(
            "left {} due: the budget for judges is used up",
            trials(counts.blocked)
        ));
        ui.talk(format_args!(
            "hint: `strandline judge {}` goes on where it stopped",
            run.short_id
        ));
    }
    if stop.is_cancelled() {
        ui.talk(format_args!(
            "stopped; `strandline judge {}` judges what is left",
            run.short_id
        ));
    }
}

fn exit_code(record: &RunRecord) -> ExitCode {
    let verdict = record.decision.as_ref();
    let verdict = verdict.and_then(|decision| decision.get("verdict")?.as_str());
    match verdict.and_then(Verdict::from_wire) {
        Some(Verdict::Passed) => ExitCode::Passed,
        Some(Verdict::Failed) => ExitCode::Failed,
        Some(Verdict::Inconclusive) | None => ExitCode::NoDecision,
    }
}
