//! The official inspector's command line: a client that nobody here wrote. It
//! checks every structured answer against the tool's output schema.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};

use super::Project;

/// Runs the inspector against a server and returns what it prints.
fn inspect(project: &Project, target: &[&str], arguments: &[&str]) -> Output {
    let inspector = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/servers/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js");
    Command::new("node")
        .arg(inspector)
        .arg("--cli")
        .args(target)
        .args(arguments)
        .current_dir(project.root())
        .env("HOME", project.home())
        .output()
        .expect("node starts")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {said}")
    })
}

/// Calls a tool through the inspector; gives its document.
fn call(project: &Project, target: &[&str], tool: &str, arguments: &[&str]) -> Value {
    let mut command = vec!["--method", "tools/call", "--tool-name", tool];
    for argument in arguments {
        command.extend(["--tool-arg", argument]);
    }
    let result = json(&inspect(project, target, &command));
    assert_ne!(result["isError"], json!(true), "{tool}: {result}");
    result["structuredContent"].clone()
}

/// A server over HTTP; it is stopped with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    /// What it printed before it was ready.
    pub(crate) said: Vec<String>,
}

impl Served {
    pub(crate) fn start(
        project: &Project,
        address: &str,
        token: Option<&str>,
        arguments: &[&str],
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strandline"));
        command
            .args(["mcp", "--http", address])
            .args(arguments)
            .current_dir(project.root())
            .env("HOME", project.home())
            .env_remove("STRANDLINE_STORE")
            .env_remove("STRANDLINE_MCP_TOKEN")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(token) = token {
            command.env("STRANDLINE_MCP_TOKEN", token);
        }
        let mut child = command.spawn().expect("the binary starts");
        let stderr = child.stderr.take().expect("standard error is piped");
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let first = lines.next().expect("it says where it listens");
        let url = first.rsplit(' ').next().expect("an address").to_owned();
        let more = if address.starts_with("127.") { 0 } else { 2 };
        let said = std::iter::once(first).chain(lines.take(more)).collect();
        Self { child, url, said }
    }

    /// Sends a request as it is and returns its status line.
    pub(crate) fn status(&self, headers: &[&str]) -> String {
        let address = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        let port = address.rsplit(':').next().expect("a port");
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("connects");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }})
        .to_string();
        let headers = headers.join("\r\n");
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sends");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("is answered");
        String::from_utf8_lossy(&answer[9..]).into_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_inspector_works_the_tools_over_standard_input_and_output() {
    let project = Project::new();
    project.run();
    let target = [env!("CARGO_BIN_EXE_strandline"), "mcp"];
    let tools = json(&inspect(&project, &target, &["--method", "tools/list"]));
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(17), "{tools}");
    let of = |tool, arguments: &[&str]| call(&project, &target, tool, arguments);
    assert_eq!(of("list_suites", &[])["page"]["total"], 1);
    let suite = ["path=evals/desk.yaml"];
    assert_eq!(of("validate_suite", &suite)["valid"], true);
    assert_eq!(of("list_cases", &suite)["page"]["total"], 2);
    assert_eq!(of("get_run", &["run=last"])["summary"]["verdict"], "failed");
    assert_eq!(of("list_runs", &[])["complete"], true);
    let covered = of("get_coverage", &["suite=evals/desk.yaml"]);
    assert!(covered["coverage"]["kinds"].is_array());
    let word = of("explain_term", &["term=notReached"]);
    assert_eq!(word["words"][0]["wire"], "notReached");
}

#[test]
fn the_inspector_reads_trials_over_http() {
    let project = Project::new();
    project.run();
    let served = Served::start(&project, "127.0.0.1:0", None, &[]);
    let target = [served.url.as_str(), "--transport", "http"];
    let of = |tool, arguments: &[&str]| call(&project, &target, tool, arguments);
    let page = of("list_diagnostics", &["run=last"]);
    assert_eq!(page["diagnostics"]["complete"], true);
    let id = page["diagnostics"]["items"][0]["iterationId"].as_str();
    let trial = format!("trial={}", id.expect("an id"));
    assert_eq!(of("get_trial_chain", &[&trial])["result"], "failed");
    assert!(of("get_trace", &[&trial])["items"].is_array());
    assert!(of("get_friction", &[&trial])["signalsState"].is_string());
    assert_eq!(
        of("get_friction", &["run=last"])["caseVariants"]["total"],
        2
    );
    let funnel = of("get_stage_analytics", &["run=last"]);
    assert_eq!(funnel["analytics"]["totalTrials"], 6);
}

