//! Reports of a run for other programs, in the words and the order of the
//! terminal's.

pub mod github;
pub mod junit;
pub mod markdown;

use crate::style::Style;

/// Glyphs without colour; formats do not wrap.
const PLAIN: Style = Style::plain(10_000);
