//! What must hold before anything is started (`suite-file.md` §9.4, steps 3–6).
//!
//! Each step reports every problem it finds; a later step is only taken when
//! the one before it found none.

mod import;
mod select;
mod support;

pub use import::{Approval, import_gate};
pub use select::select_cases;
pub use support::{Support, check_support, requires_judge};

use std::path::Path;

use strandline_contract::{
    binding::ServerBinding,
    suite::{ResolvedCase, Step},
    words::RefusalCode,
};

use crate::{
    Loaded,
    binding::{self, BindingRequest, Environment, FileSource, Overrides},
    model::{ModelPlan, plan_model},
    refusal::Refusal,
};

/// What a run was asked to do.
#[derive(Debug, Clone, Copy)]
pub struct PreflightRequest<'a> {
    /// The suite.
    pub loaded: &'a Loaded,
    /// The suite file's directory.
    pub suite_dir: &'a Path,
    /// The directory that Strandline was called in.
    pub invocation_dir: &'a Path,
    /// `--case`, none for every enabled case.
    pub cases: &'a [String],
    /// `--model`, none for each case's own.
    pub models: &'a [String],
    /// Approvals of approximated imports.
    pub approvals: &'a [Approval],
    /// What the command line says about servers.
    pub overrides: &'a Overrides,
    /// What this build can do.
    pub support: Support,
}

/// A run that may start.
#[derive(Debug, Clone)]
pub struct Preflight {
    /// The cases to run in authored order, each with the models it runs under.
    pub cases: Vec<PlannedRun>,
    /// How each server is reached, in the suite's order.
    pub bindings: Vec<ServerBinding>,
}

/// A case and the models it runs under.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// The case.
    pub case: ResolvedCase,
    /// One variant each; empty for a case that needs no model and is not
    /// fanned out.
    pub models: Vec<ModelPlan>,
}

/// Checks everything that can be checked before anything is started.
///
/// # Errors
///
/// Every refusal of the first step that has any.
pub fn preflight(
    request: &PreflightRequest<'_>,
    files: &dyn FileSource,
    environment: Environment<'_>,
) -> Result<Preflight, Vec<Refusal>> {
    let suite = &request.loaded.resolved;
    // 3. Case selection.
    let selected = select_cases(suite, request.cases)?;
    // 4. What each case asks for.
    let scripted = |case: &ResolvedCase| would_be_scripted(case, request.models);
    let refusals: Vec<Refusal> = selected
        .iter()
        .flat_map(|case| {
            check_support(
                case,
                suite.defaults.judge.as_ref(),
                scripted(case),
                request.support,
            )
        })
        .collect();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    // 5. Imports.
    import_gate(suite, &selected, request.approvals)?;
    // 6. Target, models and bindings.
    let (cases, mut refusals) = plan_models(&selected, request.models, environment);
    let bindings = binding::bind(
        &BindingRequest {
            target: &suite.target,
            suite_entries: request.loaded.server_entries(),
            suite_dir: request.suite_dir,
            invocation_dir: request.invocation_dir,
            overrides: request.overrides,
        },
        files,
        environment,
    )
    .unwrap_or_else(|found| {
        refusals.extend(found);
        Vec::new()
    });
    if refusals.is_empty() {
        Ok(Preflight { cases, bindings })
    } else {
        Err(refusals)
    }
}

fn plan_models(
    selected: &[&ResolvedCase],
    models: &[String],
    environment: Environment<'_>,
) -> (Vec<PlannedRun>, Vec<Refusal>) {
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut cases = Vec::new();
    for case in selected {
        let mut plans: Vec<ModelPlan> = Vec::new();
        for model in models_of(case, models) {
            // A model of the command line is complete by itself.
            let provider = case.provider.as_deref().filter(|_| models.is_empty());
            match plan_model(model, provider, environment) {
                Ok(plan) if plans.contains(&plan) => {
                    let message = format!("`--model {model}` is given twice");
                    push_once(
                        &mut refusals,
                        Refusal::new(RefusalCode::OptionsInvalid, message),
                    );
                }
                Ok(plan) => plans.push(plan),
                Err(refusal) => push_once(&mut refusals, refusal),
            }
        }
        cases.push(PlannedRun {
            case: (*case).clone(),
            models: plans,
        });
    }
    (cases, refusals)
}

/// The models a case runs under: those of the command line, its own, or none
/// when no step needs one.
fn models_of<'a>(case: &'a ResolvedCase, models: &'a [String]) -> Vec<&'a str> {
    if !needs_model(case) {
        return Vec::new();
    }
    if models.is_empty() {
        return vec![&case.model];
    }
    models.iter().map(String::as_str).collect()
}

fn needs_model(case: &ResolvedCase) -> bool {
    case.steps
        .iter()
        .any(|step| matches!(step, Step::Prompt { .. }))
}

fn would_be_scripted(case: &ResolvedCase, models: &[String]) -> bool {
    models_of(case, models).into_iter().any(|model| {
        let provider = case.provider.as_deref().filter(|_| models.is_empty());
        crate::model::split_model(model, provider)
            .is_ok_and(|(provider, _)| provider.name == strandline_contract::providers::SCRIPTED)
    })
}

/// The same problem of several cases is told once.
fn push_once(refusals: &mut Vec<Refusal>, refusal: Refusal) {
    if !refusals.contains(&refusal) {
        refusals.push(refusal);
    }
}
