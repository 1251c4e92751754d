//! Everything that a stored run says, as one JSON document
//! ([`FullReport`](strandline_contract::full_report::FullReport)), in parts, so
//! that a run of any length is written without being held in memory.
//!
//! One diagnostic and one trial a line. The parts, in order: [`FullJson::new`],
//! every trial to [`FullJson::diagnostic`], [`FullJson::trials`], every trial
//! to [`FullJson::trial`], [`FullJson::end`].

use serde::Serialize;
use strandline_contract::{
    decision::DecisionSummary,
    full_report::{FULL_REPORT_VERSION, Reported, ReportedFunnel},
    run::{LOCAL_PROJECT, RunRecord, TrialRecord},
};
use strandline_derive::{
    decision::{Page, diagnose_trial, summarize_run},
    friction::FrictionCounter,
    full_report::{reported_run, reported_trial},
    judge::JudgeCounter,
};

/// Where the diagnostics lie in a summary's JSON. The quotation marks cannot
/// stand inside a JSON string, so the first place is the member itself.
const ITEMS: &str = "\"diagnostics\":{\"items\":[";

/// Writes a full report part by part.
pub struct FullJson {
    friction: FrictionCounter,
    judges: JudgeCounter,
    /// What follows the diagnostics in the summary.
    rest: String,
    first: bool,
}

impl FullJson {
    /// Begins a report: its first part, up to the diagnostics.
    ///
    /// `stored` is the number of trials that the run has; every one of them has
    /// to be handed in.
    ///
    /// # Errors
    ///
    /// When a number in the run has no JSON form.
    pub fn new(run: &RunRecord, stored: u64) -> serde_json::Result<(Self, String)> {
        let page = Page {
            complete: true,
            next_cursor: None,
        };
        let mut summary: DecisionSummary = summarize_run(LOCAL_PROJECT, run, [], page);
        summary.diagnostics.scanned_iterations = stored;
        let summary = serde_json::to_string(&summary)?;
        let place = summary
            .find(ITEMS)
            .map_or(summary.len(), |at| at + ITEMS.len());
        let (before, rest) = summary.split_at(place);
        let begin = format!(
            "{{\"schemaVersion\":{FULL_REPORT_VERSION},\n\"run\":{},\n\"summary\":{before}",
            serde_json::to_string(&reported_run(run, stored))?
        );
        let report = Self {
            friction: FrictionCounter::default(),
            judges: JudgeCounter::default(),
            rest: rest.to_owned(),
            first: true,
        };
        Ok((report, begin))
    }

    /// Returns the diagnostic of a trial; nothing for one that passed.
    ///
    /// # Errors
    ///
    /// When a number in it has no JSON form.
    pub fn diagnostic(&mut self, trial: &TrialRecord) -> serde_json::Result<String> {
        match diagnose_trial(LOCAL_PROJECT, trial) {
            Some(diagnostic) => self.item(&diagnostic),
            None => Ok(String::new()),
        }
    }

    /// Ends the diagnostics and begins the trials.
    ///
    /// # Errors
    ///
    /// When a number in the funnel has no JSON form.
    pub fn trials(&mut self, funnel: &ReportedFunnel) -> serde_json::Result<String> {
        self.first = true;
        let rest = std::mem::take(&mut self.rest);
        let funnel = serde_json::to_string(funnel)?;
        Ok(format!("{rest},\n\"funnel\":{funnel},\n\"trials\":["))
    }

    /// Returns a trial.
    ///
    /// # Errors
    ///
    /// When a number in it has no JSON form.
    pub fn trial(&mut self, trial: &TrialRecord) -> serde_json::Result<String> {
        let reported = reported_trial(trial);
        if let Reported::Verified { document } = &reported.friction {
            self.friction.add(document);
        }
        self.judges.add(trial);
        self.item(&reported)
    }

    /// Ends the report.
    ///
    /// # Errors
    ///
    /// When a rate has no JSON form.
    pub fn end(self) -> serde_json::Result<String> {
        let mut text = "]".to_owned();
        if let Some(rates) = self.friction.rates() {
            text.push_str(",\n\"friction\":");
            text.push_str(&serde_json::to_string(&rates)?);
        }
        if let Some(judges) = self.judges.tally() {
            text.push_str(",\n\"judges\":");
            text.push_str(&serde_json::to_string(&judges)?);
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn item(&mut self, item: &impl Serialize) -> serde_json::Result<String> {
        let comma = if self.first { "\n" } else { ",\n" };
        self.first = false;
        Ok(format!("{comma}{}", serde_json::to_string(item)?))
    }
}
