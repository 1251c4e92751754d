//! Reads what a server sent, whatever state it is in.

use std::{collections::VecDeque, sync::atomic::Ordering};

use rmcp::model::ServerJsonRpcMessage;
use serde_json::{Map, Value, json};
use strandline_contract::trace::Direction;

use super::{Origin, PhaseFailure, RawFrame, Tap, empty_answer};
use crate::mcp::{failure::one_line, long::LongMessage, slot::Answer};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Tap {
    /// Takes one message, or one line, as it came.
    pub(crate) fn incoming(
        &self,
        bytes: &[u8],
        facts: Map<String, Value>,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let mut text = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) {
            text = rest;
            self.adapt(
                "byteOrderMark",
                "A byte order mark before a message was skipped.",
            );
        }
        let frame = RawFrame {
            transport: facts,
            ..RawFrame::whole(&self.server, Direction::Received, bytes)
        };
        let value = match serde_json::from_slice::<Value>(text) {
            Ok(value) => value,
            Err(error) => return self.unreadable(frame, text, &error, origin, forward),
        };
        match value {
            Value::Array(batch) if is_batch(&batch) => {
                self.record(None, frame);
                self.adapt(
                    "batchSplit",
                    "A JSON-RPC batch was read message by message.",
                );
                for message in batch {
                    self.message(message, None, origin, forward);
                }
            }
            value => self.message(value, Some(frame), origin, forward),
        }
    }

    /// Takes a message that was too long to be read.
    pub(crate) fn too_long(
        &self,
        long: LongMessage,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let LongMessage {
            head,
            tail,
            bytes,
            sha256,
            ..
        } = long;
        let answer = Answer::Malformed {
            message: format!(
                "the answer is {bytes} bytes long and at most {} are read (SHA-256 {sha256})",
                self.limits.message_bytes
            ),
            raw: None,
        };
        let id = match origin {
            Origin::AnswerTo(id) | Origin::AnswerStream(id) => Some(id),
            Origin::Stream => id_in(&head, &tail).filter(|id| self.is_pending(*id)),
        };
        let slot = id.and_then(|id| self.slot_of(id));
        self.record(
            slot.as_deref(),
            RawFrame {
                bytes,
                sha256: Some(sha256),
                ..RawFrame::whole(&self.server, Direction::Received, &head)
            },
        );
        self.lint(
            "messageTooLong",
            format!(
                "The server sent a message of {bytes} bytes; at most {} are read.",
                self.limits.message_bytes
            ),
        );
        match id {
            Some(id) => self.resolve(id, answer, forward),
            None => self.misaddressed(answer),
        }
    }

    /// Ends a request that will not be answered; rmcp learns it elsewhere.
    pub(crate) fn fail(&self, id: i64, failure: PhaseFailure, error: Option<Value>) {
        self.conclude(id, Answer::Failed { failure, error });
    }

    /// Ends a request whose answer was an event too long to be read.
    pub(crate) fn event_too_long(&self, id: i64, limit: usize) {
        self.lint(
            "messageTooLong",
            format!("The server sent an event of more than {limit} bytes."),
        );
        let message = format!("the answer is an event of more than {limit} bytes");
        self.conclude(id, Answer::Malformed { message, raw: None });
    }

    fn conclude(&self, id: i64, answer: Answer) {
        let Some(pending) = self.state().pending.remove(&id) else {
            return;
        };
        match pending.slot {
            Some(slot) => slot.answer(answer),
            None => self.handshake.answer(answer),
        }
    }

    /// Ends a request whose HTTP answer was complete and held no answer.
    pub(crate) fn unanswered(
        &self,
        id: i64,
        what: &str,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let answer = Answer::Malformed {
            message: format!("the HTTP answer holds {what} in place of an answer"),
            raw: None,
        };
        self.resolve(id, answer, forward);
    }

    /// Takes the beginning of a line whose end never came.
    pub(crate) fn cut_off(&self, bytes: &[u8]) {
        self.state().cut_off = Some(bytes.len() as u64);
        self.record_ambient(RawFrame {
            transport: Map::from_iter([("partial".to_owned(), Value::Bool(true))]),
            ..RawFrame::whole(&self.server, Direction::Noise, bytes)
        });
        self.lint(
            "messageCutOff",
            format!(
                "The stream ended inside a line, after {} bytes.",
                bytes.len()
            ),
        );
    }

    fn message(
        &self,
        mut value: Value,
        frame: Option<RawFrame<'_>>,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let Some(members) = value.as_object_mut() else {
            return self.noise(frame, origin);
        };
        let is_answer = members.contains_key("result") || members.contains_key("error");
        match (members.get("method"), members.get("id")) {
            (Some(Value::String(_)), Some(_)) => self.request(value, frame, forward),
            (Some(Value::String(method)), None) => {
                let method = method.clone();
                self.notification(&method, value, frame, forward);
            }
            (None | Some(_), _) if is_answer => {
                self.response(std::mem::take(members), frame, origin, forward);
            }
            _ => self.noise(frame, origin),
        }
    }

    /// A request of the server: rmcp answers it.
    fn request(
        &self,
        value: Value,
        frame: Option<RawFrame<'_>>,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        self.record_some(None, frame);
        let method = value["method"].as_str().unwrap_or_default();
        if method != "ping" {
            self.lint(
                "unofferedCapabilityUsed",
                format!(
                    "The server asked us for `{}`, which we did not offer.",
                    one_line(method, 80)
                ),
            );
        }
        if self.server_requests.fetch_add(1, Ordering::Relaxed) >= self.limits.server_requests {
            self.lint(
                "tooManyServerRequests",
                format!(
                    "The server sent more than {} requests; the rest is not answered.",
                    self.limits.server_requests
                ),
            );
            return;
        }
        forward.extend(serde_json::from_value(self.with_version(value)).ok());
    }

    fn notification(
        &self,
        method: &str,
        value: Value,
        frame: Option<RawFrame<'_>>,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        match method {
            "notifications/progress" => {
                let slot = self.slot_of_token(&value["params"]["progressToken"]);
                self.record_some(slot.as_deref(), frame);
                if let Some(slot) = slot {
                    slot.progressed();
                }
            }
            "notifications/tools/list_changed" => {
                self.record_some(None, frame);
                self.tools_changed.store(true, Ordering::Relaxed);
                self.tools_changed_wake.notify_waiters();
            }
            // Withdraws a request of the server, which rmcp may be answering.
            "notifications/cancelled" => {
                self.record_some(None, frame);
                forward.extend(serde_json::from_value(self.with_version(value)).ok());
            }
            _ => self.record_some(self.only_slot().as_deref(), frame),
        }
    }

    fn response(
        &self,
        mut members: Map<String, Value>,
        frame: Option<RawFrame<'_>>,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let given_id = members.remove("id").unwrap_or(Value::Null);
        let answer = match (members.remove("error"), members.remove("result")) {
            (Some(error), None | Some(Value::Null)) if !error.is_null() => Answer::Error(error),
            (_, Some(result)) => Answer::Result(result),
            (Some(error), None) => Answer::Error(error),
            (None, None) => Answer::Result(Value::Null),
        };
        let id = self.known_id(&given_id);
        if let Some(id) = id.filter(|id| self.is_pending(*id)) {
            self.record_some(self.slot_of(id).as_deref(), frame);
            if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
                self.adapt(
                    "jsonrpcVersion",
                    "An answer without `\"jsonrpc\":\"2.0\"` was accepted.",
                );
                self.lint("jsonrpcVersion", "An answer lacks `\"jsonrpc\":\"2.0\"`.");
            }
            return self.resolve(id, answer, forward);
        }
        // The HTTP answer to a request belongs to it, whatever its id says.
        if let Origin::AnswerTo(id) | Origin::AnswerStream(id) = origin
            && self.is_pending(id)
        {
            self.record_some(self.slot_of(id).as_deref(), frame);
            self.lint_wrong_id(&given_id, id);
            let answer = misaddressed_answer(answer, &given_id);
            return self.resolve(id, answer, forward);
        }
        self.record_some(self.only_slot().as_deref(), frame);
        let next_id = self.state().next_id;
        if id.is_some_and(|id| id < next_id) {
            // Late or repeated: its request has ended.
            return;
        }
        self.lint_wrong_id(&given_id, next_id - 1);
        self.misaddressed(misaddressed_answer(answer, &given_id));
    }

    /// Hands an answer over and lets rmcp end its request.
    fn resolve(&self, id: i64, answer: Answer, forward: &mut VecDeque<ServerJsonRpcMessage>) {
        let Some(pending) = self.state().pending.remove(&id) else {
            return;
        };
        let Some(slot) = pending.slot else {
            self.handshake_answer(id, answer, forward);
            return;
        };
        slot.answer(answer);
        forward.push_back(empty_answer(id));
    }

    /// rmcp reads the handshake itself; the raw answer is kept beside it.
    fn handshake_answer(
        &self,
        id: i64,
        answer: Answer,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let typed = match &answer {
            Answer::Result(result) => {
                serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "result": result}))
            }
            Answer::Error(error) => {
                serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            Answer::Malformed { .. } | Answer::Failed { .. } => Ok(empty_answer(id)),
        };
        self.handshake.answer(answer);
        // An answer that rmcp cannot read still ends its wait.
        forward.push_back(typed.unwrap_or_else(|_| empty_answer(id)));
    }

    /// An answer that names no request of ours belongs to the only one there is.
    fn misaddressed(&self, answer: Answer) {
        let state = self.state();
        let mut pending = state.pending.values();
        let (Some(only), None) = (pending.next(), pending.next()) else {
            return;
        };
        match &only.slot {
            Some(slot) => slot.suspect(answer),
            None => self.handshake.suspect(answer),
        }
    }

    fn unreadable(
        &self,
        frame: RawFrame<'_>,
        text: &[u8],
        error: &serde_json::Error,
        origin: Origin,
        forward: &mut VecDeque<ServerJsonRpcMessage>,
    ) {
        let answer = || Answer::Malformed {
            message: format!("the server's answer is not JSON: {error}"),
            raw: None,
        };
        if let Origin::AnswerTo(id) = origin {
            self.record(self.slot_of(id).as_deref(), frame);
            return self.resolve(id, answer(), forward);
        }
        // Looks like an answer that went wrong, not like a log line.
        let contains = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).is_some();
        let was_answer = contains("\"jsonrpc\"") && !contains("\"method\"");
        self.noise(Some(frame), origin);
        match origin {
            Origin::AnswerStream(id) => {
                if let Some(slot) = self.slot_of(id) {
                    slot.suspect(answer());
                }
            }
            _ if was_answer => self.misaddressed(answer()),
            _ => {}
        }
    }

    /// What is no protocol: kept, named, never answered.
    fn noise(&self, frame: Option<RawFrame<'_>>, origin: Origin) {
        let Some(frame) = frame else {
            return;
        };
        let line = one_line(&String::from_utf8_lossy(frame.kept), 80);
        let (code, place) = match origin {
            Origin::Stream => ("stdoutNoise", "standard output"),
            Origin::AnswerTo(_) | Origin::AnswerStream(_) => ("notJsonRpc", "an HTTP answer"),
        };
        self.lint(
            code,
            format!(
                "The server MUST NOT write anything but protocol to {place}; it wrote `{line}`."
            ),
        );
        self.record_ambient(RawFrame {
            direction: Direction::Noise,
            ..frame
        });
    }

    /// Reads an id; a number in a string counts as the number.
    fn known_id(&self, id: &Value) -> Option<i64> {
        match id {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => {
                let id = text.parse().ok()?;
                self.adapt(
                    "answerIdType",
                    "An answer's id came as a string and was read as a number.",
                );
                Some(id)
            }
            _ => None,
        }
    }

    fn with_version(&self, mut value: Value) -> Value {
        if let Some(members) = value.as_object_mut()
            && members.get("jsonrpc").and_then(Value::as_str) != Some("2.0")
        {
            members.insert("jsonrpc".to_owned(), Value::from("2.0"));
            self.adapt(
                "jsonrpcVersion",
                "A message without `\"jsonrpc\":\"2.0\"` was accepted.",
            );
        }
        value
    }
}

