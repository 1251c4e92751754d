//! From the command line to a run plan: everything that can be refused is
//! refused here, before anything is started (`suite-file.md` §9.4).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use strandline_contract::{
    exit::ExitCode,
    providers::SCRIPTED,
    script::Script,
    suite::{MatchOptions, ResolvedCase},
};
use strandline_derive::assertions::{
    grade::{CasePlan, PlanOptions},
    standard,
};
use strandline_engine::{
    mcp::Redactor,
    models::{ModelClient, ModelFactory, ModelSettings, ScriptedModel},
    run::{CaseVariant, RunPlan},
};
use strandline_suite::{
    binding::Overrides,
    model::ModelPlan,
    preflight::{Approval, PlannedRun, PreflightRequest, Support, preflight},
    render::Look,
};

use super::{Arguments, Prepared, finish::SUITE_PLACE};
use crate::{
    environment, judging,
    suite_file::{self, Disk, SuiteFile},
    ui::{CommandError, Ui},
};

/// The suite that is run when none is named.
const DEFAULT_SUITE: &str = "strandline.yaml";

/// Plans every named suite.
pub(super) fn plans(arguments: &Arguments, ui: &mut Ui) -> Result<Vec<Prepared>, CommandError> {
    let suites = if arguments.suites.is_empty() {
        if !Path::new(DEFAULT_SUITE).exists() {
            return Err(CommandError::usage(format_args!(
                "no suite is named, and there is no `{DEFAULT_SUITE}` in this directory"
            ))
            .hint("name a suite file: `strandline run evals/orders.yaml`")
            .hint("`strandline init` writes a starter suite"));
        }
        vec![PathBuf::from(DEFAULT_SUITE)]
    } else {
        arguments.suites.clone()
    };
    if suites.len() > 1 {
        one_file_each(arguments)?;
    }
    let mut plans = Vec::new();
    for path in &suites {
        let file = suite_file::read(path, ui)?;
        plans.push(Prepared {
            plan: plan(&file, arguments, ui)?,
            resumed: false,
        });
    }
    Ok(plans)
}

/// Refuses a file that every suite's report would overwrite.
fn one_file_each(arguments: &Arguments) -> Result<(), CommandError> {
    let shared = arguments
        .reporters
        .iter()
        .filter_map(|reporter| reporter.file.as_deref())
        .find(|file| !file.to_string_lossy().contains(SUITE_PLACE));
    match shared {
        None => Ok(()),
        Some(file) => Err(CommandError::usage(format_args!(
            "several suites would write their reports to the one file `{}`",
            file.display()
        ))
        .hint(format_args!(
            "put `{SUITE_PLACE}` into its name; it stands for the suite's id"
        ))),
    }
}

/// Plans one suite that was read.
pub(super) fn plan(
    file: &SuiteFile,
    arguments: &Arguments,
    ui: &mut Ui,
) -> Result<RunPlan, CommandError> {
    let suite = &file.loaded.resolved;
    let approvals = approvals(arguments)?;
    let overrides = overrides(arguments);
    let invocation_dir = std::env::current_dir().unwrap_or_default();
    let ready = preflight(
        &PreflightRequest {
            loaded: &file.loaded,
            suite_dir: &file.directory,
            invocation_dir: &invocation_dir,
            cases: &arguments.cases,
            models: &arguments.models,
            approvals: &approvals,
            overrides: &overrides,
            support: Support { judge: true },
        },
        &Disk,
        &environment::variable,
    )
    .map_err(|refusals| suite_file::refused(&file.name, &refusals, file.look))?;
    let factory = ModelFactory::new(ModelSettings {
        base_url: arguments.model_base_url.clone(),
        ..ModelSettings::default()
    });
    let run_match = arguments.match_options();
    let mut case_variants = Vec::new();
    for planned in ready.cases {
        case_variants.extend(variants(
            planned,
            &factory,
            suite.defaults.match_options.as_ref(),
            &run_match,
            arguments,
        )?);
    }
    let judge = judging::for_run(
        &arguments.judge,
        arguments.no_judge,
        suite,
        arguments.models.first().map(String::as_str),
        arguments.model_base_url.as_deref(),
        ui,
    )?;
    let concurrency = arguments.concurrency.unwrap_or(suite.execution.concurrency);
    Ok(RunPlan {
        redactor: Redactor::for_run(&ready.bindings, &environment::secrets()),
        run_id: uuid::Uuid::now_v7().to_string(),
        suite: Arc::new(suite.clone()),
        suite_path: file.name.clone(),
        source_hash: file.loaded.source_hash.clone(),
        servers: ready.bindings,
        case_variants,
        finished: Vec::new(),
        first_started_at: None,
        concurrency: concurrency as usize,
        server_concurrency: arguments.server_concurrency.unwrap_or(concurrency) as usize,
        fail_fast: arguments.fail_fast,
        until_decided: arguments.until_decided()?,
        seed: arguments.seed,
        egress_canary: arguments.egress_canary.clone(),
        judge,
        settings: arguments.settings(concurrency),
    })
}

