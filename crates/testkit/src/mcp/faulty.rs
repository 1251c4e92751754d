//! A stdio MCP server that misbehaves on request.
//!
//! Started as `strandline-faulty-mcp MODE [ARGUMENT]`. The mode says what goes
//! wrong before a tool is called ([`MODES`]); what goes wrong in a call is
//! chosen by the tool ([`TOOLS`]). Every call runs on a thread of its own, so that
//! calls overlap.

use std::{process::exit, sync::Arc, thread, time::Duration};

use serde_json::{Value, json};

use super::{
    calls::{TOOLS, call, tool},
    wire::{Wire, each_line, initialize_result},
};

/// Everything that can go wrong before a tool is called: mode and what it does.
pub const MODES: &[(&str, &str)] = &[
    ("normal", "behaves until a tool is called"),
    (
        "banner",
        "writes log lines, a blank line and broken text between messages",
    ),
    ("bom", "puts a byte order mark before every message"),
    ("junk-storm", "writes junk for every line it receives"),
    ("slow-init", "answers initialize after ARGUMENT ms"),
    ("silent", "never answers"),
    ("exit", "ends at once with code ARGUMENT"),
    (
        "exit-on-init",
        "ends with code ARGUMENT when asked to initialize",
    ),
    ("init-error", "answers initialize with error code ARGUMENT"),
    (
        "init-string-code",
        "answers initialize with an error code that is a string",
    ),
    (
        "init-null-id",
        "answers initialize with an error whose id is null",
    ),
    ("init-wrong-id", "answers initialize under another id"),
    ("init-bad-shape", "answers initialize with something else"),
    ("init-half", "ends inside the answer to initialize"),
    ("version", "offers protocol version ARGUMENT"),
    ("pages", "has ARGUMENT tools, 50 a page"),
    ("cursor-loop", "gives the same cursor again and again"),
    ("cursor-endless", "gives a new cursor for ever"),
    ("cursor-empty", "gives an empty cursor with the last page"),
    (
        "no-tools-method",
        "declares no tools and does not know tools/list",
    ),
    ("undeclared-tools", "lists tools and does not declare them"),
    ("list-error", "answers tools/list with error code ARGUMENT"),
    ("list-bad-shape", "answers tools/list with no list"),
    ("list-hang", "never answers tools/list"),
    ("list-die", "ends when asked for its tools"),
    (
        "one-bad-tool",
        "lists one tool that no typed client can read",
    ),
    ("odd-tools", "lists tools with every defect of a schema"),
    ("no-tools", "lists no tools"),
    (
        "late-tools",
        "lists one more tool after ARGUMENT ms and says so",
    ),
    (
        "prompts",
        "declares prompts and resources, and fails to list resources",
    ),
    ("stderr-flood", "writes 20,000 lines to standard error"),
    ("grandchild", "starts a process of its own that outlives it"),
    (
        "no-version-member",
        "leaves the jsonrpc member out of every answer",
    ),
    ("string-ids", "answers every id as a string"),
    ("ping-storm", "pings for every line it receives"),
    ("asks", "asks the client for sampling before it answers"),
    ("batch", "answers in batches of one"),
];

/// Serves as the command line says.
pub fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_else(|| "normal".to_owned());
    let argument = arguments.next().unwrap_or_default();
    let server = Arc::new(Server {
        wire: Wire::default(),
        mode,
        argument,
    });
    server.start();
    each_line(|line| server.line(line));
}

struct Server {
    wire: Wire,
    mode: String,
    argument: String,
}

impl Server {
    fn is(&self, mode: &str) -> bool {
        self.mode == mode
    }

    fn number(&self) -> i64 {
        self.argument.parse().unwrap_or_default()
    }

    fn start(&self) {
        match self.mode.as_str() {
            "exit" => {
                eprint("cannot start: the planted reason");
                exit(self.number().try_into().unwrap_or(1));
            }
            "banner" => self.wire.line("Starting faulty server\u{1b}[0m"),
            "stderr-flood" => (0..20_000).for_each(|n| eprint(&format!("line {n}"))),
            "grandchild" => {
                let child = std::process::Command::new("sleep").arg("600").spawn();
                eprint(&format!(
                    "grandchild {}",
                    child.map_or(0, |child| child.id())
                ));
            }
            mode if MODES.iter().all(|(known, _)| *known != mode) => {
                eprint(&format!("unknown mode `{mode}`"));
                exit(64);
            }
            _ => {}
        }
    }

    fn line(self: &Arc<Self>, line: &str) {
        match self.mode.as_str() {
            "silent" => return,
            "junk-storm" => {
                for junk in ["not json", "{\"broken\": ", "[]", "\"text\"", "{\"foo\":1}"] {
                    self.wire.line(junk);
                }
            }
            "ping-storm" => {
                self.wire
                    .message(&json!({"jsonrpc": "2.0", "id": "storm", "method": "ping"}));
            }
            "banner" => {
                self.wire.line("");
                self.wire.line("INFO handling a message");
                self.wire.raw(b"\xff\xfe binary\n");
            }
            _ => {}
        }
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let (Some(method), Some(id)) = (
            message.get("method").and_then(Value::as_str),
            message.get("id").cloned(),
        ) else {
            return;
        };
        let params = message["params"].clone();
        match method {
            "initialize" => self.initialize(&id, &params),
            "ping" => self.answer(&id, json!({})),
            "tools/list" => self.list_tools(&id, &params),
            "prompts/list" => self.answer(&id, json!({"prompts": [{"name": "greet"}]})),
            "resources/list" => self.wire.error(&id, json!(-32_603), "no resources today"),
            "tools/call" => self.call(id, params),
            _ => self.wire.error(&id, json!(-32_601), "method not found"),
        }
    }

