//! Suite files: listed, checked, and run from a form that first says what would
//! be used.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Redirect, Response},
};
use http::HeaderMap;
use maud::{Markup, html};
use strandline_report::html::{Links, text};
use strandline_service::suites::{CaseFacts, SuiteEntry, SuiteFinding, SuiteValidation};

use super::{
    ProblemPage, Shown, frame,
    links::{Web, query},
    problem_notice, token_field,
};
use crate::{
    api::suites::{
        FileQuery, PreviewServer, RunPreview, StartRun, cases_of, checked, found, previewed,
        started, stopped,
    },
    app::App,
    login::field,
    params::{In, Params, body},
    problem::Problem,
};

/// Cases of a suite that are listed.
const LISTED: usize = 500;

/// Lists the suite files of the project.
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap) -> Shown {
    let found = found(&app).await?;
    let body = html! {
        h1 { "Suites" }
        p.quiet-text { "Suite files below " span.foreign { (app.project().root().display()) } }
        @if found.suites.is_empty() {
            p { "There is none. " code { "strandline init" } " writes a starter suite." }
        } @else {
            table #suites {
                thead { tr {
                    th scope="col" { "suite" }
                    th scope="col" { "file" }
                    th scope="col" { "servers" }
                    th scope="col" { "holds" }
                } }
                tbody { @for suite in &found.suites { (row(suite)) } }
            }
        }
        @if !found.complete {
            p.quiet-text { "The search met its bounds, so there may be more." }
        }
    };
    Ok(frame::shown(&headers, "/suites", "Suites", &body))
}

fn address(path: &str) -> String {
    format!("/suites/file{}", query([("path", path)]))
}

fn row(suite: &SuiteEntry) -> Markup {
    html! {
        tr data-row {
            td { a href=(address(&suite.path)) {
                @match &suite.suite {
                    Some(facts) => (text::name(&facts.name)),
                    None => "not valid",
                }
            } }
            td { (text::name(&suite.path)) }
            td { @if let Some(facts) = &suite.suite {
                @for (index, server) in facts.servers.iter().enumerate() {
                    @if index > 0 { ", " } (text::name(server))
                }
            } }
            td { @match &suite.suite {
                Some(facts) => {
                    (count(facts.cases as u64, "case", "cases")) ", "
                    (count(facts.trials, "trial", "trials"))
                }
                None => span.ink-bad { (count(suite.findings as u64, "finding", "findings")) },
            } }
        }
    }
}

fn count(number: u64, one: &str, many: &str) -> String {
    strandline_report::words::counted(number, one, many)
}

/// Shows a suite file: what is wrong with it, its cases, and what a run of it
/// would use.
pub(crate) async fn file(
    State(app): State<App>,
    asked: Result<Params<FileQuery>, Problem>,
    headers: HeaderMap,
) -> Shown {
    let Params(asked) = asked?;
    let checked = checked(&app, asked.path.clone()).await?;
    let start = StartRun {
        path: checked.path.clone(),
        ..StartRun::default()
    };
    let (cases, preview) = if checked.valid {
        let cases = cases_of(&app, asked.path.clone()).await?;
        (cases, Some(previewed(&app, &start).await))
    } else {
        (Vec::new(), None)
    };
    let name = checked.suite.as_ref().map(|facts| facts.name.as_str());
    let body = html! {
        nav.crumbs aria-label="Above this page" { a href="/suites" { "Suites" } }
        h1 { (text::name(name.unwrap_or(&checked.path))) }
        p.quiet-text {
            (text::name(&checked.path))
            @if let Some(facts) = &checked.suite {
                " · " a href=[Web.trend(&facts.id)] { "its runs" }
            }
        }
        (findings(&checked))
        @match preview {
            None => {}
            Some(Ok(preview)) => (form(&app, &start, &preview)),
            Some(Err(problem)) => section {
                h2 { "It cannot be run as it is" }
                (problem_notice(&problem))
            },
        }
        @if !cases.is_empty() { (table(&cases)) }
    };
    let title = strandline_report::escape::line(name.unwrap_or(&checked.path), text::MAX_NAME);
    Ok(frame::shown(&headers, "/suites", &title, &body))
}

fn findings(checked: &SuiteValidation) -> Markup {
    html! {
        @if checked.findings.is_empty() {
            p { "The file is valid." }
        } @else {
            section {
                h2 { (count(checked.findings.len() as u64, "finding", "findings")) }
                ul { @for finding in &checked.findings { li { (told(finding)) } } }
            }
        }
        @if !checked.warnings.is_empty() {
            section {
                h2 { (count(checked.warnings.len() as u64, "warning", "warnings")) }
                ul { @for warning in &checked.warnings { li { (told(warning)) } } }
            }
        }
    }
}

fn told(finding: &SuiteFinding) -> Markup {
    html! {
        @if let Some(line) = finding.line {
            "line " (line)
            @if let Some(column) = finding.column { ", column " (column) }
            ": "
        }
        (text::line(&finding.message, text::MAX_LINE))
        @if !finding.pointer.is_empty() { " " code { (text::name(&finding.pointer)) } }
        @if let Some(help) = &finding.help { br; small { (text::line(help, text::MAX_LINE)) } }
    }
}

