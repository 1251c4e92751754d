use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CallResult, References, Script, ScriptAct, ScriptProblem, Segment};

fn problems(value: &Value) -> Vec<String> {
    Script::parse(value)
        .expect_err("the script has problems")
        .iter()
        .map(|ScriptProblem { path, message }| {
            let path: String = path
                .iter()
                .map(|segment| match segment {
                    Segment::Key(key) => format!(".{key}"),
                    Segment::Index(index) => format!("[{index}]"),
                })
                .collect();
            format!("{path}: {message}")
        })
        .collect()
}

fn results() -> [Value; 2] {
    [
        json!({"content": [{"type": "image", "data": ""}, {"type": "text", "text": "{\"items\":[{\"id\":7}]}"}]}),
        json!({"content": [{"type": "text", "text": "shipped"}], "structuredContent": {"a/b": true, "n": 3}}),
    ]
}

fn resolve(text: &str) -> Result<Value, String> {
    let results = results();
    let calls = [
        CallResult {
            tool_name: "find",
            result: Some(&results[0]),
        },
        CallResult {
            tool_name: "get",
            result: Some(&results[1]),
        },
        CallResult {
            tool_name: "lost",
            result: None,
        },
    ];
    References::parse(text)
        .and_then(|references| references.resolve(&calls))
        .map_err(|error| error.to_string())
}

#[test]
fn one_list_serves_every_trial() {
    let script = Script::parse(&json!([{"say": "hello"}])).expect("valid");
    assert_eq!(script.turns(0), script.turns(41));
    assert_eq!(script.turns(0).len(), 1);
}

#[test]
fn several_lists_are_used_in_rotation() {
    let script = Script::parse(&json!({"iterations": [
        [{"say": "a"}],
        [{"call": [{"tool": "t", "arguments": {"x": 1}}], "delayMs": 5}, {"say": "b"}],
    ]}))
    .expect("valid");
    assert_eq!(script.turns(0).len(), 1);
    assert_eq!(script.turns(3).len(), 2);
    assert_eq!(script.turns(3)[0].delay_ms, 5);
    let ScriptAct::Answer { say, calls } = &script.turns(1)[0].act else {
        panic!("the turn answers");
    };
    assert_eq!((say, calls[0].tool.as_str()), (&None, "t"));
}

#[test]
fn every_problem_is_reported_with_its_path() {
    let found = problems(&json!([
        {"sya": "hello"},
        {"say": 3, "call": [{"tool": " "}, {"arguments": {"a": ["{{0/content}}"]}}, 7]},
        {"say": "{{last/content", "fail": {"status": 200}},
        {"fail": {}},
        {"say": "", "delayMs": -1, "usage": {"inputTokens": 1.5, "cost": 2}},
        [],
    ]));
    insta::assert_snapshot!(found.join("\n"), @r#"
    [0]: unknown key `sya`; known here: say, call, fail, delayMs, usage
    [0]: expected `say`, `call` or `fail`; to say nothing, write `say: ""`
    [1].say: expected text, found a number
    [1].call[0].tool: expected a tool name, found a blank string
    [1].call[1].tool: `tool` is required: the server's own tool name
    [1].call[1].arguments.a[0]: `{{0/content}}` is no reference; expected `last/…` or a call number from 1 (`{{last/content/0/text}}`), or write `\{{` for two literal braces
    [1].call[2]: expected a call (`tool`, `arguments`), found a number
    [2].say: `{{` is never closed; write `\{{` for two literal braces
    [2].fail.status: expected an HTTP error status, 400 to 599, found 200
    [2]: a turn either answers (`say`, `call`) or fails (`fail`), not both
    [3].fail: expected `status`, `code` or both
    [4].delayMs: expected a whole number, 0 to 600000, found -1
    [4].usage: unknown key `cost`; known here: inputTokens, outputTokens, totalTokens
    [4].usage.inputTokens: expected a whole number, 0 to 9007199254740992, found 1.5
    [5]: expected a turn (`say`, `call` or `fail`), found a list
    "#);
}

#[test]
fn a_script_is_a_list_or_a_list_of_lists() {
    let found: Vec<String> = [
        json!("say"),
        json!({}),
        json!([]),
        json!({"iterations": [[]]}),
    ]
    .iter()
    .flat_map(problems)
    .collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    : expected a list of turns or `{iterations: [[turn, …], …]}`, found text
    .iterations: `iterations` is required: a list of lists of turns
    : the list of turns is empty
    .iterations[0]: the list of turns is empty
    ");
}

#[test]
fn a_whole_string_reference_keeps_its_json_type() {
    assert_eq!(resolve("{{2/structuredContent/n}}"), Ok(json!(3)));
    assert_eq!(resolve("{{ 2/structuredContent/a~1b }}"), Ok(json!(true)));
    assert_eq!(resolve("{{1/json/items/0}}"), Ok(json!({"id": 7})));
    assert_eq!(resolve("{{1/json}}"), Ok(json!({"items": [{"id": 7}]})));
    assert_eq!(resolve("{{2}}"), Ok(results()[1].clone()));
}

#[test]
fn a_reference_inside_text_becomes_text() {
    assert_eq!(
        resolve("It is {{2/content/0/text}}: {{1/json/items/0}}"),
        Ok(json!("It is shipped: {\"id\":7}"))
    );
    assert_eq!(resolve(r"a \{{b}} c"), Ok(json!("a {{b}} c")));
    assert_eq!(resolve(""), Ok(json!("")));
}

#[test]
fn a_reference_that_leads_nowhere_says_where_it_stopped() {
    let messages: Vec<String> = [
        "{{4/content}}",
        "{{last/content}}",
        "{{2/content/1}}",
        "{{2/json/x}}",
        "{{1/json/x}}",
        "{{0/content}}",
        "{{customer}}",
        "{{last",
    ]
    .into_iter()
    .map(|text| resolve(text).expect_err(text))
    .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    `{{4/content}}` leads nowhere: the conversation has 3 calls so far
    `{{last/content}}` leads nowhere: call 3 (`lost`) ended without a result
    `{{2/content/1}}` leads nowhere: the result of call 2 (`get`) has no `/content/1`
    `{{2/json/x}}` leads nowhere: the first text of call 2 (`get`) is no JSON
    `{{1/json/x}}` leads nowhere: the result of call 1 (`find`) has no `/x`
    `{{0/content}}` is no reference; expected `last/…` or a call number from 1 (`{{last/content/0/text}}`), or write `\{{` for two literal braces
    `{{customer}}` is no reference; expected `last/…` or a call number from 1 (`{{last/content/0/text}}`), or write `\{{` for two literal braces
    `{{` is never closed; write `\{{` for two literal braces
    ");
}

proptest! {
    /// Text without double braces is taken as it is.
    #[test]
    fn text_without_references_is_unchanged(text in "[^{}]{0,40}") {
        let resolved = References::resolve_text(&text, &[]);
        prop_assert_eq!(resolved, Ok(text));
    }

    /// Reading never panics, whatever is written.
    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\\\/a-z0-9 é]{0,30}") {
        let _ = References::resolve_text(&text, &[]);
    }
}
