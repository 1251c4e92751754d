//! The JSON Schema of suite files, for editors.
//!
//! It says what a schema can say; `strandline validate` also checks what needs
//! more than one value (unique ids, `min` and `max`, `provenance` of imports).
//! Only draft-07 keywords are used, because that is what editors know.

use serde_json::{Map, Value, json};

use crate::words::{AssertionKind, Vocabulary};

/// Returns the schema of a suite file: dialect "1", dialect "2" or short.
#[must_use]
pub fn suite_file() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Strandline suite file",
        "if": {"required": ["schemaVersion"]},
        "then": {
            "if": {"properties": {"schemaVersion": {"const": "1"}}},
            "then": file("1"),
            "else": file("2"),
        },
        "else": {"$ref": "#/definitions/shortFile"},
        "definitions": definitions(),
    })
}

/// A closed object; keys marked `*` are required.
fn object(members: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (key, schema) in members {
        let name = key.trim_end_matches('*');
        if name.len() < key.len() {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema.clone());
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn about(mut schema: Value, words: &str) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), words.into());
    }
    schema
}

fn text() -> Value {
    json!({"type": "string"})
}

fn filled() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn length(min: usize, max: usize) -> Value {
    json!({"type": "string", "minLength": min, "maxLength": max})
}

fn id() -> Value {
    json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"})
}

fn word(words: &[&str]) -> Value {
    json!({"enum": words})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn fraction() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1})
}

fn whole(min: u64, max: u64) -> Value {
    json!({"type": "integer", "minimum": min, "maximum": max})
}

fn positive() -> Value {
    json!({"type": "integer", "minimum": 1})
}

fn natural() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn list(items: &Value, min: usize, max: Option<usize>) -> Value {
    let mut list = json!({"type": "array", "items": items, "minItems": min});
    if let Some(max) = max {
        list["maxItems"] = max.into();
    }
    list
}

fn definition(name: &str) -> Value {
    json!({"$ref": format!("#/definitions/{name}")})
}

fn trials_key(dialect: &str) -> &'static str {
    if dialect == "1" {
        "repetitions"
    } else {
        "iterations"
    }
}

/// §3
fn file(dialect: &str) -> Value {
    let case = case(dialect);
    object(&[
        (
            "schemaVersion*",
            about(json!({"const": dialect}), "The dialect."),
        ),
        ("mode*", json!({"const": "agentWorkflow"})),
        ("reportingMode*", json!({"const": "standard"})),
        (
            "suite*",
            object(&[
                ("id*", id()),
                ("name*", length(1, 200)),
                ("description", text()),
            ]),
        ),
        ("target*", definition("target")),
        ("mcpServers", definition("mcpServers")),
        ("defaults*", defaults(dialect)),
        ("execution", definition("execution")),
        ("provenance", definition("provenance")),
        ("cases*", list(&case, 1, Some(500))),
    ])
}

/// §4
fn defaults(dialect: &str) -> Value {
    let trials = format!("{}*", trials_key(dialect));
    object(&[
        (
            "model*",
            about(filled(), "`provider/model`, or a model of `provider`."),
        ),
        ("provider", filled()),
        ("systemPrompt", text()),
        ("temperature", json!({"type": "number"})),
        (&trials, about(whole(1, 100), "Trials per case.")),
        (
            "passThreshold*",
            about(fraction(), "Fraction of eligible trials that must pass."),
        ),
        ("validity*", definition("validity")),
        ("toolPolicy", definition("toolPolicy")),
        ("judge", definition("judge")),
        ("captureLevel", json!({"const": "full"})),
        ("matchOptions", definition("matchOptions")),
    ])
}

/// §5
fn case(dialect: &str) -> Value {
    let assertions = list(&definition("predicate"), 0, Some(50));
    let mut members = vec![
        ("id*", id()),
        ("title*", length(1, 200)),
        ("steps*", list(&definition("step"), 1, Some(200))),
        ("assertions", assertions.clone()),
    ];
    if dialect == "1" {
        members.push(("checks", assertions));
    }
    members.extend(case_members());
    members.push((trials_key(dialect), whole(1, 100)));
    members.push((
        "import",
        object(&[
            (
                "status*",
                word(&["exact", "approximated", "unsupported", "unresolved"]),
            ),
            ("sourceCaseKey", length(1, 512)),
            ("note", length(1, 2000)),
        ]),
    ));
    object(&members)
}