    fn answer(&self, id: &Value, result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
        match self.mode.as_str() {
            "bom" => self.wire.line(&format!("\u{feff}{message}")),
            "batch" => self.wire.message(&json!([message])),
            "no-version-member" => self.wire.message(&json!({"id": id, "result": result})),
            "string-ids" => self
                .wire
                .message(&json!({"jsonrpc": "2.0", "id": id.to_string(), "result": result})),
            _ => self.wire.message(&message),
        }
    }

    fn initialize(&self, id: &Value, params: &Value) {
        match self.mode.as_str() {
            "slow-init" => thread::sleep(Duration::from_millis(
                self.number().try_into().unwrap_or_default(),
            )),
            "exit-on-init" => exit(self.number().try_into().unwrap_or(1)),
            "init-error" => return self.wire.error(id, json!(self.number()), "not today"),
            "init-string-code" => return self.wire.error(id, json!("E_INIT"), "not today"),
            "init-null-id" => return self.wire.error(&Value::Null, json!(-32_700), "not today"),
            "init-wrong-id" => return self.answer(&json!(4711), initialize_result(&json!("x"))),
            "init-bad-shape" => return self.answer(id, json!({"hello": "world"})),
            "init-half" => {
                self.wire
                    .raw(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"proto");
                exit(3);
            }
            _ => {}
        }
        let version = if self.is("version") {
            json!(self.argument)
        } else {
            params["protocolVersion"].clone()
        };
        let mut result = initialize_result(&version);
        if self.is("no-tools-method") || self.is("undeclared-tools") {
            result["capabilities"] = json!({});
        }
        if self.is("prompts") {
            result["capabilities"] = json!({"tools": {}, "prompts": {}, "resources": {}});
        }
        self.answer(id, result);
    }

    fn list_tools(self: &Arc<Self>, id: &Value, params: &Value) {
        let ordinary = || {
            TOOLS
                .iter()
                .map(|(name, what)| tool(name, what))
                .collect::<Vec<_>>()
        };
        let result = match self.mode.as_str() {
            "list-error" => {
                return self
                    .wire
                    .error(id, json!(self.number()), "tools are unavailable");
            }
            "no-tools-method" => return self.wire.error(id, json!(-32_601), "method not found"),
            "cursor-empty" => json!({"tools": ordinary(), "nextCursor": ""}),
            "list-hang" => return,
            "list-die" => {
                eprint("out of memory: the planted reason");
                exit(9);
            }
            "list-bad-shape" => json!({"tools": {"echo": {}}}),
            "cursor-loop" => json!({"tools": ordinary(), "nextCursor": "again"}),
            "cursor-endless" => {
                let cursor = params["cursor"].as_str().unwrap_or_default();
                json!({"tools": [], "nextCursor": format!("{cursor}x")})
            }
            "no-tools" => json!({"tools": []}),
            "one-bad-tool" => json!({"tools": [
                tool("echo", "Repeats a text."),
                {"name": 7, "inputSchema": "none"},
                {"name": "vendor", "inputSchema": {"type": "object"}, "x-vendor": [1, 2]},
            ]}),
            "odd-tools" => json!({"tools": super::odd_tools::tools()}),
            "pages" => self.page(params),
            "late-tools" => self.late_tools(),
            _ => json!({"tools": ordinary()}),
        };
        self.answer(id, result);
    }

    /// Pages of 50; the cursor is the offset, written so that nobody reads it.
    fn page(&self, params: &Value) -> Value {
        let offset: i64 = params["cursor"]
            .as_str()
            .and_then(|cursor| cursor.strip_prefix("from-")?.parse().ok())
            .unwrap_or_default();
        let end = self.number().min(offset + 50);
        let tools: Vec<Value> = (offset..end)
            .map(|n| tool(&format!("tool_{n}"), "One of many."))
            .collect();
        if end < self.number() {
            json!({"tools": tools, "nextCursor": format!("from-{end}")})
        } else {
            json!({"tools": tools})
        }
    }

    /// The first listing is empty and starts the clock.
    fn late_tools(self: &Arc<Self>) -> Value {
        use std::sync::OnceLock;
        static FIRST: OnceLock<std::time::Instant> = OnceLock::new();
        let delay = Duration::from_millis(self.number().try_into().unwrap_or_default());
        let mut first = false;
        let since = *FIRST.get_or_init(|| {
            first = true;
            std::time::Instant::now()
        });
        if first {
            let server = Arc::clone(self);
            thread::spawn(move || {
                thread::sleep(delay);
                server
                    .wire
                    .notify("notifications/tools/list_changed", json!({}));
            });
        }
        if since.elapsed() >= delay {
            json!({"tools": [tool("echo", "Repeats a text.")]})
        } else {
            json!({"tools": []})
        }
    }

    fn call(self: &Arc<Self>, id: Value, params: Value) {
        if self.is("asks") {
            self.wire.message(&json!({
                "jsonrpc": "2.0",
                "id": "ask-1",
                "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 1},
            }));
        }
        let server = Arc::clone(self);
        thread::spawn(move || {
            if let Some(result) = call(&server.wire, &id, &params) {
                server.answer(&id, result);
            }
        });
    }
}

/// Writes a line to standard error.
pub(crate) fn eprint(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
