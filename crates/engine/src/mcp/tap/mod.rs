//! Sees every message between rmcp and the wire.
//!
//! rmcp runs the session: ids, handshake, cancellation, answers to the server's
//! requests. The tap records every frame and takes the raw answers to our own
//! requests before rmcp's typed model drops what it does not know; rmcp gets an
//! empty answer in their place, so that its book-keeping goes on. What is no
//! protocol never reaches rmcp, which would answer it.

mod incoming;
mod record;

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, NumberOrString,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde_json::{Map, Value};
use strandline_contract::trace::Direction;
use tokio::sync::Notify;

use super::{Capture, Limits, PhaseFailure, Redactor, capture::RawFrame, slot::Slot};

/// Rides on a request through rmcp to the tap.
#[derive(Debug, Clone)]
pub(crate) struct Tag(pub(crate) Arc<Slot>);

/// Where an incoming message was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// On a stream that carries everything.
    Stream,
    /// In the HTTP answer to the request with this id, which holds nothing else.
    AnswerTo(i64),
    /// On the stream that answers the request with this id, among other things.
    AnswerStream(i64),
}

/// The ear between rmcp and the wire of one session.
pub(crate) struct Tap {
    server: String,
    capture: Capture,
    redactor: Redactor,
    limits: Limits,
    state: Mutex<State>,
    /// The handshake's answer, raw.
    pub(crate) handshake: Slot,
    tools_changed: AtomicBool,
    tools_changed_wake: Notify,
    server_requests: AtomicU64,
}

#[derive(Default)]
struct State {
    pending: BTreeMap<i64, Pending>,
    next_id: i64,
    /// The last line of the stream was cut off by its end.
    cut_off: Option<u64>,
}

struct Pending {
    /// None while the handshake runs: its slot belongs to the tap.
    slot: Option<Arc<Slot>>,
    progress_token: Option<NumberOrString>,
}

impl Tap {
    pub(crate) fn new(
        server: String,
        capture: Capture,
        redactor: Redactor,
        limits: Limits,
    ) -> Self {
        Self {
            server,
            capture,
            redactor,
            limits,
            state: Mutex::default(),
            handshake: Slot::default(),
            tools_changed: AtomicBool::new(false),
            tools_changed_wake: Notify::new(),
            server_requests: AtomicU64::new(0),
        }
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) const fn capture(&self) -> &Capture {
        &self.capture
    }

    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Returns the length of a last line that was cut off, if there was one.
    pub(crate) fn cut_off_bytes(&self) -> Option<u64> {
        self.state().cut_off
    }

    /// Takes the note that the server's tools changed.
    pub(crate) fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn tools_changed(&self) -> bool {
        self.tools_changed.load(Ordering::Relaxed)
    }

    /// Waits until the server says that its tools changed.
    pub(crate) async fn wait_tools_changed(&self) {
        while !self.tools_changed() {
            self.tools_changed_wake.notified().await;
        }
    }

    /// Forgets a request that nobody waits for any more.
    pub(crate) fn forget(&self, id: &RequestId) {
        if let NumberOrString::Number(id) = id {
            self.state().pending.remove(id);
        }
    }

    // ---- our messages ----

    /// Writes a message of ours down and records it.
    pub(crate) fn outgoing(
        &self,
        message: &ClientJsonRpcMessage,
        facts: Map<String, Value>,
    ) -> io::Result<Vec<u8>> {
        let slot = match message {
            ClientJsonRpcMessage::Request(request) => self.register(&request.id, &request.request),
            ClientJsonRpcMessage::Notification(_)
            | ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Error(_) => None,
        };
        let bytes = serde_json::to_vec(message)?;
        self.record(
            slot.as_deref(),
            RawFrame {
                transport: facts,
                ..RawFrame::whole(&self.server, Direction::Sent, &bytes)
            },
        );
        Ok(bytes)
    }

    fn register(&self, id: &RequestId, request: &ClientRequest) -> Option<Arc<Slot>> {
        let NumberOrString::Number(id) = id else {
            return None;
        };
        let slot = request
            .extensions()
            .get::<Tag>()
            .map(|tag| Arc::clone(&tag.0));
        if slot.is_none() {
            // A second try of the handshake starts afresh.
            self.handshake.take_answer();
        }
        let progress_token = request.get_meta().get_progress_token().map(|token| token.0);
        let mut state = self.state();
        state.next_id = state.next_id.max(id.saturating_add(1));
        state.pending.insert(
            *id,
            Pending {
                slot: slot.clone(),
                progress_token,
            },
        );
        slot
    }

    /// Returns the slot of the only request in flight.
    fn only_slot(&self) -> Option<Arc<Slot>> {
        let state = self.state();
        let mut pending = state.pending.values();
        match (pending.next(), pending.next()) {
            (Some(only), None) => only.slot.clone(),
            _ => None,
        }
    }

    pub(crate) fn is_pending(&self, id: i64) -> bool {
        self.state().pending.contains_key(&id)
    }

    fn slot_of(&self, id: i64) -> Option<Arc<Slot>> {
        self.state().pending.get(&id)?.slot.clone()
    }

    fn slot_of_token(&self, token: &Value) -> Option<Arc<Slot>> {
        let token: NumberOrString = serde_json::from_value(token.clone()).ok()?;
        self.state()
            .pending
            .values()
            .find(|pending| pending.progress_token.as_ref() == Some(&token))?
            .slot
            .clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the empty answer that ends a request inside rmcp.
pub(crate) fn empty_answer(id: i64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id))
}
