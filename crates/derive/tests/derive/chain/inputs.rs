//! Chain inputs at random, as JSON: every key, every word, some junk.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};
use strandline_contract::words::{AssertionKind, IterationStatus, Vocabulary};

/// Returns any input that the chain may be derived from.
pub(super) fn input() -> impl Strategy<Value = Value> {
    (
        authored(),
        evidence(),
        status(),
        option::weighted(0.1, any::<bool>()),
    )
        .prop_map(|(authored, evidence, status, blocked)| {
            object([
                ("authored", Some(authored)),
                ("evidence", Some(evidence)),
                ("iteration", Some(json!({"status": status, "error": "x"}))),
                ("policy", blocked.map(|blocked| json!({"blocked": blocked}))),
            ])
        })
}

/// Returns an object of the members that are there.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

fn status() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just("completed"),
        2 => select(IterationStatus::ALL).prop_map(Vocabulary::wire),
    ]
}

fn maybe<V: Into<Value> + std::fmt::Debug>(
    strategy: impl Strategy<Value = V>,
) -> impl Strategy<Value = Option<Value>> {
    option::of(strategy.prop_map(Into::into))
}

fn authored() -> impl Strategy<Value = Value> {
    (
        select(&["model_driven", "model_driven", "model_free"][..]),
        maybe(any::<bool>()),
        maybe(any::<bool>()),
        maybe(any::<bool>()),
        maybe(0..3_i32),
        maybe(any::<bool>()),
        maybe(select(&["required", "not_required", "open"][..])),
    )
        .prop_map(|(mode, negative, call, widget, count, ask, expectation)| {
            object([
                ("mode", Some(mode.into())),
                ("isNegativeTest", negative),
                ("expectsToolCall", call),
                ("expectsWidgetRender", widget),
                ("assertionCount", count),
                ("hasUserAsk", ask),
                ("toolExpectation", expectation),
            ])
        })
}

fn evidence() -> impl Strategy<Value = Value> {
    let trace = (
        option::of(vec(span(), 0..8).prop_map(Value::Array)),
        maybe(any::<bool>()),
        option::weighted(0.3, any::<bool>().prop_map(Value::Bool)),
        option::of(vec(turn(), 0..4).prop_map(Value::Array)),
        option::of(vec(row(), 0..6).prop_map(Value::Array)),
    );
    let signals = (
        option::of(vec(tool_error(), 0..3).prop_map(Value::Array)),
        option::weighted(0.3, select(&["model", "setup"][..])),
        option::of(vec(select(&["rendered", "mount_failed", "?"][..]), 0..3)),
        maybe(0..3_i32),
        option::of(signal()),
        option::of(signal()),
        option::weighted(0.1, any::<bool>().prop_map(Value::Bool)),
        option::of(judge()),
        option::of(attribution()),
    );
    (trace, signals).prop_map(|(trace, signals)| {
        let (spans, lacks, absent, prompts, rows) = trace;
        let (errors, source, renders, tools, connection, discovery, evaluator, judge, blame) =
            signals;
        let renders = renders.map(|all| {
            let observation = |status| json!({"status": status});
            all.into_iter().map(observation).collect::<Vec<_>>()
        });
        object([
            ("spans", spans),
            ("traceLacksSpanChannel", lacks),
            ("traceAbsent", absent),
            ("prompts", prompts),
            ("predicateResults", rows),
            ("toolErrors", errors),
            (
                "stepError",
                source.map(|source| json!({"source": source, "httpStatus": 429})),
            ),
            ("renderObservations", renders.map(Value::Array)),
            (
                "toolSignals",
                tools.map(|tools| json!({"toolsTotalBefore": tools})),
            ),
            (
                "setupSignals",
                Some(object([
                    ("connection", connection),
                    ("discovery", discovery),
                ])),
            ),
            ("evaluatorErrored", evaluator),
            ("judgeEvidence", judge),
            ("metadataAttribution", blame),
        ])
    })
}

