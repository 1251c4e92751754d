//! A store with a few runs in it, for the commands that read one.

use std::{collections::BTreeMap, path::PathBuf};

use assert_cmd::{Command, assert::Assert};
use serde_json::{Value, json};
use strandline_contract::{
    analytics::StageAnalytics,
    run::{RunRecord, TrialRecord},
    trace::Trace,
    verdict::{CaseInput, ValidityPolicy},
    words::{MaterializationState, Stage, Vocabulary},
};
use strandline_derive::{
    analytics::{Materialization, RunFunnel, TrialLabels},
    overview::run_overview,
    verdict::derive_decision,
};
use strandline_store::Store;

/// A directory with a store; it goes away with the test.
pub(crate) struct Stored {
    directory: tempfile::TempDir,
}

impl Stored {
    /// Makes three runs: one that passed, one that failed, one that was killed.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let stored = Self { directory };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(stored.fill());
        stored
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("strandline.db")
    }

    async fn fill(&self) {
        let store = Store::open(&self.path()).await.expect("opens");
        for (id, strips) in [
            ("019ad2b4-0000-7000-8000-000000000001", ["PPPPPP", "PPPPPP"]),
            ("019ad2b4-0000-7000-8000-000000000002", ["PPPPPP", "PPPF.."]),
            ("019ad2b5-0000-7000-8000-000000000003", ["PPPPPP", ""]),
        ] {
            let mut run = run(id);
            store.start_run(&run).await.expect("starts");
            let trials: Vec<TrialRecord> = (0..)
                .zip(strips)
                .filter(|(_, strip)| !strip.is_empty())
                .map(|(number, strip)| trial(id, number, strip))
                .collect();
            for trial in &trials {
                store.save_trial(trial, &trace()).await.expect("saves");
            }
            if trials.len() == 2 {
                finish(&mut run, &trials);
                // The first run ends as an older version ended runs.
                let ended = if id.ends_with('1') {
                    store.finish_run(&run).await
                } else {
                    store
                        .finish_run_with_roll_ups(
                            &run,
                            &funnel(&run, &trials),
                            &run_overview(&run, &trials),
                        )
                        .await
                };
                ended.expect("finishes");
            }
        }
        // The last run loses its lease here: it looks killed.
        store.close().await.expect("closes");
    }

    /// Stores a funnel of the second run that contradicts itself.
    pub(crate) fn damage_funnel(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let store = Store::open(&self.path()).await.expect("opens");
            let id = "019ad2b4-0000-7000-8000-000000000002";
            let funnel = store.funnel(id).await.expect("reads").expect("a funnel");
            let mut funnel: StageAnalytics = serde_json::from_value(funnel).expect("a funnel");
            funnel.included_trials = 9;
            let overview = store.overview(id).await.expect("reads");
            let overview = overview.expect("an overview");
            store
                .replace_roll_ups(&funnel, &overview)
                .await
                .expect("replaces");
            store.close().await.expect("closes");
        });
    }

    pub(crate) fn strandline(&self, arguments: &[&str]) -> Assert {
        Command::cargo_bin("strandline")
            .expect("the binary is built")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .env("TZ", "UTC")
            .env("STRANDLINE_STORE", self.path())
            .args(arguments)
            .assert()
    }
}

