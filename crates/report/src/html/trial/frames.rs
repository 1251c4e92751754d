//! What went over the wire: standard error always, raw frames on demand.

use maud::{Markup, html};
use strandline_contract::trace::{Direction, Frame, Trace};

use super::timeline;
use crate::{
    html::{Links, text},
    terminal::trial::{FramesKept, TrialInput, entry::Entry, frames::entry},
    words::counted,
};

/// Frames listed on a page; the rest is counted.
const MAX_FRAMES: usize = 300;
/// Pieces of standard error or of noise shown, the last ones.
const MAX_SPOKEN: usize = 40;

pub(super) fn section(links: &dyn Links, input: &TrialInput<'_>) -> Markup {
    let Some(trace) = input.trace else {
        return html! {};
    };
    html! {
        (spoken(&trace.frames, Direction::Stderr, "Standard error"))
        (spoken(&trace.frames, Direction::Noise, "Written where protocol belongs"))
        @match (input.frames, links.frames(&input.run.id, &input.trial.id)) {
            (FramesKept::Pruned(count), _) => {
                (about(&format!(
                    "{} deleted to save space",
                    counted(count, "frame was", "frames were")
                ), trace))
            }
            (FramesKept::InTrace, _) if trace.frames.is_empty() && trace.frames_dropped == 0 => {}
            (FramesKept::InTrace, Some(href)) => {
                section #frames {
                    h2 { "Raw frames" }
                    p { a href=(href) { (many(trace)) } }
                }
            }
            (FramesKept::InTrace, None) => {
                section #frames {
                    details {
                        summary { h2 { "Raw frames" } " " span.quiet-text { (many(trace)) } }
                        (list(&trace.frames, input.trial.started_at))
                    }
                }
            }
        }
    }
}

fn about(says: &str, trace: &Trace) -> Markup {
    html! {
        section #frames {
            h2 { "Raw frames" }
            p.quiet-text { (says) (dropped(trace)) }
        }
    }
}

fn many(trace: &Trace) -> String {
    let count = counted(trace.frames.len() as u64, "frame", "frames");
    format!("{count}{}", dropped(trace))
}

fn dropped(trace: &Trace) -> String {
    match trace.frames_dropped {
        0 => String::new(),
        dropped => format!(", {dropped} more did not fit the trial's budget"),
    }
}

/// Returns raw frames in order of time; `began` is the trial's start, ms since
/// the Unix epoch.
#[must_use]
pub fn list(frames: &[Frame], began: i64) -> Markup {
    let mut sorted: Vec<&Frame> = frames.iter().collect();
    sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
    let entries: Vec<Entry<'_>> = sorted
        .iter()
        .take(MAX_FRAMES)
        .map(|frame| entry(frame, began as f64))
        .collect();
    html! {
        (timeline::bare(&entries))
        @if sorted.len() > MAX_FRAMES {
            p.quiet-text {
                (counted((sorted.len() - MAX_FRAMES) as u64, "more frame is", "more frames are"))
                " in the trial as JSON"
            }
        }
    }
}

/// Returns what servers wrote beside the protocol.
fn spoken(frames: &[Frame], direction: Direction, heading: &str) -> Markup {
    let written: Vec<&Frame> = frames
        .iter()
        .filter(|frame| frame.direction == direction)
        .collect();
    let skipped = written.len().saturating_sub(MAX_SPOKEN);
    html! {
        @if !written.is_empty() {
            section {
                h2 { (heading) }
                @if skipped > 0 {
                    p.quiet-text { (counted(skipped as u64, "earlier piece", "earlier pieces")) " left out" }
                }
                @for frame in &written[skipped..] {
                    div.spoken { (text::name(&frame.server)) (text::folded(&frame.text)) }
                }
            }
        }
    }
}
