//! Reads bodies and event streams in bounded memory.

use bytes::Bytes;
use futures::{Stream, StreamExt as _};

use crate::mcp::long::LongMessage;

/// A body, read to its end.
pub(crate) enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// It was too long.
    TooLong(LongMessage),
}

/// Reads a body; one of more than `limit` bytes is hashed and dropped.
///
/// # Errors
///
/// Fails when the connection breaks.
pub(crate) async fn read(
    response: reqwest::Response,
    limit: usize,
    head_bytes: usize,
) -> Result<Body, reqwest::Error> {
    let mut chunks = response.bytes_stream();
    let mut whole = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if whole.len() + chunk.len() <= limit {
            whole.extend_from_slice(&chunk);
            continue;
        }
        let mut long = LongMessage::new(&whole, head_bytes);
        drop(whole);
        long.push(&chunk);
        while let Some(chunk) = chunks.next().await {
            long.push(&chunk?);
        }
        return Ok(Body::TooLong(long.finish()));
    }
    Ok(Body::Whole(whole))
}

/// Reads at most `limit` bytes of a body, as much as comes.
pub(crate) async fn read_start(response: reqwest::Response, limit: usize) -> Vec<u8> {
    let mut chunks = response.bytes_stream();
    let mut start = Vec::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        let room = limit - start.len();
        start.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if start.len() == limit {
            break;
        }
    }
    start
}

/// Why an event stream broke.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    /// The connection did.
    #[error("the stream broke: {0}")]
    Broken(#[source] reqwest::Error),
    /// One event is too long.
    #[error("an event is longer than {0} bytes")]
    EventTooLong(usize),
}

/// Passes an event stream on until one event grows past `limit` bytes.
pub(crate) fn bounded_events(
    response: reqwest::Response,
    limit: usize,
) -> impl Stream<Item = Result<Bytes, StreamError>> + Send {
    let mut event = EventSize::default();
    let mut failed = false;
    response
        .bytes_stream()
        .map(move |chunk| {
            let chunk = chunk.map_err(StreamError::Broken)?;
            if event.grow(&chunk) > limit {
                return Err(StreamError::EventTooLong(limit));
            }
            Ok(chunk)
        })
        .take_while(move |item| {
            let goes_on = !failed;
            failed |= item.is_err();
            std::future::ready(goes_on)
        })
}

/// Measures the event that is being received; an empty line ends it.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Takes a chunk; returns the largest size that an event had in it.
    fn grow(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            let line = &chunk[start..end];
            let line = self.line + line.strip_suffix(b"\r").unwrap_or(line).len();
            self.event += line;
            largest = largest.max(self.event);
            if line == 0 {
                self.event = 0;
            }
            self.line = 0;
            start = end + 1;
        }
        let rest = &chunk[start..];
        self.line += rest.strip_suffix(b"\r").unwrap_or(rest).len();
        largest.max(self.event + self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_measured_across_chunks_and_ends_at_an_empty_line() {
        let mut size = EventSize::default();
        assert_eq!(size.grow(b"data: 1234"), 10);
        assert_eq!(size.grow(b"5678\r"), 14);
        assert_eq!(size.grow(b"\n\r\n"), 14);
        assert_eq!(size.grow(b"data: 1\n\ndata: 22\n"), 8);
        assert_eq!(size.grow(b"\n"), 8);
        assert_eq!(size.grow(b"x"), 1);
    }
}
