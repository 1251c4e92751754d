//! Servers that nobody here wrote (`scripts/setup-tests.sh` installs them).

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strandline_contract::{
    binding::{HttpEndpoint, ServerBinding, Transport},
    trace::Direction,
};
use strandline_engine::mcp::{CallOutcome, ConnectOptions, Session, connect};

use crate::support::{call, lint_codes, object, options, result, text, within};

const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
const SDK_EXAMPLES: &str = "@modelcontextprotocol/sdk/dist/esm/examples/server";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns an installed file, or says how to get it.
fn installed(path: &str) -> String {
    let path = workspace().join(path);
    assert!(
        path.exists(),
        "{} is missing: run scripts/setup-tests.sh",
        path.display()
    );
    path.to_string_lossy().into_owned()
}

fn npm(path: &str) -> String {
    installed(&format!("tests/servers/node_modules/{path}"))
}

fn python(program: &str) -> String {
    installed(&format!(".cache/python/bin/{program}"))
}

fn node(script: &str, args: &[&str], env: &[(&str, &str)]) -> ServerBinding {
    process("node", &[&[npm(script).as_str()], args].concat(), env)
}

fn process(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerBinding {
    let mut binding = crate::support::stdio(command, args);
    if let Transport::Stdio { env: variables, .. } = &mut binding.transport {
        variables.extend(
            env.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
    }
    binding
}

/// Real servers start in their own time on a busy machine.
fn patient() -> ConnectOptions {
    ConnectOptions {
        setup_timeout: Duration::from_secs(60),
        ..options()
    }
}

async fn open(binding: &ServerBinding) -> Session {
    match connect(binding, &patient()).await {
        Ok(session) => session,
        Err((failure, captured)) => panic!("{failure}\n{captured:#?}"),
    }
}

async fn tool_names(session: &Session) -> Vec<String> {
    let listing = match session.list().await {
        Ok(listing) => listing,
        Err(failure) => panic!("{failure}"),
    };
    listing
        .tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// What the everything server must give over every transport.
async fn everything(session: &Session) {
    let listing = session.list().await.expect("listed");
    assert!(listing.tools.len() >= 10, "{}", listing.tools.len());
    assert!(
        listing
            .tools
            .iter()
            .any(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
    assert!(listing.prompts.is_some_and(|prompts| !prompts.is_empty()));
    assert!(
        listing
            .resources
            .is_some_and(|resources| !resources.is_empty())
    );
    assert!(session.instructions().is_some());

    let record = call(session, "echo", json!({"message": "hello"})).await;
    assert_eq!(text(&record), "Echo: hello");
    let record = call(
        session,
        "get-structured-content",
        json!({"location": "Chicago"}),
    )
    .await;
    assert!(result(&record)["structuredContent"]["temperature"].is_number());
    let record = call(session, "get-tiny-image", json!({})).await;
    let kinds: Vec<_> = blocks(result(&record))
        .iter()
        .map(|block| block["type"].clone())
        .collect();
    assert!(kinds.contains(&json!("image")), "{kinds:?}");
    let record = call(session, "get-resource-links", json!({"count": 2})).await;
    assert!(
        blocks(result(&record))
            .iter()
            .any(|block| block["type"] == "resource_link")
    );
    let record = call(session, "echo", json!({"message": 7})).await;
    assert!(
        matches!(
            record.outcome,
            CallOutcome::Result { is_error: true, .. } | CallOutcome::ProtocolError { .. }
        ),
        "{record:?}"
    );
    let record = call(session, "no-such-tool", json!({})).await;
    assert!(
        matches!(
            record.outcome,
            CallOutcome::Result { is_error: true, .. } | CallOutcome::ProtocolError { .. }
        ),
        "{record:?}"
    );

    let arguments = object(json!({"duration": 0.4, "steps": 4}));
    let record = session
        .call("trigger-long-running-operation", arguments, within(20_000))
        .await;
    assert!(text(&record).contains("completed"), "{record:?}");
    let frames = session.drain().frames;
    let progress = frames
        .iter()
        .filter(|frame| frame.direction == Direction::Received)
        .filter(|frame| frame.text.contains("notifications/progress"));
    assert_eq!(progress.count(), 4);

    let arguments = object(json!({"duration": 30, "steps": 1}));
    let record = session
        .call("trigger-long-running-operation", arguments, within(300))
        .await;
    assert!(
        matches!(record.outcome, CallOutcome::TimedOut { .. }),
        "{record:?}"
    );
    let records = futures::future::join_all(
        (0..8)
            .map(|n| call(session, "get-sum", json!({"a": n, "b": 1})))
            .collect::<Vec<_>>(),
    )
    .await;
    for (n, record) in records.iter().enumerate() {
        assert!(text(record).contains(&(n + 1).to_string()), "{record:?}");
    }
}

fn blocks(result: &Value) -> &[Value] {
    result["content"].as_array().map_or(&[], Vec::as_slice)
}

/// A server that listens on a port of its own; it ends when dropped.
struct Listening {
    child: Child,
    address: SocketAddr,
}

impl Listening {
    async fn start(script: &str, args: &[&str]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("a bound address");
        drop(free);
        let mut command = Command::new("node");
        if script.contains("examples") {
            command
                .arg("--require")
                .arg(installed("tests/servers/port.cjs"));
        }
        let child = command
            .arg(npm(script))
            .args(args)
            .env("PORT", address.port().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("node starts");
        let mut server = Self { child, address };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            assert_eq!(
                server.child.try_wait().ok().flatten(),
                None,
                "{script} ended"
            );
            assert!(Instant::now() < deadline, "{script} does not listen");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        server
    }

    fn binding(&self, path: &str) -> ServerBinding {
        let url = format!("http://127.0.0.1:{}{path}", self.address.port());
        let endpoint = HttpEndpoint {
            url: url.clone(),
            headers: [].into(),
            credentials: None,
        };
        ServerBinding {
            name: "under-test".to_owned(),
            id: "under-test".to_owned(),
            display: url,
            transport: if path == "/sse" {
                Transport::Sse(endpoint)
            } else {
                Transport::Http(endpoint)
            },
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn everything_over_stdio() {
    let session = open(&node(EVERYTHING, &["stdio"], &[])).await;
    assert_eq!(session.protocol_version(), "2025-11-25");
    everything(&session).await;
    assert_eq!(lint_codes(&session.drain()), Vec::<&str>::new());
    session.close().await;
}

#[tokio::test]
async fn everything_over_streamable_http() {
    let server = Listening::start(EVERYTHING, &["streamableHttp"]).await;
    let session = open(&server.binding("/mcp")).await;
    everything(&session).await;
    session.close().await;
}

#[tokio::test]
async fn everything_over_the_older_transport() {
    let server = Listening::start(EVERYTHING, &["sse"]).await;
    let session = open(&server.binding("/sse")).await;
    everything(&session).await;
    session.close().await;
}

#[tokio::test]
async fn a_call_dies_with_its_http_server() {
    let mut server = Listening::start(EVERYTHING, &["streamableHttp"]).await;
    let session = open(&server.binding("/mcp")).await;
    let arguments = object(json!({"duration": 30, "steps": 1}));
    let calling = session.call("trigger-long-running-operation", arguments, within(20_000));
    let killing = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let _ = server.child.kill();
    };
    let (record, ()) = tokio::join!(calling, killing);
    assert!(
        matches!(record.outcome, CallOutcome::TransportLost { .. }),
        "{record:?}"
    );
    let record = call(&session, "echo", json!({"message": "anyone"})).await;
    let CallOutcome::TransportLost { message } = &record.outcome else {
        panic!("{record:?}");
    };
    assert!(message.contains("refused"), "{message}");
    session.close().await;
}

#[tokio::test]
async fn filesystem_over_stdio() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let root = root.to_string_lossy();
    let script = "@modelcontextprotocol/server-filesystem/dist/index.js";
    let session = open(&node(script, &[&root], &[])).await;
    let path = format!("{root}/note.txt");
    let record = call(
        &session,
        "write_file",
        json!({"path": path, "content": "tide"}),
    )
    .await;
    assert!(
        matches!(
            record.outcome,
            CallOutcome::Result {
                is_error: false,
                ..
            }
        ),
        "{record:?}"
    );
    let record = call(&session, "read_text_file", json!({"path": path})).await;
    assert_eq!(text(&record), "tide");
    let record = call(&session, "read_text_file", json!({"path": "/etc/hostname"})).await;
    assert!(
        matches!(record.outcome, CallOutcome::Result { is_error: true, .. }),
        "{record:?}"
    );
    session.close().await;
}

#[tokio::test]
async fn memory_over_stdio() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("memory.json");
    let script = "@modelcontextprotocol/server-memory/dist/index.js";
    let binding = node(
        script,
        &[],
        &[("MEMORY_FILE_PATH", &file.to_string_lossy())],
    );
    let session = open(&binding).await;
    let entity = json!({"name": "harbour", "entityType": "place", "observations": ["deep"]});
    call(&session, "create_entities", json!({"entities": [entity]})).await;
    session.close().await;
    let session = open(&binding).await;
    let record = call(&session, "search_nodes", json!({"query": "harbour"})).await;
    assert!(text(&record).contains("deep"), "{record:?}");
    session.close().await;
}

#[tokio::test]
async fn python_time_over_stdio() {
    let session = open(&process(
        &python("mcp-server-time"),
        &["--local-timezone", "UTC"],
        &[],
    ))
    .await;
    assert_eq!(
        tool_names(&session).await,
        ["get_current_time", "convert_time"]
    );
    let arguments =
        json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let record = call(&session, "convert_time", arguments).await;
    assert!(text(&record).contains("21:00"), "{record:?}");
    let record = call(
        &session,
        "get_current_time",
        json!({"timezone": "Nowhere/Town"}),
    )
    .await;
    assert!(
        matches!(
            record.outcome,
            CallOutcome::Result { is_error: true, .. } | CallOutcome::ProtocolError { .. }
        ),
        "{record:?}"
    );
    session.close().await;
}

#[tokio::test]
async fn python_git_over_stdio() {
    let directory = tempfile::tempdir().expect("a directory");
    let repository = directory.path().to_string_lossy().into_owned();
    let made = Command::new("git")
        .args(["init", "--quiet", &repository])
        .status();
    assert!(made.is_ok_and(|status| status.success()), "git is needed");
    std::fs::write(directory.path().join("new.txt"), "new").expect("written");
    let session = open(&process(
        &python("mcp-server-git"),
        &["--repository", &repository],
        &[],
    ))
    .await;
    let record = call(&session, "git_status", json!({"repo_path": repository})).await;
    assert!(text(&record).contains("new.txt"), "{record:?}");
    session.close().await;
}

#[tokio::test]
async fn a_server_that_answers_with_json_alone() {
    let server = Listening::start(
        &format!("{SDK_EXAMPLES}/jsonResponseStreamableHttp.js"),
        &[],
    )
    .await;
    let session = open(&server.binding("/mcp")).await;
    assert_eq!(tool_names(&session).await, ["greet", "multi-greet"]);
    let record = call(&session, "greet", json!({"name": "Ada"})).await;
    assert!(text(&record).contains("Ada"), "{record:?}");
    session.close().await;
}

#[tokio::test]
async fn a_server_without_sessions() {
    let server = Listening::start(
        &format!("{SDK_EXAMPLES}/simpleStatelessStreamableHttp.js"),
        &[],
    )
    .await;
    let session = open(&server.binding("/mcp")).await;
    let record = call(
        &session,
        "start-notification-stream",
        json!({"interval": 10, "count": 3}),
    )
    .await;
    assert!(text(&record).contains("notifications"), "{record:?}");
    session.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_up_in_mid_call_and_is_asked_again() {
    let server = Listening::start(&format!("{SDK_EXAMPLES}/ssePollingExample.js"), &[]).await;
    let session = open(&server.binding("/mcp")).await;
    let record = call(&session, "long-task", json!({})).await;
    assert_eq!(text(&record), "Long task completed successfully!");
    let resumed = session
        .drain()
        .frames
        .iter()
        .any(|frame| frame.transport.contains_key("lastEventId"));
    assert!(resumed, "the stream was resumed");
    session.close().await;
}

#[tokio::test]
async fn a_server_that_speaks_both_http_transports() {
    let script = format!("{SDK_EXAMPLES}/sseAndStreamableHttpCompatibleServer.js");
    let server = Listening::start(&script, &[]).await;
    for path in ["/mcp", "/sse"] {
        let session = open(&server.binding(path)).await;
        assert_eq!(
            tool_names(&session).await,
            ["start-notification-stream"],
            "{path}"
        );
        session.close().await;
    }
}

#[test]
fn the_lock_file_names_no_registry() {
    let lock = std::fs::read_to_string(installed("tests/servers/package-lock.json")).expect("read");
    assert!(!lock.contains("\"resolved\""));
}