#[test]
fn the_inspector_runs_and_compares_over_http() {
    let project = Project::new();
    project.run();
    let served = Served::start(&project, "127.0.0.1:0", None, &["--trust-servers"]);
    let target = [served.url.as_str(), "--transport", "http"];
    let of = |tool, arguments: &[&str]| call(&project, &target, tool, arguments);
    let base = of("list_runs", &[])["runs"][0]["runId"].clone();
    let started = of("run_suite", &["path=evals/desk.yaml"]);
    let id = started["runId"].as_str().expect("an id");
    // Another session waits for the run that the first one started.
    let ended = of("wait_run", &[&format!("run={id}")]);
    assert_eq!(
        [&ended["ended"], &ended["passedTrials"]],
        [&json!(true), &json!(3)],
        "{ended}"
    );
    assert_eq!(of("stop_run", &[&format!("run={id}")])["stopping"], false);
    let base = format!("base={}", base.as_str().expect("a run"));
    let two = [base.as_str(), &format!("compared={id}")];
    let compared = of("compare_runs", &two);
    assert_eq!(compared["comparison"]["parity"]["state"], "comparable");
    assert_eq!(
        of("diff_server_surface", &two)["servers"][0]["listed"],
        true
    );
}

#[test]
fn the_inspector_lists_resources_and_prompts() {
    let project = Project::new();
    let target = [env!("CARGO_BIN_EXE_strandline"), "mcp"];
    for (method, list, least) in [
        ("resources/list", "resources", 10),
        ("resources/templates/list", "resourceTemplates", 3),
        ("prompts/list", "prompts", 2),
    ] {
        let found = json(&inspect(&project, &target, &["--method", method]));
        let items = found[list].as_array().map_or(0, Vec::len);
        assert!(items >= least, "{found}");
    }
}

#[test]
fn foreign_hosts_and_origins_and_missing_tokens_are_refused() {
    let project = Project::new();
    let open = Served::start(&project, "127.0.0.1:0", None, &[]);
    let own = open
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/mcp")
        .to_owned();
    assert_eq!(open.status(&[&format!("Host: {own}")]), "200");
    assert_eq!(
        open.status(&[&format!("Host: {own}"), &format!("Origin: http://{own}")]),
        "200"
    );
    assert_eq!(open.status(&["Host: evil.example"]), "403");
    assert_eq!(
        open.status(&[&format!("Host: {own}"), "Origin: http://evil.example"]),
        "403"
    );
    assert_eq!(
        open.status(&[&format!("Host: {own}"), "Origin: null"]),
        "403"
    );

    let locked = Served::start(&project, "127.0.0.1:0", Some("let-me-in-please"), &[]);
    let host = "Host: localhost";
    assert_eq!(locked.status(&[host]), "401");
    assert_eq!(
        locked.status(&[host, "Authorization: Bearer let-me-in-pleasf"]),
        "401"
    );
    assert_eq!(
        locked.status(&[host, "Authorization: Bearer let-me-in-please"]),
        "200"
    );
    assert!(
        !locked.said.concat().contains("let-me-in"),
        "{:?}",
        locked.said
    );
}

#[test]
fn beyond_loopback_a_token_is_made_and_said_once() {
    let project = Project::new();
    let served = Served::start(&project, "0.0.0.0:0", None, &[]);
    let said = served.said.join("\n");
    assert!(said.contains("reachable from other machines"), "{said}");
    let token = said.rsplit(' ').next().expect("a token");
    assert_eq!(token.len(), 64, "{said}");
    assert_eq!(served.status(&["Host: localhost"]), "401");
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(served.status(&["Host: localhost", &bearer]), "200");
    assert_eq!(served.status(&["Host: evil.example", &bearer]), "403");
}
