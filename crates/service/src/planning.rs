//! From the command line to a run plan: everything that can be refused is
//! refused here, before anything is started (`suite-file.md` §9.4).

use std::{path::Path, sync::Arc};

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

use crate::{
    Failure, environment, judging,
    request::RunRequest,
    suite_file::{self, Disk, SuiteFile},
};

/// A plan, and what a person should know about it before it runs.
pub struct Planned {
    /// The plan.
    pub plan: RunPlan,
    /// Warnings and hints, one line each.
    pub notices: Vec<String>,
}

/// Plans a run of a suite that was read. Relative paths in the request are
/// taken from `invocation_dir`.
///
/// # Errors
///
/// Every reason why it cannot be run, before anything is started.
pub fn plan(
    file: &SuiteFile,
    request: &RunRequest,
    invocation_dir: &Path,
) -> Result<Planned, Failure> {
    let suite = &file.loaded.resolved;
    let approvals = approvals(request)?;
    let overrides = overrides(request);
    let ready = preflight(
        &PreflightRequest {
            loaded: &file.loaded,
            suite_dir: &file.directory,
            invocation_dir,
            cases: &request.cases,
            models: &request.models,
            approvals: &approvals,
            overrides: &overrides,
            support: Support { judge: true },
        },
        &Disk,
        &environment::variable,
    )
    .map_err(|refusals| suite_file::refused(&file.name, &refusals, file.look))?;
    let factory = ModelFactory::new(ModelSettings {
        base_url: request.model_base_url.clone(),
        ..ModelSettings::default()
    });
    let mut case_variants = Vec::new();
    for planned in ready.cases {
        case_variants.extend(variants(
            planned,
            &factory,
            suite.defaults.match_options.as_ref(),
            request,
        )?);
    }
    let (judge, notices) = if request.no_judge {
        (None, Vec::new())
    } else {
        judging::for_run(
            &request.judge,
            suite,
            request.models.first().map(String::as_str),
            request.model_base_url.as_deref(),
        )?
    };
    let concurrency = request.concurrency.unwrap_or(suite.execution.concurrency);
    let plan = RunPlan {
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
        server_concurrency: request.server_concurrency.unwrap_or(concurrency) as usize,
        fail_fast: request.fail_fast,
        until_decided: request.until_decided,
        seed: request.seed,
        egress_canary: request.egress_canary.clone(),
        judge,
        settings: request.settings(concurrency),
    };
    Ok(Planned { plan, notices })
}

/// Makes a case's variants: one per model, keyed only when the run fans out.
fn variants(
    planned: PlannedRun,
    factory: &ModelFactory,
    suite_match: Option<&MatchOptions>,
    request: &RunRequest,
) -> Result<Vec<CaseVariant>, Failure> {
    let mut case = planned.case;
    if let Some(iterations) = request.iterations {
        case.iterations = iterations;
    }
    let inherited = if request.standard_checks {
        standard::inherited(&case)
    } else {
        Vec::new()
    };
    let grading = CasePlan::compile(
        &case,
        PlanOptions {
            suite_match,
            run_match: Some(&request.match_options),
            inherited: &inherited,
            ..PlanOptions::default()
        },
    )
    .map_err(|error| Failure::usage(format_args!("case `{}`: {error}", case.id)))?;
    let (case, grading) = (Arc::new(case), Arc::new(grading));
    let fans_out = request.models.len() > 1;
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
) -> Result<Arc<dyn ModelClient>, Failure> {
    if model.provider.name == SCRIPTED {
        let script = case.script.as_ref().ok_or_else(|| {
            Failure::usage(format_args!(
                "case `{}` runs under the scripted model and has no `script`",
                case.id
            ))
        })?;
        let script = Script::parse(script).map_err(|problems| {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| problem.message.clone())
                .collect();
            Failure::usage(format_args!(
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
            let refused = Failure::new(exit, format_args!("{}: {}", error.code, error.message));
            match error.hint {
                Some(hint) => refused.hint(hint),
                None => refused,
            }
        })
}

fn approvals(request: &RunRequest) -> Result<Vec<Approval>, Failure> {
    request
        .approvals
        .iter()
        .map(|text| Approval::parse(text))
        .collect::<Result<_, _>>()
        .map_err(|refusal| suite_file::refused("--approve-import", &[refusal], Look::PLAIN))
}

fn overrides(request: &RunRequest) -> Overrides {
    Overrides {
        servers: request.servers.clone(),
        url: request.url.clone(),
        command: request
            .command
            .as_ref()
            .map(|command| command.split_whitespace().map(str::to_owned).collect()),
        config: request.mcp_config.clone(),
    }
}