/// Members of a case that the short form has too.
fn case_members() -> Vec<(&'static str, Value)> {
    vec![
        (
            "intent",
            json!({"type": ["string", "null"], "minLength": 1, "maxLength": 64}),
        ),
        ("kind", word_or_null(&["capability", "regression"])),
        (
            "suppressedSuiteStandardCheckIds",
            list(&text(), 0, Some(64)),
        ),
        ("judge", object(&[("enabled", flag())])),
        ("expectedOutput", text()),
        (
            "isNegativeTest",
            about(flag(), "The right answer is to call no tool at all."),
        ),
        ("model", filled()),
        ("passThreshold", fraction()),
        ("disabled", flag()),
        ("matchOptions", definition("matchOptions")),
        ("script", definition("script")),
    ]
}

fn word_or_null(words: &[&str]) -> Value {
    let words: Vec<Value> = words
        .iter()
        .copied()
        .map(Value::from)
        .chain([Value::Null])
        .collect();
    json!({"enum": words})
}

fn definitions() -> Value {
    json!({
        "target": target(),
        "server": object(&[("name*", length(1, 200)), ("id", id())]),
        "mcpServers": {"type": "object", "additionalProperties": definition("entry")},
        "entry": entry(),
        "execution": execution(),
        "provenance": provenance(),
        "validity": object(&[
            ("minEligibleTrials", positive()),
            ("minCompletionRate", fraction()),
            ("maxEvaluatorErrorRate", fraction()),
        ]),
        "toolPolicy": object(&[
            ("mode*", word(&["default", "readOnly"])),
            ("allow", list(&filled(), 0, None)),
            ("deny", list(&filled(), 0, None)),
        ]),
        "judge": judge(),
        "matchOptions": object(&[
            ("toolCallOrder", word(&["any", "in-order", "exact"])),
            ("extraToolCalls", json!({"anyOf": [{"const": "unlimited"}, natural()]})),
            ("arguments", word(&["partial", "exact", "ignore"])),
        ]),
        "script": script(),
        "step": step(),
        "locator": locator(),
        "predicate": {
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"enum": kinds()},
                "role": word(&["advisory", "gating", "required"]),
                "severity": {"const": "warn"},
            },
            "allOf": AssertionKind::ALL.iter().map(|kind| predicate(*kind)).collect::<Vec<_>>(),
        },
        "shortFile": short_file(),
    })
}

fn target() -> Value {
    let servers = list(&definition("server"), 1, None);
    let host = object(&[
        ("name*", length(1, 200)),
        ("id", id()),
        ("servers", list(&definition("server"), 0, None)),
    ]);
    let mut target = object(&[
        ("servers", servers),
        ("environment", filled()),
        ("hosts", list(&host, 1, None)),
    ]);
    target["anyOf"] = json!([{"required": ["servers"]}, {"required": ["environment"]}]);
    target
}

/// §9.2
fn entry() -> Value {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    object(&[
        ("type", text()),
        ("transport", text()),
        (
            "command",
            about(filled(), "Program; never passed to a shell."),
        ),
        ("args", list(&text(), 0, None)),
        ("env", texts.clone()),
        ("cwd", text()),
        ("url", filled()),
        ("headers", texts),
        ("credentialsFile", text()),
        ("disabled", flag()),
    ])
}

/// §10
fn execution() -> Value {
    object(&[
        ("turnTimeoutMs", whole(10_000, 1_800_000)),
        ("toolCallTimeoutMs", whole(1_000, 600_000)),
        ("iterationTimeoutMs", whole(30_000, 7_200_000)),
        ("runTimeoutMs", whole(60_000, 43_200_000)),
        ("turnRetries", whole(0, 5)),
        ("maxSteps", whole(1, 100)),
        ("concurrency", whole(1, 32)),
        ("failOnToolError", flag()),
        (
            "session",
            about(
                word(&["fresh", "shared"]),
                "One server session per trial, or one for all.",
            ),
        ),
        ("setupTimeoutMs", whole(1_000, 600_000)),
        ("toolSettleMs", whole(0, 60_000)),
    ])
}

