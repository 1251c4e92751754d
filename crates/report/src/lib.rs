//! Stored documents rendered for people and machines.
//!
//! Pure: documents in, text out. Nothing here prints, reads a file or asks the
//! clock.
//!
//! | module | question |
//! |---|---|
//! | [`escape`] | how hostile text is made safe to show |
//! | [`style`] | colour, glyphs and width of a surface |
//! | [`glyphs`] | which mark stands for which word |
//! | [`layout`] | how text is aligned, cut and wrapped |
//! | [`glossary`] | what every word means, and how it is found |

pub mod escape;
pub mod glossary;
pub mod glyphs;
pub mod layout;
pub mod style;