/// Whether an array is a JSON-RPC batch.
fn is_batch(items: &[Value]) -> bool {
    !items.is_empty()
        && items.iter().all(|item| {
            item.as_object()
                .is_some_and(|members| members.contains_key("jsonrpc"))
        })
}

/// What an answer is worth whose id names no request of ours.
fn misaddressed_answer(answer: Answer, given_id: &Value) -> Answer {
    match answer {
        // A server that could not read our id says so with `null`.
        Answer::Error(error) if given_id.is_null() => Answer::Error(error),
        Answer::Result(raw) | Answer::Error(raw) => Answer::Malformed {
            message: format!(
                "the server answered with id {}, which we never sent",
                one_line(&given_id.to_string(), 80)
            ),
            raw: Some(raw),
        },
        other => other,
    }
}

/// Finds the id of a message of which only the beginning and the end are at hand.
fn id_in(head: &[u8], tail: &[u8]) -> Option<i64> {
    let number_after = |text: &[u8], at: usize| -> Option<i64> {
        let rest = text[at..].trim_ascii_start().strip_prefix(b":")?;
        let rest = rest.trim_ascii_start();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    };
    const KEY: &[u8] = b"\"id\"";
    // At the beginning the first `id` outside the payload, at the end the last.
    let payload = memchr::memmem::find(head, b"\"result\"").unwrap_or(head.len());
    memchr::memmem::find(&head[..payload], KEY)
        .and_then(|at| number_after(head, at + KEY.len()))
        .or_else(|| {
            memchr::memmem::rfind(tail, KEY).and_then(|at| number_after(tail, at + KEY.len()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_message_is_found_at_either_end() {
        assert_eq!(
            id_in(br#"{"jsonrpc":"2.0","id": 12,"result":{"x":"#, b""),
            Some(12)
        );
        assert_eq!(
            id_in(
                br#"{"result":{"id":7,"x":"#,
                br#"}},"jsonrpc":"2.0","id":3}"#
            ),
            Some(3)
        );
        assert_eq!(id_in(br#"{"result":{"x":"#, br#"xxxx"}"#), None);
    }

    #[test]
    fn a_batch_is_an_array_of_messages() {
        assert!(!is_batch(&[]));
        assert!(!is_batch(&[json!("str")]));
        assert!(is_batch(&[
            json!({"jsonrpc": "2.0", "id": 1, "result": {}})
        ]));
    }
}
