//! Where frames, lints and adaptations are collected, within bounds.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use strandline_contract::trace::{Adaptation, Direction, Frame, Lint};

use super::{Captured, Redactor, clock::now_ms};

/// What is kept of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Bytes of text kept per frame; a longer frame keeps its length and hash.
    pub frame_bytes: usize,
    /// Bytes of text kept between two drains.
    pub total_bytes: usize,
    /// Frames kept between two drains.
    pub frames: usize,
}

impl Default for CaptureLimits {
    fn default() -> Self {
        Self {
            frame_bytes: 64 * 1024,
            total_bytes: 8 * 1024 * 1024,
            frames: 10_000,
        }
    }
}

/// A place that frames go to; clones share it.
///
/// A session has one of its own. A trial that shares a session with others
/// makes another and hands it to each of its calls
/// ([`CallOptions::with_capture`](super::CallOptions::with_capture)): the
/// request, its answer and its progress notifications then go there. Standard
/// error, noise and log messages name no request; they go to the capture of the
/// only call in flight, and to the session's own when there are several or none.
#[derive(Debug, Clone)]
pub struct Capture {
    limits: CaptureLimits,
    recorder: Arc<Mutex<Recorder>>,
}

#[derive(Debug, Default)]
struct Recorder {
    captured: Captured,
    kept_bytes: usize,
    seen_lints: BTreeSet<(String, Option<String>)>,
    seen_adaptations: BTreeSet<(String, String)>,
}

impl Capture {
    /// Returns an empty capture.
    #[must_use]
    pub fn new(limits: CaptureLimits) -> Self {
        Self {
            limits,
            recorder: Arc::default(),
        }
    }

    /// Takes everything recorded since the last time; the bounds start again.
    #[must_use]
    pub fn drain(&self) -> Captured {
        std::mem::take(&mut *self.lock()).captured
    }

    /// Records a frame whose bytes are at hand.
    pub(crate) fn frame(&self, frame: RawFrame<'_>, redactor: &Redactor) {
        let mut recorder = self.lock();
        let room = self.limits.total_bytes.saturating_sub(recorder.kept_bytes);
        if recorder.captured.frames.len() >= self.limits.frames || room == 0 {
            recorder.captured.frames_dropped += 1;
            return;
        }
        let limit = self.limits.frame_bytes.min(room);
        let text = cut_text(frame.kept, limit, redactor);
        recorder.kept_bytes += text.len();
        let whole = frame.kept.len() as u64 == frame.bytes && frame.kept.len() <= limit;
        let sha256 = (!whole).then(|| {
            frame
                .sha256
                .unwrap_or_else(|| hex(&Sha256::digest(frame.kept)))
        });
        recorder.captured.frames.push(Frame {
            at: frame.at,
            server: frame.server.to_owned(),
            direction: frame.direction,
            text,
            bytes: frame.bytes,
            sha256,
            transport: frame.transport,
        });
    }

    /// Records a finding; the same one about the same tool counts once.
    pub(crate) fn lint(&self, lint: Lint) {
        let mut recorder = self.lock();
        if recorder
            .seen_lints
            .insert((lint.code.clone(), lint.tool_name.clone()))
        {
            recorder.captured.lints.push(lint);
        }
    }

    /// Records what we tolerated; the same thing at the same place counts once.
    pub(crate) fn adaptation(&self, adaptation: Adaptation) {
        let mut recorder = self.lock();
        if recorder
            .seen_adaptations
            .insert((adaptation.kind.clone(), adaptation.subject.clone()))
        {
            recorder.captured.adaptations.push(adaptation);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame on its way into a capture.
pub(crate) struct RawFrame<'a> {
    pub(crate) at: f64,
    pub(crate) server: &'a str,
    pub(crate) direction: Direction,
    /// The bytes at hand: all of the frame, or its beginning.
    pub(crate) kept: &'a [u8],
    /// Length of the whole frame.
    pub(crate) bytes: u64,
    /// Hash of the whole frame, when only its beginning is at hand.
    pub(crate) sha256: Option<String>,
    pub(crate) transport: Map<String, Value>,
}

impl<'a> RawFrame<'a> {
    /// Returns a frame of now, with all of its bytes at hand.
    pub(crate) fn whole(server: &'a str, direction: Direction, bytes: &'a [u8]) -> Self {
        Self {
            at: now_ms(),
            server,
            direction,
            kept: bytes,
            bytes: bytes.len() as u64,
            sha256: None,
            transport: Map::new(),
        }
    }
}

/// Returns at most `limit` bytes of text, without secrets.
fn cut_text(bytes: &[u8], limit: usize, redactor: &Redactor) -> String {
    // A secret that the cut would halve is still whole in here.
    let window = &bytes[..bytes.len().min(limit.saturating_add(redactor.longest()))];
    let text = String::from_utf8_lossy(window);
    let mut text = redactor.text(&text).into_owned();
    truncate(&mut text, limit);
    text
}

/// Cuts `text` to at most `limit` bytes, at a character.
pub(crate) fn truncate(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
    }
}

/// Writes bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawFrame<'_> {
        RawFrame::whole("s", Direction::Received, text.as_bytes())
    }

    #[test]
    fn a_long_frame_is_cut_at_a_character_and_keeps_length_and_hash() {
        let capture = Capture::new(CaptureLimits {
            frame_bytes: 4,
            ..CaptureLimits::default()
        });
        capture.frame(raw("abcé"), &Redactor::default());
        capture.frame(raw("abcd"), &Redactor::default());
        let frames = capture.drain().frames;
        assert_eq!(frames[0].text, "abc");
        assert_eq!(frames[0].bytes, 5);
        assert_eq!(frames[0].sha256.as_deref().map(str::len), Some(64));
        assert_eq!(frames[1].text, "abcd");
        assert_eq!(frames[1].sha256, None);
    }

    #[test]
    fn frames_past_the_budget_are_counted_and_a_drain_starts_again() {
        let capture = Capture::new(CaptureLimits {
            frame_bytes: 10,
            total_bytes: 5,
            frames: 2,
        });
        for _ in 0..4 {
            capture.frame(raw("abcd"), &Redactor::default());
        }
        let captured = capture.drain();
        assert_eq!(captured.frames.len(), 2);
        assert_eq!(captured.frames[1].text, "a");
        assert_eq!(captured.frames_dropped, 2);
        capture.frame(raw("abcd"), &Redactor::default());
        assert_eq!(capture.drain().frames.len(), 1);
    }

    #[test]
    fn a_secret_at_the_cut_does_not_leak_its_beginning() {
        let capture = Capture::new(CaptureLimits {
            frame_bytes: 6,
            ..CaptureLimits::default()
        });
        capture.frame(raw("abc-hunter22-def"), &Redactor::new(["hunter22"]));
        assert_eq!(capture.drain().frames[0].text, "abc-**");
    }
}
