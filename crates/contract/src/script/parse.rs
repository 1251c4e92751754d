//! From an authored script to a typed one, with every problem at once.

use serde_json::{Map, Value};

use super::{References, Script, ScriptAct, ScriptCall, ScriptFailure, ScriptTurn};
use crate::run::Usage;

/// Most lists in `iterations`, as many as a case may have trials.
const MAX_ITERATIONS: usize = 100;
/// Most turns in one list.
const MAX_TURNS: usize = 1_000;
/// Most calls in one turn.
const MAX_CALLS: usize = 100;
/// Longest delay of a turn, ms.
const MAX_DELAY_MS: u64 = 600_000;

/// A step from a value to one of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An element of a list, from 0.
    Index(usize),
}

/// Something wrong in an authored script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptProblem {
    /// Where, from the script's root.
    pub path: Vec<Segment>,
    /// What is wrong and what is expected, in one line.
    pub message: String,
}

/// Collects problems while walking; the path is kept on a stack.
#[derive(Default)]
struct Walk {
    path: Vec<Segment>,
    problems: Vec<ScriptProblem>,
}

impl Walk {
    fn report(&mut self, message: impl Into<String>) {
        self.problems.push(ScriptProblem {
            path: self.path.clone(),
            message: message.into(),
        });
    }

    fn at<T>(&mut self, segment: Segment, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let value = read(self);
        self.path.pop();
        value
    }

    fn at_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.at(Segment::Key(key.to_owned()), read)
    }

    /// Reports keys that no reader knows, in one problem at the object.
    fn refuse_unknown_keys(&mut self, object: &Map<String, Value>, known: &[&str]) {
        let unknown: Vec<String> = object
            .keys()
            .filter(|key| !known.contains(&key.as_str()))
            .map(|key| format!("`{key}`"))
            .collect();
        if !unknown.is_empty() {
            self.report(format!(
                "unknown key {}; known here: {}",
                unknown.join(", "),
                known.join(", ")
            ));
        }
    }

    fn object<'a>(&mut self, value: &'a Value, what: &str) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.report(format!("expected {what}, found {}", kind_of(value)));
        }
        object
    }

    fn list<'a>(&mut self, value: &'a Value, what: &str, longest: usize) -> Option<&'a Vec<Value>> {
        let Some(list) = value.as_array() else {
            self.report(format!(
                "expected a list of {what}, found {}",
                kind_of(value)
            ));
            return None;
        };
        if list.is_empty() {
            self.report(format!("the list of {what} is empty"));
        }
        if list.len() > longest {
            self.report(format!(
                "expected at most {longest} {what}, found {}",
                list.len()
            ));
        }
        Some(list)
    }
}

pub(super) fn parse(value: &Value) -> Result<Script, Vec<ScriptProblem>> {
    let mut walk = Walk::default();
    let iterations = match value {
        Value::Array(_) => vec![turns(&mut walk, value)],
        Value::Object(object) => {
            walk.refuse_unknown_keys(object, &["iterations"]);
            walk.at_key("iterations", |walk| match object.get("iterations") {
                Some(lists) => iterations(walk, lists),
                None => {
                    walk.report("`iterations` is required: a list of lists of turns");
                    Vec::new()
                }
            })
        }
        _ => {
            walk.report(format!(
                "expected a list of turns or `{{iterations: [[turn, …], …]}}`, found {}",
                kind_of(value)
            ));
            Vec::new()
        }
    };
    if walk.problems.is_empty() {
        Ok(Script { iterations })
    } else {
        Err(walk.problems)
    }
}

fn iterations(walk: &mut Walk, value: &Value) -> Vec<Vec<ScriptTurn>> {
    let Some(lists) = walk.list(value, "lists of turns", MAX_ITERATIONS) else {
        return Vec::new();
    };
    lists
        .iter()
        .enumerate()
        .map(|(index, list)| walk.at(Segment::Index(index), |walk| turns(walk, list)))
        .collect()
}

fn turns(walk: &mut Walk, value: &Value) -> Vec<ScriptTurn> {
    let Some(list) = walk.list(value, "turns", MAX_TURNS) else {
        return Vec::new();
    };
    list.iter()
        .enumerate()
        .filter_map(|(index, value)| walk.at(Segment::Index(index), |walk| turn(walk, value)))
        .collect()
}

