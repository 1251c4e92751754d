//! Names to transports (`suite-file.md` §9.1–§9.3).

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use strandline_contract::{
    binding::{ServerBinding, Transport},
    words::RefusalCode,
};
use strandline_suite::{
    LoadOptions, Refusal,
    binding::{BindingRequest, FileSource, Overrides, bind},
    load,
};

/// Files in memory that remember what was asked for.
#[derive(Default)]
struct Files {
    texts: BTreeMap<PathBuf, String>,
    asked: RefCell<Vec<String>>,
}

impl Files {
    fn with(mut self, path: &str, text: &str) -> Self {
        self.texts.insert(PathBuf::from(path), text.to_owned());
        self
    }
}

impl FileSource for Files {
    fn read(&self, path: &Path) -> Result<Option<String>, String> {
        self.asked.borrow_mut().push(path.display().to_string());
        Ok(self.texts.get(path).cloned())
    }
}

fn suite(target: &str, extra: &str) -> String {
    format!(
        "schemaVersion: \"2\"\nmode: agentWorkflow\nreportingMode: standard\n\
         suite: {{ id: s, name: S }}\ntarget: {target}\n{extra}\n\
         defaults: {{ model: ollama/x, iterations: 1, passThreshold: 1, validity: {{}} }}\n\
         cases: [ {{ id: c, title: C, steps: [ {{ id: s1, kind: prompt, prompt: hi }} ] }} ]\n"
    )
}

fn bound(
    text: &str,
    files: &Files,
    overrides: &Overrides,
) -> Result<Vec<ServerBinding>, Vec<Refusal>> {
    let loaded = load(text, &LoadOptions::authored()).expect("a suite that loads");
    let environment = |name: &str| match name {
        "BILLING_URL" => Some("https://billing.example/mcp".to_owned()),
        "BILLING_TOKEN" => Some("t-123".to_owned()),
        "DB_URL" => Some("postgres://db".to_owned()),
        "NOT_A_URL" => Some("nonsense".to_owned()),
        _ => None,
    };
    bind(
        &BindingRequest {
            target: &loaded.resolved.target,
            suite_entries: loaded.server_entries(),
            suite_dir: Path::new("/suites"),
            invocation_dir: Path::new("/here"),
            overrides,
        },
        files,
        &environment,
    )
}

fn codes(refusals: &[Refusal]) -> Vec<RefusalCode> {
    refusals.iter().map(|refusal| refusal.code).collect()
}

const BOTH: &str = r#"mcpServers:
  orders:  { command: "${ORDERS_BIN:-./orders-server}", args: ["--stdio"], env: { DB_URL: "${DB_URL}" }, cwd: . }
  billing: { type: http, url: "${BILLING_URL}", headers: { Authorization: "Bearer ${BILLING_TOKEN}" } }"#;

#[test]
fn entries_of_the_suite_file_are_expanded_and_resolved_to_its_directory() {
    let text = suite(
        "{ servers: [ { name: orders }, { name: billing, id: b1 } ] }",
        BOTH,
    );
    let files = Files::default();
    let bindings = bound(&text, &files, &Overrides::default()).expect("bound");
    let [orders, billing] = bindings.as_slice() else {
        panic!("two servers");
    };
    let Transport::Stdio {
        command,
        args,
        env,
        cwd,
    } = &orders.transport
    else {
        panic!("stdio");
    };
    assert_eq!(command, "/suites/./orders-server");
    assert_eq!(args, &["--stdio"]);
    assert_eq!(env["DB_URL"], "postgres://db");
    assert_eq!(cwd.as_deref(), Some(Path::new("/suites/.")));
    let Transport::Http(endpoint) = &billing.transport else {
        panic!("http");
    };
    assert_eq!(endpoint.url, "https://billing.example/mcp");
    assert_eq!(endpoint.headers["Authorization"], "Bearer t-123");
    assert_eq!(
        (billing.name.as_str(), billing.id.as_str()),
        ("billing", "b1")
    );
    assert_eq!(
        orders.display,
        "${ORDERS_BIN:-./orders-server} --stdio (env: DB_URL)"
    );
    assert_eq!(billing.display, "${BILLING_URL} (headers: Authorization)");
    assert!(files.asked.borrow().is_empty(), "no file is needed");
}

