//! One YAML 1.2 document, JSON included, as a tree that knows where it was
//! written (`suite-file.md` §2.1).
//!
//! Built on the events of `granit-parser`: a deserializer would hide what the
//! spec makes rules about (alias weights, duplicate keys of any kind, number
//! spellings, several documents, the place of every key).

mod aliases;
mod message;
mod node;
mod printable;
mod read;
mod scalar;

pub use node::{Entry, Item, Node, Number, Value};
pub(crate) use read::{Comment, Document, read};
pub(crate) use scalar::resolve_plain;
