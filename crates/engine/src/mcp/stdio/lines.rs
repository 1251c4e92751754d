//! Splits a byte stream into lines in bounded memory.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::mcp::long::LongMessage;

/// Bytes read from a pipe at once.
const CHUNK: usize = 64 * 1024;

/// Line buffers larger than this are given back after use.
const KEPT_BUFFER: usize = 1024 * 1024;

/// Reads lines of at most `limit` bytes; longer ones are hashed and dropped.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    head_bytes: usize,
    long: Option<LongMessage>,
    /// The last line was handed out and is to be cleared.
    used: bool,
}

/// What the stream gave.
pub(crate) enum Read<'a> {
    /// A line, without its end.
    Line(&'a [u8]),
    /// A line that was too long.
    TooLong(LongMessage),
    /// The end, with what came after the last line end.
    End(&'a [u8]),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Returns a reader that keeps `head_bytes` of a line that is too long.
    pub(crate) fn new(reader: R, limit: usize, head_bytes: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, reader),
            line: Vec::new(),
            limit,
            head_bytes,
            long: None,
            used: false,
        }
    }

    /// Reads on; nothing is lost when the future is dropped.
    ///
    /// An error of the pipe reads like its end.
    pub(crate) async fn read(&mut self) -> Read<'_> {
        if self.used {
            self.line.clear();
            self.line.shrink_to(KEPT_BUFFER);
            self.used = false;
        }
        loop {
            let chunk = match self.reader.fill_buf().await {
                Ok(chunk) if !chunk.is_empty() => chunk,
                Ok(_) | Err(_) => {
                    if let Some(long) = self.long.take() {
                        return Read::TooLong(long.finish());
                    }
                    self.used = true;
                    return Read::End(&self.line);
                }
            };
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            match &mut self.long {
                Some(long) => long.push(part),
                None if self.line.len() + part.len() > self.limit => {
                    let mut long = LongMessage::new(&self.line, self.head_bytes);
                    long.push(part);
                    self.long = Some(long);
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(part),
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            if end.is_some() {
                if let Some(long) = self.long.take() {
                    return Read::TooLong(long.finish());
                }
                self.used = true;
                return Read::Line(&self.line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::mcp::capture::hex;

    async fn read_all(input: &[u8], limit: usize) -> Vec<String> {
        let mut reader = LineReader::new(input, limit, 3);
        let mut seen = Vec::new();
        loop {
            match reader.read().await {
                Read::Line(line) => seen.push(format!("line {}", String::from_utf8_lossy(line))),
                Read::TooLong(long) => seen.push(format!(
                    "long {} {}…{}",
                    long.bytes,
                    String::from_utf8_lossy(&long.head),
                    String::from_utf8_lossy(&long.tail)
                )),
                Read::End(rest) => {
                    seen.push(format!("end {}", String::from_utf8_lossy(rest)));
                    return seen;
                }
            }
        }
    }

    #[tokio::test]
    async fn lines_come_whole_and_the_rest_comes_with_the_end() {
        assert_eq!(
            read_all(b"a\n\nbc\r\nrest", 10).await,
            ["line a", "line ", "line bc\r", "end rest"]
        );
    }

    #[tokio::test]
    async fn a_line_over_the_limit_keeps_head_tail_length_and_hash() {
        assert_eq!(
            read_all(b"abcdefgh\nok\nabcdefghi", 5).await,
            [
                "long 8 abc…abcdefgh",
                "line ok",
                "long 9 abc…abcdefghi",
                "end "
            ]
        );
        let input = vec![b'x'; 3 * CHUNK];
        let mut reader = LineReader::new(input.as_slice(), CHUNK, 8);
        let Read::TooLong(long) = reader.read().await else {
            panic!("the line is over the limit");
        };
        assert_eq!(long.bytes, 3 * CHUNK as u64);
        assert_eq!(long.sha256, hex(&Sha256::digest(&input)));
    }
}
