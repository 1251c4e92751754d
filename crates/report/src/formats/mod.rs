//! Reports of a run for other programs, in the words and the order of the
//! terminal's.

pub mod github;
pub mod json;
pub mod junit;
pub mod markdown;

use strandline_contract::words::Vocabulary;

use crate::{
    style::Style,
    terminal::{View, failures::Group},
};

/// Glyphs without colour; formats do not wrap.
pub(crate) const PLAIN: Style = Style::plain(10_000);

/// Returns where a group of trials stopped, why, and on what evidence.
fn told(view: &View<'_>, group: &Group<'_>) -> Vec<String> {
    let mut lines = vec![group.what()];
    let reason = group.reason();
    lines.extend(reason.map(|reason| format!("because {}", reason.label())));
    for (trials, facts) in group.evidence(view, &PLAIN) {
        lines.extend(facts.into_iter().map(|fact| format!("{trials}: {fact}")));
    }
    lines
}
