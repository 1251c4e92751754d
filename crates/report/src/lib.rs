//! Stored documents rendered for people and machines.
//!
//! Pure: documents in, text out. Nothing here prints, reads a file or asks the
//! clock.
//!
//! | module | question |
//! |---|---|
//! | [`terminal`] | what did the run decide, where did it stop, who looks next? |
//! | [`formats`] | what do JUnit, a pull request and GitHub's log get? |
//! | [`html`] | the same as pages: one set of functions for live pages and a single file |
//! | [`friction`] | what do calls show about avoidable work? |
//! | [`checks`] | what do the doctor's checks say? |
//! | [`coverage`] | what does a suite leave unproved? |
//! | [`progress`] | what is said while a run is going? |
//! | [`glossary`] | what does every word mean, and how is it found? |
//! | [`diff`] | where do arguments differ from what is required? |
//! | [`glyphs`] | which mark stands for which word? |
//! | [`words`] | how are numbers, times and lists written? |
//! | [`escape`] | how is hostile text made safe to show? |
//! | [`style`] | which colour, glyphs and width does a surface have? |
//! | [`layout`] | how is text aligned, cut and wrapped? |

pub mod checks;
pub mod coverage;
pub mod diff;
pub mod escape;
pub mod formats;
pub mod friction;
pub mod glossary;
pub mod glyphs;
pub mod html;
pub mod layout;
pub mod progress;
pub mod style;
pub mod terminal;
pub mod words;
