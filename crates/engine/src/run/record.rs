//! What a finished trial is graded and stored as.
//!
//! Gathered evidence → assertion rows and turn summaries → the chain's input →
//! chain, measurements and friction signals → the stored record. All of it is derived by pure
//! functions; this module only brings them together.

use serde::Serialize;
use serde_json::{Map, Value, json};
use strandline_contract::{
    friction::FRICTION_SIGNALS_KEY,
    run::{ErrorLayer, TrialError, TrialRecord},
    trace::{Lint, SpanStatus, Trace},
    words::{IterationStatus, TaskResult},
};
use strandline_derive::{
    assertions::{
        grade::{Grade, TrialEvidence},
        trace::shows_tool_failure,
    },
    chain::authored_case,
    friction::{FrictionInput, derive_friction_signals, results_from_trace},
    judge::{JudgeSettings, derive_trial_chain, derive_trial_measurements, regrade},
};

use super::{
    catalog::Catalog,
    dispatcher::{Finished, epoch_ms},
    gathered::Gathered,
    masking,
    plan::{Outstanding, RunPlan},
    servers::{Lease, Setup, SetupRefusal},
    trial::TrialRun,
};

/// How a trial's steps ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    status: IterationStatus,
    error: Option<TrialError>,
}

impl Ended {
    pub(super) const fn with(status: IterationStatus) -> Self {
        Self {
            status,
            error: None,
        }
    }

    /// A step ended in an error: setup errors mean that the test never began.
    pub(super) fn in_error(error: TrialError) -> Self {
        Self {
            status: match error.layer {
                ErrorLayer::Setup => IterationStatus::SetupFailed,
                ErrorLayer::Model | ErrorLayer::Server | ErrorLayer::Harness => {
                    IterationStatus::Failed
                }
            },
            error: Some(error),
        }
    }
}

/// Grades a trial that had servers, and derives its chain.
pub(super) fn finish(
    plan: &RunPlan,
    outstanding: Outstanding,
    started_at: i64,
    trial: TrialRun<'_>,
    ended: Ended,
    lease: &Lease,
) -> Finished {
    let grade = grade(&trial, &ended);
    let mut gathered = trial.gathered;
    gathered.absorb(trial.capture.drain());
    for captured in lease.set().drain() {
        gathered.absorb(captured);
    }
    for adaptation in &trial.catalog.adaptations {
        gathered.adapt(adaptation.clone());
    }
    let lacking = tools_never_offered(&gathered);
    gathered.trace.lints.extend(lacking);
    let setup = &lease.set().setup;
    let evidence = evidence(&gathered, &grade, &ended, &trial.catalog, setup);
    gathered.trace.spans.splice(0..0, setup.spans());
    assemble(
        plan,
        outstanding,
        started_at,
        gathered,
        Some(grade),
        ended,
        evidence,
        setup,
    )
}

fn grade(trial: &TrialRun<'_>, ended: &Ended) -> Grade {
    let gathered = &trial.gathered;
    trial.grading.grade(&TrialEvidence {
        transcript: &gathered.transcript(&trial.catalog),
        turn_calls: &gathered.turn_calls(),
        steps: &gathered.step_grades,
        iteration_error: ended.error.as_ref().map(|error| error.message.as_str()),
        trace_tool_failure: shows_tool_failure(&gathered.trace),
        pinned_tool_errors: gathered.pinned_tool_errors,
        widget_failure: false,
        fail_on_tool_error: trial.suite.execution.fail_on_tool_error,
    })
}

/// Records a trial whose servers could not be set up.
pub(super) fn never_begun(
    plan: &RunPlan,
    outstanding: Outstanding,
    refusal: &SetupRefusal,
) -> Finished {
    let mut gathered = Gathered::default();
    for captured in &refusal.captured {
        gathered.absorb(captured.clone());
    }
    gathered.trace.spans.extend(refusal.setup.spans());
    let started_at = refusal
        .setup
        .attempts
        .iter()
        .map(|attempt| attempt.started_at)
        .fold(f64::INFINITY, f64::min);
    let ended = Ended::in_error(TrialError {
        layer: ErrorLayer::Setup,
        code: refusal.code.to_owned(),
        message: refusal.message.clone(),
        http_status: refusal
            .setup
            .attempts
            .iter()
            .find_map(|attempt| attempt.failure.as_ref()?.http_status),
    });
    let mut evidence = Map::new();
    evidence.insert("traceAbsent".to_owned(), true.into());
    insert_signals(&mut evidence, &refusal.setup);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds since the epoch fit in 64 bits"
    )]
    let started_at = if started_at.is_finite() {
        started_at as i64
    } else {
        epoch_ms()
    };
    assemble(
        plan,
        outstanding,
        started_at,
        gathered,
        None,
        ended,
        evidence,
        &refusal.setup,
    )
}

