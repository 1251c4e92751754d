//! What went over the wire: standard error always, raw frames on demand.

use strandline_contract::trace::{Direction, Frame};

use super::{Detail, FramesKept, HANG, RawFrames, TrialInput, entry::Entry, name};
use crate::{
    layout::hanging,
    style::{Ink, Style},
    words::counted,
};

/// Lines of standard error and of noise shown in brief, the last ones.
const MAX_BRIEF: usize = 6;

pub(super) fn render(
    input: &TrialInput<'_>,
    shown: RawFrames,
    detail: Detail,
    style: &Style,
) -> Vec<String> {
    let Some(trace) = input.trace else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (direction, label) in [(Direction::Stderr, "stderr"), (Direction::Noise, "noise")] {
        lines.extend(spoken(&trace.frames, direction, label, detail, style));
    }
    let dropped = match trace.frames_dropped {
        0 => String::new(),
        dropped => format!(", {dropped} more did not fit the trial's budget"),
    };
    let text = match (input.frames, shown) {
        (FramesKept::Pruned(count), _) => format!(
            "{} deleted to save space{dropped}",
            counted(count, "frame was", "frames were")
        ),
        (FramesKept::InTrace, _) if trace.frames.is_empty() && dropped.is_empty() => {
            return lines;
        }
        (FramesKept::InTrace, RawFrames::Counted) => format!(
            "{}{dropped}; --frames lists them",
            counted(trace.frames.len() as u64, "frame", "frames")
        ),
        (FramesKept::InTrace, RawFrames::Listed) => format!(
            "{}{dropped}",
            counted(trace.frames.len() as u64, "frame", "frames")
        ),
    };
    lines.extend(hanging("frames", &text, 1, HANG, style.columns()));
    if shown == RawFrames::Listed {
        let began = input.trial.started_at as f64;
        let mut frames: Vec<&Frame> = trace.frames.iter().collect();
        frames.sort_by(|a, b| a.at.total_cmp(&b.at));
        for frame in frames {
            lines.extend(entry(frame, began).render(detail, style));
        }
    }
    lines
}

/// Returns a frame as an entry of a timeline.
pub(crate) fn entry(frame: &Frame, began: f64) -> Entry<'_> {
    let (kind, ink) = match frame.direction {
        Direction::Sent => ("sent", Ink::Quiet),
        Direction::Received => ("received", Ink::Strong),
        Direction::Stderr => ("stderr", Ink::Unsure),
        Direction::Noise => ("noise", Ink::Bad),
    };
    let mut entry = Entry::new(kind)
        .at(Some(frame.at - began))
        .ink(ink)
        .fact(name(&frame.server))
        .fact(counted(frame.bytes, "byte", "bytes"));
    if frame.sha256.is_some() {
        entry = entry.fact(format!(
            "the first {} kept",
            counted(frame.text.len() as u64, "byte", "bytes")
        ));
    }
    for (key, value) in &frame.transport {
        entry = entry.fact(format!("{} {}", name(key), Detail::Brief.json(value)));
    }
    entry.text(&frame.text)
}

/// Returns what servers wrote beside the protocol; in brief its end.
fn spoken(
    frames: &[Frame],
    direction: Direction,
    heading: &str,
    detail: Detail,
    style: &Style,
) -> Vec<String> {
    let written: Vec<&Frame> = frames
        .iter()
        .filter(|frame| frame.direction == direction)
        .collect();
    let skipped = match detail {
        Detail::Brief => written.len().saturating_sub(MAX_BRIEF),
        Detail::Full => 0,
    };
    let mut lines = Vec::new();
    let mut label = heading;
    if skipped > 0 {
        let earlier = counted(skipped as u64, "earlier line", "earlier lines");
        let text = format!("{} {earlier} with --trace", style.mark("…", "..."));
        lines.extend(hanging(label, &text, 1, HANG, style.columns()));
        label = "";
    }
    for frame in &written[skipped..] {
        for line in detail.lines(&frame.text) {
            let text = format!("{}: {line}", name(&frame.server));
            lines.extend(hanging(label, &text, 1, HANG, style.columns()));
            label = "";
        }
    }
    lines
}
