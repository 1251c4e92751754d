//! One line in, one line out.

use std::{
    fmt::{self, Display},
    io::Write as _,
    marker::PhantomData,
};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{error::Category, value::RawValue};
use strandline_contract::quick::{self, QuickRead};

/// Where a line stands; printed as `FILE:LINE`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
}

impl Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// A line that is not JSON: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) String);

/// Why a derivation declines an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Refusal {
    /// A stable word in camel case.
    pub(super) code: &'static str,
    /// What is wrong, where and why.
    pub(super) message: String,
}

/// The one answer that a line gets.
#[derive(Debug)]
pub(super) struct Answer<'o> {
    id: Id<'o>,
    out: &'o mut Vec<u8>,
}

/// The id under which a line is answered.
#[derive(Debug, Clone, Copy)]
enum Id<'o> {
    /// As the line has it.
    Given(&'o str),
    /// The line has none: its place.
    Place(Place<'o>),
}

impl Answer<'_> {
    /// Answers with a derived document.
    pub(super) fn output(self, document: &impl Serialize) {
        let start = self.out.len();
        let Self { id, out } = self;
        write_id(id, out);
        out.extend_from_slice(b",\"output\":");
        match serde_json::to_writer(&mut *out, document) {
            Ok(()) => out.extend_from_slice(b"}\n"),
            Err(error) => {
                out.truncate(start);
                Answer { id, out }.refuse("unwritableOutput", error);
            }
        }
    }

    /// Answers with a document that `write` appends as JSON text.
    pub(super) fn written(self, write: impl FnOnce(&mut Vec<u8>)) {
        let Self { id, out } = self;
        write_id(id, out);
        out.extend_from_slice(b",\"output\":");
        write(out);
        out.extend_from_slice(b"}\n");
    }

    /// Declines with a stable camel-case code and a message.
    pub(super) fn refuse(self, code: &'static str, message: impl Display) {
        let Self { id, out } = self;
        write_id(id, out);
        out.extend_from_slice(b",\"refused\":");
        write_json(
            out,
            &Refusal {
                code,
                message: message.to_string(),
            },
        );
        out.extend_from_slice(b"}\n");
    }
}

fn write_id(id: Id<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    match id {
        Id::Given(id) => out.extend_from_slice(id.as_bytes()),
        Id::Place(place) => write_json(out, &place.to_string()),
    }
}

/// Writes a value that holds nothing but texts, which always are JSON.
fn write_json(out: &mut Vec<u8>, value: &impl Serialize) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        let _ = out.write_all(b"null");
    }
}

/// Reads a line's input, derives from it and appends the answer.
///
/// # Errors
///
/// Returns why the line is not JSON; it has been answered nevertheless.
pub(super) fn answer_line<'a, T: Deserialize<'a>>(
    line: &'a str,
    place: Place<'_>,
    out: &mut Vec<u8>,
    derive: fn(T, Answer<'_>),
) -> Result<(), Malformed> {
    match read_line(line) {
        Ok((id, input)) => {
            let id = id.map_or(Id::Place(place), |id| Id::Given(id.get()));
            derive(input, Answer { id, out });
            Ok(())
        }
        Err(error) => decline(line, place, out, &error),
    }
}

/// As [`answer_line`], for inputs that a cursor can read: what it leaves, a
/// deserializer reads.
pub(super) fn answer_line_quickly<'a, T: Deserialize<'a> + QuickRead<'a>>(
    line: &'a str,
    place: Place<'_>,
    out: &mut Vec<u8>,
    derive: fn(T, Answer<'_>),
) -> Result<(), Malformed> {
    let read = if may_be_envelope(line) {
        quick::read_envelope(line)
    } else {
        quick::read_text(line).map(|input| (None, input))
    };
    let Some((id, input)) = read else {
        return answer_line(line, place, out, derive);
    };
    let id = id.map_or(Id::Place(place), Id::Given);
    derive(input, Answer { id, out });
    Ok(())
}

/// Returns whether a line may have the key `input`.
fn may_be_envelope(line: &str) -> bool {
    memchr::memmem::find(line.as_bytes(), b"\"input\"").is_some()
}

/// Reads `{"id", "input"}`, or else the whole line as the input.
fn read_line<'a, T: Deserialize<'a>>(
    line: &'a str,
) -> Result<(Option<&'a RawValue>, T), serde_json::Error> {
    if may_be_envelope(line) {
        let envelope: Envelope<'a, T> = serde_json::from_str(line)?;
        if let Some(input) = envelope.input {
            return Ok((envelope.id, input));
        }
    }
    Ok((None, serde_json::from_str(line)?))
}

/// Answers a line whose input cannot be read.
fn decline(
    line: &str,
    place: Place<'_>,
    out: &mut Vec<u8>,
    error: &serde_json::Error,
) -> Result<(), Malformed> {
    // A wrong input may hide behind it that the line is not JSON at all.
    let envelope = serde_json::from_str::<Envelope<'_, IgnoredAny>>(line);
    let syntax = match &envelope {
        Err(syntax) if syntax.classify() != Category::Data => Some(syntax),
        _ => None,
    };
    let message = located(place, syntax.unwrap_or(error));
    let given = envelope
        .as_ref()
        .ok()
        .and_then(|envelope| envelope.input.and(envelope.id));
    let answer = Answer {
        id: given.map_or(Id::Place(place), |id| Id::Given(id.get())),
        out,
    };
    if syntax.is_some() || error.classify() != Category::Data {
        answer.refuse("malformedLine", &message);
        return Err(Malformed(message));
    }
    answer.refuse("invalidInput", message);
    Ok(())
}

/// Answers a line that is not text.
pub(super) fn decline_bytes(place: Place<'_>, column: usize, out: &mut Vec<u8>) -> Malformed {
    let message = format!("{place}:{column}: the line is not UTF-8");
    let answer = Answer {
        id: Id::Place(place),
        out,
    };
    answer.refuse("malformedLine", &message);
    Malformed(message)
}

/// Answers a line that is longer than we read.
pub(super) fn decline_length(place: Place<'_>, limit: usize, out: &mut Vec<u8>) -> Malformed {
    let message = format!("{place}: the line is longer than {limit} bytes");
    let answer = Answer {
        id: Id::Place(place),
        out,
    };
    answer.refuse("malformedLine", &message);
    Malformed(message)
}

/// Words an error as `FILE:LINE:COLUMN: what`.
fn located(place: Place<'_>, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&suffix).unwrap_or(&text);
    format!("{place}:{}: {what}", error.column().max(1))
}

/// A line as `{"id", "input"}`; without the key `input` it is something else.
struct Envelope<'a, T> {
    id: Option<&'a RawValue>,
    input: Option<T>,
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Envelope<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<'a, T>(PhantomData<(&'a RawValue, T)>);

        impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for Members<'a, T> {
            type Value = Envelope<'a, T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope {
                    id: None,
                    input: None,
                };
                while let Some(key) = members.next_key::<Key>()? {
                    match key {
                        Key::Id if envelope.id.is_some() => {
                            return Err(de::Error::duplicate_field("id"));
                        }
                        Key::Input if envelope.input.is_some() => {
                            return Err(de::Error::duplicate_field("input"));
                        }
                        Key::Id => envelope.id = Some(members.next_value()?),
                        Key::Input => envelope.input = Some(members.next_value()?),
                        Key::Other => {
                            members.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(envelope)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Id,
    Input,
    #[serde(other)]
    Other,
}