#[test]
fn the_first_source_wins_whole_and_later_ones_are_read_only_when_needed() {
    let text = suite("{ servers: [ { name: orders } ] }", "");
    let files = Files::default()
        .with(
            "/suites/mcp.json",
            r#"{"mcpServers": {"other": {"command": "x"}}}"#,
        )
        .with(
            "/suites/.mcp.json",
            r#"{"orders": {"command": "second", "env": {"A": "1"}}}"#,
        )
        .with("/here/.mcp.json", "not even read: [");
    let bindings = bound(&text, &files, &Overrides::default()).expect("bound");
    assert_eq!(bindings[0].display, "second (env: A)");
    assert_eq!(
        *files.asked.borrow(),
        ["/suites/mcp.json", "/suites/.mcp.json"]
    );

    let overrides = Overrides {
        config: Some(PathBuf::from("conf/servers.json")),
        ..Overrides::default()
    };
    let files = files.with(
        "/here/conf/servers.json",
        "{\"mcp_servers\": {\"orders\": {\"transport\": \"Streamable-HTTP\", \"url\": \"http://localhost:1/mcp\"}}}",
    );
    files.asked.borrow_mut().clear();
    let bindings = bound(&text, &files, &overrides).expect("bound");
    assert_eq!(bindings[0].display, "http://localhost:1/mcp");
    assert_eq!(*files.asked.borrow(), ["/here/conf/servers.json"]);

    let overrides = Overrides {
        servers: vec!["orders=https://orders.example/a=b".to_owned()],
        ..overrides
    };
    let bindings = bound(&text, &files, &overrides).expect("bound");
    assert_eq!(bindings[0].display, "https://orders.example/a=b");
}

#[test]
fn a_disabled_entry_is_absent() {
    let text = suite(
        "{ servers: [ { name: orders } ] }",
        "mcpServers: { orders: { command: first, disabled: true } }",
    );
    let files = Files::default().with(
        "/here/.mcp.json",
        r#"{"orders": {"url": "http://h/sse", "type": "SSE"}}"#,
    );
    let bindings = bound(&text, &files, &Overrides::default()).expect("bound");
    assert_eq!(bindings[0].transport.kind(), "sse");
}

#[test]
fn unbound_names_are_told_together_with_where_was_looked() {
    let text = suite(
        "{ servers: [ { name: a }, { name: b }, { name: \" c \" } ] }",
        "mcpServers: { b: { command: x } }",
    );
    let refusals = bound(&text, &Files::default(), &Overrides::default()).expect_err("unbound");
    assert_eq!(codes(&refusals), [RefusalCode::ServerBindingMissing]);
    assert!(
        refusals[0].message.contains("`a`, `c`"),
        "{}",
        refusals[0].message
    );
    assert!(refusals[0].hints[0].contains("/suites/mcp.json"));
}

#[test]
fn missing_variables_are_told_by_name_all_at_once_and_no_value_is_shown() {
    let text = suite(
        "{ servers: [ { name: a }, { name: b } ] }",
        "mcpServers:\n  a: { command: x, args: [\"${ZED}\"], env: { K: \"${BILLING_TOKEN} ${ALPHA}\" } }\n  b: { url: \"${NO_URL}\" }",
    );
    let refusals = bound(&text, &Files::default(), &Overrides::default()).expect_err("unset");
    assert_eq!(codes(&refusals), [RefusalCode::SetupFailed]);
    assert_eq!(
        refusals[0].message,
        "environment variables not set: `ALPHA`, `NO_URL`, `ZED`"
    );
    assert!(!format!("{refusals:?}").contains("t-123"));
}

#[test]
fn targets_that_cannot_be_bound_are_refused() {
    let nothing = Overrides::default();
    let files = Files::default();
    let hosted = suite("{ environment: staging }", "");
    assert_eq!(
        codes(&bound(&hosted, &files, &nothing).expect_err("hosted")),
        [RefusalCode::TargetUnsupported]
    );
    let twice = suite("{ servers: [ { name: a }, { name: \"a \" } ] }", "");
    assert_eq!(
        codes(&bound(&twice, &files, &nothing).expect_err("twice")),
        [RefusalCode::ServerBindingInvalid]
    );
}