/// Records a trial that was cancelled while it waited for its servers.
pub(super) fn cancelled_before_it_began(
    plan: &RunPlan,
    outstanding: Outstanding,
    started_at: i64,
) -> Finished {
    let mut evidence = Map::new();
    evidence.insert("traceAbsent".to_owned(), true.into());
    assemble(
        plan,
        outstanding,
        started_at,
        Gathered::default(),
        None,
        Ended::with(IterationStatus::Cancelled),
        evidence,
        &Setup::default(),
    )
}

/// Says which expected tools the model was never offered: a miss on one of
/// them is no selection failure (field cases F19, F20).
fn tools_never_offered(gathered: &Gathered) -> Vec<Lint> {
    let mut lints: Vec<Lint> = Vec::new();
    for tool_name in gathered.turns.iter().flat_map(|turn| &turn.not_offered) {
        if !lints
            .iter()
            .any(|lint| lint.tool_name.as_ref() == Some(tool_name))
        {
            lints.push(Lint {
                code: "expectedToolNotOffered".to_owned(),
                server: String::new(),
                tool_name: Some(tool_name.clone()),
                message: format!(
                    "the case expects `{tool_name}`, and no server listed a tool of that name"
                ),
            });
        }
    }
    lints
}

/// Builds the chain's evidence (`chain.md` §14.2); arrays only when non-empty.
fn evidence(
    gathered: &Gathered,
    grade: &Grade,
    ended: &Ended,
    catalog: &Catalog,
    setup: &Setup,
) -> Map<String, Value> {
    let mut evidence = Map::new();
    let spans: Vec<Value> = gathered
        .trace
        .spans
        .iter()
        .map(|span| {
            let mut entry = json!({
                "id": span.id,
                "category": span.category,
                "status": match span.status { SpanStatus::Ok => "ok", SpanStatus::Error => "error" },
            });
            if let Some(tool_name) = &span.tool_name {
                entry["toolName"] = tool_name.as_str().into();
            }
            if let Some(prompt_index) = span.prompt_index {
                entry["promptIndex"] = prompt_index.into();
            }
            if let Some(code) = span.mcp_error_code {
                entry["mcpErrorCode"] = code.into();
            }
            entry
        })
        .collect();
    let prompts: Vec<Value> = grade
        .prompts
        .iter()
        .filter(|summary| {
            // A turn whose expected tool was never on offer says nothing about
            // the model's choice.
            gathered
                .turns
                .get(summary.prompt_index as usize)
                .is_none_or(|turn| turn.not_offered.is_empty())
        })
        .filter_map(|summary| serde_json::to_value(summary).ok())
        .collect();
    let no_trace =
        spans.is_empty() && grade.prompts.is_empty() && gathered.trace.messages.is_empty();
    if no_trace {
        evidence.insert("traceAbsent".to_owned(), true.into());
    } else if spans.is_empty() {
        evidence.insert("traceLacksSpanChannel".to_owned(), true.into());
    }
    for (key, list) in [
        ("spans", spans),
        ("prompts", prompts),
        ("predicateResults", to_values(&grade.chain_rows)),
    ] {
        if !list.is_empty() {
            evidence.insert(key.to_owned(), list.into());
        }
    }
    if let Some(error) = &ended.error {
        let source = match error.layer {
            ErrorLayer::Model => Some("model"),
            ErrorLayer::Setup => Some("setup"),
            ErrorLayer::Server | ErrorLayer::Harness => None,
        };
        if let Some(source) = source {
            evidence.insert(
                "stepError".to_owned(),
                json!({"source": source, "code": error.code}),
            );
        }
    }
    let count = catalog.inventory.len();
    evidence.insert(
        "toolSignals".to_owned(),
        json!({"toolsTotalBefore": count, "toolsExposed": count}),
    );
    if grade.evaluator_error {
        evidence.insert("evaluatorErrored".to_owned(), true.into());
    }
    insert_signals(&mut evidence, setup);
    evidence
}

