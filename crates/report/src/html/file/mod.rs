//! One offline file of a run: its page, every trial, the glossary.
//!
//! The file needs no network and may not use one ([`mod@policy`]). It opens at the
//! size of its page, whatever the number of trials: the page comes first and is
//! readable without the script; trials follow as packed blocks of data that are
//! unpacked when somebody opens one.
//!
//! | module | question |
//! |---|---|
//! | [`mod@policy`] | what may the file do? |
//! | `frame` | what stands around the run's page? |
//! | `blocks` | how does data lie in the file? |
//! | `rows` | what does the table say of a trial? |
//! | `brief` | what is said of a trial without its timeline? |
//! | [`links`] | where does everything lie? |
//!
//! It is made in parts, so that no run is held in memory: [`FileReport::begin`],
//! a page for every trial that did not pass and then for every one that did
//! ([`FileReport::page`]), a row for every trial in the plan's order
//! ([`FileReport::row`]), [`FileReport::end`].

mod blocks;
mod brief;
mod frame;
pub mod links;
mod policy;
mod rows;

use std::{collections::HashMap, fmt};

use maud::Markup;
use strandline_contract::{
    decision::SummaryChain,
    run::{RunRecord, TrialRecord},
    words::TaskResult,
};
use strandline_derive::decision::{StoredChain, derive_summary_chain};

use self::{
    blocks::{Packer, Place, json_block},
    brief::{NoTimeline, brief},
    rows::Outcomes,
};
pub use self::{links::FileLinks, policy::policy};
use super::{
    Assets, Page, page as shell_page,
    shell::{SCRIPT, STYLESHEET},
    trial::{TrialPage, trial},
};
use crate::terminal::trial::TrialInput;

/// The stylesheet of what only the file has.
pub const FILE_STYLESHEET: &str = include_str!("../../../assets/file.css");
/// The script of the file: its table, its views, unpacking.
pub const FILE_SCRIPT: &str = include_str!("../../../assets/file.js");

/// Bytes of traces that a file carries unless told otherwise.
pub const TRACE_BUDGET: usize = 24 << 20;
/// JSON bytes of trials' pages in one block: what is unpacked to show one.
const PAGES: usize = 192 << 10;
/// JSON bytes of rows in one block.
const ROWS: usize = 1 << 20;

/// What a file is made of.
#[derive(Debug, Clone, Copy)]
pub struct FileInput<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// What `strandline show` is given to find the run again.
    pub run_reference: &'a str,
    /// What the window is called.
    pub title: &'a str,
    /// Trials that will follow.
    pub trials: u64,
    /// Packed bytes of timelines that the file may carry.
    pub trace_budget: usize,
}

/// Timelines that fit, and those that did not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    budget: usize,
}

impl Kept {
    /// Says by which rule timelines are in the file.
    fn policy(&self) -> String {
        format!(
            "Every trial is here with its result, strip, reasons and measures. Timelines fill a \
             budget of {}, those of trials that did not pass first; a trial whose timeline is \
             not included says so.",
            bytes(self.budget)
        )
    }
}

/// Returns a size in words, with its unit.
fn bytes(count: usize) -> String {
    match count {
        0..1_024 => format!("{count} bytes"),
        1_024..1_048_576 => format!("{} KiB", count / 1_024),
        _ => format!("{} MiB", count / 1_048_576),
    }
}

/// Why a part of the file could not be made.
#[derive(Debug)]
pub struct FileError(serde_json::Error);

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no data block: {}", self.0)
    }
}

impl std::error::Error for FileError {}

impl From<serde_json::Error> for FileError {
    fn from(error: serde_json::Error) -> Self {
        Self(error)
    }
}

impl From<std::io::Error> for FileError {
    fn from(error: std::io::Error) -> Self {
        Self(serde_json::Error::io(error))
    }
}

/// Makes a file part by part.
pub struct FileReport<'a> {
    input: FileInput<'a>,
    links: FileLinks,
    pages: Packer,
    rows: Packer,
    row_count: u64,
    /// Packed bytes of blocks with timelines.
    spent: usize,
    /// The block under way holds a timeline.
    has_timeline: bool,
    places: HashMap<String, Place>,
    outcomes: Outcomes,
    /// What ends the document.
    tail: String,
}