pub(crate) fn stdout(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

pub(crate) fn stderr(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn run(id: &str) -> RunRecord {
    serde_json::from_value(json!({
        "id": id, "status": "running", "suiteId": "orders", "suiteName": "Orders server",
        "suitePath": "suites/orders.yaml", "sourceHash": "0", "resolvedHash": "0",
        "resolvedSuite": {"id": "orders"}, "settings": {}, "servers": [],
        "plan": [{"caseId": "refunds", "title": "refunds a late order", "configuredTrials": 2,
            "passThreshold": 1.0, "variant": {"model": "small-1", "provider": "openai"}}],
        "startedAt": 1_796_083_200_000_i64, "scripted": false, "strandlineVersion": "0.1.0"
    }))
    .expect("a run record")
}

fn finish(run: &mut RunRecord, trials: &[TrialRecord]) {
    let cases: Vec<CaseInput> = run
        .plan
        .iter()
        .map(|plan| CaseInput {
            case_id: plan.case_id.clone(),
            execution_variant: plan.variant.clone(),
            configured_trials: plan.configured_trials.into(),
            effective_pass_threshold: plan.pass_threshold,
            trials: trials.iter().map(Into::into).collect(),
        })
        .collect();
    let decision = derive_decision(&ValidityPolicy::default(), &cases).expect("a decision");
    run.decision = Some(json!(decision));
    run.status = serde_json::from_value(json!("completed")).expect("a status");
    run.ended_at = Some(run.started_at + 41_000);
}

fn funnel(run: &RunRecord, trials: &[TrialRecord]) -> StageAnalytics {
    let mut funnel = RunFunnel::default();
    for trial in trials {
        let labels = TrialLabels {
            intent: Some("refunds"),
            provider: Some("openai"),
            model: Some("small-1"),
        };
        funnel.add(trial, labels);
    }
    let how = Materialization {
        state: MaterializationState::Final,
        now: 1_796_083_241_000,
        created_at: None,
    };
    funnel.finish(run, how)
}

fn trial(run_id: &str, number: u32, strip: &str) -> TrialRecord {
    let rows: Vec<Value> = [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ]
    .into_iter()
    .zip(strip.chars())
    .map(|(stage, mark)| {
        let (state, reason) = match mark {
            'P' => ("passed", "observed"),
            'F' => ("failed", "argumentMismatch"),
            _ => ("notReached", "earlierStageFailed"),
        };
        json!({"stage": stage, "state": state, "reason": reason})
    })
    .collect();
    let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12});
    let passed = !strip.contains('F');
    if !passed {
        chain["firstFailedStage"] = json!("call");
        chain["failureCategory"] = json!("arguments");
    }
    let started = 1_796_083_200_000_i64;
    serde_json::from_value(json!({
        "id": format!("{run_id}-{number}"), "runId": run_id, "caseId": "refunds",
        "title": "refunds a late order", "variant": {"model": "small-1", "provider": "openai"},
        "iterationNumber": number, "status": "completed",
        "result": if passed { "passed" } else { "failed" },
        "startedAt": started, "endedAt": started + 812, "chainInput": {}, "chain": chain,
        "stageMeasurements": measured(strip), "modelRequests": 1
    }))
    .expect("a trial record")
}

/// Measurements that agree with a strip.
fn measured(strip: &str) -> Value {
    let rows = Stage::ALL.iter().zip(strip.chars()).map(|(stage, mark)| {
        let reach = if mark == '.' { "notReached" } else { "reached" };
        json!({"stage": stage, "reach": reach})
    });
    let rows: Vec<Value> = rows.collect();
    json!({"schemaVersion": 1, "stageAnalyzerVersion": 12, "rows": rows})
}

fn trace() -> Trace {
    let at = 1_796_083_200_000.0;
    serde_json::from_value(json!({
        "messages": [
            {"role": "user", "promptIndex": 0, "parts": [{"type": "text", "text": "Refund order 17.\u{1b}[31m"}]},
            {"role": "assistant", "promptIndex": 0, "parts": [{"type": "text", "text": "Done."}]}
        ],
        "spans": [{"id": "s1", "name": "chat small-1", "category": "llm", "status": "ok",
            "promptIndex": 0, "startedAt": at + 2.0, "endedAt": at + 403.0,
            "attributes": BTreeMap::from([("gen_ai.response.model", "small-1")])}],
        "frames": [{"at": at + 1.0, "server": "shop", "direction": "stderr", "text": "ready", "bytes": 5}],
    }))
    .expect("a trace")
}
