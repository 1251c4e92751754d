//! References from a scripted turn to the results of earlier calls.
//!
//! | written | stands for |
//! |---|---|
//! | `{{last/content/0/text}}` | that member of the newest call's raw result |
//! | `{{1/structuredContent/id}}` | of the first call's |
//! | `{{2/json/items/0}}` | of the second call's first text block, read as JSON |
//! | `\{{` | two literal braces |
//!
//! Calls are counted from 1 over the whole conversation; the rest is a JSON
//! pointer. A string that is one reference and nothing else takes the value
//! with its JSON type; a reference inside text becomes text.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};

/// What an earlier call of the conversation returned.
#[derive(Debug, Clone, Copy)]
pub struct CallResult<'a> {
    /// The server's own tool name.
    pub tool_name: &'a str,
    /// The raw result, when there was one.
    pub result: Option<&'a Value>,
}

/// One reference to a value inside an earlier result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The call, from 1; absent means the newest.
    call: Option<NonZeroUsize>,
    /// Look into the first text block, read as JSON, not into the result itself.
    json: bool,
    /// JSON pointer from there.
    pointer: String,
    /// As written, for messages.
    written: String,
}

/// A string cut into text and references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Reference(Reference),
}

/// Why a reference cannot be read or leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// `{{` without `}}`.
    #[error("`{{{{` is never closed; write `\\{{{{` for two literal braces")]
    Unclosed,
    /// Neither `last` nor a call number.
    #[error(
        "`{{{{{written}}}}}` is no reference; expected `last/…` or a call number from 1 \
         (`{{{{last/content/0/text}}}}`), or write `\\{{{{` for two literal braces"
    )]
    Malformed {
        /// What stands between the braces.
        written: String,
    },
    /// There are not that many calls yet.
    #[error("`{{{{{written}}}}}` leads nowhere: the conversation has {calls} so far", calls = counted(*.calls))]
    NoSuchCall {
        /// What stands between the braces.
        written: String,
        /// Calls so far.
        calls: usize,
    },
    /// The call ended without a result.
    #[error(
        "`{{{{{written}}}}}` leads nowhere: call {call} (`{tool_name}`) ended without a result"
    )]
    NoResult {
        /// What stands between the braces.
        written: String,
        /// The call, from 1.
        call: usize,
        /// Its tool.
        tool_name: String,
    },
    /// The result has no such member.
    #[error(
        "`{{{{{written}}}}}` leads nowhere: the result of call {call} (`{tool_name}`) has no `{pointer}`"
    )]
    NoSuchMember {
        /// What stands between the braces.
        written: String,
        /// The call, from 1.
        call: usize,
        /// Its tool.
        tool_name: String,
        /// The pointer that found nothing.
        pointer: String,
    },
    /// The first text block is missing or is no JSON.
    #[error(
        "`{{{{{written}}}}}` leads nowhere: the first text of call {call} (`{tool_name}`) is no JSON"
    )]
    NotJson {
        /// What stands between the braces.
        written: String,
        /// The call, from 1.
        call: usize,
        /// Its tool.
        tool_name: String,
    },
}

fn counted(calls: usize) -> String {
    match calls {
        1 => "1 call".to_owned(),
        _ => format!("{calls} calls"),
    }
}

impl References {
    /// Cuts a string into text and references.
    ///
    /// # Errors
    ///
    /// Fails on an unclosed or unreadable reference.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            if let Some(before) = rest[..at].strip_suffix('\\') {
                literal.push_str(before);
                literal.push_str("{{");
                rest = &rest[at + 2..];
                continue;
            }
            literal.push_str(&rest[..at]);
            let inner = &rest[at + 2..];
            let end = inner.find("}}").ok_or(ReferenceError::Unclosed)?;
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Reference(Reference::parse(&inner[..end])?));
            rest = &inner[end + 2..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self { pieces })
    }

    /// Puts the values of earlier results in the references' place.
    ///
    /// # Errors
    ///
    /// Fails when a reference leads nowhere.
    pub fn resolve(&self, results: &[CallResult<'_>]) -> Result<Value, ReferenceError> {
        if let [Piece::Reference(reference)] = self.pieces.as_slice() {
            return reference.resolve(results);
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Reference(reference) => text.push_str(&as_text(reference.resolve(results)?)),
            }
        }
        Ok(Value::String(text))
    }

    /// Resolves every string inside a value; keys stay as they are.
    ///
    /// # Errors
    ///
    /// Fails when a reference cannot be read or leads nowhere.
    pub fn resolve_value(
        value: &Value,
        results: &[CallResult<'_>],
    ) -> Result<Value, ReferenceError> {
        Ok(match value {
            Value::String(text) => Self::parse(text)?.resolve(results)?,
            Value::Array(list) => Value::Array(
                list.iter()
                    .map(|value| Self::resolve_value(value, results))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(object) => Value::Object(
                object
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Self::resolve_value(value, results)?)))
                    .collect::<Result<Map<_, _>, _>>()?,
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    /// Resolves a text; a value that is no text becomes compact JSON.
    ///
    /// # Errors
    ///
    /// Fails when a reference cannot be read or leads nowhere.
    pub fn resolve_text(text: &str, results: &[CallResult<'_>]) -> Result<String, ReferenceError> {
        Ok(as_text(Self::parse(text)?.resolve(results)?))
    }
}

impl Reference {
    fn parse(written: &str) -> Result<Self, ReferenceError> {
        let trimmed = written.trim();
        let malformed = || ReferenceError::Malformed {
            written: written.to_owned(),
        };
        let (target, path) = match trimmed.split_once('/') {
            Some((target, path)) => (target, Some(path)),
            None => (trimmed, None),
        };
        let call = match target {
            "last" => None,
            number => Some(number.parse().map_err(|_| malformed())?),
        };
        let (json, pointer) = match path {
            None => (false, String::new()),
            Some("json") => (true, String::new()),
            Some(path) => match path.strip_prefix("json/") {
                Some(path) => (true, format!("/{path}")),
                None => (false, format!("/{path}")),
            },
        };
        Ok(Self {
            call,
            json,
            pointer,
            written: trimmed.to_owned(),
        })
    }

    fn resolve(&self, results: &[CallResult<'_>]) -> Result<Value, ReferenceError> {
        let written = || self.written.clone();
        let call = self.call.map_or(results.len(), NonZeroUsize::get);
        let Some(target) = call.checked_sub(1).and_then(|index| results.get(index)) else {
            return Err(ReferenceError::NoSuchCall {
                written: written(),
                calls: results.len(),
            });
        };
        let tool_name = || target.tool_name.to_owned();
        let Some(result) = target.result else {
            return Err(ReferenceError::NoResult {
                written: written(),
                call,
                tool_name: tool_name(),
            });
        };
        let found = if self.json {
            let read = first_text(result).and_then(|text| serde_json::from_str::<Value>(text).ok());
            let Some(read) = read else {
                return Err(ReferenceError::NotJson {
                    written: written(),
                    call,
                    tool_name: tool_name(),
                });
            };
            read.pointer(&self.pointer).cloned()
        } else {
            result.pointer(&self.pointer).cloned()
        };
        found.ok_or_else(|| ReferenceError::NoSuchMember {
            written: written(),
            call,
            tool_name: tool_name(),
            pointer: self.pointer.clone(),
        })
    }
}

/// Returns the first text block of a raw `tools/call` result.
fn first_text(result: &Value) -> Option<&str> {
    result
        .get("content")?
        .as_array()?
        .iter()
        .find(|block| block.get("type").and_then(Value::as_str) == Some("text"))?
        .get("text")?
        .as_str()
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
