//! Where pages lie: the only thing in which surfaces differ.

use strandline_contract::{
    run::ExecutionVariant,
    words::{Entry, SliceDimension},
};

use super::term::term_anchor;

/// Addresses of pages on one surface.
///
/// Every address goes into an `href` as it is: an implementation encodes what
/// an address may not hold. `None` says that the surface has no such page, and
/// then nothing links there.
pub trait Links {
    /// The list of runs.
    fn runs(&self) -> Option<String>;
    /// The page of a run.
    fn run(&self, run_id: &str) -> String;
    /// The trials of one case variant.
    fn case(
        &self,
        run_id: &str,
        case_id: &str,
        variant: Option<&ExecutionVariant>,
    ) -> Option<String>;
    /// The page of a trial.
    fn trial(&self, run_id: &str, trial_id: &str) -> String;
    /// The funnel by one dimension.
    fn funnel(&self, run_id: &str, by: SliceDimension) -> Option<String>;
    /// What the calls of a run show about avoidable work.
    fn friction(&self, run_id: &str) -> Option<String>;
    /// Where a run is set beside another one.
    fn compare(&self, run_id: &str) -> Option<String>;
    /// The runs of a suite over time.
    fn trend(&self, suite_id: &str) -> Option<String>;
    /// The run as JSON.
    fn run_json(&self, run_id: &str) -> Option<String>;
    /// The trial as JSON.
    fn trial_json(&self, run_id: &str, trial_id: &str) -> Option<String>;
    /// The raw frames of a trial, where they are not part of its page.
    fn frames(&self, run_id: &str, trial_id: &str) -> Option<String>;
    /// The stream of events of a run that is going on.
    fn events(&self, run_id: &str) -> Option<String>;
    /// The glossary.
    fn glossary(&self) -> String;

    /// One word in the glossary.
    fn term(&self, entry: &Entry) -> String {
        format!("{}#{}", self.glossary(), term_anchor(entry))
    }

    /// An element of the page that holds the link.
    fn here(&self, anchor: &str) -> String {
        format!("#{anchor}")
    }
}
