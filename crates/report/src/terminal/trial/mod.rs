//! What a person reads about one trial: how it ended, what is known about each
//! stage and on what evidence, the checks, then the trace in order of time.

pub(crate) mod checks;
pub(crate) mod entry;
pub(crate) mod frames;
pub(crate) mod judges;
pub(crate) mod outcome;
pub(crate) mod timeline;

use strandline_contract::{
    judgement::JudgePass,
    redact::redact_text,
    run::{RunRecord, TrialRecord},
    trace::Trace,
};

use super::{Trial, labelled, trial_number};
use crate::{escape, friction::trial_lines, style::Style};

/// Column under which the text of a section stands.
const HANG: usize = 13;
/// Longest name shown, characters.
const MAX_NAME: usize = 120;

/// A stored trial with its trace.
#[derive(Debug, Clone, Copy)]
pub struct TrialInput<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// What `strandline show` is given to find the run again.
    pub run_reference: &'a str,
    /// The trial.
    pub trial: &'a TrialRecord,
    /// Its trace with its frames; `None` when it was pruned.
    pub trace: Option<&'a Trace>,
    /// What became of the frames.
    pub frames: FramesKept,
    /// Every pass of LLM judges over it, the first one first.
    pub judge_passes: &'a [JudgePass],
}

/// What became of a trace's raw frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramesKept {
    /// They are in the trace.
    InTrace,
    /// This many were deleted to save space.
    Pruned(u64),
}

/// How much of a trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One line a text, cut.
    Brief,
    /// Texts with their line breaks, up to a high bound.
    Full,
}

/// Whether raw frames are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawFrames {
    /// They are counted.
    Counted,
    /// They are listed after the timeline.
    Listed,
}

/// Returns the report of a trial, without a trailing line break.
#[must_use]
pub fn trial_report(
    input: &TrialInput<'_>,
    detail: Detail,
    frames: RawFrames,
    style: &Style,
) -> String {
    let trial = Trial::new(input.trial);
    let sections = [
        outcome::headline(input, style),
        outcome::stages(&trial, input.trace, style),
        outcome::next(&trial, style),
        checks::render(input.trial, detail, style),
        friction(input.trial, style),
        judges::render(input.trial, input.judge_passes, detail, style),
        timeline::render(input, &trial, detail, style),
        frames::render(input, frames, detail, style),
    ];
    let texts: Vec<String> = sections
        .into_iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    texts.join("\n\n")
}

/// Returns what the calls show about avoidable work; never a verdict.
fn friction(trial: &TrialRecord, style: &Style) -> Vec<String> {
    labelled("friction", &trial_lines(trial), HANG, style)
}

impl Detail {
    /// Longest text shown, characters.
    const fn limit(self) -> usize {
        match self {
            Self::Brief => 240,
            Self::Full => 20_000,
        }
    }

    /// Returns foreign text as safe lines, secrets masked.
    pub(crate) fn lines(self, text: &str) -> Vec<String> {
        let text = redact_text(text);
        match self {
            Self::Brief => vec![escape::line(text.trim(), self.limit())],
            Self::Full => escape::block(text.trim_end(), self.limit())
                .lines()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns a foreign value as one safe line of JSON, secrets masked.
    ///
    /// Masked as text, which leaves its shape whole.
    pub(crate) fn json(self, value: &serde_json::Value) -> String {
        escape::line(&redact_text(&value.to_string()), self.limit())
    }
}

/// Returns a foreign name as a safe line.
pub(crate) fn name(text: &str) -> String {
    escape::line(&redact_text(text), MAX_NAME)
}
