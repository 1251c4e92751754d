//! Suite files of the project: which there are, what is wrong with one, what
//! its cases ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strandline_report::{escape, words::counted};
use strandline_service::{
    planning,
    request::RunRequest,
    suites::{self, CaseFacts, SuiteEntry, SuiteFacts, SuiteFinding},
};

use crate::{
    bounds::{self, PageInfo},
    confine,
    desk::Desk,
    tool::{Answer, Call, EvalTool, Halt},
    trust::candidate,
};

/// Suites on a page unless asked otherwise, and at most.
const SUITES: (usize, usize) = (50, 200);
/// Findings on a page unless asked otherwise, and at most.
const FINDINGS: (usize, usize) = (50, 200);
/// Cases on a page unless asked otherwise, and at most.
const CASES: (usize, usize) = (50, 200);
/// Longest prompt of a case.
const PROMPT: usize = 600;
/// Longest message of a finding.
const MESSAGE: usize = 600;
/// Lines of a text.
const LINES: usize = 20;

/// Lists suite files.
pub(crate) struct ListSuites;

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListSuitesInput {
    /// Suites on a page, 50 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `page.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// Suite files of the project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListSuitesOutput {
    /// In path order.
    suites: Vec<SuiteEntry>,
    /// What the page leaves open.
    page: PageInfo,
    /// The whole project was searched; otherwise the search met a bound and there may be more.
    searched_all: bool,
}

impl EvalTool for ListSuites {
    type Input = ListSuitesInput;
    type Output = ListSuitesOutput;
    const NAME: &'static str = "list_suites";
    const TITLE: &'static str = "List suites";
    const DESCRIPTION: &'static str = "Lists the project's suite files with their servers, numbers of cases and trials, \
        and whether each is valid. Use it first, to see what can be run and to take `path` for the other tools.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let found = suites::list(desk.project());
        let limit = input.limit.unwrap_or(SUITES.0).clamp(1, SUITES.1);
        let (suites, page) = bounds::page(found.suites, input.cursor.as_deref(), limit)?;
        let lines = suites.iter().map(|suite| {
            let path = escape::line(&suite.path, 200);
            match &suite.suite {
                Some(facts) => format!(
                    "{path}  “{}”  {}, {}",
                    escape::line(&facts.name, 80),
                    counted(facts.cases as u64, "case", "cases"),
                    counted(facts.trials, "trial", "trials")
                ),
                None => format!(
                    "{path}  not valid: {}",
                    counted(suite.findings as u64, "finding", "findings")
                ),
            }
        });
        let text = match page.total {
            0 => "The project has no suite file. `author_suite` is a prompt that says how to write one.".to_owned(),
            _ => lines.take(LINES).collect::<Vec<String>>().join("\n"),
        };
        Ok(Answer {
            text,
            content: ListSuitesOutput {
                suites,
                page,
                searched_all: found.complete,
            },
        })
    }
}

/// Checks a suite file.
pub(crate) struct ValidateSuite;

/// Which suite file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ValidateSuiteInput {
    /// The suite file, relative to the project's root.
    path: String,
    /// Findings on a page, 50 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `page.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// What is wrong with a suite file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValidateSuiteOutput {
    /// The file, relative to the project's root.
    path: String,
    /// The file holds a valid suite.
    valid: bool,
    /// What is wrong, with places; each says what to do where that is known.
    findings: Vec<SuiteFinding>,
    /// What the page of findings leaves open.
    page: PageInfo,
    /// What is allowed and still worth a look.
    warnings: Vec<SuiteFinding>,
    /// What it holds; absent when it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteFacts>,
    /// It can be run here and now: servers are bound, keys are there. Nothing was started to tell.
    runnable: bool,
    /// Why it cannot be run here, for a valid file.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<String>,
    /// What a run would start or reach, and whether the user trusts it yet.
    servers: Vec<ServerTrust>,
}

/// What a run would do for a server.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServerTrust {
    /// Its name in the suite.
    name: String,
    /// What would be started or reached.
    action: String,
    /// The user trusts it; otherwise `run_suite` asks first.
    trusted: bool,
}