fn span() -> impl Strategy<Value = Value> {
    (
        maybe("[a-f]"),
        maybe(select(&["tool", "tool", "llm", "?"][..])),
        maybe(select(&["ok", "error", "?"][..])),
        option::weighted(0.2, select(&[-32_000, -32_001, -32_603][..])),
    )
        .prop_map(|(id, category, status, code)| {
            object([
                ("id", id),
                ("category", category),
                ("status", status),
                ("mcpErrorCode", code.map(Value::from)),
                ("toolName", Some("t".into())),
            ])
        })
}

fn turn() -> impl Strategy<Value = Value> {
    let calls = || option::weighted(0.4, vec(Just(json!({"toolName": "t"})), 0..2));
    (
        maybe(0..9_i32),
        calls(),
        calls(),
        calls(),
        calls(),
        maybe(any::<bool>()),
    )
        .prop_map(
            |(index, expected, missing, unexpected, mismatches, passed)| {
                object([
                    ("promptIndex", index),
                    ("expectedToolCalls", expected.map(Value::Array)),
                    ("missing", missing.map(Value::Array)),
                    ("unexpected", unexpected.map(Value::Array)),
                    ("argumentMismatches", mismatches.map(Value::Array)),
                    ("passed", passed),
                ])
            },
        )
}

fn row() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        8 => select(AssertionKind::ALL).prop_map(Vocabulary::wire),
        1 => Just("toString"),
    ];
    (
        maybe(any::<bool>()),
        option::of(reason()),
        option::weighted(0.2, select(&["error", "scored"][..])),
        option::weighted(0.9, kind),
        option::weighted(0.3, select(&["advisory", "required"][..])),
    )
        .prop_map(|(passed, reason, status, kind, role)| {
            let predicate = object([
                ("type", kind.map(Value::from)),
                ("role", role.map(Value::from)),
            ]);
            object([
                ("passed", passed),
                ("reason", reason.map(Value::from)),
                ("status", status.map(Value::from)),
                ("predicate", Some(predicate)),
            ])
        })
}

fn reason() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-c 🚢\u{feff}\u{85}]{0,6}",
        1 => (498..503_usize).prop_map(|length| "é".repeat(length)),
    ]
}

fn tool_error() -> impl Strategy<Value = Value> {
    maybe(select(&["content-error", "protocol-error", "?"][..]))
        .prop_map(|kind| object([("kind", kind)]))
}

fn signal() -> impl Strategy<Value = Value> {
    (
        select(&["ok", "failed"][..]),
        maybe(select(&["ours", "theirs", "unknown"][..])),
        maybe(any::<bool>()),
        option::of(vec("[a-z]{1,2}", 0..8)),
        option::of(vec(reason(), 0..8)),
    )
        .prop_map(|(outcome, attribution, egress, spans, reasons)| {
            object([
                ("outcome", Some(outcome.into())),
                ("attribution", attribution),
                ("egressVerified", egress),
                ("spanIds", spans.map(Value::from)),
                ("reasons", reasons.map(Value::from)),
            ])
        })
}

const JUDGE_STATUSES: &[&str] = &["scored", "error", "skipped", "not_applicable", "pending"];

fn judge() -> impl Strategy<Value = Value> {
    (
        select(JUDGE_STATUSES),
        maybe(select(&["scheduled", "not_requested"][..])),
        maybe(select(&["pass", "partial", "fail"][..])),
        option::of(vec(reason(), 0..8)),
    )
        .prop_map(|(status, kind, verdict, reasons)| {
            object([
                ("status", Some(status.into())),
                ("pendingKind", kind),
                ("verdict", verdict),
                ("reasons", reasons.map(Value::from)),
            ])
        })
}

fn attribution() -> impl Strategy<Value = Value> {
    (
        select(JUDGE_STATUSES),
        maybe(any::<bool>()),
        option::of(vec(reason(), 0..3)),
    )
        .prop_map(|(status, attributed, reasons)| {
            object([
                ("status", Some(status.into())),
                ("attributed", attributed),
                ("reasons", reasons.map(Value::from)),
            ])
        })
}
