//! What is kept of a message that is too long to be read.

use sha2::{Digest, Sha256};

use super::capture::hex;

/// Bytes kept of its end.
const TAIL_BYTES: usize = 256;

/// A message that is counted, hashed and dropped while it passes by.
pub(crate) struct LongMessage {
    /// Its beginning.
    pub(crate) head: Vec<u8>,
    /// Its end.
    pub(crate) tail: Vec<u8>,
    /// Its length.
    pub(crate) bytes: u64,
    /// Hash of the whole, once it is complete.
    pub(crate) sha256: String,
    head_bytes: usize,
    hasher: Sha256,
}

impl LongMessage {
    /// Starts with what was read so far; keeps `head_bytes` of it.
    pub(crate) fn new(start: &[u8], head_bytes: usize) -> Self {
        let mut long = Self {
            head: Vec::new(),
            tail: Vec::new(),
            bytes: 0,
            sha256: String::new(),
            head_bytes,
            hasher: Sha256::new(),
        };
        long.push(start);
        long
    }

    /// Lets a part pass by.
    pub(crate) fn push(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.hasher.update(part);
        let room = self.head_bytes.saturating_sub(self.head.len());
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        self.tail
            .extend_from_slice(&part[part.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
    }

    /// Completes the hash.
    pub(crate) fn finish(mut self) -> Self {
        self.sha256 = hex(&self.hasher.finalize_reset());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_tail_length_and_hash_are_of_the_whole() {
        let mut long = LongMessage::new(b"ab", 3);
        long.push(b"cdef");
        long.push(&[b'x'; 300]);
        let long = long.finish();
        assert_eq!(long.head, b"abc");
        assert_eq!(long.tail, [b'x'; TAIL_BYTES]);
        assert_eq!(long.bytes, 306);
        let whole = [b"abcdef".as_slice(), &[b'x'; 300]].concat();
        assert_eq!(long.sha256, hex(&Sha256::digest(whole)));
    }
}