impl EvalTool for ValidateSuite {
    type Input = ValidateSuiteInput;
    type Output = ValidateSuiteOutput;
    const NAME: &'static str = "validate_suite";
    const TITLE: &'static str = "Validate a suite";
    const DESCRIPTION: &'static str = "Checks a suite file without starting anything: every finding with line, column \
        and what to do, what is worth a look, whether it could be run here (servers bound, keys there), and which \
        servers the user does not trust yet. Use it after every edit of a suite, until it has no finding.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let suite = confine::suite_file(desk.root(), &input.path)?;
        let checked = suites::validate(desk.project(), &suite.file)?;
        let limit = input.limit.unwrap_or(FINDINGS.0).clamp(1, FINDINGS.1);
        let (findings, page) = bounds::page(checked.findings, input.cursor.as_deref(), limit)?;
        let mut warnings = checked.warnings;
        warnings.truncate(FINDINGS.0);
        let (mut blocked, mut servers) = (None, Vec::new());
        if checked.valid {
            let planned = desk
                .suite(&suite)
                .and_then(|file| planning::plan(&file, &RunRequest::default(), desk.root()));
            match planned {
                Ok(planned) => {
                    let candidates = planned.plan.servers.iter();
                    servers = candidates
                        .map(|binding| {
                            let server = candidate(binding, desk.root());
                            let trusted = desk.trust().missing(vec![server.clone()]).is_empty();
                            ServerTrust {
                                name: server.name,
                                action: server.shown,
                                trusted,
                            }
                        })
                        .collect();
                }
                Err(failure) => blocked = Some(crate::failure::Failure::from(failure).text()),
            }
        }
        let mut content = ValidateSuiteOutput {
            path: suite.shown,
            valid: checked.valid,
            findings,
            page,
            warnings,
            suite: checked.suite,
            runnable: checked.valid && blocked.is_none(),
            blocked,
            servers,
        };
        for finding in content.findings.iter_mut().chain(&mut content.warnings) {
            finding.message = escape::line(&finding.message, MESSAGE);
        }
        Ok(Answer {
            text: told(&content),
            content,
        })
    }
}

fn told(checked: &ValidateSuiteOutput) -> String {
    let path = escape::line(&checked.path, 200);
    let mut lines = Vec::new();
    if checked.valid {
        lines.push(format!("`{path}` is a valid suite."));
    } else {
        let findings = counted(checked.page.total, "finding", "findings");
        lines.push(format!("`{path}` is not a valid suite: {findings}."));
    }
    let place = |finding: &SuiteFinding| match (finding.line, finding.column) {
        (Some(line), Some(column)) => format!("{line}:{column} "),
        _ => String::new(),
    };
    let told = checked.findings.iter().take(LINES).map(|finding| {
        let help = finding
            .help
            .as_deref()
            .map(|help| format!(" ({})", escape::line(help, 200)));
        format!(
            "{}{}{}",
            place(finding),
            finding.message,
            help.unwrap_or_default()
        )
    });
    lines.extend(told);
    let warned = checked.warnings.iter().take(LINES);
    lines.extend(
        warned.map(|finding| format!("worth a look: {}{}", place(finding), finding.message)),
    );
    if let Some(blocked) = &checked.blocked {
        lines.push(format!("It cannot be run here: {blocked}"));
    }
    let untrusted = checked.servers.iter().filter(|server| !server.trusted);
    lines.extend(untrusted.map(|server| {
        format!(
            "The user is asked before a run may {} (server {}).",
            server.action,
            escape::line(&server.name, 80)
        )
    }));
    lines.join("\n")
}

/// Lists the cases of a suite.
pub(crate) struct ListCases;

/// Which suite file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListCasesInput {
    /// The suite file, relative to the project's root.
    path: String,
    /// Cases on a page, 50 unless given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `page.nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

/// Cases of a suite.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListCasesOutput {
    /// The file, relative to the project's root.
    path: String,
    /// In file order, disabled ones included.
    cases: Vec<CaseFacts>,
    /// What the page leaves open.
    page: PageInfo,
}

impl EvalTool for ListCases {
    type Input = ListCasesInput;
    type Output = ListCasesOutput;
    const NAME: &'static str = "list_cases";
    const TITLE: &'static str = "List a suite's cases";
    const DESCRIPTION: &'static str = "Lists the cases of a valid suite file: id, what the user asks, model, number of \
        trials, threshold, disabled or not. Use it to take case ids for `run_suite`, or before you add cases, to see \
        what is covered.";

    async fn call(
        desk: &Desk,
        input: Self::Input,
        _call: &Call,
    ) -> Result<Answer<Self::Output>, Halt> {
        let suite = confine::suite_file(desk.root(), &input.path)?;
        let cases = suites::cases(desk.project(), &suite.file)?;
        let limit = input.limit.unwrap_or(CASES.0).clamp(1, CASES.1);
        let (mut cases, page) = bounds::page(cases, input.cursor.as_deref(), limit)?;
        for case in &mut cases {
            for prompt in &mut case.prompts {
                *prompt = escape::block(prompt, PROMPT);
            }
        }
        let lines = cases.iter().take(LINES).map(|case| {
            let trials = counted(u64::from(case.iterations), "trial", "trials");
            let disabled = if case.disabled { ", disabled" } else { "" };
            format!(
                "{}  “{}”  {trials}{disabled}",
                escape::line(&case.id, 80),
                escape::line(&case.title, 120)
            )
        });
        let mut text = lines.collect::<Vec<String>>().join("\n");
        if page.next_cursor.is_some() {
            text.push_str("\nThere are more: pass `page.nextCursor` as `cursor`.");
        }
        Ok(Answer {
            text,
            content: ListCasesOutput {
                path: suite.shown,
                cases,
                page,
            },
        })
    }
}
