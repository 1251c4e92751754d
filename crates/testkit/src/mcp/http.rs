//! An MCP server over HTTP that behaves, for tests to spoil.

use serde_json::{Value, json};

use super::wire::{initialize_result, text_result};
use crate::http::{Reply, Request};

/// Answers as a well-behaved streamable HTTP server without a GET stream.
#[must_use]
pub fn ordinary(request: &Request) -> Reply {
    if request.method != "POST" {
        return Reply::status(if request.method == "DELETE" { 200 } else { 405 });
    }
    match answer(&request.json()) {
        Some(answer) => {
            let reply = Reply::json(200, &answer);
            if request.body.contains("\"initialize\"") {
                reply.with("mcp-session-id", "session-1")
            } else {
                reply
            }
        }
        None => Reply::status(202),
    }
}

/// Returns the JSON-RPC answer to a message, when one is due.
#[must_use]
pub fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => initialize_result(&params["protocolVersion"]),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => text_result(params["arguments"]["text"].as_str().unwrap_or_default()),
        _ => json!({}),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}