impl<'a> FileReport<'a> {
    /// Begins a file.
    #[must_use]
    pub fn new(input: FileInput<'a>) -> Self {
        Self {
            links: FileLinks::new(input.run),
            pages: Packer::new("pages", PAGES),
            rows: Packer::new("rows", ROWS),
            row_count: 0,
            spent: 0,
            has_timeline: false,
            places: HashMap::new(),
            outcomes: Outcomes::default(),
            tail: String::new(),
            input,
        }
    }

    /// Returns where things lie in the file.
    #[must_use]
    pub const fn links(&self) -> &FileLinks {
        &self.links
    }

    /// Returns the first part: the document up to the data.
    #[must_use]
    pub fn begin(&mut self, run: &Markup, glossary: &Markup) -> String {
        let scripts = [SCRIPT, FILE_SCRIPT];
        let stylesheets = [STYLESHEET, FILE_STYLESHEET];
        let kept = Kept {
            budget: self.input.trace_budget,
        };
        let body = frame::views(run, glossary, &kept, self.input.trials);
        let whole = shell_page(&Page {
            title: self.input.title,
            assets: Assets::Inlined {
                stylesheets: &stylesheets,
                scripts: &scripts,
            },
            policy: Some(&policy(&scripts, &stylesheets)),
            nav: &[],
            body: &body,
        })
        .into_string();
        // The data stands last, so that nothing waits for it. Text from
        // anywhere else is escaped: the last end tag is the document's own.
        let place = whole.rfind("</body>").unwrap_or(whole.len());
        let (head, tail) = whole.split_at(place);
        self.tail = tail.to_owned();
        head.to_owned()
    }

    /// Returns whether there is room for another timeline.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.spent < self.input.trace_budget
    }

    /// Adds the page of a trial, in the order in which timelines are to fill
    /// the budget: all that did not pass, then all that did. A trace that is
    /// given while there is room becomes a timeline; nobody needs to read one
    /// when there is none. Returns a part of the file, often an empty one.
    ///
    /// # Errors
    ///
    /// When the page cannot be packed.
    pub fn page(&mut self, input: &TrialInput<'_>) -> Result<String, FileError> {
        let shown = if self.has_room() && input.trace.is_some() {
            self.has_timeline = true;
            let page = TrialPage {
                input: *input,
                previous: None,
                next: None,
            };
            trial(&self.links, &page)
        } else {
            let why = match self.has_room() {
                true => NoTimeline::NotStored,
                false => NoTimeline::Budget,
            };
            brief(&self.links, input, &chain_of(input.trial), why)
        };
        self.places
            .insert(input.trial.id.clone(), self.pages.next());
        let block = self.pages.add(&shown.into_string())?;
        self.count(&block);
        Ok(block)
    }

    fn count(&mut self, block: &str) {
        if !block.is_empty() {
            self.spent += if self.has_timeline { block.len() } else { 0 };
            self.has_timeline = false;
        }
    }

    /// Adds the row of a trial whose page was added; rows in the plan's order.
    /// Returns a part of the file, often an empty one.
    ///
    /// # Errors
    ///
    /// When the row cannot be packed.
    pub fn row(&mut self, trial: &TrialRecord) -> Result<String, FileError> {
        let Some(place) = self.places.remove(&trial.id) else {
            return Ok(String::new());
        };
        let case = self
            .links
            .case_place(&trial.case_id, trial.variant.as_ref());
        let chain = chain_of(trial);
        let row = rows::row(trial, &chain, case, place, &mut self.outcomes);
        self.row_count += 1;
        Ok(self.rows.add(&row)?)
    }

    /// Returns whether a trial's page comes first, before those of trials that
    /// passed ([`FileReport::page`]).
    #[must_use]
    pub fn comes_first(trial: &TrialRecord) -> bool {
        trial.result != Some(TaskResult::Passed)
    }

    /// Returns the last part.
    ///
    /// # Errors
    ///
    /// When the last blocks cannot be packed.
    pub fn end(mut self) -> Result<String, FileError> {
        let mut text = self.pages.close()?;
        text.push_str(&self.rows.close()?);
        let blocks = self.rows.blocks();
        let index = rows::index(self.input.run, self.row_count, blocks, &self.outcomes);
        text.push_str(&json_block("index", &index)?);
        text.push_str(&self.tail);
        text.push('\n');
        Ok(text)
    }
}

fn chain_of(trial: &TrialRecord) -> SummaryChain {
    derive_summary_chain(&StoredChain::from(&trial.chain))
}