#[test]
fn options_that_do_not_fit_are_refused_together() {
    let text = suite("{ servers: [ { name: a }, { name: b } ] }", "");
    let overrides = Overrides {
        servers: [
            "a=ftp://x",
            "c=http://x",
            "b=http://x",
            "b=http://y",
            "nonsense",
        ]
        .map(str::to_owned)
        .to_vec(),
        url: Some("http://x".to_owned()),
        ..Overrides::default()
    };
    let refusals = bound(&text, &Files::default(), &overrides).expect_err("usage");
    assert_eq!(codes(&refusals), [RefusalCode::OptionsInvalid; 5]);

    let one = suite("{ servers: [ { name: a } ] }", "");
    let overrides = Overrides {
        command: Some(vec!["./bin/server".to_owned(), "--x".to_owned()]),
        ..Overrides::default()
    };
    let bindings = bound(&one, &Files::default(), &overrides).expect("bound");
    let Transport::Stdio { command, cwd, .. } = &bindings[0].transport else {
        panic!("stdio");
    };
    assert_eq!((command.as_str(), cwd), ("/here/./bin/server", &None));
}

#[test]
fn configuration_documents_are_refused_with_their_place() {
    let text = suite("{ servers: [ { name: a } ] }", "");
    for (document, expected) in [
        (
            "{\"mcpServers\": {}, \"mcp_servers\": {}}",
            "/suites/mcp.json:1:35: `mcpServers` and",
        ),
        (
            "{\"command\": \"x\"}",
            "/suites/mcp.json:1:13: this is one server's entry",
        ),
        ("[]", "/suites/mcp.json:1:1: expected a map"),
        (
            "{\n  \"a\": {\"command\": \"x\", \"url\": \"y\"}}",
            "/suites/mcp.json:2:8: server `a` has both",
        ),
        (
            "{\"a\": {\"args\": [1]}}",
            "/suites/mcp.json:1:17: `args[0]` must be text",
        ),
        (
            "{\"a\": {\"type\": 3}}",
            "/suites/mcp.json:1:16: `type` must be",
        ),
        (
            "{\"a\": {\"command\": \"\"}}",
            "/suites/mcp.json:1:19: `command` must not be empty",
        ),
        (
            "{\"a\": {\"url\": \"${NOT_A_URL}\"}}",
            "server `a`: `url` is not an http",
        ),
        ("{\"a\" \"b\"}", "/suites/mcp.json:1:6: "),
    ] {
        let files = Files::default().with("/suites/mcp.json", document);
        let refusals = bound(&text, &files, &Overrides::default()).expect_err(document);
        assert!(
            refusals
                .iter()
                .any(|refusal| refusal.message.starts_with(expected)),
            "{document}: {:?}",
            refusals
                .iter()
                .map(|refusal| &refusal.message)
                .collect::<Vec<_>>()
        );
        assert!(
            refusals
                .iter()
                .all(|refusal| refusal.code == RefusalCode::ServerBindingInvalid)
        );
    }
    // Entries of other servers may be anything.
    let files = Files::default().with(
        "/suites/mcp.json",
        "{\"a\": {\"command\": \"x\"}, \"b\": 3}",
    );
    assert!(bound(&text, &files, &Overrides::default()).is_ok());
}

#[test]
fn credentials_files_are_read_next_to_their_declaration_and_never_shown() {
    let text = suite("{ servers: [ { name: a } ] }", "");
    let entry = "{\"a\": {\"url\": \"http://h/mcp\", \"credentialsFile\": \"keys/a.json\"}}";
    let with = |credentials: &str| {
        Files::default()
            .with("/suites/mcp.json", entry)
            .with("/suites/keys/a.json", credentials)
    };
    let files = with(r#"{"accessToken": "at-secret", "extra": 1}"#);
    let bindings = bound(&text, &files, &Overrides::default()).expect("bound");
    let Transport::Http(endpoint) = &bindings[0].transport else {
        panic!("http");
    };
    let token = endpoint
        .credentials
        .as_ref()
        .and_then(|c| c.access_token.as_deref());
    assert_eq!(token, Some("at-secret"));
    assert!(!format!("{:?}", bindings[0]).contains("at-secret"));

    for bad in [
        "{}",
        "[",
        r#"{"accessToken": 3}"#,
        r#"{"refreshToken": "r-secret"}"#,
    ] {
        let refusals = bound(&text, &with(bad), &Overrides::default()).expect_err(bad);
        assert_eq!(codes(&refusals), [RefusalCode::CredentialsMissing]);
        assert!(!refusals[0].message.contains("secret"));
    }
}
