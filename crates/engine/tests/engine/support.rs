//! What the tests share.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use strandline_contract::binding::{ServerBinding, Transport};
use strandline_engine::mcp::{
    CallOptions, CallOutcome, CallRecord, Captured, ConnectOptions, PhaseFailure, Session, connect,
};
use strandline_testkit::program;
use tokio_util::sync::CancellationToken;

/// Returns a stdio binding.
pub(crate) fn stdio(command: &str, args: &[&str]) -> ServerBinding {
    ServerBinding {
        name: "under-test".to_owned(),
        id: "under-test".to_owned(),
        display: format!("{command} {}", args.join(" ")),
        transport: Transport::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: None,
        },
    }
}

/// Returns the binding of the faulty server in a mode (`"exit 3"`).
pub(crate) fn faulty(mode: &str) -> ServerBinding {
    let path = program("strandline-faulty-mcp");
    stdio(
        &path.to_string_lossy(),
        &mode.split(' ').collect::<Vec<_>>(),
    )
}

/// Returns options with budgets fit for tests.
pub(crate) fn options() -> ConnectOptions {
    let mut options = ConnectOptions {
        setup_timeout: Duration::from_secs(10),
        list_timeout: Duration::from_secs(10),
        ..ConnectOptions::default()
    };
    options.limits.close_grace = Duration::from_millis(500);
    options
}

/// Connects to the faulty server in a mode.
pub(crate) async fn session(mode: &str) -> Session {
    match connect(&faulty(mode), &options()).await {
        Ok(session) => session,
        Err((failure, _)) => panic!("{mode}: {failure}"),
    }
}

/// Fails to connect to the faulty server in a mode.
pub(crate) async fn refusal(mode: &str) -> (PhaseFailure, Captured) {
    match connect(&faulty(mode), &options()).await {
        Ok(_) => panic!("{mode}: connected"),
        Err(refusal) => refusal,
    }
}

/// Returns call options with a budget in milliseconds.
pub(crate) fn within(ms: u64) -> CallOptions {
    CallOptions::new(Duration::from_millis(ms), CancellationToken::new())
}

/// Calls a tool with a budget of twenty seconds.
pub(crate) async fn call(session: &Session, tool: &str, arguments: Value) -> CallRecord {
    session.call(tool, object(arguments), within(20_000)).await
}

/// Returns the raw result of a call that got one.
pub(crate) fn result(record: &CallRecord) -> &Value {
    match &record.outcome {
        CallOutcome::Result { raw, .. } => raw,
        other => panic!("no result: {other:?}"),
    }
}

/// Returns the first text block of a result.
pub(crate) fn text(record: &CallRecord) -> &str {
    result(record)["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {record:?}"))
}

/// Waits until something holds, on a machine however busy.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns an object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

/// Returns the codes of the lints, in order.
pub(crate) fn lint_codes(captured: &Captured) -> Vec<&str> {
    captured
        .lints
        .iter()
        .map(|lint| lint.code.as_str())
        .collect()
}
