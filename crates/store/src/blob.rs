//! Documents as they lie in a column: one codec byte, then the JSON.
//!
//! Small ones stay as they are; the rest are zstd frames with a checksum, so
//! that a flipped bit is an error and never another document.

use std::cell::RefCell;

use serde::{Serialize, de::DeserializeOwned};

/// Plain JSON follows.
const PLAIN: u8 = 0;
/// A zstd frame follows.
const ZSTD: u8 = 1;
/// Below this size a frame saves nothing worth its time.
const COMPRESS_FROM: usize = 512;
/// The fastest level that still finds repeated keys; `examples/save_trial.rs`
/// prints what the others cost.
const LEVEL: i32 = 1;
/// No document of ours comes near; a damaged length must not exhaust memory.
const MAX_DOCUMENT: u64 = 1 << 30;

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> =
        const { RefCell::new(None) };
}

/// Serializes a document into a column value.
pub(crate) fn encode<T: Serialize + ?Sized>(document: &T) -> Result<Vec<u8>, String> {
    pack(&json(document)?)
}

/// Serializes a document to JSON.
pub(crate) fn json<T: Serialize + ?Sized>(document: &T) -> Result<Vec<u8>, String> {
    serde_json::to_vec(document).map_err(|error| error.to_string())
}

/// Compresses JSON into a column value.
pub(crate) fn pack(json: &[u8]) -> Result<Vec<u8>, String> {
    if json.len() < COMPRESS_FROM {
        let mut plain = Vec::with_capacity(json.len() + 1);
        plain.push(PLAIN);
        plain.extend_from_slice(json);
        return Ok(plain);
    }
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(compressor()?),
        };
        let mut packed = vec![0; zstd::zstd_safe::compress_bound(json.len()) + 1];
        packed[0] = ZSTD;
        let size = compressor
            .compress_to_buffer(json, &mut packed[1..])
            .map_err(|error| error.to_string())?;
        packed.truncate(size + 1);
        packed.shrink_to_fit();
        Ok(packed)
    })
}

fn compressor() -> Result<zstd::bulk::Compressor<'static>, String> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(|error| error.to_string())?;
    compressor
        .include_checksum(true)
        .map_err(|error| error.to_string())?;
    Ok(compressor)
}

/// Reads a document from a column value.
pub(crate) fn decode<T: DeserializeOwned>(blob: &[u8]) -> Result<T, String> {
    let (codec, bytes) = blob.split_first().ok_or("it is empty")?;
    match *codec {
        PLAIN => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        ZSTD => serde_json::from_slice(&unpack(bytes)?).map_err(|error| error.to_string()),
        other => Err(format!("its codec {other} is unknown to this version")),
    }
}

fn unpack(frame: &[u8]) -> Result<Vec<u8>, String> {
    let size = zstd::zstd_safe::get_frame_content_size(frame)
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
        for size in [0, 1, COMPRESS_FROM, 100_000] {
            let document = json!({ "text": "ä".repeat(size) });
            let blob = encode(&document).expect("encodes");
            assert_eq!(decode::<Value>(&blob).expect("decodes"), document);
        }
    }

    #[test]
    fn a_flipped_bit_is_an_error() {
        let document = json!({ "text": "evidence ".repeat(200) });
        let blob = encode(&document).expect("encodes");
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