fn insert_signals(evidence: &mut Map<String, Value>, setup: &Setup) {
    if let Ok(Value::Object(signals)) = serde_json::to_value(setup.signals())
        && !signals.is_empty()
    {
        evidence.insert("setupSignals".to_owned(), signals.into());
    }
}

/// Derives chain and measurements and puts the record together.
#[expect(
    clippy::too_many_arguments,
    reason = "the parts of one record, each from another place"
)]
fn assemble(
    plan: &RunPlan,
    outstanding: Outstanding,
    started_at: i64,
    mut gathered: Gathered,
    grade: Option<Grade>,
    ended: Ended,
    evidence: Map<String, Value>,
    setup: &Setup,
) -> Finished {
    let planned = &plan.case_variants[outstanding.case_variant];
    let case = &planned.case;
    let mut chain_input = json!({
        "authored": authored_case(case),
        "evidence": evidence,
        "iteration": {"status": ended.status},
    });
    plan.redactor.value(&mut chain_input);
    if let Some(block) = gathered.policy_blocks.first() {
        chain_input["policy"] = json!({"blocked": true, "reason": block.reason});
    }
    let completed = ended.status == IterationStatus::Completed;
    let evaluator_error = completed && grade.as_ref().is_some_and(|grade| grade.evaluator_error);
    let result = grade
        .as_ref()
        .filter(|_| completed && !evaluator_error)
        .map(|grade| {
            if grade.passed {
                TaskResult::Passed
            } else {
                TaskResult::Failed
            }
        });
    let chain = derive_trial_chain(&chain_input);
    let stage_measurements = derive_trial_measurements(&chain, &gathered.trace);
    let actual_tool_calls = to_values(&gathered.turn_calls().concat());
    let metadata = friction(&actual_tool_calls, &gathered.trace);
    let (summaries, rows, expected) = grade.map_or_else(Default::default, |grade| {
        (
            to_values(&grade.prompts),
            to_values(&grade.rows),
            to_values(&grade.roll_up.expected_tool_calls),
        )
    });
    let mut record = TrialRecord {
        id: uuid::Uuid::now_v7().to_string(),
        run_id: plan.run_id.clone(),
        case_id: case.id.clone(),
        title: case.title.clone(),
        variant: planned.variant.clone(),
        iteration_number: outstanding.iteration_number,
        status: ended.status,
        result,
        evaluator_error,
        error: ended.error,
        started_at,
        ended_at: epoch_ms(),
        expected_tool_calls: expected,
        actual_tool_calls,
        prompts: summaries,
        predicate_results: rows,
        chain_input,
        chain,
        stage_measurements,
        stage_setup_audit: setup.audit(),
        usage: gathered.usage,
        policy_blocks: to_values(&gathered.policy_blocks),
        skipped_steps: std::mem::take(&mut gathered.skipped_steps),
        model_requests: gathered.model_requests,
        model_wait_ms: gathered.model_wait_ms,
        server_wait_ms: gathered.server_wait_ms,
        metadata,
    };
    // What a judge is due to say is due from the first record on.
    regrade(
        &mut record,
        &gathered.trace,
        &JudgeSettings::of(&plan.suite, case),
    );
    masking::mask_record(&plan.redactor, &mut record);
    masking::mask_trace(&plan.redactor, &mut gathered.trace);
    (record, gathered.trace)
}

/// Derives what the calls show about avoidable work, from the calls as graded
/// and their results; it never touches the chain or a verdict.
fn friction(calls: &[Value], trace: &Trace) -> Map<String, Value> {
    let input = FrictionInput::new(calls.to_vec(), results_from_trace(trace));
    let signals = serde_json::to_value(derive_friction_signals(&input)).ok();
    signals
        .map(|signals| (FRICTION_SIGNALS_KEY.to_owned(), signals))
        .into_iter()
        .collect()
}

fn to_values<T: Serialize>(items: &[T]) -> Vec<Value> {
    items
        .iter()
        .filter_map(|item| serde_json::to_value(item).ok())
        .collect()
}
