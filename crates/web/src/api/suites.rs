//! Suite files of the project, and runs of them: what one would use, started
//! and stopped.

use std::path::Path;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_contract::{exit::ExitCode, sequential::SequentialSettings};
use strandline_service::{
    Failure,
    launch::{Phase, RunProgress},
    planning::{self, Planned},
    project::Project,
    request::RunRequest,
    suites::{self, CaseFacts, SuiteList, SuiteValidation},
};
use strandline_suite::render::Look;

use super::Answered;
use crate::{
    app::App,
    document,
    pages::links::segment,
    params::{In, JsonBody, Params},
    problem::Problem,
};

/// Runs that are started here and go on, at once.
pub(crate) const MAX_RUNS: usize = 4;
/// How long a caller waits until a started run is in the store.
const STORED_WITHIN: std::time::Duration = std::time::Duration::from_secs(5);

/// Which suite file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileQuery {
    /// The file, relative to the project's directory.
    pub(crate) path: String,
}

/// The cases of a suite file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CaseList {
    /// The file.
    path: String,
    /// Its cases, disabled ones included, in order.
    cases: Vec<CaseFacts>,
}

/// Does work that waits for the disk.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Problem::internal(&format!(
            "a part of the work broke off, which is a defect of ours: {error}"
        ))),
    }
}

/// Finds the suite files of the project.
pub(crate) async fn found(app: &App) -> Result<SuiteList, Problem> {
    let project = app.project().clone();
    apart(move || Ok(suites::list(&project))).await
}

/// Lists the suite files of the project.
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap) -> Answered {
    document::json(&headers, &found(&app).await?)
}

/// Checks a suite file.
pub(crate) async fn checked(app: &App, path: String) -> Result<SuiteValidation, Problem> {
    let project = app.project().clone();
    apart(move || suites::validate(&project, Path::new(&path))).await
}

/// Says everything that is wrong with a suite file.
pub(crate) async fn validate(
    State(app): State<App>,
    Params(query): Params<FileQuery>,
    headers: HeaderMap,
) -> Answered {
    document::json(&headers, &checked(&app, query.path).await?)
}

/// Reads the cases of a suite file.
pub(crate) async fn cases_of(app: &App, path: String) -> Result<Vec<CaseFacts>, Problem> {
    let project = app.project().clone();
    apart(move || suites::cases(&project, Path::new(&path))).await
}

/// Lists the cases of a suite file.
pub(crate) async fn cases(
    State(app): State<App>,
    Params(query): Params<FileQuery>,
    headers: HeaderMap,
) -> Answered {
    let cases = cases_of(&app, query.path.clone()).await?;
    let path = query.path;
    document::json(&headers, &CaseList { path, cases })
}

/// What to run. Servers and models are reached as the suite says.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartRun {
    /// The suite file, relative to the project's directory.
    pub(crate) path: String,
    /// SHA-256 of the file that the caller looked at; another one is not run.
    pub(crate) source_hash: Option<String>,
    /// Ids of the cases to run; all when empty.
    #[serde(default)]
    pub(crate) cases: Vec<String>,
    /// Models instead of each case's own, `PROVIDER/MODEL`; several fan out.
    #[serde(default)]
    pub(crate) models: Vec<String>,
    /// Trials per case.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) iterations: Option<u32>,
    /// Trials at once.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) concurrency: Option<u32>,
    /// Seed for models that take one.
    pub(crate) seed: Option<u64>,
    /// Start no further trial once one has failed.
    #[serde(default)]
    pub(crate) fail_fast: bool,
    /// Repeat each case until it is decided, within the usual bounds.
    #[serde(default)]
    pub(crate) until_decided: bool,
    /// Ask no judge; what is due to be judged stays due.
    #[serde(default)]
    pub(crate) no_judge: bool,
}

/// What a run would use, before anything is started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunPreview {
    /// The suite file.
    pub(crate) path: String,
    /// The suite's name.
    pub(crate) suite_name: String,
    /// SHA-256 of the file that was looked at.
    pub(crate) source_hash: String,
    /// The servers that would be started or reached.
    pub(crate) servers: Vec<PreviewServer>,
    /// The models that would be asked, `PROVIDER/MODEL`.
    pub(crate) models: Vec<String>,
    /// Case variants that would be run.
    pub(crate) case_variants: u64,
    /// Trials of them.
    pub(crate) trials: u64,
    /// An LLM judge would be asked.
    pub(crate) judged: bool,
    /// Warnings and hints.
    pub(crate) notices: Vec<String>,
}

/// A server that would be started or reached.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewServer {
    /// The server's name in the suite.
    pub(crate) name: String,
    /// `stdio`, `http` or `sse`.
    pub(crate) transport: String,
    /// The command or address, as written: variables are not filled in.
    pub(crate) entry: String,
}

/// A run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunStarted {
    /// The run.
    run_id: String,
    /// Warnings and hints.
    notices: Vec<String>,
}

/// Plans a run; nothing is started.
async fn planned(app: &App, asked: &StartRun) -> Result<Planned, Problem> {
    let project = app.project().clone();
    let asked = asked.clone();
    in_range("iterations", asked.iterations, 100)?;
    in_range("concurrency", asked.concurrency, 1_000)?;
    apart(move || plan(&project, &asked)).await
}

fn in_range(name: &str, given: Option<u32>, most: u32) -> Result<(), Problem> {
    match given {
        Some(given) if !(1..=most).contains(&given) => Err(Problem::bad_request(&format!(
            "`{name}` is a whole number from 1 to {most}, not {given}"
        ))),
        _ => Ok(()),
    }
}

