//! `strandline ui` as a user runs it: the example suite on the demo server,
//! started over HTTP, followed live, stopped by a signal.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123";

/// A running server in a private directory.
struct Served {
    child: Child,
    address: String,
    home: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn strandline(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandline"));
    command
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home);
    command
}

impl Served {
    fn start(more: &[&str]) -> Self {
        let home = TempDir::new().expect("a temporary directory");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        fs::create_dir(home.path().join("evals")).expect("makes a directory");
        fs::copy(
            examples.join("orders.yaml"),
            home.path().join("evals/orders.yaml"),
        )
        .expect("copies");
        let mut arguments = vec!["ui"];
        arguments.extend_from_slice(more);
        let mut child = strandline(home.path(), &arguments)
            .env("STRANDLINE_TOKEN", TOKEN)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("stdout"))
            .read_line(&mut first)
            .expect("a line");
        let address = first
            .trim()
            .strip_prefix("http://")
            .and_then(|address| address.strip_suffix('/'))
            .unwrap_or_else(|| panic!("no address: {first}"))
            .to_owned();
        Self {
            child,
            address,
            home,
        }
    }

    /// Asks, and returns status and body.
    fn ask(&self, method: &str, target: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("sets a bound");
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answers");
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        (status.expect("a status"), body.to_owned())
    }

    fn get(&self, target: &str) -> (u16, String) {
        self.ask("GET", target, "", "")
    }

    fn start_run(&self, body: &Value) -> String {
        let headers = format!("content-type: application/json\r\nx-strandline-token: {TOKEN}\r\n");
        let (status, body) = self.ask("POST", "/api/v1/runs", &headers, &body.to_string());
        assert_eq!(status, 202, "{body}");
        let started: Value = serde_json::from_str(&body).expect("JSON");
        started["runId"].as_str().expect("an id").to_owned()
    }

    /// Interrupts the server and returns its exit code and what it said.
    fn interrupt(mut self) -> (Option<i32>, String, TempDir) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(pid, Signal::SIGINT).expect("signals");
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waits") {
                break status;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "it does not stop"
            );
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("stderr");
        stderr.read_to_string(&mut said).expect("reads");
        let home = std::mem::replace(&mut self.home, TempDir::new().expect("a directory"));
        (status.code(), said, home)
    }
}

#[test]
fn the_example_suite_is_run_from_the_page_and_followed_to_its_verdict() {
    let served = Served::start(&["--listen", "127.0.0.1:0"]);
    let (status, page) = served.get("/suites/file?path=evals%2Forders.yaml");
    assert_eq!(status, 200, "{page}");
    assert!(
        page.contains("demo-server") && page.contains("scripted/order-desk"),
        "{page}"
    );
    let run = served.start_run(&json!({"path": "evals/orders.yaml"}));
    let (status, events) = served.get(&format!("/api/v1/runs/{run}/events?after=0"));
    assert_eq!(status, 200);
    let end = events.rsplit_once("event: end").expect("an end").1;
    assert!(end.contains("\"verdict\":\"failed\""), "{end}");
    assert!(events.contains("event: progress") && events.contains("event: trial"));
    let (status, page) = served.get(&format!("/runs/{run}"));
    assert_eq!(status, 200);
    assert!(page.contains("Order desk"), "{page}");
    let (status, _) = served.get(&format!("/api/v1/runs/{run}/analytics"));
    assert_eq!(status, 200);
    let (code, said, _home) = served.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(TOKEN), "{said}");
}

#[test]
fn an_interrupted_server_stores_the_runs_that_go_on() {
    let served = Served::start(&["--listen", "127.0.0.1:0"]);
    let path = served.home.path().join("evals/orders.yaml");
    let suite = fs::read_to_string(&path).expect("reads");
    // Slow turns, so that trials are in flight.
    let lines = suite.lines().map(|line| match line.split_once("- say:") {
        Some((indent, said)) if indent.trim().is_empty() => {
            format!("{indent}- delayMs: 3000\n{indent}  say:{said}")
        }
        _ => line.to_owned(),
    });
    let slow = lines.collect::<Vec<_>>().join("\n");
    assert_ne!(suite, slow);
    fs::write(&path, slow).expect("writes");
    let run = served.start_run(&json!({"path": "evals/orders.yaml", "iterations": 20}));
    std::thread::sleep(Duration::from_millis(500));
    let (code, said, home) = served.interrupt();
    assert_eq!(code, Some(0), "{said}");
    let listed = strandline(home.path(), &["runs", "--json"]).output();
    let listed: Value = serde_json::from_slice(&listed.expect("lists").stdout).expect("JSON");
    let stored = &listed["runs"][0];
    assert_eq!(stored["runId"], run.as_str());
    assert_eq!(stored["activity"], "ended", "{stored}");
    assert_ne!(stored["verdict"], "passed");
}

#[test]
fn beyond_loopback_the_token_is_demanded_and_said_so() {
    let served = Served::start(&["--listen", "0.0.0.0:0"]);
    let (status, _) = served.get("/api/v1/runs");
    assert_eq!(status, 401);
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let (status, _) = served.ask("GET", "/api/v1/runs", &bearer, "");
    assert_eq!(status, 200);
    let (code, said, _home) = served.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("more than loopback"), "{said}");
    assert!(
        !said.contains(TOKEN),
        "a chosen token is not printed: {said}"
    );
}

#[test]
fn a_token_that_is_no_secret_is_refused() {
    let home = TempDir::new().expect("a temporary directory");
    let output = strandline(home.path(), &["ui", "--token", "short"]).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("at least 16"), "{said}");
}

#[test]
fn a_place_that_is_taken_is_said_so() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let place = taken.local_addr().expect("an address").to_string();
    let home = TempDir::new().expect("a temporary directory");
    let output = strandline(home.path(), &["ui", "--listen", &place]).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&place) && said.contains("--listen"), "{said}");
}
