//! Warnings: allowed, and still worth a look.

use strandline_suite::{LoadOptions, load};

fn warned(text: &str) -> Vec<(&'static str, String)> {
    let loaded = load(text, &LoadOptions::authored())
        .unwrap_or_else(|failure| panic!("{:?}", failure.findings));
    loaded
        .warnings
        .into_iter()
        .map(|warning| {
            assert!(warning.finding.location.is_some(), "{warning:?}");
            (warning.code, warning.finding.pointer)
        })
        .collect()
}

#[test]
fn everything_that_is_worth_a_look_is_told() {
    let text = r#"
schemaVersion: "2"
mode: agentWorkflow
reportingMode: standard
suite: { id: s, name: !name S }
target: { servers: [ { name: a, id: a1 } ], hosts: [ { name: Cursor } ] }
mcpServers:
  a:
    url: http://h/mcp
    headers:
      Authorization: Bearer abcdefghijkl
      X-Api-Key: "${KEY}"
      Accept: text/plain
defaults: { model: m, provider: ollama, iterations: 1, passThreshold: 1, validity: {} }
cases:
  - id: c1
    title: One
    steps:
      - { id: "", kind: toolCall, serverName: b, toolName: t, arguments: { x: .inf } }
      - { id: s2, kind: toolCall, serverName: b, serverId: a1, toolName: t, arguments: {} }
"#;
    let expected = [
        ("unknown_tag", ""),
        ("case_passes_with_empty_answer", "cases[0]"),
        ("non_finite_number", "cases[0].steps[0].arguments.x"),
        ("empty_step_id", "cases[0].steps[0].id"),
        ("unknown_server", "cases[0].steps[0].serverName"),
        ("secret_in_suite_file", "mcpServers.a.headers.Authorization"),
        ("hosts_ignored", "target.hosts"),
    ];
    let expected: Vec<_> = expected
        .map(|(code, pointer)| (code, pointer.to_owned()))
        .to_vec();
    assert_eq!(warned(text), expected);
}

#[test]
fn a_case_that_passes_on_nothing_is_told_and_one_that_cannot_is_not() {
    let short =
        |case: &str| format!("server: s\nmodel: ollama/x\ncases:\n  - {{ prompt: hi{case} }}\n");
    assert_eq!(
        warned(&short("")),
        [("case_passes_with_empty_answer", "cases[0]".to_owned())]
    );
    assert_eq!(warned(&short(", neverCalls: x")).len(), 1);
    for checked in [
        ", answer: x",
        ", calls: t",
        ", calls: []",
        ", disabled: true",
    ] {
        assert_eq!(warned(&short(checked)), [], "{checked}");
    }
}

#[test]
fn a_threshold_that_no_score_can_reach_is_told() {
    let suite = |judge: &str, case: &str| {
        format!(
            "server: s\nmodel: ollama/x\njudge: {judge}\ncases:\n  - {{ prompt: hi, answer: x{case} }}\n"
        )
    };
    let told = |judge: &str, case: &str| warned(&suite(judge, case));
    assert_eq!(
        told("{ threshold: 0.9 }", ""),
        [("judge_threshold_out_of_reach", "cases[0]".to_owned())]
    );
    for (judge, case) in [
        ("{ threshold: 0.85 }", ""),
        ("{ threshold: 0.9 }", ", expectedOutput: It ships."),
        ("{ threshold: 0.9, enabled: false }", ""),
        (
            "{ threshold: 0.9, rubric: { criteria: [ { id: a, label: names it } ] } }",
            "",
        ),
    ] {
        assert_eq!(told(judge, case), [], "{judge}{case}");
    }
}
