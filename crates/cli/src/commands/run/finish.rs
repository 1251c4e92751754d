//! What a run ends with: report, JSON, warnings and exit code.

use std::{fs, path::Path};

use strandline_contract::{
    exit::ExitCode,
    run::{LOCAL_PROJECT, RunRecord},
    sequential::{SequentialSettings, sequential_settings},
    words::{RefusalCode, Vocabulary},
};
use strandline_derive::{
    decision::{Page, summarize_run},
    repeating::sequential_report,
};
use strandline_engine::run::RunEnd;
use strandline_report::terminal::{RunInput, deciding::deciding_report, run_report};
use strandline_service::recording::{Heard as HeardRun, sort_by_plan, stored_trials};
use strandline_store::{Store, StoredRun};

use super::Arguments;
use crate::{
    reporting::{
        self, Limits, Reporter, Target,
        source::{Heard, Source},
    },
    ui::{CommandError, CommandResult, Ui},
};

/// Stands for the suite's id in a report's file name.
pub(super) const SUITE_PLACE: &str = "{suite}";

/// Prints the report, writes what was asked for and returns the exit code.
pub(super) async fn finish(
    end: RunEnd,
    mut heard: HeardRun,
    arguments: &Arguments,
    store: Option<&Store>,
    ui: &mut Ui,
) -> CommandResult {
    let run = &end.record;
    if let Some(store) = store.filter(|_| arguments.resume.is_some()) {
        heard.trials = stored_trials(store, &run.id).await?;
    }
    sort_by_plan(&mut heard.trials, run);
    let stored = match store {
        Some(store) => store.run(&run.id).await.ok(),
        None => None,
    };
    let reference = stored.as_ref().map_or(&run.id, |stored| &stored.short_id);
    let input = RunInput {
        run,
        run_reference: reference,
        trials: &heard.trials,
        traces: &heard.traces,
    };
    if !arguments.quiet {
        let mut report = run_report(&input, &ui.style);
        if sequential_settings(&run.settings).is_some() {
            let deciding = sequential_report(run, &SequentialSettings::default());
            report.push_str("\n\n");
            report.push_str(&deciding_report(&deciding, &ui.style));
        }
        if data_goes_to_stdout(arguments) {
            ui.talk(report);
        } else {
            ui.out(report);
        }
    }
    let mut exit = exit_code(&end);
    let here = Heard {
        trials: &heard.trials,
        traces: &heard.traces,
    };
    for reporter in &arguments.reporters {
        let stored = store.zip(stored.as_ref());
        if let Err(error) = write_report(reporter, run, here, stored).await {
            ui.error(&error);
            exit = exit.worse(error.exit);
        }
    }
    if let Some((code, message)) = &end.setup_failure {
        if arguments.quiet {
            ui.talk(format_args!("error: {code}: {message}"));
        }
        ui.talk("hint: `strandline doctor` checks each server on its own");
    }
    for problem in &heard.store_problems {
        ui.talk(format_args!(
            "warning: the run could not be stored whole: {problem}"
        ));
        exit = exit.worse(ExitCode::Setup);
    }
    if let Some(path) = &arguments.json {
        let page = Page {
            complete: true,
            next_cursor: None,
        };
        let summary = summarize_run(LOCAL_PROJECT, run, &heard.trials, page);
        if let Err(error) = write_json(path, &summary, ui) {
            ui.error(&error);
            exit = exit.worse(error.exit);
        }
    }
    Ok(exit)
}

/// Whether standard output is for another program, and the report for people
/// goes to standard error.
fn data_goes_to_stdout(arguments: &Arguments) -> bool {
    let report = |reporter: &Reporter| reporter.file.is_none();
    arguments.json.as_deref() == Some(Path::new("-")) || arguments.reporters.iter().any(report)
}

async fn write_report(
    reporter: &Reporter,
    run: &RunRecord,
    heard: Heard<'_>,
    stored: Option<(&Store, &StoredRun)>,
) -> Result<(), CommandError> {
    let source = match stored {
        Some((store, stored)) => Source::stored(store, stored, Some(heard)).await?,
        None => Source::heard(run, heard),
    };
    let limits = Limits::default();
    let Some(file) = &reporter.file else {
        return reporting::write(reporter.format, &source, &limits, &Target::Stdout).await;
    };
    let name = file.to_string_lossy();
    let name = name.replace(SUITE_PLACE, &file_name(&run.suite_id));
    let target = Target::File(Path::new(&name));
    reporting::write(reporter.format, &source, &limits, &target).await
}

/// Returns an id as part of a file's name.
fn file_name(id: &str) -> String {
    id.chars()
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => character,
            _ => '_',
        })
        .collect()
}

/// Returns how the process ends (`suite-file.md` §9.5): 1 only for a decision
/// that says `failed`.
fn exit_code(end: &RunEnd) -> ExitCode {
    if let Some((code, _)) = &end.setup_failure {
        return RefusalCode::from_wire(code).map_or(ExitCode::Setup, RefusalCode::exit);
    }
    if end.credentials_rejected.is_some() {
        return ExitCode::Credentials;
    }
    let verdict = end
        .record
        .decision
        .as_ref()
        .and_then(|decision| decision.get("verdict")?.as_str());
    match verdict {
        Some("passed") => ExitCode::Passed,
        Some("failed") => ExitCode::Failed,
        _ => ExitCode::NoDecision,
    }
}

fn write_json(
    path: &Path,
    document: &impl serde::Serialize,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(document).map_err(|error| {
        CommandError::new(ExitCode::NoDecision, format_args!("no JSON: {error}"))
    })?;
    if path == Path::new("-") {
        ui.out(text);
        return Ok(());
    }
    fs::write(path, text + "\n").map_err(|error| {
        CommandError::new(
            ExitCode::Setup,
            format_args!("cannot write `{}`: {error}", path.display()),
        )
    })
}
