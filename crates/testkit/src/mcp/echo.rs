//! A stdio MCP server with one tool that repeats its text, for benchmarks.

use serde_json::{Value, json};

use super::wire::{Wire, each_line, initialize_result, text_result};

/// Serves until standard input ends.
pub fn main() {
    let wire = Wire::default();
    each_line(|line| {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let Some(id) = message.get("id") else {
            return;
        };
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => wire.result(id, initialize_result(&params["protocolVersion"])),
            "ping" => wire.result(id, json!({})),
            "tools/list" => wire.result(id, json!({"tools": [tool()]})),
            "tools/call" => {
                let text = params["arguments"]["text"].as_str().unwrap_or_default();
                wire.result(id, text_result(text));
            }
            _ => wire.error(id, json!(-32_601), "method not found"),
        }
    });
}

fn tool() -> Value {
    json!({
        "name": "echo",
        "description": "Repeats a text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    })
}
