//! Documents as they lie in a column: JSON, plain or in a zstd frame.
//!
//! Small ones stay as they are; the rest are frames with a checksum, so that a
//! flipped bit is an error and never another document. A frame is known by its
//! first byte, which no JSON text begins with.

use std::cell::RefCell;

use serde::{Serialize, de::DeserializeOwned};
use zstd::{bulk::Compressor, zstd_safe};

/// First byte of a zstd frame.
const ZSTD: u8 = 0x28;
/// Below this size a frame saves nothing worth its time.
const COMPRESS_FROM: usize = 512;
/// The fastest level that still finds repeated keys.
const LEVEL: i32 = 1;
/// No document of ours comes near; a damaged length must not exhaust memory.
const MAX_DOCUMENT: u64 = 1 << 30;
/// A buffer that grew beyond this is not kept for the next document.
const KEPT_BUFFER: usize = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What a thread keeps from one document to the next.
#[derive(Default)]
struct Scratch {
    json: Vec<u8>,
    frame: Vec<u8>,
    compressor: Option<Compressor<'static>>,
}

/// Serializes a document into a column value.
pub(crate) fn encode<T: Serialize + ?Sized>(document: &T) -> Result<Vec<u8>, String> {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.json.clear();
        serde_json::to_writer(&mut scratch.json, document).map_err(|error| error.to_string())?;
        scratch.pack()
    })
}

/// Puts JSON into a column value.
pub(crate) fn pack(json: &[u8]) -> Result<Vec<u8>, String> {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.json.clear();
        scratch.json.extend_from_slice(json);
        scratch.pack()
    })
}

impl Scratch {
    fn pack(&mut self) -> Result<Vec<u8>, String> {
        let packed = if self.json.len() < COMPRESS_FROM {
            self.json.clone()
        } else {
            self.compress()?.to_vec()
        };
        if self.json.capacity() > KEPT_BUFFER {
            self.json = Vec::new();
            self.frame = Vec::new();
        }
        Ok(packed)
    }

    fn compress(&mut self) -> Result<&[u8], String> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(compressor()?),
        };
        self.frame.clear();
        self.frame
            .reserve(zstd_safe::compress_bound(self.json.len()));
        compressor
            .compress_to_buffer(&self.json, &mut self.frame)
            .map_err(|error| error.to_string())?;
        Ok(&self.frame)
    }
}

fn compressor() -> Result<Compressor<'static>, String> {
    let mut compressor = Compressor::new(LEVEL).map_err(|error| error.to_string())?;
    compressor
        .include_checksum(true)
        .map_err(|error| error.to_string())?;
    Ok(compressor)
}

/// Reads a document from a column value.
pub(crate) fn decode<T: DeserializeOwned>(blob: &[u8]) -> Result<T, String> {
    let document = if blob.first() == Some(&ZSTD) {
        serde_json::from_slice(&unpack(blob)?)
    } else {
        serde_json::from_slice(blob)
    };
    document.map_err(|error| error.to_string())
}

fn unpack(frame: &[u8]) -> Result<Vec<u8>, String> {
    let size = zstd_safe::get_frame_content_size(frame)
        .ok()
        .flatten()
        .filter(|size| *size <= MAX_DOCUMENT)
        .ok_or("its compressed frame has no usable length")?;
    let size = usize::try_from(size).map_err(|error| error.to_string())?;
    zstd::bulk::decompress(frame, size).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn documents_of_every_size_come_back() {
        for size in [0, 1, COMPRESS_FROM, 100_000, 2_000_000] {
            let document = json!({ "text": "ä".repeat(size) });
            let blob = encode(&document).expect("encodes");
            assert_eq!(decode::<Value>(&blob).expect("decodes"), document);
        }
    }

    #[test]
    fn a_flipped_bit_is_an_error() {
        let document = json!({ "text": "evidence ".repeat(200) });
        let blob = encode(&document).expect("encodes");
        assert_eq!(blob[0], ZSTD);
        for at in 0..blob.len() {
            let mut damaged = blob.clone();
            damaged[at] ^= 0x10;
            assert!(
                decode::<Value>(&damaged).map_or(true, |read| read == document),
                "byte {at} changed the document silently"
            );
        }
    }
}