fn provenance() -> Value {
    object(&[
        ("sourceHash*", filled()),
        ("sourceFormat*", filled()),
        ("reportHash*", filled()),
        ("sourceFormatVersion", filled()),
        ("converter", filled()),
        ("converterVersion", filled()),
        ("model", filled()),
        ("discoverySnapshotHash", filled()),
        ("importedAt", text()),
    ])
}

/// §4.3
fn judge() -> Value {
    let criterion = object(&[
        (
            "id*",
            json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}),
        ),
        ("label*", filled()),
        ("description", length(0, 1000)),
        ("required", flag()),
    ]);
    let mut rubric = object(&[
        ("criteria", list(&criterion, 1, Some(25))),
        ("instructions", filled()),
    ]);
    rubric["anyOf"] = json!([{"required": ["criteria"]}, {"required": ["instructions"]}]);
    object(&[
        ("enabled", flag()),
        ("autoRun", flag()),
        ("model", filled()),
        ("threshold", fraction()),
        ("role", word(&["advisory", "gating", "required"])),
        ("severity", json!({"const": "warn"})),
        ("rubric", json!({"anyOf": [{"type": "null"}, rubric]})),
    ])
}

fn script() -> Value {
    let call = object(&[("tool*", filled()), ("arguments", json!({}))]);
    let usage = object(&[
        ("inputTokens", natural()),
        ("outputTokens", natural()),
        ("totalTokens", natural()),
    ]);
    let turn = object(&[
        ("say", text()),
        ("call", list(&call, 1, Some(100))),
        (
            "fail",
            object(&[("status", whole(400, 599)), ("code", filled())]),
        ),
        ("delayMs", whole(0, 600_000)),
        ("usage", usage),
    ]);
    let turns = list(&turn, 1, Some(1000));
    let iterations = object(&[("iterations*", list(&turns, 1, Some(100)))]);
    about(
        json!({"anyOf": [turns, iterations]}),
        "The scripted model's turns, for `model: scripted/NAME`.",
    )
}

/// One alternative per tag: `{if tag, then rest}`.
fn tagged(tag: &str, alternatives: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = alternatives.iter().map(|(name, _)| *name).collect();
    let rules: Vec<Value> = alternatives
        .iter()
        .map(|(name, schema)| {
            let mut schema = schema.clone();
            schema["properties"][tag] = json!({"const": name});
            json!({"if": {"properties": {tag: {"const": name}}, "required": [tag]}, "then": schema})
        })
        .collect();
    json!({
        "type": "object",
        "required": [tag],
        "properties": {tag: {"enum": names}},
        "allOf": rules,
    })
}

/// §6
fn step() -> Value {
    let id = ("id*", text());
    let arguments = json!({"type": "object"});
    let widget = tagged(
        "kind",
        &[
            ("textVisible", widget(&[("text*", length(1, 5000))])),
            (
                "elementVisible",
                widget(&[("target*", definition("locator"))]),
            ),
            (
                "elementHidden",
                widget(&[("target*", definition("locator"))]),
            ),
            (
                "inputValue",
                widget(&[
                    ("target*", definition("locator")),
                    ("equals*", length(0, 5000)),
                ]),
            ),
            ("widgetToolCalled", widget(&[("calledToolName*", filled())])),
        ],
    );
    let payload = json!({
        "if": {"type": "object", "required": ["kind"]},
        "then": widget,
        "else": definition("predicate"),
    });
    tagged(
        "kind",
        &[
            ("prompt", object(&[id.clone(), ("prompt*", text())])),
            (
                "toolCall",
                object(&[
                    id.clone(),
                    ("serverName*", filled()),
                    ("serverId", filled()),
                    ("toolName*", filled()),
                    ("arguments*", arguments),
                    ("renderTimeoutMs", whole(1, 120_000)),
                ]),
            ),
            (
                "interact",
                object(&[id.clone(), ("toolName*", filled()), ("action*", action())]),
            ),
            ("assert", object(&[id, ("assertion*", payload)])),
        ],
    )
}

