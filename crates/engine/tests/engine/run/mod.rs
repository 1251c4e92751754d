//! Whole runs against the fault-injecting server, scripted or with a fake
//! model endpoint: what is recorded, where value stopped, who is blamed.

mod ends;
mod field_cases;
mod judged;
mod provider;
mod repeats;
mod sessions;
mod steps;

use std::sync::Arc;

use serde_json::{Value, json};
use strandline_contract::{
    binding::ServerBinding,
    chain::StageRow,
    event::RunEvent,
    run::TrialRecord,
    script::Script,
    suite::{ResolvedSuite, Step},
    trace::Trace,
    words::{Stage, Vocabulary},
};
use strandline_derive::assertions::grade::{CasePlan, PlanOptions};
use strandline_engine::{
    mcp::Redactor,
    models::{ModelClient, ScriptedModel},
    run::{CaseVariant, RunEnd, RunPlan, Stop, event_channel, run},
};
use strandline_suite::{LoadOptions, load};

/// A finished run with everything it reported.
pub(crate) struct Ran {
    pub(crate) end: RunEnd,
    pub(crate) trials: Vec<(TrialRecord, Trace)>,
}

impl Ran {
    /// Returns the only trial.
    pub(crate) fn trial(&self) -> &TrialRecord {
        assert_eq!(self.trials.len(), 1, "one trial");
        &self.trials[0].0
    }

    /// Returns the only trial's trace.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trials[0].1
    }

    /// Returns the verdict of the decision.
    pub(crate) fn verdict(&self) -> &str {
        self.end.record.decision.as_ref().expect("a decision")["verdict"]
            .as_str()
            .expect("a verdict")
    }

    /// Returns the reasons of the decision.
    pub(crate) fn reasons(&self) -> Vec<&str> {
        self.end.record.decision.as_ref().expect("a decision")["reasons"]
            .as_array()
            .expect("reasons")
            .iter()
            .filter_map(Value::as_str)
            .collect()
    }
}

/// Returns six short rows: `passed/observed`, …
pub(crate) fn rows(trial: &TrialRecord) -> Vec<String> {
    trial
        .chain
        .stage_results
        .iter()
        .map(|row| {
            let reason = row.reason.map_or("", Vocabulary::wire);
            format!("{}/{reason}", row.state)
        })
        .collect()
}

/// Returns the row of a stage.
pub(crate) fn row(trial: &TrialRecord, stage: Stage) -> &StageRow<'static> {
    trial
        .chain
        .stage_results
        .iter()
        .find(|row| row.stage == stage)
        .expect("a row per stage")
}

/// Returns a suite with these cases, one server and one trial a case.
pub(crate) fn suite(cases: Value, more: Value) -> ResolvedSuite {
    let mut document = json!({
        "schemaVersion": "2", "mode": "agentWorkflow", "reportingMode": "standard",
        "suite": {"id": "s", "name": "Suite"},
        "target": {"servers": [{"name": "under-test"}]},
        "defaults": {"model": "scripted/test", "iterations": 1, "passThreshold": 1.0, "validity": {}},
        "cases": cases,
    });
    for (key, value) in more.as_object().expect("an object") {
        match (document.get_mut(key), value) {
            (Some(Value::Object(members)), Value::Object(more)) => {
                members.extend(more.clone());
            }
            _ => document[key] = value.clone(),
        }
    }
    match load(&document.to_string(), &LoadOptions::authored()) {
        Ok(loaded) => loaded.resolved,
        Err(failure) => panic!("{:#?}", failure.findings),
    }
}

/// Plans a suite: scripted cases by their script, others under `model`.
pub(crate) fn plan(
    suite: ResolvedSuite,
    servers: Vec<ServerBinding>,
    model: Option<&Arc<dyn ModelClient>>,
) -> RunPlan {
    let case_variants = suite
        .cases
        .iter()
        .map(|case| {
            let prompts = case
                .steps
                .iter()
                .any(|step| matches!(step, Step::Prompt { .. }));
            let scripted = case.script.as_ref().map(|script| {
                let script = Script::parse(script).expect("a script");
                Arc::new(ScriptedModel::new("test", case.id.clone(), script))
                    as Arc<dyn ModelClient>
            });
            CaseVariant {
                case: Arc::new(case.clone()),
                variant: None,
                grading: Arc::new(
                    CasePlan::compile(case, PlanOptions::default()).expect("match options"),
                ),
                model: scripted.or_else(|| model.cloned()).filter(|_| prompts),
                trials: case.iterations,
            }
        })
        .collect();
    let concurrency = suite.execution.concurrency as usize;
    RunPlan {
        redactor: Redactor::for_run(&servers, &[]),
        run_id: uuid::Uuid::now_v7().to_string(),
        suite: Arc::new(suite),
        suite_path: "suite.yaml".to_owned(),
        source_hash: "0".repeat(64),
        servers,
        case_variants,
        finished: Vec::new(),
        first_started_at: None,
        concurrency,
        server_concurrency: concurrency,
        fail_fast: false,
        until_decided: None,
        seed: None,
        egress_canary: None,
        judge: None,
        settings: Value::Null,
    }
}

/// Runs a plan to its end.
pub(crate) async fn ran(plan: RunPlan) -> Ran {
    ran_until(plan, Stop::new()).await
}

/// Runs a plan to its end or until it is stopped.
pub(crate) async fn ran_until(plan: RunPlan, stop: Stop) -> Ran {
    let (sender, mut receiver) = event_channel();
    let engine = tokio::spawn(run(plan, sender, stop));
    let mut trials = Vec::new();
    while let Some(event) = receiver.recv().await {
        if let RunEvent::TrialFinished(finished) = event {
            trials.push(*finished);
        }
    }
    Ran {
        end: engine.await.expect("the run ends"),
        trials,
    }
}

/// Runs one scripted case with one prompt against the faulty server.
pub(crate) async fn one_case(mode: &str, case: Value, more: Value) -> Ran {
    let suite = suite(json!([case]), more);
    ran(plan(suite, vec![crate::support::faulty(mode)], None)).await
}

/// Returns a case: a prompt, a script, and more.
pub(crate) fn case(script: Value, more: Value) -> Value {
    let mut case = json!({
        "id": "c", "title": "Case",
        "steps": [{"id": "ask", "kind": "prompt", "prompt": "Go."}],
        "script": script,
    });
    for (key, value) in more.as_object().expect("an object") {
        case[key] = value.clone();
    }
    case
}

/// Returns steps: a prompt, then a required call.
pub(crate) fn asks_for(tool: &str, arguments: Value) -> Value {
    json!([
        {"id": "ask", "kind": "prompt", "prompt": "Go."},
        {"id": "called", "kind": "assert", "assertion":
            {"type": "toolCalledWith", "toolName": tool, "args": {"args": arguments}}},
    ])
}