/// Makes a case's variants: one per model, keyed only when the run fans out.
fn variants(
    planned: PlannedRun,
    factory: &ModelFactory,
    suite_match: Option<&MatchOptions>,
    run_match: &MatchOptions,
    arguments: &Arguments,
) -> Result<Vec<CaseVariant>, CommandError> {
    let mut case = planned.case;
    if let Some(iterations) = arguments.iterations {
        case.iterations = iterations;
    }
    let inherited = if arguments.standard_checks {
        standard::inherited(&case)
    } else {
        Vec::new()
    };
    let grading = CasePlan::compile(
        &case,
        PlanOptions {
            suite_match,
            run_match: Some(run_match),
            inherited: &inherited,
            ..PlanOptions::default()
        },
    )
    .map_err(|error| CommandError::usage(format_args!("case `{}`: {error}", case.id)))?;
    let (case, grading) = (Arc::new(case), Arc::new(grading));
    let fans_out = arguments.models.len() > 1;
    let make = |variant, model| CaseVariant {
        trials: case.iterations,
        case: Arc::clone(&case),
        variant,
        grading: Arc::clone(&grading),
        model,
    };
    if planned.models.is_empty() {
        return Ok(vec![make(None, None)]);
    }
    planned
        .models
        .iter()
        .map(|model| {
            let client = client(&case, model, factory)?;
            Ok(make(fans_out.then(|| model.variant()), Some(client)))
        })
        .collect()
}

fn client(
    case: &ResolvedCase,
    model: &ModelPlan,
    factory: &ModelFactory,
) -> Result<Arc<dyn ModelClient>, CommandError> {
    if model.provider.name == SCRIPTED {
        let script = case.script.as_ref().ok_or_else(|| {
            CommandError::usage(format_args!(
                "case `{}` runs under the scripted model and has no `script`",
                case.id
            ))
        })?;
        let script = Script::parse(script).map_err(|problems| {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| problem.message.clone())
                .collect();
            CommandError::usage(format_args!(
                "the script of case `{}` cannot be read: {}",
                case.id,
                lines.join("; ")
            ))
        })?;
        return Ok(Arc::new(ScriptedModel::new(
            model.model.clone(),
            case.id.clone(),
            script,
        )));
    }
    factory
        .client(model.provider.name, &model.model, &|name| {
            std::env::var(name).ok()
        })
        .map_err(|error| {
            let exit = match error.code {
                "CREDENTIALS_MISSING" => ExitCode::Credentials,
                "SETUP_FAILED" => ExitCode::Setup,
                _ => ExitCode::Usage,
            };
            let refused =
                CommandError::new(exit, format_args!("{}: {}", error.code, error.message));
            match error.hint {
                Some(hint) => refused.hint(hint),
                None => refused,
            }
        })
}

fn approvals(arguments: &Arguments) -> Result<Vec<Approval>, CommandError> {
    arguments
        .approvals
        .iter()
        .map(|text| Approval::parse(text))
        .collect::<Result<_, _>>()
        .map_err(|refusal| suite_file::refused("--approve-import", &[refusal], Look::PLAIN))
}

fn overrides(arguments: &Arguments) -> Overrides {
    Overrides {
        servers: arguments.servers.clone(),
        url: arguments.url.clone(),
        command: arguments
            .command
            .as_ref()
            .map(|command| command.split_whitespace().map(str::to_owned).collect()),
        config: arguments.mcp_config.clone(),
    }
}
