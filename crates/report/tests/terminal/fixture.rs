//! Stored runs built in a few lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strandline_contract::{
    chain::Chain,
    run::{ExecutionVariant, PlannedCase, RunRecord, TrialRecord},
    trace::Trace,
    verdict::{CaseInput, ValidityPolicy},
    words::{IterationStatus, TaskResult},
};
use strandline_derive::verdict::derive_decision;
use strandline_report::{
    style::Style,
    terminal::{RunInput, run_report},
};

/// A run that is being put together.
pub(crate) struct Fixture {
    pub(crate) run: RunRecord,
    pub(crate) trials: Vec<TrialRecord>,
    pub(crate) traces: BTreeMap<String, Trace>,
    pub(crate) policy: ValidityPolicy,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let run = json!({
            "id": "019ad2b4-0000-7000-8000-000000000000",
            "status": "completed",
            "suiteId": "s_orders",
            "suiteName": "Orders server",
            "suitePath": "suites/orders.yaml",
            "sourceHash": "0", "resolvedHash": "0", "resolvedSuite": {},
            "plan": [], "settings": {}, "servers": [],
            "startedAt": 1_000, "endedAt": 42_300,
            "scripted": false, "strandlineVersion": "0.1.0"
        });
        Self {
            run: serde_json::from_value(run).expect("a run record"),
            trials: Vec::new(),
            traces: BTreeMap::new(),
            policy: ValidityPolicy::default(),
        }
    }

    /// Adds a case with its trials, in order.
    pub(crate) fn case(
        &mut self,
        id: &str,
        title: &str,
        threshold: f64,
        configured: u32,
        trials: Vec<TrialRecord>,
    ) -> &mut Self {
        self.case_under(id, title, None, threshold, configured, trials)
    }

    pub(crate) fn case_under(
        &mut self,
        id: &str,
        title: &str,
        model: Option<&str>,
        threshold: f64,
        configured: u32,
        trials: Vec<TrialRecord>,
    ) -> &mut Self {
        let variant = model.map(|model| {
            let (provider, model) = model.split_once('/').expect("provider/model");
            ExecutionVariant {
                model: model.to_owned(),
                provider: Some(provider.to_owned()),
            }
        });
        self.run.plan.push(PlannedCase {
            case_id: id.to_owned(),
            title: title.to_owned(),
            variant: variant.clone(),
            configured_trials: configured,
            pass_threshold: threshold,
        });
        for (number, mut trial) in (0..).zip(trials) {
            trial.id = format!("{id}-{model:?}-{number}");
            trial.case_id = id.to_owned();
            trial.title = title.to_owned();
            trial.variant = variant.clone();
            trial.iteration_number = number;
            self.trials.push(trial);
        }
        self
    }

    /// Decides the run as the runner would.
    pub(crate) fn decide(&mut self) -> &mut Self {
        let cases: Vec<CaseInput> = self
            .run
            .plan
            .iter()
            .map(|plan| CaseInput {
                case_id: plan.case_id.clone(),
                execution_variant: plan.variant.clone(),
                configured_trials: plan.configured_trials.into(),
                effective_pass_threshold: plan.pass_threshold,
                trials: self
                    .trials
                    .iter()
                    .filter(|trial| trial.case_id == plan.case_id && trial.variant == plan.variant)
                    .map(Into::into)
                    .collect(),
            })
            .collect();
        let decision = derive_decision(&self.policy, &cases).expect("a decision");
        self.run.decision = Some(serde_json::to_value(decision).expect("JSON"));
        self
    }

    pub(crate) fn report(&self, style: Style) -> String {
        let input = RunInput {
            run: &self.run,
            run_reference: "019ad2b4",
            trials: &self.trials,
            traces: &self.traces,
        };
        run_report(&input, &style)
    }
}

/// A trial whose strip is written in ASCII marks (`PPPF..`), with the reason
/// of its first telling row.
pub(crate) fn trial(strip: &str, reason: &str, category: Option<&str>) -> TrialRecord {
    const STAGES: [&str; 6] = [
        "connection",
        "discovery",
        "selection",
        "call",
        "response",
        "userValue",
    ];
    let failed = strip.find('F');
    let telling = failed.or_else(|| strip.find('?'));
    let rows: Vec<Value> = strip
        .chars()
        .zip(STAGES)
        .enumerate()
        .map(|(index, (mark, stage))| {
            let (state, usual) = match mark {
                'P' => ("passed", "observed"),
                'F' => ("failed", "predicateFailed"),
                '.' => ("notReached", "earlierStageFailed"),
                '?' => ("notMeasured", "noEvidenceCaptured"),
                _ => ("notApplicable", "notAuthored"),
            };
            let reason = if telling == Some(index) {
                reason
            } else {
                usual
            };
            json!({"stage": stage, "state": state, "reason": reason})
        })
        .collect();
    let mut chain = json!({"stageResults": rows, "stageAnalyzerVersion": 12});
    if let Some(index) = failed {
        chain["firstFailedStage"] = STAGES[index].into();
    }
    if let Some(category) = category {
        chain["failureCategory"] = category.into();
    }
    let chain: Chain<'static> = serde_json::from_value(chain).expect("a chain");
    let result = if failed.is_some() {
        TaskResult::Failed
    } else {
        TaskResult::Passed
    };
    let record = json!({
        "id": "", "runId": "", "caseId": "", "title": "", "iterationNumber": 0,
        "status": "completed", "startedAt": 0, "endedAt": 0,
        "chainInput": {}, "chain": {"stageResults": [], "stageAnalyzerVersion": 12},
        "stageMeasurements": {}
    });
    let mut record: TrialRecord = serde_json::from_value(record).expect("a trial record");
    record.chain = chain;
    record.result = Some(result);
    record
}

/// A trial that passed everything.
pub(crate) fn passed() -> TrialRecord {
    trial("PPPPPP", "observed", None)
}

/// A trial that was never graded.
pub(crate) fn ungraded(
    status: IterationStatus,
    strip: &str,
    reason: &str,
    category: Option<&str>,
    error: Value,
) -> TrialRecord {
    let mut record = trial(strip, reason, category);
    record.status = status;
    record.result = None;
    record.error = serde_json::from_value(error).expect("a trial error");
    record
}

/// Puts evidence on the first failed row.
pub(crate) fn with_evidence(mut record: TrialRecord, evidence: Value) -> TrialRecord {
    let stage = record.chain.first_failed_stage;
    for row in &mut record.chain.stage_results {
        if Some(row.stage) == stage {
            row.evidence = Some(serde_json::from_value(evidence.clone()).expect("evidence"));
        }
    }
    record
}

/// Puts one turn summary on a trial and points the failed row at it.
pub(crate) fn with_turn(mut record: TrialRecord, turn: Value) -> TrialRecord {
    let mut whole = json!({
        "promptIndex": 0, "prompt": "", "expectedToolCalls": [], "actualToolCalls": [],
        "missing": [], "unexpected": [], "argumentMismatches": [], "passed": false
    });
    for (key, value) in turn.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    record.actual_tool_calls = whole["actualToolCalls"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let index = whole["promptIndex"].clone();
    record.prompts.push(whole);
    with_evidence(record, json!({"promptIndexes": [index]}))
}
