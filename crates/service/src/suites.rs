//! The suite files of a project: which there are, what is wrong with them, and
//! what their cases ask.

use std::{
    fs,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::Serialize;
use strandline_contract::suite::{ResolvedCase, Step};
use strandline_suite::{Finding, LoadOptions, Loaded, render::Look};

use crate::{
    Failure,
    project::Project,
    suite_file::{self, SuiteFile, SuiteText, read_text},
};

/// Directories deep that suite files are looked for.
const MAX_DEPTH: usize = 6;
/// Directory entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Suite files that are listed.
const MAX_SUITES: usize = 1_000;
/// Files larger than this are no suite that a person wrote.
const MAX_LOOKED_AT: u64 = 1 << 20;
/// Directories that hold other people's files.
const FOREIGN: [&str; 5] = ["node_modules", "target", "dist", "venv", "__pycache__"];

/// The suite files of a project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteList {
    /// In path order.
    pub suites: Vec<SuiteEntry>,
    /// The search looked at everything; otherwise it met a bound.
    pub complete: bool,
}

/// One suite file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteEntry {
    /// Where it is, relative to the project's directory.
    pub path: String,
    /// It can be loaded.
    pub valid: bool,
    /// How many things are wrong with it.
    pub findings: usize,
    /// What it holds; absent when it cannot be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteFacts>,
}

/// What a suite file holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteFacts {
    /// The suite's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// SHA-256 of the file's bytes.
    pub source_hash: String,
    /// Servers it is run on, by name.
    pub servers: Vec<String>,
    /// Cases, disabled ones included.
    pub cases: usize,
    /// Trials of the enabled cases, under one model.
    pub trials: u64,
}

/// What is wrong with a suite file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteValidation {
    /// The file.
    pub path: String,
    /// It can be run as far as the file alone tells.
    pub valid: bool,
    /// How far loading came, when it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Everything that is wrong, in order.
    pub findings: Vec<SuiteFinding>,
    /// What is allowed and still worth a look.
    pub warnings: Vec<SuiteFinding>,
    /// What it holds; absent when it cannot be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteFacts>,
}

/// One thing that is wrong with a suite file, or worth a look.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteFinding {
    /// Stable word.
    pub code: String,
    /// Where in the document, such as `cases[3].steps[0].id`; empty for the
    /// file itself.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Column in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// One case of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseFacts {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What the user is after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Kept in the file, never run.
    pub disabled: bool,
    /// Correct behaviour is to call nothing.
    pub negative: bool,
    /// The model, as the suite names it; absent when no step needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Trials.
    pub iterations: u32,
    /// Fraction of eligible trials that must pass.
    pub pass_threshold: f64,
    /// What the user says, step by step.
    pub prompts: Vec<String>,
    /// Tools that steps without a model call.
    pub direct_calls: Vec<String>,
}

/// Lists the suite files below a project's directory.
///
/// A file is listed when it loads, or when it looks like a suite and does not.
/// Hidden directories and those of package managers are left out.
#[must_use]
pub fn list(project: &Project) -> SuiteList {
    let mut search = Search::default();
    search.directory(project.root(), 0);
    search.candidates.sort();
    let mut complete = search.complete;
    let mut suites = Vec::new();
    for path in search.candidates {
        if suites.len() == MAX_SUITES {
            complete = false;
            break;
        }
        let Ok(text) = read_text(&path) else {
            continue;
        };
        let loaded = text.load(LoadOptions::authored());
        if loaded.is_err() && !looks_like_a_suite(&text.text) {
            continue;
        }
        suites.push(SuiteEntry {
            path: project.relative(&path),
            valid: loaded.is_ok(),
            findings: loaded
                .as_ref()
                .err()
                .map_or(0, |failure| failure.findings.len()),
            suite: loaded.as_ref().ok().map(facts),
        });
    }
    SuiteList { suites, complete }
}

/// Says everything that is wrong with a suite file; nothing is started.
///
/// # Errors
///
/// When the file lies outside the project or cannot be read.
pub fn validate(project: &Project, path: &Path) -> Result<SuiteValidation, Failure> {
    let text = read(project, path)?;
    let path = text.name.clone();
    Ok(match text.load(LoadOptions::authored()) {
        Ok(loaded) => SuiteValidation {
            path,
            valid: true,
            stage: None,
            findings: Vec::new(),
            warnings: loaded
                .warnings
                .iter()
                .map(|warning| SuiteFinding::new(warning.code.to_owned(), &warning.finding))
                .collect(),
            suite: Some(facts(&loaded)),
        },
        Err(failure) => SuiteValidation {
            path,
            valid: false,
            stage: Some(word(&failure.stage)),
            findings: failure
                .findings
                .iter()
                .map(|finding| SuiteFinding::new(word(&finding.code), finding))
                .collect(),
            warnings: Vec::new(),
            suite: None,
        },
    })
}

/// Lists the cases of a suite file, disabled ones included.
///
/// # Errors
///
/// When the file lies outside the project, cannot be read, or is no valid
/// suite.
pub fn cases(project: &Project, path: &Path) -> Result<Vec<CaseFacts>, Failure> {
    let text = read(project, path)?;
    let loaded = text.load(LoadOptions::authored()).map_err(|failure| {
        let count = failure.findings.len();
        let first = failure.findings.first();
        let first = first.map_or_else(String::new, |finding| format!(": {}", finding.message));
        Failure::usage(format_args!(
            "`{}` is not a valid suite file ({count} findings){first}",
            text.name
        ))
        .hint("validate the suite to see every finding with its place")
    })?;
    Ok(loaded.resolved.cases.iter().map(CaseFacts::of).collect())
}

