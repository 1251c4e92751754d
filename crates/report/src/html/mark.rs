//! Marks of states and verdicts as small drawings, the same in every font.
//!
//! The shapes stand once in the shell; a mark uses one of them and takes its
//! colour from its ink. A mark is never alone: a word stands beside it, seen or
//! read out.

use maud::{Markup, Render, html};
use strandline_contract::words::{StageState, SummaryVerdict, Vocabulary};

use crate::{
    glyphs::{self, Mark},
    style::Ink,
};

/// A glyph and the shape that is drawn for it.
const SHAPES: [(&str, &str); 7] = [
    ("●", "mark-disc"),
    ("✖", "mark-cross"),
    ("○", "mark-ring"),
    ("◌", "mark-dashes"),
    ("–", "mark-bar"),
    ("◐", "mark-half"),
    ("▲", "mark-triangle"),
];

/// Returns the class that gives an ink its colour.
#[must_use]
pub const fn ink_class(ink: Ink) -> &'static str {
    match ink {
        Ink::Good => "ink-good",
        Ink::Bad => "ink-bad",
        Ink::Unsure => "ink-unsure",
        Ink::Quiet => "ink-quiet",
        Ink::Faint => "ink-faint",
        Ink::Strong => "ink-strong",
    }
}

/// Returns the class that a stage state gives to what it is about.
#[must_use]
pub const fn state_class(state: StageState) -> &'static str {
    match state {
        StageState::Passed => "is-passed",
        StageState::Failed => "is-failed",
        StageState::NotReached => "is-not-reached",
        StageState::NotMeasured => "is-not-measured",
        StageState::NotApplicable => "is-not-applicable",
    }
}

/// Returns the id of the shape that is drawn for a mark.
pub(super) fn shape_of(mark: Mark) -> Option<&'static str> {
    let mut shapes = SHAPES.iter();
    shapes.find_map(|(glyph, shape)| (*glyph == mark.unicode).then_some(*shape))
}

/// Returns a mark, for the eye only.
#[must_use]
pub fn mark(mark: Mark) -> Markup {
    html! {
        @match shape_of(mark) {
            Some(shape) => {
                svg.mark.(ink_class(mark.ink)) viewBox="0 0 16 16" aria-hidden="true" {
                    use href={ "#" (shape) } {}
                }
            }
            None => span.mark.(ink_class(mark.ink)) aria-hidden="true" { (mark.unicode) },
        }
    }
}

/// Returns a mark with the word that it stands for, both in its colour.
#[must_use]
pub fn badge(shown: Mark, word: impl Render) -> Markup {
    html! { span.badge.(ink_class(shown.ink)) { (mark(shown)) " " (word) } }
}

/// Returns the mark of a stage state.
#[must_use]
pub fn state(word: StageState) -> Markup {
    mark(glyphs::state(word))
}

/// Returns the mark of a verdict.
#[must_use]
pub fn verdict(word: SummaryVerdict) -> Markup {
    mark(glyphs::verdict(word))
}

/// Returns the shapes that all marks of a page use.
pub(super) fn shapes() -> Markup {
    html! {
        svg.shapes width="0" height="0" aria-hidden="true" {
            pattern #hatch width="7" height="7" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                line.hatch-line x1="0" y1="0" x2="0" y2="7" {}
            }
            symbol #mark-disc viewBox="0 0 16 16" {
                circle cx="8" cy="8" r="6" fill="currentColor" {}
            }
            symbol #mark-cross viewBox="0 0 16 16" {
                path d="M3.5 3.5l9 9m0-9l-9 9" stroke="currentColor" stroke-width="3.4"
                    stroke-linecap="round" fill="none" {}
            }
            symbol #mark-ring viewBox="0 0 16 16" {
                circle cx="8" cy="8" r="5.2" fill="none" stroke="currentColor" stroke-width="1.6" {}
            }
            symbol #mark-dashes viewBox="0 0 16 16" {
                circle cx="8" cy="8" r="5.2" fill="none" stroke="currentColor" stroke-width="2.2"
                    stroke-dasharray="2.6 2.846" {}
            }
            symbol #mark-bar viewBox="0 0 16 16" {
                path d="M4.5 8h7" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" {}
            }
            symbol #mark-half viewBox="0 0 16 16" {
                circle cx="8" cy="8" r="5.2" fill="none" stroke="currentColor" stroke-width="1.6" {}
                path d="M8 2.8a5.2 5.2 0 0 0 0 10.4z" fill="currentColor" {}
            }
            symbol #mark-triangle viewBox="0 0 16 16" {
                path d="M8 2.5l6 11h-12z" fill="currentColor" {}
            }
        }
    }
}

/// Returns the five states of a stage, each with its mark.
#[must_use]
pub fn legend() -> Markup {
    html! {
        ul.legend {
            @for word in StageState::ALL {
                li { (badge(glyphs::state(*word), word.label())) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_and_every_verdict_has_a_shape() {
        let shapes = shapes().into_string();
        let states = StageState::ALL.iter().map(|word| state(*word));
        let verdicts = SummaryVerdict::ALL.iter().map(|word| verdict(*word));
        for drawn in states.chain(verdicts).map(Markup::into_string) {
            let (_, id) = drawn.split_once("href=\"#").expect("a shape");
            let (id, _) = id.split_once('"').expect("an id");
            assert!(shapes.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}
