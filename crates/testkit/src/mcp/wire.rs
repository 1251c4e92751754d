//! The bare wire of a stdio MCP server, as wrong as one wants it.

use std::{
    io::{BufRead as _, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

/// Standard output, shared by everything that writes to it.
#[derive(Clone, Default)]
pub(super) struct Wire {
    lock: Arc<Mutex<()>>,
}

impl Wire {
    /// Writes bytes as they are.
    pub(super) fn raw(&self, bytes: &[u8]) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = std::io::stdout().lock();
        // A client that is gone ends the server by closing its input.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Writes a line.
    pub(super) fn line(&self, text: &str) {
        self.raw(format!("{text}\n").as_bytes());
    }

    /// Writes a message.
    pub(super) fn message(&self, message: &Value) {
        self.line(&message.to_string());
    }

    /// Answers a request with a result.
    pub(super) fn result(&self, id: &Value, result: Value) {
        self.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Answers a request with an error.
    pub(super) fn error(&self, id: &Value, code: Value, message: &str) {
        self.message(&json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": code, "message": message, "data": {"hint": "planted"}},
        }));
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.message(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
}

/// Calls `handle` with every line of standard input until it ends.
pub(super) fn each_line(mut handle: impl FnMut(&str)) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else {
            return;
        };
        handle(&line);
    }
}

/// Returns a `tools/call` result with one text block.
#[must_use]
pub(super) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Returns the result of a handshake.
#[must_use]
pub(super) fn initialize_result(version: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "faulty", "version": "1.0.0", "x-vendor": {"kept": true}},
        "instructions": "Made to go wrong.",
    })
}
