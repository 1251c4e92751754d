//! What can go wrong in a tool call, one tool for each.

use std::{process::exit, thread, time::Duration};

use serde_json::{Value, json};

use super::{
    faulty::eprint,
    wire::{Wire, text_result},
};

/// Everything that can go wrong in a call: tool and what it does.
///
/// Arguments are `text`, `ms`, `count`, `bytes` and `code`, each where it makes
/// sense.
pub const TOOLS: &[(&str, &str)] = &[
    ("echo", "repeats TEXT"),
    ("arguments", "returns its arguments as they came"),
    ("slow", "answers after MS"),
    ("hang", "never answers"),
    ("die", "ends the server with exit code CODE"),
    ("half_line", "ends the server inside the answer"),
    ("close_stdout", "closes its output and lives on"),
    ("error", "answers with JSON-RPC error CODE"),
    (
        "error_string_code",
        "answers with an error code that is a string",
    ),
    ("error_no_code", "answers with an error without a code"),
    ("error_null_id", "answers with an error whose id is null"),
    ("wrong_id", "answers under an id that nobody sent"),
    (
        "null_id_then_answer",
        "complains without an id, then answers",
    ),
    ("broken_answer", "answers with broken JSON"),
    ("is_error", "returns a tool error"),
    ("error_text", "returns an error text without the flag"),
    ("malformed_result", "returns a text instead of a result"),
    ("malformed_content", "returns content that is no list"),
    ("empty_result", "returns an empty object"),
    ("null_result", "returns null"),
    ("structured", "returns structured content"),
    (
        "broken_promise",
        "returns structured content that its output schema rules out",
    ),
    (
        "kinds",
        "returns every kind of content and one that is none",
    ),
    ("huge", "returns a text of BYTES bytes"),
    ("deep", "returns a value nested COUNT deep"),
    ("flood", "sends COUNT log messages, then answers"),
    (
        "progress",
        "reports progress COUNT times, every MS, then answers",
    ),
    ("twice", "answers twice"),
    ("noisy", "writes log lines to stdout, then answers"),
    ("stderr", "writes TEXT to standard error, then answers"),
    (
        "grow_tools",
        "announces that the tools changed, then answers",
    ),
];

/// Returns the listing entry of a tool.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    let mut tool = json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "ms": {"type": "integer"},
                "count": {"type": "integer"},
                "bytes": {"type": "integer"},
                "code": {"type": "integer"},
            },
        },
        "annotations": {"readOnlyHint": true, "x-hint": "kept"},
    });
    if name == "broken_promise" {
        tool["outputSchema"] = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}},
        });
    }
    tool
}

/// Performs a call; returns the result unless it answered in its own way.
pub(crate) fn call(wire: &Wire, id: &Value, params: &Value) -> Option<Value> {
    let arguments = &params["arguments"];
    let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
    let count = |name: &str| u64::try_from(number(name)).unwrap_or_default();
    let pause = || thread::sleep(Duration::from_millis(count("ms")));
    let text = arguments["text"].as_str().unwrap_or_default();
    let result = match params["name"].as_str().unwrap_or_default() {
        "echo" => text_result(text),
        "arguments" => json!({
            "content": [{"type": "text", "text": params.get("arguments").map_or("absent".to_owned(), Value::to_string)}],
        }),
        "slow" => {
            pause();
            text_result(text)
        }
        "hang" => return None,
        "die" => {
            eprint("fatal: the planted reason");
            exit(number("code").try_into().unwrap_or(1));
        }
        "half_line" => {
            wire.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"cont").as_bytes());
            exit(3);
        }
        "close_stdout" => {
            let _ = nix::unistd::close(1);
            return None;
        }
        "error" => {
            wire.error(id, json!(number("code")), "the planted error");
            return None;
        }
        "error_string_code" => {
            wire.error(id, json!("E_FAIL"), "the planted error");
            return None;
        }
        "error_no_code" => {
            wire.message(&json!({"jsonrpc": "2.0", "id": id, "error": {"message": "no code"}}));
            return None;
        }
        "error_null_id" => {
            wire.error(&Value::Null, json!(-32_001), "unauthorized");
            return None;
        }
        "wrong_id" => {
            wire.result(&json!(4711), text_result("for somebody else"));
            return None;
        }
        "null_id_then_answer" => {
            wire.error(&Value::Null, json!(-32_600), "did not like a notification");
            thread::sleep(Duration::from_millis(100));
            text_result("in the end")
        }
        "broken_answer" => {
            wire.line(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{]}}"
            ));
            return None;
        }
        "is_error" => {
            json!({"content": [{"type": "text", "text": "no such order"}], "isError": true})
        }
        "error_text" => text_result("Error: no such order"),
        "malformed_result" => json!("just a text"),
        "malformed_content" => json!({"content": "just a text"}),
        "empty_result" => json!({}),
        "null_result" => Value::Null,
        "structured" => json!({
            "content": [{"type": "text", "text": "{\"n\":1}"}],
            "structuredContent": {"n": 1, "list": [1.5, null]},
            "_meta": {"x-vendor": "kept"},
        }),
        "broken_promise" => json!({
            "content": [],
            "structuredContent": {"n": "one"},
            "isError": count("code") == 1,
        }),
        "kinds" => json!({"content": [
            {"type": "text", "text": "t", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}},
            {"type": "hologram", "depth": 3},
        ]}),
        "huge" => {
            huge(wire, id, count("bytes"));
            return None;
        }
        "deep" => {
            let depth = usize::try_from(count("count")).unwrap_or_default();
            wire.line(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"deep\":{}{}}}}}",
                "[".repeat(depth),
                "]".repeat(depth)
            ));
            return None;
        }
        "flood" => {
            for n in 0..count("count") {
                wire.notify("notifications/message", json!({"level": "info", "data": n}));
            }
            text_result("flooded")
        }
        "progress" => {
            let token = &params["_meta"]["progressToken"];
            for n in 1..=count("count") {
                pause();
                wire.notify(
                    "notifications/progress",
                    json!({"progressToken": token, "progress": n, "total": count("count")}),
                );
            }
            text_result("done")
        }
        "twice" => {
            wire.result(id, text_result("first"));
            text_result("second")
        }
        "noisy" => {
            wire.line("{ userId: 1 }");
            wire.line("DEBUG calling the database");
            thread::sleep(Duration::from_millis(count("ms")));
            text_result("quiet again")
        }
        "stderr" => {
            eprint(text);
            // Standard error is another pipe: let it arrive first.
            thread::sleep(Duration::from_millis(50));
            text_result("written")
        }
        "grow_tools" => {
            wire.notify("notifications/tools/list_changed", json!({}));
            text_result("announced")
        }
        other => {
            wire.error(id, json!(-32_602), &format!("unknown tool `{other}`"));
            return None;
        }
    };
    Some(result)
}

/// Writes one very long line without holding it in memory.
fn huge(wire: &Wire, id: &Value, bytes: u64) {
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    let chunk = vec![b'x'; 1 << 20];
    wire.raw(b"{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    while left > 0 {
        let part = left.min(chunk.len());
        wire.raw(&chunk[..part]);
        left -= part;
    }
    wire.raw(format!("\"}}]}},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n").as_bytes());
}
