//! Findings as a person sees them.

use strandline_suite::{
    LoadOptions, load,
    render::{self, Look, Source},
};

const PLAIN: Look = Look {
    colour: false,
    ascii: false,
};

fn rendered(text: &str, look: Look) -> String {
    let failure = load(text, &LoadOptions::authored()).expect_err("a file with findings");
    let source = Source {
        file: "suites/orders.yaml",
        text,
        secrets: &failure.secrets,
    };
    render::findings(&failure.findings, source, look)
}

const BROKEN: &str = r#"schemaVersion: "2"
mode: serverContract
reportingMode: standard
suite: { id: s orders, name: Orders server }
target: { servers: [ { name: orders } ] }
defaults:
  model: anthropic/claude-sonnet-4-5
  repetitions: 5
  passThreshold: 85
  validity: {}
cases:
  - id: c_lookup
    titel: Looks an order up
    steps:
      - { id: s1, kind: prompt, prompt: 17 }
      - id: s1
        kind: assert
        assertion: { type: toolCalledWit, toolName: get_order }
    assertions:
      - { type: responseMatches, pattern: "(shipped" }
      - { type: noEndingQuestion, severity: warn }
"#;

#[test]
fn every_finding_is_shown_with_its_line_and_what_to_do() {
    insta::assert_snapshot!(rendered(BROKEN, PLAIN));
}

#[test]
fn a_dumb_terminal_gets_the_same_facts() {
    let ascii = Look {
        colour: false,
        ascii: true,
    };
    let text = BROKEN
        .replace("85", "1.5")
        .replace("serverContract", "agentWorkflow");
    insta::assert_snapshot!(rendered(&text, ascii));
}

#[test]
fn one_finding_a_line() {
    let failure = load(BROKEN, &LoadOptions::authored()).expect_err("a file with findings");
    insta::assert_snapshot!(render::plain(&failure.findings));
}

#[test]
fn syntax_is_shown_where_it_broke() {
    for (name, text) in [
        ("unclosed", "a: [1, 2\nb: 3\n"),
        ("tab", "a:\n\tb: 1\n"),
        ("twice", "mode: a\nother: 1\nmode: b\n"),
        ("colon", "title: Orders: and more\n"),
        ("at_sign", "title: @home\n"),
        ("indent", "a:\n  b: 1\n c: 2\n"),
        ("quote", "a: \"open\nb: 2\n"),
        ("alias", "a: *nowhere\n"),
        ("documents", "a: 1\n---\nb: 2\n"),
        ("empty", "# nothing\n"),
        ("unicode", "ключ: \"значение\" ещё\n"),
    ] {
        insta::assert_snapshot!(format!("syntax_{name}"), rendered(text, PLAIN));
    }
}

#[test]
fn secrets_are_masked_wherever_the_mark_stands() {
    let text = r#"schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: { id: s, name: S }
target: { servers: [ { name: a } ] }
mcpServers:
  a: { url: 3, headers: { Authorization: "Bearer tip-top-hidden", X: hidden-too } }
  b: { command: x, args: [ --token=hidden123456, 7 ], env: { A: [ hidden ] } }
  c: { command: x, env: { PASS: hidden, N: 1 }, extra: 1 }
defaults: { model: m, iterations: 1, passThreshold: 1, validity: {} }
cases: [ { id: c, title: C, steps: [ { id: s1, kind: prompt, prompt: hi } ] } ]
"#;
    let shown = rendered(text, PLAIN);
    assert!(!shown.contains("hidden"), "{shown}");
    insta::assert_snapshot!(shown);

    let broken = "headers: { Authorization: \"Bearer hidden-hidden\", }}\n";
    let shown = rendered(broken, PLAIN);
    assert!(!shown.contains("hidden"), "{shown}");
}

#[test]
fn a_long_line_is_cut_around_the_place_and_controls_are_not_printed() {
    let filler = "x".repeat(3000);
    let text = format!(
        "{{\"schemaVersion\": \"2\", \"a\": \"{filler}\", \"mode\": \"\\u001b[31m{filler}\", \"b\": 1}}"
    );
    let shown = rendered(&text, PLAIN);
    assert!(
        shown.lines().all(|line| line.chars().count() < 200),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
    assert!(shown.contains("`mode` must be `agentWorkflow`"), "{shown}");
}
