//! `strandline validate FILE…`.

use std::path::PathBuf;

use serde::Serialize;
use strandline_contract::exit::ExitCode;
use strandline_service::suite_file::{SuiteText, counted, read_text};
use strandline_suite::{FailureStage, Finding, LoadFailure, LoadOptions, Loaded, Warning, render};

use crate::ui::{CommandError, CommandResult, Ui};

/// Arguments of `strandline validate`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Check suite files and say everything that is wrong with them.\n\n\
        Nothing is started and no server is asked. Exit code 0 when every file is valid \
        (warnings do not count), 2 when one is not or cannot be read."
)]
pub struct Arguments {
    /// Suite files, or `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Accept the public format only: no short form, `mcpServers`, `execution`,
    /// `matchOptions` or `script`.
    #[arg(long)]
    portable: bool,
    /// Print one JSON document about all files.
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    /// Print one line a finding, without source excerpts.
    #[arg(long)]
    plain: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    /// Every file is valid.
    ok: bool,
    files: Vec<FileReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileReport {
    file: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<FailureStage>,
    findings: Vec<Finding>,
    warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SuiteReport {
    id: String,
    name: String,
    /// Dialect of the file, or of the file that a short one stands for.
    schema_version: String,
    short: bool,
    source_hash: String,
    cases: Vec<CaseReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseReport {
    id: String,
    title: String,
    disabled: bool,
    iterations: u32,
}

pub(super) fn run(arguments: &Arguments, ui: &mut Ui) -> CommandResult {
    let options = if arguments.portable {
        LoadOptions::portable()
    } else {
        LoadOptions::authored()
    };
    let mut reports = Vec::new();
    let mut unreadable: Vec<CommandError> = Vec::new();
    for path in &arguments.files {
        let file = match read_text(path) {
            Ok(file) => file,
            Err(error) => {
                unreadable.push(error);
                continue;
            }
        };
        let result = file.load(options.clone());
        if !arguments.json {
            show(arguments, &file, &result, ui);
        }
        reports.push(report(file.name, result));
    }
    let ok = unreadable.is_empty() && reports.iter().all(|report| report.ok);
    if arguments.json {
        let report = Report { ok, files: reports };
        let text = serde_json::to_string_pretty(&report).map_err(|error| {
            CommandError::new(ExitCode::NoDecision, format_args!("no report: {error}"))
        })?;
        ui.out(text);
    }
    for error in &unreadable {
        ui.error(error);
    }
    Ok(if ok {
        ExitCode::Passed
    } else {
        ExitCode::Usage
    })
}

fn show(
    arguments: &Arguments,
    file: &SuiteText,
    result: &Result<Loaded, LoadFailure>,
    ui: &mut Ui,
) {
    match result {
        Ok(_) if arguments.plain => ui.out(format_args!(
            "{}: {}",
            file.name,
            render::plain(&[]).trim_end()
        )),
        Ok(loaded) => {
            if !loaded.warnings.is_empty() {
                let warnings = file.warnings(loaded, ui.look());
                ui.out(warnings);
            }
            ui.out(format_args!("{}: ok · {}", file.name, summary(loaded)));
        }
        Err(failure) if arguments.plain => {
            let lines = render::plain(&failure.findings);
            ui.out(format_args!("{}:\n{}", file.name, lines.trim_end()));
        }
        Err(failure) => {
            let findings = file.findings(failure, ui.look());
            ui.out(findings);
            let count = counted(failure.findings.len(), "finding");
            ui.out(format_args!("{}: {count}", file.name));
        }
    }
}

/// `3 cases (1 disabled) · 15 trials · 2 warnings`
fn summary(loaded: &Loaded) -> String {
    let cases = &loaded.resolved.cases;
    let disabled = cases.iter().filter(|case| case.disabled).count();
    let trials: u32 = loaded
        .resolved
        .enabled_cases()
        .map(|case| case.iterations)
        .sum();
    let count = counted(cases.len(), "case");
    let mut parts = vec![match disabled {
        0 => count,
        _ => format!("{count} ({disabled} disabled)"),
    }];
    parts.push(counted(trials as usize, "trial"));
    if !loaded.warnings.is_empty() {
        parts.push(counted(loaded.warnings.len(), "warning"));
    }
    parts.join(" · ")
}

fn report(file: String, result: Result<Loaded, LoadFailure>) -> FileReport {
    match result {
        Ok(loaded) => FileReport {
            file,
            ok: true,
            stage: None,
            findings: Vec::new(),
            suite: Some(suite(&loaded)),
            warnings: loaded.warnings,
        },
        Err(failure) => FileReport {
            file,
            ok: false,
            stage: Some(failure.stage),
            findings: failure.findings,
            warnings: Vec::new(),
            suite: None,
        },
    }
}

fn suite(loaded: &Loaded) -> SuiteReport {
    let resolved = &loaded.resolved;
    SuiteReport {
        id: resolved.suite.id.clone(),
        name: resolved.suite.name.clone(),
        schema_version: resolved.schema_version.clone(),
        short: loaded.authored.short,
        source_hash: loaded.source_hash.clone(),
        cases: resolved
            .cases
            .iter()
            .map(|case| CaseReport {
                id: case.id.clone(),
                title: case.title.clone(),
                disabled: case.disabled,
                iterations: case.iterations,
            })
            .collect(),
    }
}
