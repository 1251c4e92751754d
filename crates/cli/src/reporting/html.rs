//! The single offline file, written as its trials are read.

use std::io::Write;

use futures::TryStreamExt;
use strandline_contract::{exit::ExitCode, full_report::ReportedFunnel};
use strandline_report::{
    html::{
        file::{FileError, FileInput, FileReport},
        glossary::glossary,
        run::{self, FunnelOf, RunPage},
    },
    terminal::trial::TrialInput,
};

use super::{
    Limits, Target,
    source::{Source, Wanted},
};
use crate::ui::CommandError;

/// Writes a run as one file that needs no network.
///
/// # Errors
///
/// When trials cannot be read, or the file cannot be written.
pub async fn write(
    source: &Source<'_>,
    limits: &Limits,
    target: &Target<'_>,
) -> Result<(), CommandError> {
    let overview = source.overview().await?;
    let page = RunPage {
        run: source.run,
        run_reference: source.reference,
        overview: Some(&overview),
        funnel: funnel_of(&source.funnel),
    };
    let title = run::title(&page);
    let mut file = FileReport::new(FileInput {
        run: source.run,
        run_reference: source.reference,
        title: &title,
        trials: source.count(),
        trace_budget: limits.traces,
    });
    let mut out = target.open()?;
    let mut put = |text: Result<String, FileError>| {
        let text = text.map_err(|error| CommandError::new(ExitCode::NoDecision, error))?;
        out.write_all(text.as_bytes())
            .map_err(|error| target.failure(&error))
    };
    let shown = run::run(file.links(), &page);
    put(Ok(file.begin(&shown, &glossary())))?;
    // Timelines fill the budget: trials that did not pass come first.
    for wanted in [Wanted::NotPassed, Wanted::All] {
        let mut trials = source.trials(wanted);
        while let Some(trial) = trials.try_next().await? {
            if wanted == Wanted::NotPassed || !Wanted::NotPassed.admits(&trial) {
                let kept = source.kept(&trial, file.has_room()).await?;
                put(file.page(&TrialInput {
                    run: source.run,
                    run_reference: source.reference,
                    trial: &trial,
                    trace: kept.trace.as_ref(),
                    frames: kept.frames,
                    judge_passes: &kept.judge_passes,
                }))?;
            }
            if wanted == Wanted::All {
                put(file.row(&trial))?;
            }
        }
    }
    put(file.end())?;
    out.flush().map_err(|error| target.failure(&error))
}

/// Returns a reported funnel as a page takes it.
fn funnel_of(funnel: &ReportedFunnel) -> FunnelOf<'_> {
    match funnel {
        ReportedFunnel::Recorded { analytics } => FunnelOf::Stored(analytics),
        ReportedFunnel::Absent {
            absence, detail, ..
        } => FunnelOf::Absent(*absence, detail.as_deref()),
    }
}
