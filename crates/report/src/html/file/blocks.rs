//! Data in the file: inert blocks that a parser never runs and that no text
//! inside can end.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::DeflateEncoder};
use serde::Serialize;

use crate::html::data::escaped;

/// Packs JSON items into numbered blocks: each a JSON list, deflated, in
/// base64, whose alphabet has neither `<` nor `&`.
pub(super) struct Packer {
    /// What a block's id begins with.
    prefix: &'static str,
    /// JSON bytes from which on a block is full.
    full: usize,
    list: Vec<u8>,
    items: usize,
    blocks: usize,
}

/// Where an item lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The block's number.
    pub(super) block: usize,
    /// The item's place in the list.
    pub(super) item: usize,
}

impl Packer {
    pub(super) fn new(prefix: &'static str, full: usize) -> Self {
        Self {
            prefix,
            full,
            list: Vec::new(),
            items: 0,
            blocks: 0,
        }
    }

    /// Returns how many blocks there are, the last one closed.
    pub(super) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns where the next item will lie.
    pub(super) const fn next(&self) -> Place {
        Place {
            block: self.blocks,
            item: self.items,
        }
    }

    /// Adds an item; returns the block that it fills, or nothing yet.
    pub(super) fn add(&mut self, item: &impl Serialize) -> serde_json::Result<String> {
        self.list.push(if self.items == 0 { b'[' } else { b',' });
        serde_json::to_writer(&mut self.list, item)?;
        self.items += 1;
        if self.list.len() < self.full {
            return Ok(String::new());
        }
        self.close().map_err(serde_json::Error::io)
    }

    /// Closes the block under way; nothing where there is none.
    pub(super) fn close(&mut self) -> std::io::Result<String> {
        if self.items == 0 {
            return Ok(String::new());
        }
        self.list.push(b']');
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(&self.list)?;
        let packed = STANDARD.encode(encoder.finish()?);
        let block = format!(
            "<script type=\"application/octet-stream\" id=\"{}-{}\">{packed}</script>\n",
            self.prefix, self.blocks
        );
        self.list.clear();
        self.items = 0;
        self.blocks += 1;
        Ok(block)
    }
}

/// Returns a block of plain JSON.
pub(super) fn json_block(id: &str, value: &impl Serialize) -> serde_json::Result<String> {
    let text = escaped(&serde_json::to_string(value)?);
    Ok(format!(
        "<script type=\"application/json\" id=\"{id}\">{text}</script>\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;
    use serde_json::{Value, json};

    use super::*;

    const HOSTILE: &str =
        "</script><img src=x onerror=alert(1)><!--]]>\u{2028}\u{2029}&amp;\\ud800";

    fn unpack(block: &str) -> Value {
        let (_, rest) = block.split_once('>').expect("an element");
        let (text, end) = rest.split_once('<').expect("its end");
        assert_eq!(end, "/script>\n");
        let packed = STANDARD.decode(text).expect("base64");
        let mut list = String::new();
        DeflateDecoder::new(&*packed)
            .read_to_string(&mut list)
            .expect("deflated");
        serde_json::from_str(&list).expect("JSON")
    }

    #[test]
    fn items_come_back_from_the_place_that_was_told() {
        let mut packer = Packer::new("trials", 400);
        let mut blocks = Vec::new();
        let mut places = Vec::new();
        for number in 0..20 {
            places.push(packer.next());
            let text = format!("{HOSTILE} {number}");
            let block = packer.add(&text).expect("JSON");
            blocks.extend((!block.is_empty()).then_some(block));
        }
        blocks.extend(Some(packer.close().expect("a block")).filter(|last| !last.is_empty()));
        assert!(blocks.len() > 1);
        assert_eq!(packer.blocks(), blocks.len());
        assert_eq!(packer.close().expect("nothing"), "");
        for (number, place) in places.into_iter().enumerate() {
            let block = &blocks[place.block];
            assert!(block.contains(&format!("id=\"trials-{}\"", place.block)));
            assert!(!block.contains("onerror"));
            assert_eq!(unpack(block)[place.item], format!("{HOSTILE} {number}"));
        }
    }

    #[test]
    fn json_stays_what_it_is_and_ends_nothing() {
        let value = json!({"title": HOSTILE, "list": [HOSTILE, 1, null]});
        let block = json_block("index", &value).expect("JSON");
        assert_eq!(block.matches("</").count(), 1, "{block}");
        assert!(!block.contains("<img") && !block.contains("<!--") && !block.contains('\u{2028}'));
        let text = escaped(&value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
