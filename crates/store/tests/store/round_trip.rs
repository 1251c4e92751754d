//! Whatever a server or a model says comes back exactly.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value};
use strandline_contract::{
    run::TrialRecord,
    trace::{
        Adaptation, Direction, Frame, Lint, Message, OfferedTools, Part, Role, Span, SpanStatus,
        Trace,
    },
    words::{IterationStatus, TaskResult, Vocabulary},
};
use strandline_store::{Frames, Store};

use crate::sample;

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,20}",
        Just("evidence ".repeat(300))
    ]
    .boxed()
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()),
        1.0e12..2.0e12,
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        time().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            object_of(inner).prop_map(Value::Object),
        ]
    })
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), values), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        text().prop_map(|text| Part::Text { text }),
        (text(), text(), value(), proptest::option::of(text())).prop_map(
            |(tool_call_id, tool_name, arguments, raw_arguments)| Part::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
                raw_arguments,
                provider_state: None,
            }
        ),
        (
            text(),
            value(),
            text(),
            any::<bool>(),
            proptest::option::of(text())
        )
            .prop_map(|(tool_call_id, result, model_text, is_error, error)| {
                Part::ToolResult {
                    tool_name: tool_call_id.clone(),
                    tool_call_id,
                    // An absent result and a result of `null` are one in JSON.
                    result: Some(result).filter(|result| !result.is_null()),
                    model_text,
                    is_error,
                    policy_block: !is_error,
                    error,
                }
            }),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    (
        text(),
        time(),
        time(),
        any::<Option<i64>>(),
        vec((text(), value()), 0..3),
    )
        .prop_map(
            |(id, started_at, ended_at, mcp_error_code, attributes)| Span {
                parent_id: Some(id.clone()),
                name: id.clone(),
                category: "tool".to_owned(),
                status: SpanStatus::Error,
                tool_name: None,
                tool_call_id: Some(id.clone()),
                prompt_index: Some(3),
                mcp_error_code,
                started_at,
                ended_at,
                attributes: attributes
                    .into_iter()
                    .map(|(name, value)| (name.into(), value))
                    .collect(),
                id,
            },
        )
}

fn frame() -> impl Strategy<Value = Frame> {
    (time(), text(), any::<u64>(), object_of(value())).prop_map(|(at, text, bytes, transport)| {
        Frame {
            at,
            server: "shop".to_owned(),
            direction: Direction::Noise,
            text,
            bytes,
            sha256: None,
            transport,
        }
    })
}

fn trace() -> impl Strategy<Value = Trace> {
    (
        vec(vec(part(), 0..4), 0..4),
        vec(span(), 0..4),
        vec(frame(), 0..4),
        any::<u64>(),
        text(),
    )
        .prop_map(|(messages, spans, frames, frames_dropped, word)| Trace {
            messages: messages
                .into_iter()
                .map(|parts| Message {
                    role: Role::Tool,
                    prompt_index: 1,
                    parts,
                })
                .collect(),
            spans,
            frames,
            frames_dropped,
            offered_tools: vec![OfferedTools {
                prompt_index: 0,
                tool_names: vec![word.clone()],
                aliases: BTreeMap::from([(word.clone(), word.clone())]),
            }],
            adaptations: vec![Adaptation {
                kind: word.clone(),
                subject: word.clone(),
                detail: word.clone(),
            }],
            lints: vec![Lint {
                code: word.clone(),
                server: word.clone(),
                tool_name: None,
                message: word,
            }],
        })
}

fn trial() -> impl Strategy<Value = TrialRecord> {
    let status = proptest::sample::select(IterationStatus::ALL);
    let result = proptest::option::of(proptest::sample::select(TaskResult::ALL));
    (
        status,
        result,
        value(),
        time(),
        any::<i64>(),
        object_of(value()),
    )
        .prop_map(|(status, result, value, wait, at, metadata)| TrialRecord {
            status,
            result,
            chain_input: value.clone(),
            expected_tool_calls: vec![value],
            model_wait_ms: wait,
            started_at: at,
            metadata,
            ..sample::trial("r1", 0, TaskResult::Failed)
        })
}

#[test]
fn any_trial_and_trace_come_back_as_they_were() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = runtime
        .block_on(Store::open(&directory.path().join("strandline.db")))
        .expect("opens");
    let cases = 96;
    runtime
        .block_on(store.start_run(&sample::run("r1", cases)))
        .expect("starts");
    let number = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&(trial(), trace()), |(mut trial, trace)| {
        trial.id = format!("t{}", number.get());
        trial.iteration_number = number.get();
        number.set(number.get() + 1);
        let (read, stored) = runtime
            .block_on(async {
                store.save_trial(&trial, &trace).await?;
                let stored = store.trace(&trial.id, Frames::Load).await?;
                Ok::<_, strandline_store::StoreError>((store.trial(&trial.id).await?, stored))
            })
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read, trial);
        prop_assert_eq!(stored.map(|stored| stored.trace), Some(trace));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