fn widget(members: &[(&str, Value)]) -> Value {
    let mut all = vec![("toolName*", filled())];
    all.extend_from_slice(members);
    object(&all)
}

fn action() -> Value {
    let target = || ("target*", definition("locator"));
    tagged(
        "kind",
        &[
            (
                "click",
                object(&[target(), ("clickType", word(&["left", "double", "right"]))]),
            ),
            ("type", object(&[target(), ("text*", length(0, 5000))])),
            ("key", object(&[("key*", filled())])),
            (
                "scroll",
                object(&[
                    ("direction*", word(&["up", "down"])),
                    ("amount", positive()),
                ]),
            ),
            ("wait", object(&[("ms*", whole(1, 30_000))])),
        ],
    )
}

fn locator() -> Value {
    let role = object(&[("role*", filled()), ("name", text()), ("exact", flag())]);
    let mut locator = object(&[
        ("role", role),
        ("text", filled()),
        ("css", filled()),
        ("testId", filled()),
        ("nth", natural()),
    ]);
    locator["anyOf"] = json!([
        {"required": ["role"]}, {"required": ["text"]},
        {"required": ["css"]}, {"required": ["testId"]},
    ]);
    locator
}

fn kinds() -> Vec<Value> {
    AssertionKind::ALL
        .iter()
        .map(|kind| kind.wire().into())
        .collect()
}

/// `assertions.md` §8: predicates are open, their parameters typed.
fn predicate(kind: AssertionKind) -> Value {
    let mut schema = object(&parameters(kind));
    if let Value::Object(members) = &mut schema {
        members.remove("additionalProperties");
        members.insert("description".to_owned(), kind.entry().meaning.into());
    }
    json!({"if": {"properties": {"type": {"const": kind.wire()}}, "required": ["type"]}, "then": schema})
}

fn parameters(kind: AssertionKind) -> Vec<(&'static str, Value)> {
    use AssertionKind as Kind;
    let tool = || ("toolName*", filled());
    let any_tool = || ("toolName", filled());
    let patterns = |tool: (&'static str, Value)| {
        vec![
            tool,
            ("patterns*", list(&length(1, 512), 1, Some(8))),
            ("flags", word(&["i", "m", "s", "im", "is", "ms", "ims"])),
            (
                "path",
                json!({"type": "string", "minLength": 2, "maxLength": 257, "pattern": "^/([^/~]|~[01])+$"}),
            ),
            ("min", natural()),
            ("max", natural()),
        ]
    };
    match kind {
        Kind::ToolDescriptionsPresent => vec![("minLength", positive())],
        Kind::ToolAnnotationsPresent => vec![(
            "require",
            json!({"type": "array", "items": word(&["readOnlyHint", "destructiveHint"]), "uniqueItems": true}),
        )],
        Kind::ToolCalledWith => vec![
            tool(),
            (
                "args*",
                json!({
                    "type": "object",
                    "required": ["args"],
                    "properties": {
                        "args": {"type": "object"},
                        "argumentMatching": word(&["exact", "partial", "ignore"]),
                    },
                }),
            ),
            ("minCount", positive()),
        ],
        Kind::ToolCalledAtLeastOnce | Kind::ToolNeverCalled | Kind::FirstToolWas => vec![tool()],
        Kind::OnlyToolsCalled => vec![("toolNames*", list(&filled(), 0, None))],
        Kind::ToolCallCountUnder => vec![("count*", positive()), any_tool()],
        Kind::ToolCalledBefore => vec![tool(), ("beforeToolName*", filled())],
        Kind::ToolInputMatches => patterns(tool()),
        Kind::ToolResultMatches => patterns(any_tool()),
        Kind::ToolLatencyUnder | Kind::WidgetRenderLatencyUnder => {
            vec![("ms*", positive()), any_tool()]
        }
        Kind::ToolResultContains => vec![
            ("needle*", length(1, 1000)),
            ("caseSensitive", flag()),
            any_tool(),
        ],
        Kind::ToolResultMatchesSchema => vec![("schema*", json!({})), any_tool()],
        Kind::ToolResultSizeUnder => vec![("maxBytes*", positive()), any_tool()],
        Kind::ResponseContains => vec![("needle*", filled()), ("caseSensitive", flag())],
        Kind::ResponseMatches => vec![("pattern*", filled())],
        Kind::ResponseCloseTo => vec![
            ("reference*", length(1, 100_000)),
            ("maxDistance*", fraction()),
            ("caseSensitive", flag()),
            ("normalizeWhitespace", flag()),
        ],
        Kind::TokenBudgetUnder => vec![("tokens*", positive())],
        Kind::TurnCountUnder => vec![("turns*", positive())],
        Kind::ArgumentsMatchToolSchema
        | Kind::NoRepeatedIdenticalCall
        | Kind::ToolErrorNamesInput
        | Kind::FullPageHasContinuation
        | Kind::WidgetRendered
        | Kind::WidgetNoConsoleErrors => vec![any_tool()],
        Kind::ToolNamesUnique
        | Kind::NoDeprecatedToolExposed
        | Kind::ToolInputSchemasWellFormed
        | Kind::ToolOutputSchemasPresent
        | Kind::NoDeprecatedToolCalled
        | Kind::NoDestructiveToolCalled
        | Kind::NoToolErrors
        | Kind::FinalAssistantMessageNonEmpty
        | Kind::NoEndingQuestion => Vec::new(),
    }
}