fn turn(walk: &mut Walk, value: &Value) -> Option<ScriptTurn> {
    let object = walk.object(value, "a turn (`say`, `call` or `fail`)")?;
    walk.refuse_unknown_keys(object, &["say", "call", "fail", "delayMs", "usage"]);
    let say = object
        .get("say")
        .and_then(|value| walk.at_key("say", |walk| text(walk, value)));
    let calls = object
        .get("call")
        .map(|value| walk.at_key("call", |walk| calls(walk, value)));
    let fail = object
        .get("fail")
        .and_then(|value| walk.at_key("fail", |walk| failure(walk, value)));
    let delay_ms = object.get("delayMs").map_or(0, |value| {
        walk.at_key("delayMs", |walk| {
            whole_number(walk, value, MAX_DELAY_MS).unwrap_or(0)
        })
    });
    let usage = object
        .get("usage")
        .and_then(|value| walk.at_key("usage", |walk| usage(walk, value)));

    let answers = object.contains_key("say") || object.contains_key("call");
    match (answers, object.contains_key("fail")) {
        (false, false) => {
            walk.report("expected `say`, `call` or `fail`; to say nothing, write `say: \"\"`")
        }
        (true, true) => {
            walk.report("a turn either answers (`say`, `call`) or fails (`fail`), not both")
        }
        _ => {}
    }
    Some(ScriptTurn {
        act: match fail {
            Some(failure) => ScriptAct::Fail(failure),
            None => ScriptAct::Answer {
                say,
                calls: calls.unwrap_or_default(),
            },
        },
        delay_ms,
        usage,
    })
}

fn calls(walk: &mut Walk, value: &Value) -> Vec<ScriptCall> {
    let Some(list) = walk.list(value, "calls", MAX_CALLS) else {
        return Vec::new();
    };
    list.iter()
        .enumerate()
        .filter_map(|(index, value)| walk.at(Segment::Index(index), |walk| call(walk, value)))
        .collect()
}

fn call(walk: &mut Walk, value: &Value) -> Option<ScriptCall> {
    let object = walk.object(value, "a call (`tool`, `arguments`)")?;
    walk.refuse_unknown_keys(object, &["tool", "arguments"]);
    let tool = walk.at_key("tool", |walk| match object.get("tool") {
        Some(Value::String(tool)) if !tool.trim().is_empty() => Some(tool.clone()),
        Some(Value::String(_)) => {
            walk.report("expected a tool name, found a blank string");
            None
        }
        Some(other) => {
            walk.report(format!("expected a tool name, found {}", kind_of(other)));
            None
        }
        None => {
            walk.report("`tool` is required: the server's own tool name");
            None
        }
    });
    let arguments = object.get("arguments").cloned().unwrap_or(Value::Null);
    walk.at_key("arguments", |walk| check_references(walk, &arguments));
    Some(ScriptCall {
        tool: tool?,
        arguments,
    })
}

fn failure(walk: &mut Walk, value: &Value) -> Option<ScriptFailure> {
    let object = walk.object(value, "a failure (`status`, `code`)")?;
    walk.refuse_unknown_keys(object, &["status", "code"]);
    let status = object.get("status").and_then(|value| {
        walk.at_key("status", |walk| {
            match value.as_u64().and_then(|status| u16::try_from(status).ok()) {
                Some(status @ 400..=599) => Some(status),
                _ => {
                    walk.report(format!(
                        "expected an HTTP error status, 400 to 599, found {value}"
                    ));
                    None
                }
            }
        })
    });
    let code = object.get("code").and_then(|value| {
        walk.at_key("code", |walk| match value {
            Value::String(code) if !code.trim().is_empty() => Some(code.clone()),
            other => {
                walk.report(format!("expected an error code, found {}", kind_of(other)));
                None
            }
        })
    });
    if object.get("status").is_none() && object.get("code").is_none() {
        walk.report("expected `status`, `code` or both");
    }
    Some(ScriptFailure { status, code })
}

fn usage(walk: &mut Walk, value: &Value) -> Option<Usage> {
    let object = walk.object(value, "token counts")?;
    walk.refuse_unknown_keys(object, &["inputTokens", "outputTokens", "totalTokens"]);
    let mut count = |key: &str| {
        object
            .get(key)
            .and_then(|value| walk.at_key(key, |walk| whole_number(walk, value, 1 << 53)))
    };
    Some(Usage {
        input_tokens: count("inputTokens"),
        output_tokens: count("outputTokens"),
        total_tokens: count("totalTokens"),
        ..Usage::default()
    })
}

fn text(walk: &mut Walk, value: &Value) -> Option<String> {
    let Value::String(text) = value else {
        walk.report(format!("expected text, found {}", kind_of(value)));
        return None;
    };
    check_references(walk, value);
    Some(text.clone())
}

/// Reports references that cannot be read, wherever a string holds one.
fn check_references(walk: &mut Walk, value: &Value) {
    match value {
        Value::String(text) => {
            if let Err(error) = References::parse(text) {
                walk.report(error.to_string());
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                walk.at(Segment::Index(index), |walk| check_references(walk, value));
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                walk.at_key(key, |walk| check_references(walk, value));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reads a whole number; one with a zero fraction counts (`suite-file.md` §2.1).
fn whole_number(walk: &mut Walk, value: &Value, largest: u64) -> Option<u64> {
    let number = value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number))
            .then_some(number as u64)
    });
    match number {
        Some(number) if number <= largest => Some(number),
        _ => {
            walk.report(format!(
                "expected a whole number, 0 to {largest}, found {value}"
            ));
            None
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
