//! The marks of stage states and verdicts, the same on every text surface.

use strandline_contract::words::{
    CheckVerdict, SequentialDecision, StageState, SummaryVerdict, TaskResult, Verdict,
};

use crate::style::{Ink, Style};

/// A mark that stands for one word: glyph, ASCII stand-in and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The glyph, one column wide.
    pub unicode: &'static str,
    /// What stands for it in ASCII, one column wide.
    pub ascii: &'static str,
    /// Its colour.
    pub ink: Ink,
}

impl Mark {
    const fn new(unicode: &'static str, ascii: &'static str, ink: Ink) -> Self {
        Self {
            unicode,
            ascii,
            ink,
        }
    }

    /// Returns the bare glyph or its ASCII stand-in, without colour.
    #[must_use]
    pub const fn text(&self, style: &Style) -> &'static str {
        style.mark(self.unicode, self.ascii)
    }

    /// Returns the mark in its colour.
    #[must_use]
    pub fn paint(&self, style: &Style) -> String {
        style.paint(self.ink, self.text(style))
    }
}

/// Returns the mark of a stage state; the three non-verdicts have three marks.
#[must_use]
pub const fn state(state: StageState) -> Mark {
    match state {
        StageState::Passed => Mark::new("●", "P", Ink::Good),
        StageState::Failed => Mark::new("✖", "F", Ink::Bad),
        StageState::NotReached => Mark::new("○", ".", Ink::Quiet),
        StageState::NotMeasured => Mark::new("◌", "?", Ink::Unsure),
        StageState::NotApplicable => Mark::new("–", "-", Ink::Faint),
    }
}

/// Returns the mark of a run's verdict.
#[must_use]
pub const fn verdict(verdict: SummaryVerdict) -> Mark {
    match verdict {
        SummaryVerdict::Passed => Mark::new("●", "P", Ink::Good),
        SummaryVerdict::Failed => Mark::new("✖", "F", Ink::Bad),
        SummaryVerdict::Inconclusive => Mark::new("◐", "~", Ink::Unsure),
        SummaryVerdict::NotEstablished => Mark::new("○", "?", Ink::Quiet),
    }
}

/// Returns the mark of a case variant's verdict.
#[must_use]
pub const fn case_verdict(word: Verdict) -> Mark {
    verdict(match word {
        Verdict::Passed => SummaryVerdict::Passed,
        Verdict::Failed => SummaryVerdict::Failed,
        Verdict::Inconclusive => SummaryVerdict::Inconclusive,
    })
}

/// Returns the mark of a check's verdict.
#[must_use]
pub const fn check(verdict: CheckVerdict) -> Mark {
    match verdict {
        CheckVerdict::Ok => Mark::new("●", "P", Ink::Good),
        CheckVerdict::Warning => Mark::new("▲", "!", Ink::Unsure),
        CheckVerdict::Failed => Mark::new("✖", "F", Ink::Bad),
        CheckVerdict::NotChecked => Mark::new("○", ".", Ink::Quiet),
    }
}

/// Returns the mark of what repeating a case has shown.
#[must_use]
pub const fn sequential(decision: SequentialDecision) -> Mark {
    match decision {
        SequentialDecision::Meets => state(StageState::Passed),
        SequentialDecision::Misses => state(StageState::Failed),
        SequentialDecision::Undecided => state(StageState::NotMeasured),
    }
}

/// Returns the mark of a trial's result; `None` is a trial without one.
#[must_use]
pub const fn result(result: Option<TaskResult>) -> Mark {
    match result {
        Some(TaskResult::Passed) => state(StageState::Passed),
        Some(TaskResult::Failed) => state(StageState::Failed),
        None => state(StageState::NotMeasured),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use strandline_contract::words::Vocabulary;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn every_state_has_its_own_mark_of_one_column() {
        let marks: Vec<Mark> = StageState::ALL.iter().map(|word| state(*word)).collect();
        let unicode: BTreeSet<_> = marks.iter().map(|mark| mark.unicode).collect();
        let ascii: BTreeSet<_> = marks.iter().map(|mark| mark.ascii).collect();
        assert_eq!(unicode.len(), StageState::ALL.len());
        assert_eq!(ascii.len(), StageState::ALL.len());
        for mark in marks {
            assert_eq!(mark.unicode.width(), 1);
            assert!(mark.ascii.is_ascii() && mark.ascii.len() == 1);
        }
    }

    #[test]
    fn every_verdict_has_its_own_mark() {
        let marks: BTreeSet<_> = SummaryVerdict::ALL
            .iter()
            .map(|word| (verdict(*word).unicode, verdict(*word).ascii))
            .collect();
        assert_eq!(marks.len(), SummaryVerdict::ALL.len());
    }

    #[test]
    fn only_a_pass_is_teal() {
        for word in StageState::ALL {
            assert_eq!(
                state(*word).ink == Ink::Good,
                *word == StageState::Passed,
                "{word}"
            );
        }
    }
}
