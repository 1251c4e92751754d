//! The full report, written as it is read.

use std::io::Write;

use futures::TryStreamExt;
use strandline_contract::exit::ExitCode;
use strandline_report::formats::json::FullJson;

use super::{
    Target,
    source::{Source, Wanted},
};
use crate::ui::CommandError;

/// Writes everything that a run says as one JSON document.
///
/// # Errors
///
/// When trials cannot be read, or the report cannot be written.
pub async fn write(source: &Source<'_>, target: &Target<'_>) -> Result<(), CommandError> {
    let mut out = target.open()?;
    let mut put = |text: serde_json::Result<String>| {
        let text = text.map_err(|error| {
            CommandError::new(ExitCode::NoDecision, format_args!("no JSON: {error}"))
        })?;
        out.write_all(text.as_bytes())
            .map_err(|error| target.failure(&error))
    };
    let (mut report, begin) = match FullJson::new(source.run, source.count()) {
        Ok((report, begin)) => (report, Ok(begin)),
        Err(error) => return put(Err(error)),
    };
    put(begin)?;
    let mut trials = source.outcomes(Wanted::NotPassed);
    while let Some(trial) = trials.try_next().await? {
        put(report.diagnostic(&trial))?;
    }
    put(report.trials(&source.funnel))?;
    let mut trials = source.outcomes(Wanted::All);
    while let Some(trial) = trials.try_next().await? {
        put(report.trial(&trial))?;
    }
    put(report.end())?;
    out.flush().map_err(|error| target.failure(&error))
}