/// Reads and loads a suite file of a project, to run it; its name is relative
/// to the project.
///
/// # Errors
///
/// When the file lies outside the project, cannot be read, or is no valid
/// suite: then every finding with its place.
pub fn open(project: &Project, path: &Path, look: Look) -> Result<SuiteFile, Failure> {
    let directory = project.file(path)?.parent().map(Path::to_path_buf);
    suite_file::loaded(read(project, path)?, directory.unwrap_or_default(), look)
}

/// Reads a suite file of a project; its name is relative to the project.
fn read(project: &Project, path: &Path) -> Result<SuiteText, Failure> {
    let file = project.file(path)?;
    let mut text = read_text(&file)?;
    text.name = project.relative(&file);
    Ok(text)
}

fn facts(loaded: &Loaded) -> SuiteFacts {
    let resolved = &loaded.resolved;
    SuiteFacts {
        id: resolved.suite.id.clone(),
        name: resolved.suite.name.clone(),
        source_hash: loaded.source_hash.clone(),
        servers: resolved
            .target
            .servers
            .iter()
            .flatten()
            .map(|server| server.name.clone())
            .collect(),
        cases: resolved.cases.len(),
        trials: resolved
            .enabled_cases()
            .map(|case| u64::from(case.iterations))
            .sum(),
    }
}

/// Returns the wire word of a unit variant.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

impl SuiteFinding {
    fn new(code: String, finding: &Finding) -> Self {
        Self {
            code,
            pointer: finding.pointer.clone(),
            message: finding.message.clone(),
            line: finding.location.map(|location| location.line as u64),
            column: finding.location.map(|location| location.column as u64),
            help: finding.help.clone().or_else(|| finding.label.clone()),
        }
    }
}

impl CaseFacts {
    fn of(case: &ResolvedCase) -> Self {
        let mut prompts = Vec::new();
        let mut direct_calls = Vec::new();
        for step in &case.steps {
            match step {
                Step::Prompt { prompt, .. } => prompts.push(prompt.clone()),
                Step::ToolCall { tool_name, .. } => direct_calls.push(tool_name.clone()),
                _ => {}
            }
        }
        let model = match &case.provider {
            Some(provider) if !case.model.contains('/') => format!("{provider}/{}", case.model),
            _ => case.model.clone(),
        };
        Self {
            id: case.id.clone(),
            title: case.title.clone(),
            intent: case.intent.clone(),
            disabled: case.disabled,
            negative: case.is_negative_test,
            model: (!prompts.is_empty()).then_some(model),
            iterations: case.iterations,
            pass_threshold: case.pass_threshold,
            prompts,
            direct_calls,
        }
    }
}

/// A walk through a project.
#[derive(Debug)]
struct Search {
    candidates: Vec<PathBuf>,
    entries: usize,
    complete: bool,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            candidates: Vec::new(),
            entries: 0,
            complete: true,
        }
    }
}

impl Search {
    fn directory(&mut self, directory: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(directory) else {
            return;
        };
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.complete = false;
                return;
            }
            // Links are not followed: they lead out of the project, or round.
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                if FOREIGN.contains(&name.as_ref()) {
                    continue;
                }
                if depth == MAX_DEPTH {
                    self.complete = false;
                    continue;
                }
                self.directory(&entry.path(), depth + 1);
            } else if kind.is_file()
                && [".yaml", ".yml", ".json"]
                    .iter()
                    .any(|extension| name.ends_with(extension))
                && entry
                    .metadata()
                    .is_ok_and(|metadata| metadata.len() <= MAX_LOOKED_AT)
            {
                self.candidates.push(entry.path());
            }
        }
    }
}

/// Returns whether a file that does not load was meant to be a suite: it has
/// cases, and what only suites have beside them.
fn looks_like_a_suite(text: &str) -> bool {
    let has = |key: &str| {
        text.lines().any(|line| {
            let line = line.trim_start_matches([' ', '{']);
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'))
                || line
                    .strip_prefix(&format!("\"{key}\""))
                    .is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    };
    has("cases") && (has("suite") || has("server") || has("target") || has("model"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Project) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("makes directories");
            fs::write(path, text).expect("writes");
        };
        let good = "server: node server.js\nmodel: openai/small\ncases:\n  - prompt: Hello?\n    answer: {contains: hello}\n";
        write("evals/good.yaml", good);
        write("evals/broken.yaml", "server: 7\ncases: 3\n");
        write("other.yaml", "services:\n  web: {}\n");
        write("node_modules/x/evals.yaml", good);
        write(".hidden/evals.yaml", good);
        let project = Project::open(directory.path()).expect("opens");
        (directory, project)
    }

    #[test]
    fn suites_are_found_valid_or_not_and_nothing_else_is() {
        let (_directory, project) = project();
        let found = list(&project);
        assert!(found.complete);
        let paths: Vec<(&str, bool)> = found
            .suites
            .iter()
            .map(|suite| (suite.path.as_str(), suite.valid))
            .collect();
        assert_eq!(
            paths,
            [("evals/broken.yaml", false), ("evals/good.yaml", true)]
        );
        assert_eq!(found.suites[1].suite.as_ref().expect("facts").cases, 1);
    }

    #[test]
    fn findings_have_their_places() {
        let (_directory, project) = project();
        let validation = validate(&project, Path::new("evals/broken.yaml")).expect("reads");
        assert!(!validation.valid);
        assert!(validation.findings.iter().all(|found| found.line.is_some()));
        let cases = cases(&project, Path::new("evals/good.yaml")).expect("is valid");
        assert_eq!(cases[0].prompts, ["Hello?"]);
        assert_eq!(cases[0].model.as_deref(), Some("openai/small"));
    }
}