/// Returns the form that starts a run. It says first what would be used.
fn form(app: &App, asked: &StartRun, preview: &RunPreview) -> Markup {
    html! {
        section #run {
            h2 { "Run it" }
            dl.facts {
                @for server in &preview.servers { (uses(server)) }
                dt { "models" }
                dd { @match preview.models.as_slice() {
                    [] => "none is asked",
                    models => {
                        @for (index, model) in models.iter().enumerate() {
                            @if index > 0 { ", " } (text::name(model))
                        }
                    }
                } }
                @if preview.judged { dt { "judge" } dd { "an LLM judge is asked" } }
                dt { "trials" }
                dd {
                    (count(preview.trials, "trial", "trials")) " of "
                    (count(preview.case_variants, "case variant", "case variants"))
                }
            }
            @for notice in &preview.notices { p.quiet-text { (text::line(notice, text::MAX_LINE)) } }
            p { "These programs are started on this machine, with your rights. The servers do what \
                 their tools do; models may cost money." }
            @if app.launcher().is_none() {
                p { "The store cannot be written, so no run can be started here." }
            } @else {
                form.start method="post" action="/suites/run" {
                    (token_field(app))
                    input type="hidden" name="path" value=(asked.path);
                    input type="hidden" name="sourceHash" value=(preview.source_hash);
                    p {
                        label { "Trials per case "
                            input type="number" name="iterations" min="1" max="100"
                                placeholder="as the suite says"; }
                        " "
                        label { "Model instead of the suite's "
                            input type="text" name="model" placeholder="provider/model"
                                autocomplete="off"; }
                        " "
                        label { "Only the case "
                            input type="text" name="case" placeholder="case id" autocomplete="off"; }
                    }
                    button type="submit" { "Start the run" }
                }
            }
        }
    }
}

fn uses(server: &PreviewServer) -> Markup {
    html! {
        dt { "server " (text::name(&server.name)) }
        dd { (server.transport) ": " span.foreign { (text::line(&server.entry, text::MAX_LINE)) } }
    }
}

fn table(cases: &[CaseFacts]) -> Markup {
    html! {
        section {
            h2 { "Cases" }
            table #cases {
                thead { tr {
                    th scope="col" { "case" }
                    th scope="col" { "id" }
                    th scope="col" { "model" }
                    th.number scope="col" { "trials" }
                } }
                tbody {
                    @for case in cases.iter().take(LISTED) {
                        tr data-row {
                            td {
                                (text::name(&case.title))
                                @if case.disabled { " " small { "disabled" } }
                                @if case.negative { " " small { "negative" } }
                            }
                            td { code { (text::name(&case.id)) } }
                            td { @if let Some(model) = &case.model { (text::name(model)) } }
                            td.number { (case.iterations) }
                        }
                    }
                }
            }
            @if cases.len() > LISTED {
                p.quiet-text { (cases.len() - LISTED) " further cases are in the file" }
            }
        }
    }
}

/// Checks the token of a form, and returns the form.
async fn admitted(app: &App, request: Request) -> Result<Vec<u8>, ProblemPage> {
    let form = body(request.into_body()).await?.to_vec();
    let given = field(&form, crate::login::FIELD);
    if given.is_some_and(|given| app.token().is(&given)) {
        return Ok(form);
    }
    Err(
        Problem::unauthorized("the form does not carry the token of this server")
            .hint("the server was started anew since you opened the page: open it again")
            .into(),
    )
}

/// Starts a run from the form, and leads to it.
pub(crate) async fn run(State(app): State<App>, request: Request) -> Shown {
    let form = admitted(&app, request).await?;
    let filled = |name: &str| field(&form, name).filter(|value| !value.trim().is_empty());
    let iterations = match filled("iterations") {
        None => None,
        Some(number) => Some(number.trim().parse().map_err(|_| {
            Problem::bad_request("the number of trials is a whole number from 1 to 100")
        })?),
    };
    let asked = StartRun {
        path: filled("path").unwrap_or_default(),
        source_hash: filled("sourceHash"),
        cases: filled("case")
            .into_iter()
            .map(|id| id.trim().to_owned())
            .collect(),
        models: filled("model")
            .into_iter()
            .map(|name| name.trim().to_owned())
            .collect(),
        iterations,
        ..StartRun::default()
    };
    let (run_id, _) = started(&app, &asked).await?;
    Ok(Redirect::to(&Web.run(&run_id)).into_response())
}

/// Stops a run from its page, and leads back to it.
pub(crate) async fn stop(
    State(app): State<App>,
    In(reference): In<String>,
    request: Request,
) -> Shown {
    admitted(&app, request).await?;
    let run_id = stopped(&app, &reference).await?;
    let response: Response = Redirect::to(&Web.run(&run_id)).into_response();
    Ok(response)
}
