//! The short form: what it stands for, and findings at their place in it.

use strandline_suite::{
    LoadFailure, LoadOptions, Loaded, expand_yaml, load,
    render::{self, Look, Source},
    write_yaml,
};

fn read(text: &str) -> Result<Loaded, LoadFailure> {
    load(text, &LoadOptions::authored().named("orders"))
}

fn loaded(text: &str) -> Loaded {
    read(text).unwrap_or_else(|failure| panic!("{:?}", failure.findings))
}

const SMALLEST: &str = "\
server: uvx mcp-server-time --local-timezone UTC
model: ollama/qwen3:4b
cases:
  - prompt: What time is it in Tokyo?
    calls: { get_current_time: { timezone: Asia/Tokyo } }
    answer: Tokyo
";

#[test]
fn six_lines_are_a_suite() {
    insta::assert_snapshot!(expand_yaml(&loaded(SMALLEST).authored));
}

const LARGE: &str = r#"# What customers ask for.
name: Orders
servers:
  orders:                       # looked up in mcp.json
  billing: https://billing.example/mcp
  local: { command: ./local, env: { TOKEN: "${TOKEN}" } }
model: openai/gpt-5-mini
iterations: 3
toolPolicy: { mode: readOnly }
execution: { concurrency: 4, session: shared }
cases:
  # The everyday question.
  - prompt: Where is order 17?
    calls: [ get_order: { id: 17 }, track ]
    answer: [shipped, "17"]
    neverCalls: delete_order

  - prompt: Where is order 17?
    intent: lookup
    answer:
      contains: shipped
      matches: "order \\d+"
    assertions:
      - { type: turnCountUnder, turns: 3 }
  - id: thanks
    prompt: |
      Thanks.
      Good bye.
    calls: []
"#;

#[test]
fn everything_short_is_expanded_and_comments_come_along() {
    let loaded = loaded(LARGE);
    insta::assert_snapshot!(expand_yaml(&loaded.authored));
    let codes: Vec<_> = loaded
        .warnings
        .iter()
        .map(|warning| (warning.code, warning.finding.pointer.as_str()))
        .collect();
    assert_eq!(codes, [("case_id_by_order", "cases[1]")]);
}

#[test]
fn expansion_is_lossless_and_itself_a_suite() {
    for text in [SMALLEST, LARGE] {
        let short = loaded(text);
        let expanded = loaded_dialect(&expand_yaml(&short.authored));
        assert_eq!(expanded.resolved, short.resolved);
        assert!(!expanded.authored.short);
        // Writing a short file keeps it short.
        let again = loaded(&write_yaml(&short.authored));
        assert!(again.authored.short && again.authored.same(&short.authored));
        assert_eq!(again.resolved, short.resolved);
    }
}

fn loaded_dialect(text: &str) -> Loaded {
    load(
        text,
        &LoadOptions {
            short_form: false,
            ..LoadOptions::authored()
        },
    )
    .unwrap_or_else(|failure| panic!("{:?}\n{text}", failure.findings))
}

#[test]
fn ids_do_not_move_when_other_cases_change() {
    let ids = |text: &str| -> Vec<String> {
        let cases = loaded(text).resolved.cases;
        cases.into_iter().map(|case| case.id).collect()
    };
    let head = "server: s\nmodel: ollama/x\ncases:\n";
    let before = ids(&format!(
        "{head}  - prompt: A\n  - prompt: B\n    answer: x\n  - prompt: B\n"
    ));
    let after = ids(&format!(
        "{head}  - prompt: New\n  - prompt: B\n    calls: t\n    title: Other\n  - prompt: B\n  - prompt: A\n    answer: y\n"
    ));
    assert_eq!(
        after[1..3],
        before[1..3],
        "edits of the case itself and of others"
    );
    assert_eq!(after[3], before[0]);
    assert_ne!(before[1], before[2]);
}

#[test]
fn findings_point_into_the_short_file() {
    let text = r#"server: "npx 'unclosed"
modle: openai/gpt-5-mini
iterations: 0
execution: { concurrency: 99 }
cases:
  - prompt: ""
    calls: { get_order: 17 }
  - promt: Where?
    answer: 42
    assertions:
      - { type: noEndingQuestion }
  - prompt: Which?
    calls: [ { get_order: { id: 1 } }, "" ]
    answer: { matches: "(", says: x }
    passThreshold: 85
"#;
    let failure = read(text).expect_err("findings");
    let shown = render::findings(
        &failure.findings,
        Source {
            file: "orders.yaml",
            text,
            secrets: &failure.secrets,
        },
        Look {
            colour: false,
            ascii: false,
        },
    );
    insta::assert_snapshot!(format!("{}\n{shown}", render::plain(&failure.findings)));
}

#[test]
fn a_file_that_is_meant_to_be_a_dialect_file_is_never_taken_for_a_short_one() {
    for text in [
        "{}",
        "cases: []\n",
        "mode: agentWorkflow\ncases: []\nserver: x\n",
        "suite: { id: a, name: b }\nmodel: x\ncases: []\n",
        "server: x\nmodel: y\n",
    ] {
        let failure = read(text).expect_err("no suite");
        let pointers: Vec<_> = failure
            .findings
            .iter()
            .map(|finding| &finding.pointer)
            .collect();
        assert_eq!(pointers, ["schemaVersion"], "{text}");
    }
    // Where only dialect files are read, a short file is told what to do.
    for options in [LoadOptions::normative(), LoadOptions::portable()] {
        let failure = load(SMALLEST, &options).expect_err("no dialect file");
        assert_eq!(failure.findings[0].pointer, "schemaVersion");
        assert!(
            failure.findings[0]
                .help
                .as_deref()
                .is_some_and(|help| help.contains("suite expand"))
        );
    }
}

#[test]
fn servers_are_commands_urls_entries_or_names() {
    let entries = |server: &str| -> (String, String) {
        let loaded = loaded(&format!(
            "{server}\nmodel: ollama/x\ncases: [ {{ prompt: hi }} ]\n"
        ));
        let names: Vec<_> = loaded
            .resolved
            .target
            .servers
            .iter()
            .flatten()
            .map(|s| s.name.clone())
            .collect();
        let entries = loaded
            .server_entries()
            .map(|node| node.to_json().to_string());
        (names.join(","), entries.unwrap_or_default())
    };
    let told = |names: &str, entries: &str| (names.to_owned(), entries.to_owned());
    assert_eq!(entries("server: orders"), told("orders", ""));
    assert_eq!(
        entries("server: ./orders"),
        told("server", r#"{"server":{"command":"./orders"}}"#)
    );
    assert_eq!(
        entries("server: node 'my server.js' --x=\"a b\""),
        told(
            "server",
            r#"{"server":{"args":["my server.js","--x=a b"],"command":"node"}}"#
        )
    );
    assert_eq!(
        entries("server: HTTPS://h.example/mcp"),
        told("server", r#"{"server":{"url":"HTTPS://h.example/mcp"}}"#)
    );
    assert_eq!(
        entries("server: { url: http://h, type: sse }"),
        told("server", r#"{"server":{"type":"sse","url":"http://h"}}"#)
    );
    assert_eq!(entries("servers: [a, b]"), told("a,b", ""));
    assert_eq!(
        entries("servers: { a: , b: b-server }"),
        told("a,b", r#"{"b":{"command":"b-server"}}"#)
    );
}