fn plan(project: &Project, asked: &StartRun) -> Result<Planned, Failure> {
    let suite = suites::open(project, Path::new(&asked.path), Look::PLAIN)?;
    let request = RunRequest {
        cases: asked.cases.clone(),
        models: asked.models.clone(),
        iterations: asked.iterations,
        concurrency: asked.concurrency,
        seed: asked.seed,
        fail_fast: asked.fail_fast,
        until_decided: asked.until_decided.then(SequentialSettings::default),
        no_judge: asked.no_judge,
        ..RunRequest::default()
    };
    planning::plan(&suite, &request, project.root())
}

/// Says what a run would use.
pub(crate) async fn previewed(app: &App, asked: &StartRun) -> Result<RunPreview, Problem> {
    let Planned { plan, notices } = planned(app, asked).await?;
    let mut models: Vec<String> = Vec::new();
    for variant in &plan.case_variants {
        if let Some(model) = &variant.model {
            let name = format!("{}/{}", model.provider(), model.model());
            if !models.contains(&name) {
                models.push(name);
            }
        }
    }
    let servers = plan.servers.iter().map(|server| PreviewServer {
        name: server.name.clone(),
        transport: server.transport.kind().to_owned(),
        entry: server.display.clone(),
    });
    let variants = plan.case_variants.iter();
    Ok(RunPreview {
        path: plan.suite_path.clone(),
        suite_name: plan.suite.suite.name.clone(),
        source_hash: plan.source_hash.clone(),
        servers: servers.collect(),
        models,
        case_variants: plan.case_variants.len() as u64,
        trials: variants.map(|variant| u64::from(variant.trials)).sum(),
        judged: plan.judge.is_some(),
        notices,
    })
}

/// Answers with what a run would use.
pub(crate) async fn preview(
    State(app): State<App>,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<StartRun>,
) -> Answered {
    document::json(&headers, &previewed(&app, &asked).await?)
}

/// Starts a run, and returns when it is in the store.
pub(crate) async fn started(app: &App, asked: &StartRun) -> Result<(String, Vec<String>), Problem> {
    let launcher = app.launcher().ok_or_else(|| {
        Problem::conflict("the store cannot be written, so no run can be started here")
    })?;
    let Planned { plan, notices } = planned(app, asked).await?;
    if asked
        .source_hash
        .as_ref()
        .is_some_and(|seen| *seen != plan.source_hash)
    {
        return Err(Problem::conflict(&format!(
            "`{}` has changed since you looked at it, so it was not run",
            plan.suite_path
        ))
        .hint("look at what it would use now, and start it again"));
    }
    let going = launcher.all();
    let going = going.iter().filter(|run| run.phase != Phase::Ended);
    if going.count() >= MAX_RUNS {
        return Err(Problem::too_many(
            &format!("{MAX_RUNS} runs go on, and no more may at once"),
            30,
        )
        .hint("wait for one of them to end, or stop it"));
    }
    let run_id = launcher.start(plan)?;
    if let Some(mut progress) = launcher.watch(&run_id) {
        let stored =
            progress.wait_for(|now: &std::sync::Arc<RunProgress>| now.phase != Phase::Starting);
        // Whoever looks too early is told so; the run goes on.
        let _ = tokio::time::timeout(STORED_WITHIN, stored).await;
    }
    Ok((run_id, notices))
}

/// Starts a run.
pub(crate) async fn start(
    State(app): State<App>,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<StartRun>,
) -> Answered {
    let (run_id, notices) = started(&app, &asked).await?;
    let location = format!("{}/runs/{}", super::ROOT, segment(&run_id));
    let view = RunStarted { run_id, notices };
    let mut answer = document::json_with(&headers, StatusCode::ACCEPTED, &view)?;
    if let Ok(location) = HeaderValue::from_str(&location) {
        answer.headers_mut().insert(header::LOCATION, location);
    }
    Ok(answer)
}

/// A run that was asked to stop.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunStopping {
    /// The run.
    run_id: String,
}

/// Asks a run to stop: trials in flight are cancelled, and it is stored as far
/// as it came.
pub(crate) async fn stopped(app: &App, run: &str) -> Result<String, Problem> {
    let run_id = app.store().resolve_run(run).await?;
    if app
        .launcher()
        .is_some_and(|launcher| launcher.stop(&run_id))
    {
        return Ok(run_id);
    }
    let head = app.store().run_head(&run_id).await?;
    Err(match head.liveness {
        strandline_store::Liveness::Live { pid } => Problem::conflict(&format!(
            "run `{}` is being run by another process, {pid}",
            head.short_id
        ))
        .hint("stop it where it was started"),
        _ => Problem::conflict(&format!("run `{}` does not go on any more", head.short_id)),
    })
}

/// Stops a run.
pub(crate) async fn stop(State(app): State<App>, In(run): In<String>) -> Answered {
    let run_id = stopped(&app, &run).await?;
    let body = axum::Json(RunStopping { run_id });
    let answer: Response = (StatusCode::ACCEPTED, body).into_response();
    Ok(answer)
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let problem = match failure.exit {
            ExitCode::Usage => Self::bad_request(&failure.message),
            ExitCode::Credentials => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "credentials",
                "a credential is missing or was rejected",
                &failure.message,
            ),
            ExitCode::Setup => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "setup",
                "the set-up does not allow it",
                &failure.message,
            ),
            ExitCode::Passed | ExitCode::Failed | ExitCode::NoDecision => {
                Self::internal(&failure.message)
            }
        };
        failure
            .hints
            .iter()
            .fold(problem, |problem, hint| problem.hint(hint))
    }
}