/// The short form (ours).
fn short_file() -> Value {
    let server = json!({"anyOf": [filled(), definition("entry")]});
    let several = json!({"anyOf": [
        list(&filled(), 1, None),
        {"type": "object", "minProperties": 1, "additionalProperties": {"anyOf": [{"type": "null"}, server]}},
    ]});
    let mut file = object(&[
        (
            "server",
            about(
                server,
                "A command, a URL, an entry, or a name from `mcp.json`.",
            ),
        ),
        ("servers", about(several, "Servers by name.")),
        ("model*", about(filled(), "`provider/model`.")),
        ("name", length(1, 200)),
        ("id", id()),
        ("description", text()),
        ("provider", filled()),
        ("systemPrompt", text()),
        ("temperature", json!({"type": "number"})),
        (
            "iterations",
            about(whole(1, 100), "Trials per case; 5 when absent."),
        ),
        ("passThreshold", about(fraction(), "0.8 when absent.")),
        ("validity", definition("validity")),
        ("toolPolicy", definition("toolPolicy")),
        ("judge", definition("judge")),
        ("execution", definition("execution")),
        ("matchOptions", definition("matchOptions")),
        ("cases*", list(&short_case(), 1, Some(500))),
    ]);
    file["oneOf"] = json!([{"required": ["server"]}, {"required": ["servers"]}]);
    file
}

fn short_case() -> Value {
    let texts = json!({"anyOf": [filled(), list(&filled(), 0, None)]});
    let arguments = json!({"anyOf": [{"type": "null"}, {"type": "object"}]});
    let call = json!({"anyOf": [
        filled(),
        {"type": "object", "minProperties": 1, "additionalProperties": arguments},
    ]});
    let mut members = vec![
        ("prompt*", about(filled(), "What the user says.")),
        (
            "calls",
            about(
                json!({"anyOf": [call, list(&call, 0, None)]}),
                "Expected calls: `tool`, `{ tool: { argument: value } }`, or a list; `[]` for none.",
            ),
        ),
        ("neverCalls", texts.clone()),
        (
            "answer",
            about(
                json!({"anyOf": [
                    filled(),
                    list(&filled(), 0, None),
                    object(&[("contains", texts.clone()), ("matches", texts)]),
                ]}),
                "What the answer must hold.",
            ),
        ),
        ("id", id()),
        ("title", length(1, 200)),
        ("iterations", whole(1, 100)),
        ("assertions", list(&definition("predicate"), 0, Some(50))),
    ];
    members.extend(case_members());
    object(&members)
}
