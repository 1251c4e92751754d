//! A client that speaks the protocol line by line, so that tests see what is
//! on the wire: progress, questions, errors.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

use super::Project;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A session with `strandline mcp` over standard input and output.
pub(crate) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
    /// Notifications that came in.
    pub(crate) notifications: Vec<Value>,
    /// Questions that came in.
    pub(crate) questions: Vec<Value>,
    /// What the user answers to a question.
    pub(crate) answer: Value,
    /// Goes into every request, for the lifecycle without initialization.
    meta: Option<Value>,
}

impl Session {
    /// Starts a server and opens a session as a client with these capabilities.
    pub(crate) fn open(project: &Project, arguments: &[&str], capabilities: &Value) -> Self {
        let mut session = Self::start(project, arguments);
        let answer = session.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(
            answer["result"]["serverInfo"]["name"], "strandline",
            "{answer}"
        );
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    /// Starts a server for a client of the lifecycle without initialization.
    pub(crate) fn open_stateless(project: &Project, capabilities: &Value) -> Self {
        let mut session = Self::start(project, &[]);
        session.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        let found = session.request("server/discover", &json!({}));
        assert!(found["result"].is_object(), "{found}");
        session
    }

    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_strandline"))
            .arg("mcp")
            .arg("--project")
            .arg(project.root())
            .args(arguments)
            .current_dir(project.home())
            .env("HOME", project.home())
            .env_remove("XDG_STATE_HOME")
            .env_remove("STRANDLINE_STORE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("standard output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.expect("standard output is text");
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("not a message: {error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            input,
            lines,
            next_id: 0,
            notifications: Vec::new(),
            questions: Vec::new(),
            answer: json!({"action": "decline"}),
            meta: None,
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the session is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    /// Sends a request and returns its whole answer; questions on the way are
    /// answered.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut params = params.clone();
        if let Some(meta) = self.meta.as_ref().and_then(Value::as_object) {
            let given = params["_meta"].as_object().cloned().unwrap_or_default();
            let all: serde_json::Map<String, Value> =
                meta.clone().into_iter().chain(given).collect();
            params["_meta"] = Value::Object(all);
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self
                .lines
                .recv_timeout(PATIENCE)
                .expect("the server answers");
            match (message.get("id"), message.get("method")) {
                (Some(answered), None) if *answered == json!(id) => return message,
                (Some(asked), Some(_)) => {
                    let answer = json!({"jsonrpc": "2.0", "id": asked, "result": self.answer});
                    self.questions.push(message);
                    self.send(&answer);
                }
                _ => self.notifications.push(message),
            }
        }
    }

    /// Calls a tool and calls the call off at once; nothing is waited for.
    pub(crate) fn call_off(&mut self, tool: &str, arguments: &Value) {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }));
        self.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        }));
    }

    /// Calls a tool and returns its result, also one that is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let token = format!("token-{}", self.next_id);
        let answer = self.request(
            "tools/call",
            &json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}),
        );
        assert!(answer["result"].is_object(), "`{tool}`: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed and returns its document.
    pub(crate) fn document(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], json!(true), "`{tool}`: {result}");
        let document = result["structuredContent"].clone();
        assert!(document.is_object(), "`{tool}`: {result}");
        // The same document as text, for clients that read texts only.
        let text = result["content"][1]["text"].as_str().unwrap_or_default();
        let same: Value = serde_json::from_str(text).expect("the second text is the document");
        assert_eq!(same, document);
        document
    }

    /// Calls a tool that must fail and returns what it says.
    pub(crate) fn failure(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], json!(true), "`{tool}`: {result}");
        result["content"][0]["text"]
            .as_str()
            .expect("an error says something")
            .to_owned()
    }

    /// Leaves, and waits until the server has ended by itself.
    pub(crate) fn leave(mut self) {
        drop(self.input.take());
        let ended = self.child.wait().expect("the server ends");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
