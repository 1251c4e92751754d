//! A suite file back to text (`suite-file.md` §7).

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use strandline_suite::{LoadOptions, Loaded, load, write_json, write_yaml};

fn loaded(text: &str) -> Loaded {
    load(text, &LoadOptions::authored())
        .unwrap_or_else(|failure| panic!("{:?}\n{text}", failure.findings))
}

const COMMENTED: &str = r#"# Orders, checked nightly.

schemaVersion: "2"
mode: agentWorkflow     # the only one
cases:                  # by importance

  # The everyday question.
  - title: Looks an order up
    id: c_lookup
    steps:
      - { kind: prompt, id: s1, prompt: "Where is order 17?" }

      # Arguments matter.
      - id: s2
        kind: assert
        assertion:
          type: toolCalledWith
          toolName: &tool get_order
          args: { args: { id: 17, on: "no", when: 2026-01-01 } }
    assertions: [
      { type: responseContains, needle: shipped }, # any form of it
      { type: toolCalledAtLeastOnce, toolName: *tool },
    ]
    expectedOutput: >
      Says that the order
      is shipped.

      And when.
  - id: c_other
    title: 'Other: "quoted"'
    steps: [ { id: s, kind: prompt, prompt: "a\nb\n" } ]
defaults: { validity: {}, passThreshold: .8, iterations: 0x5, model: ollama/qwen3:4b, temperature: 1e-7 }
target:
  servers:
  - name: orders
suite: { name: Orders server, id: s_orders }
reportingMode: standard
# The end.
"#;

#[test]
fn comments_and_blank_lines_stay_and_keys_are_ordered() {
    let first = loaded(COMMENTED);
    let text = write_yaml(&first.authored);
    insta::assert_snapshot!(text);
    let second = loaded(&text);
    assert!(second.authored.same(&first.authored));
    assert_eq!(second.resolved, first.resolved);
    assert_eq!(write_yaml(&second.authored), text, "writing is stable");
}

#[test]
fn json_keeps_the_order_too() {
    let first = loaded(COMMENTED);
    let text = write_json(&first.authored);
    insta::assert_snapshot!(text);
    assert!(loaded(&text).authored.same(&first.authored));
}

/// Texts that are hard to write.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "[a-z :#\\-\\n\\t'\"\\\\,\\[\\]{}&*!|>%@`?~0-9.]{0,16}",
        "\\PC{0,8}",
        proptest::collection::vec(any::<char>(), 0..6)
            .prop_map(|characters| characters.into_iter().collect::<String>()),
        Just("yes".to_owned()),
        Just("1e3".to_owned()),
        Just("null".to_owned()),
        Just("a\n b\n\n c\n".to_owned()),
        Just("\u{feff}x".to_owned()),
        Just("\u{85}\u{2028}".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn suite(arguments: &Value, prompt: &str) -> String {
    json!({
        "cases": [{
            "steps": [
                {"kind": "prompt", "prompt": prompt, "id": "s1"},
                {"id": "s2", "kind": "toolCall", "serverName": "x", "toolName": "t",
                 "arguments": {"given": arguments}},
            ],
            "title": "T", "id": "c",
        }],
        "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
        "suite": {"id": "s", "name": "S"}, "target": {"servers": [{"name": "x"}]},
        "defaults": {"model": "m", "iterations": 1, "passThreshold": 1, "validity": {}},
    })
    .to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// §7: `load(write(load(f))).authored == load(f).authored`.
    #[test]
    fn what_is_written_reads_back_as_itself(arguments in value(), prompt in text()) {
        let first = loaded(&suite(&arguments, &prompt));
        let yaml = write_yaml(&first.authored);
        let second = loaded(&yaml);
        prop_assert!(second.authored.same(&first.authored), "{yaml}");
        prop_assert_eq!(&second.resolved, &first.resolved);
        prop_assert_eq!(write_yaml(&second.authored), yaml);
        let third = loaded(&write_json(&first.authored));
        prop_assert!(third.authored.same(&first.authored));
    }

    /// Whatever the text, loading answers.
    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}|[a-z:\\-\\[\\]{}&*#\"' \\n\\t|>!%?,.]{0,80}") {
        let _ = load(&text, &LoadOptions::authored());
    }

    /// A good file with a few bytes changed is answered too, and every place
    /// in the answer is a place in the text.
    #[test]
    fn a_damaged_file_is_answered(at in 0..COMMENTED.len(), length in 0usize..6, with in "[a-z:\\-\\[\\]{}&*#\"' \\n\\t|>!%?,.ü]{0,4}") {
        let start = COMMENTED.floor_char_boundary(at);
        let end = COMMENTED.floor_char_boundary((at + length).min(COMMENTED.len()));
        let text = format!("{}{with}{}", &COMMENTED[..start], &COMMENTED[end.max(start)..]);
        if let Err(failure) = load(&text, &LoadOptions::authored()) {
            prop_assert!(!failure.findings.is_empty());
            let lines = text.lines().count().max(1);
            for finding in &failure.findings {
                prop_assert!(finding.location.is_none_or(|place| place.line <= lines + 1));
            }
            let source = strandline_suite::render::Source { file: "f", text: &text, secrets: &failure.secrets };
            let look = strandline_suite::render::Look { colour: true, ascii: false };
            prop_assert!(!strandline_suite::render::findings(&failure.findings, source, look).is_empty());
        }
    }
}
